from __future__ import annotations

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from benchmarks.imports.label_files import MOST_BYTES, parse_labels
from benchmarks.imports.problems import SourceProblem
from benchmarks.models import LabelSet
from benchmarks.queries.label_sets import newest_sets
from benchmarks.rules.label_sets.contract import LabelSetError, LabelSpec, problems
from benchmarks.rules.label_sets.registry import is_reserved
from benchmarks.services.label_sets import keyed_labels, typed_labels
from people.forms.base import StyledFormMixin
from people.models import Team

PROBLEMS = {
    "empty": _("There is no label. Type one per line, or choose a file."),
    "too_many": _("There are more than 2,000 labels (%(value)s). Split the set."),
    "no_text": _("A label is empty. Write its text."),
    "too_long": _("The label “%(value)s…” is longer than 120 characters. Shorten it."),
    "key_twice": _("The key “%(value)s” occurs twice. Every label needs a key of its own."),
    "text_twice": _("The label “%(value)s” occurs twice. Delete one of them."),
    "reserved": _("The name “%(value)s” belongs to a built-in set. Choose another name."),
    "no_name": _("The name has no letter or digit from a to z or 0 to 9. Add one, so that files can name the set."),
}


def problem_text(problem: LabelSetError) -> str:
    return str(PROBLEMS[problem.code]) % {"value": problem.value}


class LabelSetForm(StyledFormMixin, forms.Form):
    """A new set, or the next version of one: labels from a file, or typed one per line."""

    label_set = forms.ChoiceField(
        label=_("Set"), required=False, help_text=_("A new set, or a set that gets its next version.")
    )
    name = forms.CharField(label=_("Name of a new set"), max_length=80, required=False)
    kind = forms.ChoiceField(label=_("Labels are"), choices=LabelSet.Kind.choices, initial=LabelSet.Kind.CULTURES)
    file = forms.FileField(
        label=_("File"), required=False,
        help_text=_("CSV or JSON Lines with a column “label”. Columns such as key and country are optional."),
    )  # fmt: skip
    lines = forms.CharField(
        label=_("Or type labels, one per line"), required=False, max_length=300_000,
        widget=forms.Textarea(attrs={"rows": 6}),
    )  # fmt: skip
    source = forms.CharField(label=_("Source (optional)"), max_length=300, required=False)
    licence = forms.CharField(label=_("Licence (optional)"), max_length=120, required=False)

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.own = {row.key: row for row in newest_sets(team) if not is_reserved(row.key)}
        choices = [("", _("New set")), *((row.key, f"{row.name} · {row.version}") for row in self.own.values())]
        self.fields["label_set"] = forms.ChoiceField(
            label=self.fields["label_set"].label, help_text=self.fields["label_set"].help_text, choices=choices,
            required=False, widget=forms.Select(attrs={"class": "in"}),
        )  # fmt: skip
        self.order_fields(["label_set", "name", "kind", "file", "lines", "source", "licence"])
        self.fields["file"].widget.attrs["accept"] = ".csv,.tsv,.jsonl,.ndjson,text/csv"
        self.labels: list[LabelSpec] = []

    def clean_file(self) -> UploadedFile[Any] | None:
        upload = self.cleaned_data["file"]
        if upload and (upload.size or 0) > MOST_BYTES:
            megabytes = MOST_BYTES // 1024**2
            raise forms.ValidationError(_("The file is larger than %(most)s MB. Split it.") % {"most": megabytes})
        return upload or None

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if not data.get("label_set") and not data.get("name", "").strip() and "name" not in self.errors:
            self.add_error("name", _("Give the new set a name."))
        if self.errors:
            return data
        if data.get("file") and data.get("lines", "").strip():
            self.add_error("lines", _("Choose a file or type the labels, not both."))
            return data
        try:
            upload = data.get("file")
            self.labels = keyed_labels(parse_labels(upload) if upload else typed_labels(data.get("lines", "")))
        except SourceProblem as problem:
            self.add_error("file", str(problem))
            return data
        for fault in problems(self.labels):
            self.add_error("file" if data.get("file") else "lines", problem_text(fault))
            break
        return data

    @property
    def set_name(self) -> str:
        key = self.cleaned_data["label_set"]
        return self.own[key].name if key else str(self.cleaned_data["name"]).strip()
