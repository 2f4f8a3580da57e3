"""How a page of a list looks, whatever its rows are."""

from functools import cache
from typing import Any

from rest_framework import serializers as s


@cache
def page_of_shape(row: type[s.Serializer[Any]]) -> type[s.Serializer[Any]]:
    fields = {
        "results": row(many=True),
        "next": s.CharField(allow_null=True, help_text="Address of the next page; null at the end."),
        "previous": s.CharField(allow_null=True, help_text="Address of the page before; null at the start."),
    }
    return type(f"{row.__name__}Page", (s.Serializer,), fields)
