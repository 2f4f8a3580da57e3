"""Forms of the page Survey: the files of an import, and another pair for a question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmarks.models import Benchmark
from benchmarks.queries.label_sets import newest_sets, offered_sets
from papers.valueground.survey.files import KINDS, parse_code
from papers.valueground.survey.models import Survey
from papers.valueground.survey.services.decisions import DecisionRefused
from papers.valueground.survey.services.survey_import import SurveySettings
from people.forms.base import StyledFormMixin

MAXIMUM_MEGABYTES = {"codebook": 20, "metadata": 20, "adjustment": 20, "counts": 200}


class SurveyForm(StyledFormMixin, forms.Form):
    """The files of a survey. What is not uploaded again stays as the newest version has it."""

    codebook = forms.FileField(
        label=gettext_lazy("Codebook"), required=False,
        help_text=gettext_lazy("JSON with “question” and “choices”, or CSV with question, text, code, label."),
    )  # fmt: skip
    metadata = forms.FileField(
        label=gettext_lazy("Metadata (optional)"), required=False,
        help_text=gettext_lazy("JSON with full texts, “use_case” and the ends of each scale."),
    )  # fmt: skip
    adjustment = forms.FileField(
        label=gettext_lazy("Adjustment (optional)"), required=False,
        help_text=gettext_lazy("JSON {question: {old code: new code}}. An empty new code is no answer."),
    )  # fmt: skip
    counts = forms.FileField(
        label=gettext_lazy("Counts (optional)"), required=False,
        help_text=gettext_lazy("CSV with question, country, code, count; or JSON {question: {country: {code: n}}}."),
    )  # fmt: skip
    label_set = forms.ChoiceField(label=gettext_lazy("Countries of the counts"))
    weighted = forms.BooleanField(label=gettext_lazy("The counts are weighted"), required=False)
    keep_counts = forms.BooleanField(
        label=gettext_lazy("Keep the counts of questions and countries that the file does not have"), required=False
    )
    skip_countries = forms.BooleanField(
        label=gettext_lazy("Leave out countries that the set does not have"), required=False
    )
    name = forms.CharField(label=gettext_lazy("Name of the survey"), max_length=120)
    terms = forms.CharField(label=gettext_lazy("Terms of use (optional)"), max_length=300, required=False)
    citation = forms.CharField(label=gettext_lazy("Citation (optional)"), max_length=500, required=False)

    def __init__(self, *args: Any, benchmark: Benchmark, survey: Survey | None, **kwargs: Any) -> None:
        self.survey = survey
        initial = {"label_set": "countries", "name": "World Values Survey"}
        if survey is not None:
            initial |= {"name": survey.name, "terms": survey.terms, "citation": survey.citation}
            initial |= {"label_set": survey.label_set.key} if survey.label_set else {}
        super().__init__(*args, initial=initial | {"weighted": bool(survey and survey.weighted)}, **kwargs)
        names = {spec.key: spec.name for spec in offered_sets()}
        names |= {row.key: row.name for row in newest_sets(benchmark.team)}
        choices = sorted(names.items(), key=lambda choice: choice[1])
        self.fields["label_set"] = forms.ChoiceField(
            label=self.fields["label_set"].label, choices=choices, widget=forms.Select(attrs={"class": "in"})
        )
        if survey is None:
            self.fields["codebook"].required = True
            del self.fields["keep_counts"]
        for kind in KINDS:
            self.fields[kind].widget.attrs["accept"] = ".json,.csv,application/json,text/csv"

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        for kind in KINDS:
            upload: UploadedFile[Any] | None = data.get(kind)
            if upload and (upload.size or 0) > MAXIMUM_MEGABYTES[kind] * 1024**2:
                text = _("The file is larger than %(most)s MB. Leave out what is not needed.")
                self.add_error(kind, text % {"most": MAXIMUM_MEGABYTES[kind]})
        if not self.errors and not self.uploads:
            self.add_error(None, _("Choose at least one file."))
        return data

    @property
    def uploads(self) -> dict[str, UploadedFile[Any]]:
        return {kind: self.cleaned_data[kind] for kind in KINDS if self.cleaned_data.get(kind)}

    @property
    def survey_settings(self) -> SurveySettings:
        names = ("name", "terms", "citation", "weighted", "label_set", "keep_counts", "skip_countries")
        return SurveySettings(**{name: self.cleaned_data[name] for name in names if name in self.cleaned_data})


@dataclass(frozen=True)
class PairChange:
    """Another pair as it was posted: the codes of A and B in the files, and the place of each code."""

    a: int
    b: int
    places: dict[int, int | None]


def read_change(posted: Mapping[str, str], codes: list[int]) -> PairChange:
    """Raises DecisionRefused with the field that cannot be read."""
    places: dict[int, int | None] = {}
    for code in codes:
        text = posted.get(f"place-{code}", "").strip()
        places[code] = parse_code(text) if text else None
        if text and places[code] is None:
            message = _("The place of code %(code)s is “%(text)s”. Write a whole number, or nothing.")
            raise DecisionRefused(message % {"code": code, "text": text[:20]})
    a, b = parse_code(posted.get("a", "")), parse_code(posted.get("b", ""))
    if a not in places or b not in places or a is None or b is None:
        raise DecisionRefused(_("Choose an option A and an option B."))
    return PairChange(a, b, places)
