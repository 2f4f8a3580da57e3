"""How pages of rows and single rows look: made from the columns, so that nothing is described twice."""

from typing import Any

from rest_framework import serializers as s

from releases.rows.changes import CHANGES, GONE
from releases.rows.columns import RowColumn
from releases.rows.kinds import RowKind

_FIELDS: dict[str, type[s.Field]] = {
    "int8": s.IntegerField,
    "int4": s.IntegerField,
    "float8": s.FloatField,
    "bool": s.BooleanField,
    "text": s.CharField,
    "person": s.CharField,
    "time": s.DateTimeField,
    "json": s.JSONField,
}


ROWS: dict[str, type[s.Serializer]] = {}


class RowCount(s.Serializer):
    count = s.IntegerField()


def row_serializer(kind: RowKind) -> type[s.Serializer]:
    """One class for each kind, so that the description has each once."""
    if kind.key not in ROWS:
        fields = {column.name: _field(column) for column in kind.written}
        if kind.key in CHANGES:
            names = ", ".join(CHANGES[kind.key].names)
            fields[GONE] = s.CharField(
                required=False, help_text=f"Of changes: why the row is gone. It has nothing else but {names}."
            )
        ROWS[kind.key] = type(f"{_name(kind)}Row", (s.Serializer,), fields)
    return ROWS[kind.key]


def page_serializer(kind: RowKind) -> type[s.Serializer]:
    fields = {
        "results": row_serializer(kind)(many=True),
        "next": s.CharField(allow_null=True, help_text="Address of the next page; null at the end."),
        "previous": s.CharField(allow_null=True, help_text="Address of the page before; null at the start."),
    }
    return type(f"{_name(kind)}Page", (s.Serializer,), fields)


def _name(kind: RowKind) -> str:
    return "".join(part.capitalize() for part in kind.key.split("_"))


def _field(column: RowColumn) -> Any:
    more = {"allow_blank": True} if _FIELDS[column.type] is s.CharField else {}
    unit = f" In {column.unit}." if column.unit else ""
    required = column.scope == "read"
    return _FIELDS[column.type](allow_null=True, required=required, help_text=column.meaning + unit, **more)
