"""A form that says what each column of a table is: proposals first, the choice of a person last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks.imports.records import FACT
from benchmarks.imports.tables.mapping import ITEM_ROLES, MOST_MISSING, ColumnMapping
from benchmarks.imports.tables.roles import MISSING, ColumnRole
from benchmarks.imports.tables.table import TableLook
from benchmarks.models import Stage
from people.forms.base import StyledFormMixin

KEEP, LEAVE_OUT, ANSWER, RATER, AS_FACT = "", "-", "answer", "rater", "fact"
LABELS: Mapping[str, Any] = {
    "file": _("Picture: its name or path"),
    "key": _("Key: the item's name in this stage"),
    "role": _("Which of the item's pictures it is"),
    "text": _("Text that is shown"),
    "concept": _("Concept"),
    "country": _("Country"),
    "origin": _("Origin: any culture"),
    "condition": _("Condition"),
    "source": _("Source"),
    "licence": _("Licence"),
    "alt": _("The picture in words"),
}
OF_PICTURES = ("file", "role", "alt")
SHOWN_VALUES, LONGEST_VALUE = 3, 60


@dataclass(frozen=True)
class ColumnChoice:
    """A column as the page shows it: some of its values, its control, and why that is proposed."""

    name: str
    values: list[str]
    control: forms.BoundField
    reason: str


class TableMappingForm(StyledFormMixin, forms.Form):
    """One choice for each column of the table."""

    def __init__(
        self, *args: Any, stage: Stage, look: TableLook, proposed: list[ColumnRole], earlier: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.stage, self.look, self.proposed = stage, look, proposed
        self.is_remembered = earlier is not None
        before = ColumnMapping.from_json(earlier) if earlier else None
        roles = roles_of(before, look.columns) if before else {}
        missing = before.missing if before and before.missing is not None else MISSING
        self.fields["missing"] = forms.CharField(
            label=_("Values that mean “missing”"), required=False, max_length=500, initial=", ".join(sorted(missing)),
            help_text=_("In columns other than the text that is shown, these count as empty. Separate them by commas."),
            widget=forms.TextInput(attrs={"class": "in"}),
        )  # fmt: skip
        choices = _choices(stage)
        known = {value for value, _label in choices}
        for place, entry in enumerate(proposed):
            role = roles.get(entry.column, entry.role) if earlier else entry.role
            self.fields[f"column_{place}"] = forms.ChoiceField(
                label=entry.column, choices=choices, required=False, initial=role if role in known else KEEP,
                widget=forms.Select(attrs={"class": "in"}),
            )  # fmt: skip

    def clean_missing(self) -> str:
        missing: str = self.cleaned_data["missing"]
        if "missing" not in self.data:
            return ", ".join(sorted(MISSING))  # a program that does not ask for another list
        if missing.count(",") >= MOST_MISSING:
            raise forms.ValidationError(_("These are more than %(n)s values.") % {"n": MOST_MISSING})
        return missing

    def columns(self) -> list[ColumnChoice]:
        return [
            ColumnChoice(entry.column, self._values(entry.column), self[f"column_{place}"], self._reason(entry))
            for place, entry in enumerate(self.proposed)
        ]

    def _reason(self, entry: ColumnRole) -> str:
        return str(_("As this table was imported before.")) if self.is_remembered else entry.reason

    def _values(self, column: str) -> list[str]:
        values = dict.fromkeys(row.get(column, "").strip() for row in self.look.rows)
        return [value[:LONGEST_VALUE] for value in values if value][:SHOWN_VALUES]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        by_role: dict[str, list[int]] = {}
        for place in range(len(self.proposed)):
            by_role.setdefault(data.get(f"column_{place}") or KEEP, []).append(place)
        for role, places in by_role.items():
            if role in (*ITEM_ROLES, RATER) and len(places) > 1:
                text = _("Another column is this already. Choose one of them.")
                self.add_error(f"column_{places[-1]}", text)
        if "file" not in by_role and "key" not in by_role:
            pictures = self.stage.pictures in ("none", "optional")
            text = _("Say which column is the key.") if pictures else _("Say which column is the picture.")
            raise forms.ValidationError(text)
        return data

    def mapping(self) -> ColumnMapping:
        """Of the valid form."""
        columns: dict[str, str] = {}
        context: list[str] = []
        facts: dict[str, str] = {}
        answers: dict[str, str] = {}
        for place, entry in enumerate(self.proposed):
            role = self.cleaned_data.get(f"column_{place}") or KEEP
            if role == KEEP:
                context.append(entry.column)
            elif role == AS_FACT:
                facts[entry.column.removeprefix(FACT)] = entry.column
            elif role == ANSWER:
                answers[entry.column] = entry.column
            elif role != LEAVE_OUT:
                columns[role] = entry.column
        missing = (value.strip() for value in self.cleaned_data["missing"].split(","))
        return ColumnMapping(columns, tuple(context), facts, answers, tuple(value for value in missing if value))


def roles_of(mapping: ColumnMapping, columns: tuple[str, ...]) -> dict[str, str]:
    """Column to choice, as the form shows a mapping."""
    roles = {column: role for role, column in mapping.columns.items()}
    roles |= dict.fromkeys(mapping.facts.values(), AS_FACT) | dict.fromkeys(mapping.answers.values(), ANSWER)
    kept = set(columns) if mapping.context is None else set(mapping.context)
    return {column: roles.get(column, KEEP if column in kept else LEAVE_OUT) for column in columns}


def _choices(stage: Stage) -> list[tuple[str, Any]]:
    roles = [role for role in LABELS if not (stage.pictures == "none" and role in OF_PICTURES)]
    return [
        (KEEP, _("Keep with the item")),
        *((role, LABELS[role]) for role in roles),
        (AS_FACT, _("Fact: rules and filters can use it")),
        (RATER, _("Who answered: not part of the item")),
        (ANSWER, _("An answer: not part of the item")),
        (LEAVE_OUT, _("Leave out")),
    ]
