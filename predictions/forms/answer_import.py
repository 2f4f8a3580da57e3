"""Answers of a model that were made elsewhere: the file, then what the file does not say itself."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from annotation.models import Campaign
from benchmarks.forms.imports import check_upload_size
from people.forms.base import StyledFormMixin
from predictions.forms.model_info import about_in
from predictions.imports import coco, inspect
from predictions.imports.samples import ALL, WHOLE, FileDescription
from predictions.services.files.answer_import import ModelInfo
from predictions.services.files.answer_preview import FilePreview
from predictions.services.files.answer_samples import RATINGS

UNSAID = "?"
FILES = {"accept": ".json,.jsonl,.ndjson,.csv,.tsv", "class": "in"}


class AnswerFileForm(StyledFormMixin, forms.Form):
    """Which campaign, and the file."""

    campaign = forms.ChoiceField(label=_("Campaign whose sheet was answered"))
    file = forms.FileField(
        label=_("File of answers"),
        help_text=_(
            "COCO results, a sample log of lm-eval or lmms-eval, a log of Inspect as JSON, or a table of ratings."
        ),
        widget=forms.ClearableFileInput(attrs=FILES),
    )
    names = forms.FileField(
        label=_("COCO file of the data set"),
        help_text=_("Only with COCO results: it says which image and which category each number is."),
        required=False,
        widget=forms.ClearableFileInput(attrs={**FILES, "accept": ".json"}),
    )

    def __init__(self, *args: Any, campaigns: Sequence[Campaign], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaigns = {str(campaign.pk): campaign for campaign in campaigns}
        choices = [(pk, f"{campaign.stage.name}: {campaign.name}") for pk, campaign in self.campaigns.items()]
        self.fields["campaign"].choices = choices  # type: ignore[attr-defined]

    def clean_file(self) -> "UploadedFile[Any]":
        return check_upload_size(self.cleaned_data["file"], settings.IMPORT_MAX_BYTES)

    def clean_names(self) -> "UploadedFile[Any] | None":
        sent = self.cleaned_data["names"]
        return check_upload_size(sent, settings.IMPORT_MAX_BYTES) if sent else None

    def campaign_of(self) -> Campaign:
        return self.campaigns[self.cleaned_data["campaign"]]


class AnswerFileDetailsForm(StyledFormMixin, forms.Form):
    """What the file does not say itself. Questions with one possible answer are not asked."""

    model = forms.CharField(label=_("Model"), max_length=200)
    setting = forms.CharField(
        label=_("Setting"), max_length=60, required=False, help_text=_("How it was asked, where that differs: main.")
    )
    about = forms.CharField(
        label=_("Model details"),
        required=False,
        help_text=_('As JSON, such as {"family": "CLIP", "parameters": "0.4 B", "open": true}.'),
        widget=forms.Textarea(attrs={"rows": 2, "dir": "ltr"}),
    )

    def __init__(self, *args: Any, looked: FilePreview, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.looked, self.known = looked, looked.guess()
        if len(looked.settings) == 1:
            self.fields["setting"].initial = looked.settings[0]
        for name, label, choices, help_text in self._questions():
            self.is_known_or_requested(name, label, choices, help_text)
        if looked.format == RATINGS and len(looked.models) > 1:
            self.is_known_or_requested("rater", _("Which of its models"), {model: model for model in looked.models}, "")
            del self.fields["model"]
        for field in self.fields.values():
            field.widget.attrs.setdefault("class", "in")

    def _questions(self) -> list[tuple[str, Any, Mapping[str, Any], Any]]:
        looked = self.looked
        if looked.format == RATINGS:
            settings = {setting: setting or _("none") for setting in looked.settings}
            return [("field", _("Question that was answered"), looked.fields, ""),
                    ("of_setting", _("Prompt variant"), settings, "")]  # fmt: skip
        culture = ("target", _("Culture that the answers are about"), self._targets(), "")
        if looked.format == coco.KEY:
            return [("field", _("Question that was answered"), looked.fields, ""), culture]
        words, seen = _("%(name)s: names an item in %(n)s of %(seen)s rows"), looked.seen
        keys = {name: words % {"name": name, "n": n, "seen": seen} for name, n in looked.keys.items()}
        only = {one: one for one in looked.only}
        scorers = bool(only) and looked.format == inspect.KEY
        read = {"": _("the reply itself"), **only} if scorers else only
        whole = {WHOLE: _("All of them: each reply is a JSON object")} if len(looked.fields) > 1 else {}
        return [
            ("key", _("Column that names the item"), keys, ""),
            culture,
            ("only", _("Reply column") if scorers else _("Filter"), read,
             _("What the log's own filter or scorer took out of the reply. Nothing is looked for inside a sentence.")),
            ("field", _("Question that was answered"), {**looked.fields, **whole}, ""),
        ]  # fmt: skip

    def _targets(self) -> Mapping[str, Any]:
        """Of several cultures none is taken for granted: an answer about one counts as nothing about another."""
        looked = self.looked
        if not looked.cultures or (len(looked.cultures) == 1 and not looked.targets):
            return {}
        words = _("column %(name)s: names one in %(n)s of %(seen)s rows")
        columns = {name: words % {"name": name, "n": n, "seen": looked.seen} for name, n in looked.targets.items()}
        one_for_all = {ALL + name: _("%(name)s, all of them") % {"name": name} for name in looked.cultures}
        unsaid = {} if columns else {UNSAID: _("Choose")}
        return {**unsaid, **columns, **one_for_all, "": _("each item's own origin")}

    def clean_target(self) -> str:
        target = str(self.cleaned_data["target"]) if "target" in self.data else self.fields["target"].initial
        if target == UNSAID:
            raise forms.ValidationError(_("Choose the target culture. The file has no such column."))
        return str(target)

    def is_known_or_requested(self, name: str, label: Any, choices: Mapping[str, Any], help_text: Any) -> None:
        if len(choices) > 1:
            self.fields[name] = forms.ChoiceField(
                label=label, choices=list(choices.items()), required=False, help_text=help_text
            )
            self.fields[name].initial = next(iter(choices)) if name == "target" else getattr(self.known, name)

    def clean_about(self) -> dict[str, Any]:
        return about_in(self.cleaned_data["about"])

    def file_description(self) -> FileDescription:
        """As far as it is said: what is not asked is known."""
        self.full_clean()
        data = self.cleaned_data if self.is_bound else {}
        names = ("key", "target", "only", "field", "rater", "of_setting")
        return FileDescription(
            **{name: data[name] if name in data and name in self.data else getattr(self.known, name) for name in names}
        )

    def model_of(self) -> ModelInfo:
        data = self.cleaned_data
        name = data.get("model") or data.get("rater") or ""
        return ModelInfo(name.strip(), data["setting"].strip() or data.get("of_setting", ""), data["about"])
