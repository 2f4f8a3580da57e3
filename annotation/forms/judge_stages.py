"""The form that adds a judge: which answers, what is decided about them, and who decides."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.composer.stage_context import question_title
from annotation.forms.campaigns import LARGEST_TARGET
from annotation.services.sheets.judge_stages import JudgeStage
from benchmarks.models import Benchmark, Stage
from people.forms.base import StyledFormMixin

JUDGED = frozenset({"text", "choice", "rating", "box"})
SCALES = (
    ("two", _("Two points: no, yes")),
    ("three", _("Three points: no, partly, yes")),
    ("five", _("Five points, from not at all to very much")),
)


JUDGED_BY = (
    ("own", _("The cohort of that culture")),
    ("all", _("All cohorts")),
)


def _has_single_answers(stage: Stage) -> bool:
    """Whether no question of the stage will have two answers of people: cohorts that are asked about themselves, or
    that share what is wanted, answer apart."""
    return stage.target_answers == 1 and (stage.has_target or stage.target_in_all)


class JudgeStageForm(StyledFormMixin, forms.Form):
    """Makes a whole stage. All of it can be changed afterwards, as of any other stage."""

    answers = forms.ChoiceField(label=_("Answers that are judged"))
    of_models = forms.BooleanField(
        label=_("Those of models, also of later runs"), required=False, initial=True,
    )  # fmt: skip
    of_people = forms.BooleanField(
        label=_("Those of people, each against the answers of the others"), required=False, initial=True,
    )  # fmt: skip
    question = forms.CharField(
        label=_("What is asked about each answer"), max_length=300, initial="Is this answer good?",
    )  # fmt: skip
    scale = forms.ChoiceField(label=_("Decided by"), choices=SCALES, initial="two")
    reason = forms.BooleanField(label=_("Ask for a reason, too"), required=False, initial=True)
    people = forms.IntegerField(
        label=_("People who judge each answer"), min_value=0, max_value=LARGEST_TARGET, initial=0,
        help_text=_("0: only a model judges. Nobody judges an answer of their own: a cohort needs one person more."),
    )  # fmt: skip
    judged_by = forms.ChoiceField(
        label=_("Who judges answers about a culture"), choices=JUDGED_BY, initial="own", required=False,
        help_text=_("Only where a stage asks each cohort about its own culture. The sheet names the culture."),
    )  # fmt: skip
    name = forms.CharField(label=_("Name of the stage"), max_length=120, initial="Judge")

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.by_key = {stage.key: stage for stage in benchmark.stages.select_related("benchmark")}
        choices = [
            (f"{stage.key}|{row['key']}", f"{stage.name}: {question_title(row)}")
            for stage in self.by_key.values()
            for row in stage.sheet.get("fields", [])
            if row.get("kind") in JUDGED and row.get("key")
        ]
        self.fields["answers"].choices = choices  # type: ignore[attr-defined]
        self.fields["answers"].initial = choices[-1][0] if choices else None  # what was composed last

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if not data.get("of_models") and not data.get("of_people"):
            self.add_error("of_models", _("Choose whose answers are judged: those of models, of people, or both."))
        source = self.by_key.get(str(data.get("answers", "")).partition("|")[0])
        if data.get("of_people") and source is not None and _has_single_answers(source):
            text = _(
                "“%(stage)s” wants one answer to each question, so there are no others to judge it against. Want two "
                "or more there, or leave out those of people."
            )
            self.add_error("of_people", forms.ValidationError(text, params={"stage": source.name}))
        return data

    def choice(self) -> JudgeStage:
        """Of the valid form."""
        data = self.cleaned_data
        stage, _bar, field = data["answers"].partition("|")
        return JudgeStage(
            name=data["name"].strip(), source=self.by_key[stage], field=field, question=data["question"].strip(),
            scale=data["scale"], of_models=data["of_models"], of_people=data["of_people"], reason=data["reason"],
            answers=data["people"], own_culture=data["judged_by"] != "all",
        )  # fmt: skip
