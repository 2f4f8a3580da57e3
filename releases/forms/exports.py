import csv
import io
from typing import Any

from django import forms
from django.core.validators import validate_email
from django.db.models import Sum
from django.utils.translation import gettext_lazy as _

from annotation.models import Campaign
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.models import Benchmark, Stage
from releases.writers.registry import BY_KEY, WRITERS

MOST_BYTES = 1024 * 1024


class CampaignChoice(forms.ModelChoiceField):  # type: ignore[type-arg]
    """With the stage: people may know a campaign by either name."""

    def label_from_instance(self, one: Any) -> str:
        return one.name if one.name == one.stage.name else f"{one.stage.name}: {one.name}"


class ExportForm(forms.Form):
    """Which stage, which of its campaigns, and as what. The choices are the benchmark's own."""

    stage = forms.ModelChoiceField(Stage.objects.none(), label=_("Stage"), empty_label=None)
    campaign = CampaignChoice(
        Campaign.objects.none(), label=_("Campaign"), required=False, empty_label=_("Whole stage")
    )
    form = forms.ChoiceField(
        label=_("Format"),
        choices=[
            ("csv", _("CSV, for spreadsheets and statistics")),
            ("jsonl", _("JSON Lines, for programs")),
            ("parquet", _("Parquet, with types")),
        ],
        initial="csv",
    )
    versions = forms.BooleanField(
        label=_("Include replaced and withdrawn answers"),
        required=False,
        help_text=_("In a file of their own, “versions”. None of them counts."),
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.opened = Campaign.objects.filter(stage__benchmark=benchmark).exclude(opened_at=None)
        self.fields["stage"].queryset = (  # type: ignore[attr-defined]
            Stage.objects.filter(benchmark=benchmark, campaigns__in=self.opened).distinct().select_related("benchmark")
        )
        self.fields["stage"].initial = self._stage_with_most_answers()
        self.fields["campaign"].queryset = self.opened.order_by("-pk").select_related("stage")  # type: ignore[attr-defined]
        for name in ("stage", "campaign", "form"):
            self.fields[name].widget.attrs["class"] = "in"

    def _stage_with_most_answers(self) -> Any:
        """Of people; None where nobody has answered: then the first stage is chosen."""
        counts = self.opened.values("stage").annotate(n=Sum("cohorts__tallies__submitted")).filter(n__gt=0)
        return counts.order_by("-n", "stage").values_list("stage", flat=True).first()

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        campaign, stage = data.get("campaign"), data.get("stage")
        if campaign and stage and campaign.stage_id != stage.pk:
            self.add_error("campaign", _("This campaign belongs to another stage. Choose one of the stage, or all."))
        return data

    def campaigns(self) -> list[Campaign]:
        picked = self.cleaned_data["campaign"]
        of_stage = self.opened.filter(stage=self.cleaned_data["stage"]).order_by("pk")
        wanted = of_stage.filter(pk=picked.pk) if picked else of_stage
        return list(wanted.select_related("sheet_version", "rule_version").prefetch_related("cohorts__cohort"))


class ToolExportForm(ExportForm):
    """The same choice of answers, as the files of another tool."""

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, benchmark=benchmark, **kwargs)
        del self.fields["versions"]
        choices = [(writer.key, writer.name) for writer in WRITERS]
        self.fields["form"] = forms.ChoiceField(
            label=_("Tool"), choices=choices, widget=forms.Select(attrs={"class": "in"})
        )
        self.fields["emails"] = forms.FileField(
            label=_("Accounts in Label Studio"), required=False,
            help_text=_("A CSV with the columns rater and email. One account that Label Studio does not have refuses"
                        " the whole file there. The addresses are not kept."),
            widget=forms.ClearableFileInput(attrs={"class": "in", "accept": ".csv,text/csv"}),
        )  # fmt: skip

    def clean(self) -> dict[str, Any]:
        """The sheet of the files is that of the newest campaign."""
        data = super().clean()
        if {"stage", "form", "campaign"} <= set(data) and not self.errors:
            fields = sheet_of(self.campaigns()[-1].sheet_version).fields
            if not any(BY_KEY[data["form"]].takes(field) for field in fields):
                text = _("%(stage)s asks no question whose answers this tool takes. Choose another tool or stage.")
                self.add_error("form", text % {"stage": data["stage"].name})
        return data

    def clean_emails(self) -> dict[str, str]:
        """By rater."""
        file = self.cleaned_data["emails"]
        if not file:
            return {}
        try:
            rows = list(csv.DictReader(io.StringIO(file.read(MOST_BYTES).decode("utf-8-sig"), newline="")))
        except (UnicodeDecodeError, csv.Error) as error:
            raise forms.ValidationError(_("This is no CSV in UTF-8.")) from error
        if not rows or not {"rater", "email"} <= set(rows[0]):
            raise forms.ValidationError(_("The first line must name the columns rater and email."))
        emails: dict[str, str] = {}
        for number, row in enumerate(rows, start=2):
            rater, email = (row["rater"] or "").strip(), (row["email"] or "").strip()
            try:
                validate_email(email if rater else "")
            except forms.ValidationError as error:
                text = _("Row %(row)s: “%(email)s” is no address of “%(rater)s”. Correct it.")
                raise forms.ValidationError(text, params={"row": number, "email": email, "rater": rater}) from error
            emails[rater] = email
        return emails
