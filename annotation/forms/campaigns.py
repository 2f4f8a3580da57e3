"""Forms of the campaign pages. What may be chosen is what the benchmark and its team have."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from annotation.models import Campaign
from annotation.sheets.conditions import condition_name, sort_conditions
from benchmarks.models import Benchmark, Item, Stage
from people.locales.draft_marks import text_language_name
from people.locales.languages import has_draft_texts, text_languages
from people.models import Cohort

LARGEST_TARGET = 1_000
LARGEST_LIMIT = 100_000
LONGEST_PACK = 168


def languages_of(cohorts: Iterable[Cohort]) -> dict[str, str]:
    """The languages instructions may be written in: those of the interface, then those of the cohorts."""
    return text_languages() | {code: text_language_name(code) for cohort in cohorts for code in cohort.languages}


class InstructionsForm(forms.Form):
    """A text in each language."""

    def __init__(self, *args: Any, languages: dict[str, str], texts: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        others = {code: text_language_name(code) for code, text in texts.items() if text and code not in languages}
        for code, name in (languages | others).items():
            attrs = {"class": "in", "rows": 5, "lang": code, "dir": "auto"}
            self.fields[f"text_{code}"] = forms.CharField(
                label=name, required=False, initial=texts.get(code, ""), max_length=20_000, widget=forms.Textarea(attrs)
            )

    def text_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith("text_")]

    def first_texts(self) -> list[forms.BoundField]:
        """In the languages of the interface, and those that people have written already; the rest can be unfolded."""
        return [field for field in self.text_fields() if self._is_shown_first(field)]

    def other_texts(self) -> list[forms.BoundField]:
        return [field for field in self.text_fields() if not self._is_shown_first(field)]

    def has_drafts(self) -> bool:
        """Whether a text may be a machine's draft, which the recipe brought."""
        return any(field.value() and has_draft_texts(field.name.removeprefix("text_")) for field in self.text_fields())

    def _is_shown_first(self, field: forms.BoundField) -> bool:
        code = field.name.removeprefix("text_")
        return code in text_languages() or bool(field.errors) or (bool(field.value()) and not has_draft_texts(code))

    def texts(self) -> dict[str, str]:
        return {
            name.removeprefix("text_"): value for name, value in self.cleaned_data.items() if name.startswith("text_")
        }


class CampaignForm(InstructionsForm):
    """A new campaign of one stage. An empty number means that the cohort is not asked."""

    name = forms.CharField(label=_("Name"), max_length=120)
    summary = forms.CharField(label=_("What people are asked to do, in one sentence"), max_length=200, required=False)
    opens_on = forms.DateField(label=_("Opens on"), required=False, widget=forms.DateInput(attrs={"type": "date"}))
    closes_on = forms.DateField(label=_("Last day"), required=False, widget=forms.DateInput(attrs={"type": "date"}))

    def __init__(self, *args: Any, benchmark: Benchmark, stage: Stage, **kwargs: Any) -> None:
        self.cohorts = sorted(Cohort.objects.filter(team=benchmark.team_id), key=lambda cohort: cohort.name)
        super().__init__(*args, languages=languages_of(self.cohorts), texts=stage.instructions, **kwargs)
        items = Item.objects.filter(stage=stage).exclude(condition="").order_by("condition")
        conditions = sort_conditions(benchmark, items.values_list("condition", flat=True).distinct())
        language = get_language() or "en"
        self.fields["conditions"] = forms.MultipleChoiceField(
            label=_("Conditions"),
            choices=[(c, condition_name(benchmark, c, language)) for c in conditions],
            required=False,
            widget=forms.CheckboxSelectMultiple,
            initial=conditions,
        )
        for cohort in self.cohorts:
            self.fields[f"target_{cohort.pk}"] = forms.IntegerField(
                label=cohort.name,
                required=False,
                min_value=1,
                max_value=LARGEST_TARGET,
                initial=stage.target_answers or None,
            )
        for name in ("name", "summary", "opens_on", "closes_on", *(f"target_{c.pk}" for c in self.cohorts)):
            self.fields[name].widget.attrs["class"] = "in"
        for name in ("name", "summary"):
            self.fields[name].widget.attrs["dir"] = "auto"

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not any(data.get(f"target_{cohort.pk}") for cohort in self.cohorts):
            self.add_error(None, _("Enter the number of answers per item for at least one cohort."))
        opens, closes = data.get("opens_on"), data.get("closes_on")
        if opens and closes and closes < opens:
            self.add_error("closes_on", _("The last day lies before the first. Choose a later one."))
        return data

    def targets(self) -> dict[Cohort, int]:
        targets = {cohort: self.cleaned_data.get(f"target_{cohort.pk}") for cohort in self.cohorts}
        return {cohort: target for cohort, target in targets.items() if target}

    def wanted_conditions(self) -> list[str]:
        """All of them is the same as none named: then new conditions join later."""
        field = self.fields["conditions"]
        picked = self.cleaned_data["conditions"]
        return [] if len(picked) == len(field.choices) else picked  # type: ignore[attr-defined]

    def target_fields(self) -> list[forms.BoundField]:
        return [self[f"target_{cohort.pk}"] for cohort in self.cohorts]


class TargetForm(forms.Form):
    target = forms.IntegerField(min_value=1, max_value=LARGEST_TARGET)


class PackForm(forms.Form):
    """How long the places of an offline pack are kept; 0 is no packs."""

    pack_hours = forms.IntegerField(min_value=0, max_value=LONGEST_PACK)


class LimitsForm(forms.Form):
    """What one person may answer; empty is no limit."""

    most_per_person = forms.IntegerField(min_value=1, max_value=LARGEST_LIMIT, required=False)
    most_per_day = forms.IntegerField(min_value=1, max_value=LARGEST_LIMIT, required=False)


class CloneForm(forms.Form):
    name = forms.CharField(label=_("Name of the copy"), max_length=120)


class AnswerForm(forms.Form):
    """What is said to a person who reported a problem."""

    answer = forms.CharField(label=_("Answer"), max_length=2_000)


def clone_name(campaign: Campaign) -> str:
    return str(_("Copy of %(name)s") % {"name": campaign.name})[:120]
