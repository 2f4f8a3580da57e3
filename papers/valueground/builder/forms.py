"""The form that starts a plan of builds: which questions, who plans and draws, how many rounds, for how much."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from benchmarks.models import Benchmark
from papers.valueground.builder.models import BuildPlan
from papers.valueground.builder.services import plans
from papers.valueground.builder.services.plans import BuildSettings, SourceChoice
from papers.valueground.survey.models import SurveyQuestion
from people.forms.base import StyledFormMixin
from predictions.models import Endpoint

CODE = {"dir": "ltr", "autocomplete": "off", "spellcheck": "false"}
SOURCE_ROWS = (1, 2, 3)
PARTS = ("key", "chat_endpoint", "chat_model", "image_endpoint", "image_model", "size")


def _line(label: Any, help_text: Any = "", longest: int = 200) -> forms.CharField:
    return forms.CharField(
        label=label, max_length=longest, required=False, help_text=help_text, widget=forms.TextInput(attrs=CODE),
    )  # fmt: skip


class BuildPlanForm(StyledFormMixin, forms.Form):
    """The fields of the sources are called s<row>-<part>; a row without a key is left out, but for the first."""

    questions = forms.CharField(
        label=_("Questions (optional)"), required=False, max_length=4000, widget=forms.TextInput(attrs=CODE),
        help_text=_("Keys such as Q1 Q57. Empty: all confirmed questions."),
    )  # fmt: skip
    configuration = forms.ChoiceField(
        label=_("Configuration"), choices=BuildPlan.Configuration.choices,
        initial=BuildPlan.Configuration.PLANNER_EDITOR_CRITIC,
    )  # fmt: skip
    edit_rounds = forms.IntegerField(
        label=_("Edit rounds of a plan"), min_value=0, max_value=plans.MOST_ROUNDS, initial=2,
        help_text=_("After the first attempt."),
    )  # fmt: skip
    replans = forms.IntegerField(label=_("Further plans"), min_value=0, max_value=plans.MOST_ROUNDS, initial=2)
    regenerate = forms.ChoiceField(label=_("Draw again"), choices=BuildPlan.Regenerate.choices)
    base_seed = forms.IntegerField(label=_("Seed"), min_value=0, max_value=2**31 - 1, initial=0)
    budget = forms.DecimalField(
        label=_("Budget in dollars (optional)"), min_value=Decimal("0.0001"), max_digits=12, decimal_places=4,
        required=False, help_text=_("No request is sent that would cost more."),
    )  # fmt: skip
    best_effort_to_review = forms.BooleanField(
        label=_("Best effort goes to review, too"), required=False,
        help_text=_("Pairs that the critic has not accepted when the rounds are used up."),
    )  # fmt: skip

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        self.benchmark = benchmark
        super().__init__(*args, **kwargs)
        self.endpoints = Endpoint.objects.filter(team=benchmark.team, retired_at=None, kind=Endpoint.Kind.OPENAI)
        for row in SOURCE_ROWS:
            fields: dict[str, forms.Field] = {
                "key": _line(_("Key"), _("Becomes the source of the pairs, such as source1."), 60),
                "chat_endpoint": _endpoint_field(_("Endpoint of planner and critic"), self.endpoints),
                "chat_model": _line(_("Their model")),
                "image_endpoint": _endpoint_field(_("Endpoint of pictures"), self.endpoints),
                "image_model": _line(_("Model of pictures")),
                "size": _line(_("Size (optional)"), _("Such as 1024x1024."), 20),
            }
            for part, field in fields.items():
                field.widget.attrs.setdefault("class", "in")
                self.fields[f"s{row}-{part}"] = field
        self.fields["s1-key"].initial = "source1"

    def source_rows(self) -> list[tuple[int, list[forms.BoundField], bool]]:
        """The number of each source, its fields, and whether anything is filled in."""
        rows = [(row, [self[f"s{row}-{part}"] for part in PARTS]) for row in SOURCE_ROWS]
        return [(row, fields, any(field.value() for field in fields)) for row, fields in rows]

    def plan_fields(self) -> list[forms.BoundField]:
        return [field for field in self if not re.match(r"s\d-", field.name)]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        self.sources = [source for row in SOURCE_ROWS if (source := self._source(cleaned, row)) is not None]
        if not self.sources and not self.errors:
            self.add_error("s1-key", gettext("Give at least one source."))
        return cleaned

    def _source(self, cleaned: dict[str, Any], row: int) -> SourceChoice | None:
        values = {part: cleaned.get(f"s{row}-{part}") or "" for part in PARTS}
        if not any(values.values()):
            return None
        if not values["key"] and row > 1:
            values["key"] = f"source{row}"
        for part in PARTS[:-1]:
            if not values[part] and f"s{row}-{part}" not in self.errors:
                self.add_error(f"s{row}-{part}", gettext("Fill this in, or leave the whole source empty."))
        if values["key"] and not re.fullmatch(r"[\w-]{1,60}", str(values["key"]), re.ASCII):
            self.add_error(f"s{row}-key", gettext("Use letters, digits and hyphens."))
        return SourceChoice(**values)  # type: ignore[arg-type]

    def clean_questions(self) -> list[SurveyQuestion]:
        confirmed = {question.key: question for question in plans.confirmed_questions(self.benchmark)}
        keys = re.split(r"[\s,;]+", str(self.cleaned_data["questions"]).strip())
        if keys == [""]:
            return list(confirmed.values())
        unknown = [key for key in keys if key and key not in confirmed]
        if unknown:
            text = gettext("Not confirmed in the survey: %(keys)s. Correct the keys, or confirm these questions first.")
            raise forms.ValidationError(text % {"keys": ", ".join(unknown[:20])})
        return [confirmed[key] for key in dict.fromkeys(keys) if key]

    def build_settings(self) -> BuildSettings:
        names = (
            "configuration",
            "edit_rounds",
            "replans",
            "regenerate",
            "base_seed",
            "budget",
            "best_effort_to_review",
        )
        values = {name: self.cleaned_data[name] for name in names}
        return BuildSettings(questions=self.cleaned_data["questions"], sources=self.sources, **values)


def _endpoint_field(label: Any, endpoints: Any) -> forms.ModelChoiceField[Endpoint]:
    return forms.ModelChoiceField(endpoints.order_by("name"), label=label, required=False, empty_label=_("Choose"))
