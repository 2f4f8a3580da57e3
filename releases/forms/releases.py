from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import Campaign
from benchmarks.models import Benchmark, Stage
from releases.models import ReleaseSelection
from releases.models.selections import FORMATS


class StageChoices(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, stage: Any) -> str:
        return str(stage.name)


class ReleaseForm(forms.Form):
    """Version, stages and formats of a new release. The stages are the benchmark's own."""

    version = forms.CharField(
        label=_("Version"),
        max_length=20,
        help_text=_("Three numbers. Raise the first where codes or columns change, the second for more data."),
    )
    stages = StageChoices(
        Stage.objects.none(),
        label=_("Stages"),
        widget=forms.CheckboxSelectMultiple,
        help_text=_("With all their items, and all answers of campaigns that were opened."),
        error_messages={"required": _("Choose at least one stage.")},
    )
    formats = forms.MultipleChoiceField(
        label=_("Formats"),
        widget=forms.CheckboxSelectMultiple,
        choices=[
            ("csv", _("CSV, for spreadsheets and statistics")),
            ("jsonl", _("JSON Lines, for programs")),
            ("parquet", _("Parquet, with types")),
        ],
        initial=list(FORMATS),
        error_messages={"required": _("Choose at least one format.")},
    )
    pictures = forms.ChoiceField(
        label=_("Pictures"),
        widget=forms.RadioSelect,
        choices=[
            ("licensed", _("Files of pictures that have a licence")),
            ("names", _("Names and checksums only")),
            ("all", _("Files of all pictures")),
        ],
        initial="licensed",
        help_text=_("Files lose what cameras and programs wrote into them, such as place and device. Pixels stay."),
    )
    versions = forms.BooleanField(
        label=_("Include replaced and withdrawn answers"),
        required=False,
        help_text=_("In a file of their own, “versions”. None of them counts."),
    )
    notes = forms.CharField(
        label=_("What changed (optional)"),
        required=False,
        max_length=5000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Printed in the release."),
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stages = benchmark.stages.filter(items__isnull=False).distinct()
        self.fields["stages"].queryset = stages  # type: ignore[attr-defined]
        self.fields["stages"].initial = [stage.pk for stage in stages]
        for name in ("version", "notes"):
            self.fields[name].widget.attrs |= {"class": "in", "dir": "auto"}

    def selection(self) -> ReleaseSelection:
        stages = [stage.pk for stage in self.cleaned_data["stages"]]
        opened = Campaign.objects.filter(stage__in=stages).exclude(opened_at=None).order_by("pk")
        formats = [form for form in FORMATS if form in self.cleaned_data["formats"]]
        campaigns = tuple(opened.values_list("pk", flat=True))
        data = self.cleaned_data
        return ReleaseSelection(tuple(stages), campaigns, tuple(formats), data["versions"], data["pictures"])
