"""A form that makes items of what is typed into it: one line for each, without a file."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.core.files.base import ContentFile
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from benchmarks.imports.columns import columns_of, sample_columns
from benchmarks.imports.records import LENGTHS
from benchmarks.models import Stage
from benchmarks.rules.displays import PAIRED_DISPLAYS, TEXT_ON_SHEET, context_columns
from benchmarks.rules.typed_rows import TypedLine, key_of, typed_lines
from people.forms.base import StyledFormMixin

MOST_ROWS = 200
MOST_LETTERS = 200_000
OF_FILES = frozenset({"file", "role", "alt", "key", "fact.<key>", "…"})
"""Columns that a typed row cannot have, or that are made for it."""


class TypedRowsForm(StyledFormMixin, forms.Form):
    """Up to 200 items of words, with the columns that are ticked."""

    prefix = "rows"
    rows = forms.CharField(
        label=_("Items"), max_length=MOST_LETTERS, widget=forms.Textarea(attrs={"rows": 6, "dir": "auto"}),
        help_text=_("One a line, at most 200. Several columns are separated by | or a tab, as a spreadsheet pastes."),
    )  # fmt: skip
    columns = forms.MultipleChoiceField(
        label=_("Columns, in this order"), widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one column.")},
    )  # fmt: skip

    def __init__(self, *args: Any, stage: Stage, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        columns = [column for column in columns_of(stage) if column.name not in OF_FILES]
        self.names = [column.name for column in columns]
        self.shown = [name for name in self.names if name in _shown(stage)] or self.names[:1]
        ticked = [column.name for column in columns if column.needed or column.name in self.shown]
        self.fields["columns"].choices = [(name, name) for name in self.names]  # type: ignore[attr-defined]
        self.fields["columns"].initial = ticked
        if len(ticked) > 1:
            each_line = _("Each line: %(columns)s.") % {"columns": " | ".join(ticked)}
            self.fields["rows"].help_text = f"{each_line} {self.fields['rows'].help_text}"

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if self.errors:
            return data
        columns = [name for name in self.names if name in data["columns"]]
        lines = typed_lines(data["rows"], several=len(columns) > 1)
        if len(lines) > MOST_ROWS:
            text = _("These are %(n)s lines. Type at most %(most)s at once, or import a manifest.")
            self.add_error("rows", text % {"n": len(lines), "most": MOST_ROWS})
            return data
        data["items"] = self._items(lines, columns)
        return data

    def _items(self, lines: list[TypedLine], columns: list[str]) -> list[dict[str, str]]:
        """A row for each line. Every line that is none is an error of its own."""
        named_by = [name for name in columns if name in self.shown] or columns[:1]
        rows, first_lines = [], dict[str, int]()
        for line in lines:
            if len(line.parts) > len(columns) or not line.parts[0]:
                text = _("Line %(number)s has %(n)s parts. Ticked are %(most)s columns: %(names)s.")
                names = {"n": len(line.parts), "most": len(columns), "names": ", ".join(columns)}
                self.add_error("rows", text % {"number": line.number, **names})
                continue
            row = dict(zip(columns, line.parts + ("",) * (len(columns) - len(line.parts)), strict=True))
            row["key"] = key_of(row, named_by)
            long = next((name for name, value in row.items() if len(value) > LENGTHS.get(name, MOST_LETTERS)), "")
            if long:
                text = _("Line %(number)s: “%(name)s” is longer than %(most)s characters. Shorten it.")
                self.add_error("rows", text % {"number": line.number, "name": long, "most": LENGTHS[long]})
            elif row["key"] in first_lines:
                text = _("Line %(number)s repeats line %(first)s. Remove one of them.")
                self.add_error("rows", text % {"number": line.number, "first": first_lines[row["key"]]})
            else:
                rows.append(row)
            first_lines.setdefault(row["key"], line.number)
        return rows

    def manifest(self) -> ContentFile[bytes]:
        """The rows of the valid form, for the import of items."""
        rows = self.cleaned_data["items"]
        name = ngettext("%(n)s typed item", "%(n)s typed items", len(rows)) % {"n": len(rows)}
        lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        return ContentFile(lines.encode(), name=f"{name}.jsonl")


def _shown(stage: Stage) -> set[str]:
    """What the sheet shows of an item without a picture; the concept, where the recipe's items are concepts alone."""
    options = set(context_columns(stage.display, Stage.Pictures.NONE))
    has_text = stage.display in TEXT_ON_SHEET and stage.display not in PAIRED_DISPLAYS
    shown = options | {"text"} if has_text else options
    of_recipe = sample_columns(stage)
    return {"concept"} if "concept" in of_recipe and not shown & of_recipe else shown
