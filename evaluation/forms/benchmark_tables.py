"""The form of a table that a researcher composes: what it is of, its rows, and its measure; all chosen from lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.db.models import Max
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.composer.stage_context import question_title
from annotation.composer.stage_settings import codes_of
from annotation.composer.validation import without_references
from annotation.services.derivation.derived_counts import context_names
from annotation.sheets.sheet import Sheet, SheetError
from benchmarks.models import Benchmark, Stage
from evaluation.models import BenchmarkTable
from evaluation.selections.measures import CODED
from evaluation.tables.composed.builders import COHORT, ITEM, MEAN, STRENGTH, WINS
from people.forms.base import StyledFormMixin

Kind = BenchmarkTable.Kind
ABOUT: Mapping[str, Any] = {
    Kind.AGREEMENT: gettext_lazy("How far people agree, in each cohort and over all."),
    Kind.MODELS: gettext_lazy("How near each model comes to people."),
    Kind.RANKING: gettext_lazy("What is rated highest or wins most, with the band of each place."),
    Kind.DISTRIBUTION: gettext_lazy("How often each answer was given."),
    Kind.COVERAGE: gettext_lazy("How much of what is wanted was answered and accepted."),
    Kind.ACCURACY: gettext_lazy("How often people and models say what the item's own column says."),
}
OF_MODELS = (
    ("", gettext_lazy("Agreement or correlation, as fits the question")),
    ("spearman", gettext_lazy("Spearman's correlation")),
    ("pearson", gettext_lazy("Pearson's correlation")),
    ("leave_one_out", gettext_lazy("The place among people, each left out in turn")),
)
OF_RANKING = (
    (MEAN, gettext_lazy("Mean of the answers")),
    (WINS, gettext_lazy("Share of comparisons won")),
    (STRENGTH, gettext_lazy("Strength by Bradley and Terry")),
)
ASKS: Mapping[str, tuple[str, ...]] = {
    Kind.AGREEMENT: ("question",),
    Kind.MODELS: ("question", "measure"),
    Kind.RANKING: ("question", "measure", "rows", "first", "second"),
    Kind.DISTRIBUTION: ("question", "rows"),
    Kind.COVERAGE: ("stage",),
    Kind.ACCURACY: ("question", "rows", "key"),
}
"""What the form of a kind asks besides the name."""
OF_QUESTION = ("rows", "first", "second", "key")  # what there is to choose depends on the question
COLUMN_LABELS: Mapping[str, Any] = {
    "candidate": gettext_lazy("Judged answers"),
    "candidate_by": gettext_lazy("Authors of judged answers"),
    "setting": gettext_lazy("Prompt variants of judged answers"),
    "question": gettext_lazy("Items whose answers are judged"),
    "option_a": gettext_lazy("Texts of side A"),
    "option_b": gettext_lazy("Texts of side B"),
}
"""Columns that derivations write, by what a researcher calls them."""
MEMBERS: Mapping[str, Any] = {
    "concept": gettext_lazy("Concepts"), "origin": gettext_lazy("Origins"), "condition": gettext_lazy("Conditions")
}  # fmt: skip
NO_COLUMN = frozenset({"run", "references", "pictures", "groups", "agreement"})  # they name no group of items


class BenchmarkTableForm(StyledFormMixin, forms.Form):
    """Of one kind. A value that does not fit another is refused beside it.

    Where answers or rows are to be chosen, they are those of one question: the posted one, else `question` if the
    kind has it, else that of `initial`, else the first. `chosen` is its value, and None for other kinds. `questions`:
    to choose from in a form of its own, before what depends on the question; empty for other kinds.
    """

    name = forms.CharField(
        label=gettext_lazy("Name"), max_length=120, required=False,
        help_text=gettext_lazy("Empty: the kind and the question."),
    )  # fmt: skip
    stage = forms.ChoiceField(label=gettext_lazy("Stage"))
    question = forms.ChoiceField(label=gettext_lazy("Question"))
    measure = forms.ChoiceField(label=gettext_lazy("Measure"), required=False)
    rows = forms.ChoiceField(label=gettext_lazy("Rows"))
    first = forms.ChoiceField(label=gettext_lazy("Answer by which side A wins"), required=False)
    second = forms.ChoiceField(label=gettext_lazy("Answer by which side B wins"), required=False)
    key = forms.ChoiceField(label=gettext_lazy("Column of the item that says what is right"))

    def __init__(self, *args: Any, benchmark: Benchmark, kind: str, question: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind, self.stages = Kind(kind), list(benchmark.stages.all())
        questions = list(self._questions())
        self.chosen = self._chosen([value for value, _label in questions], question)
        self.questions = questions if self.chosen is not None else []
        stage, row = self._question_of(self.chosen or "")
        columns = _columns(stage) if stage else []
        choices: dict[str, list[tuple[str, Any]]] = {
            "stage": [(stage.key, stage.name) for stage in self.stages],
            "question": questions,
            "measure": list(OF_RANKING if self.kind == Kind.RANKING else OF_MODELS),
            "rows": self._rows(stage, columns),
            "first": [("", _("Choose")), *codes_of(row)],
            "key": columns,
        }
        choices["second"] = choices["first"]
        for field in [field for field in self.fields if field != "name"]:
            if field in ASKS[self.kind]:
                self.fields[field].choices = choices[field]  # type: ignore[attr-defined]
            else:
                del self.fields[field]
        if "first" in self.fields:
            self.fields["second"].help_text = _("Of a comparison of two. Every other answer is half a win for both.")
        if self.chosen is not None:
            self.fields["question"].widget = forms.HiddenInput()
            self.initial["question"] = self.chosen

    def _chosen(self, questions: Sequence[str], asked: str) -> str | None:
        if "question" not in ASKS[self.kind] or not {*OF_QUESTION} & {*ASKS[self.kind]}:
            return None
        candidates = (self.data.get("question", ""), asked, self.initial.get("question", ""))
        return next((value for value in candidates if value in questions), next(iter(questions), ""))

    def _question_of(self, value: str) -> tuple[Stage | None, Mapping[str, Any]]:
        key, _bar, field = value.partition("|")
        return next((stage for stage in self.stages if stage.key == key), None), self._row(key, field)

    def _questions(self) -> Iterator[tuple[str, str]]:
        for stage in self.stages:
            for row in _fields(stage):
                if self.kind == Kind.AGREEMENT or _is_coded(row):
                    yield f"{stage.key}|{row['key']}", f"{stage.name}: {question_title(row)}".replace("{target}", "…")

    def _rows(self, stage: Stage | None, columns: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """What the items of the stage are told apart by; while there are none, what any items may be."""
        used = _used_members(stage) if stage else frozenset()
        of_items = [
            (ITEM, _("Items, by their text")),
            *((name, label) for name, label in MEMBERS.items() if not used or name in used),
            *((f"context.{name}", label) for name, label in columns),
        ]
        return of_items if self.kind == Kind.RANKING else [(COHORT, _("Cohorts")), *of_items[1:], of_items[0]]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if self.kind != Kind.RANKING or data.get("measure") not in (WINS, STRENGTH) or self.errors:
            return data
        for name in ("first", "second"):
            if not data.get(name):
                self.add_error(name, _("Choose the answer."))
        if data.get("first") and data.get("first") == data.get("second"):
            self.add_error("second", _("Both sides cannot win by the same answer. Choose another."))
        stage, _bar, field = str(data.get("question", "")).partition("|")
        known = {code for code, _label in codes_of(self._row(stage, field))}
        for name in ("first", "second"):
            if data.get(name) and data[name] not in known:
                self.add_error(name, _("This question has no such answer. Choose one of its own."))
        return data

    def _row(self, stage: str, field: str) -> Mapping[str, Any]:
        of_stage = (row for each in self.stages if each.key == stage for row in _fields(each))
        return next((row for row in of_stage if row["key"] == field), {})

    def values(self) -> dict[str, Any]:
        """Of the valid form, as the service takes them."""
        data = self.cleaned_data
        stage, _bar, field = str(data.get("question", "")).partition("|")
        stage = data.get("stage") or stage
        title = next(each.name for each in self.stages if each.key == stage)
        if field:
            title = question_title(self._row(stage, field)).replace("{target}", "…")
        measure = data.get("measure") or (MEAN if self.kind == Kind.RANKING else "")
        options = {name: data[name] for name in ("first", "second", "key") if data.get(name)}
        return {
            "name": data["name"].strip() or f"{self.kind.label}: {title}"[:120], "kind": self.kind, "stage": stage,
            "field": field, "rows": data.get("rows", ""), "columns": "", "measure": measure,
            "options": options if measure != MEAN else {},
        }  # fmt: skip


def initial_of(table: BenchmarkTable) -> dict[str, Any]:
    """A table as its form asks for it."""
    return {
        "name": table.name, "stage": table.stage, "question": f"{table.stage}|{table.field}", "rows": table.rows,
        "measure": table.measure, **table.options,
    }  # fmt: skip


def _columns(stage: Stage) -> list[tuple[str, Any]]:
    """Names in the context of the stage's items, each as a researcher knows it."""
    names = (name for name in context_names(stage) if name not in NO_COLUMN)
    return [(name, COLUMN_LABELS.get(name, _("Their “%(name)s”") % {"name": name})) for name in names]


def _used_members(stage: Stage) -> frozenset[str]:
    """Which of these the items of a stage have. One query."""
    largest = stage.items.filter(withdrawn_at=None).aggregate(**{name: Max(name) for name in MEMBERS})
    return frozenset(name for name, value in largest.items() if value)


def _fields(stage: Stage) -> list[dict[str, Any]]:
    return [row for row in stage.sheet.get("fields", []) if isinstance(row, dict) and row.get("key")]


def _is_coded(row: Mapping[str, Any]) -> bool:
    """Whether its answers are codes, which can be counted."""
    try:
        sheet = Sheet.from_json({"fields": [without_references(row)]})
    except SheetError:
        return False
    return sheet.level(str(row["key"])) in CODED
