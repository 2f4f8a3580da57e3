"""From the values of a row to those of a model's fields, each checked as the field wants it."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem
from benchmarks.imports.recipe_file import is_storable
from releases.rows.site.kinds import NUMBER, SiteKind, key_of

LONGEST_KEY = 700
_TEXTS = ("card", "name", "names")
_OBJECTS = ("authors",)


def parse_line(kind: SiteKind, line: bytes) -> dict[str, Any]:
    """A row of a file. Raises RowProblem."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RowProblem("not_json", _("The row is not JSON. Download the release again.")) from error
    if not isinstance(row, dict) or not is_storable(row):
        raise RowProblem("not_json", _("The row holds values that cannot be kept."))
    expected = {*kind.key_columns, *(model_field.name for model_field in kind.fields)}
    if missing := sorted(set(kind.key_columns) - set(row)):
        raise RowProblem("no_key", _("The row lacks “%(name)s”.") % {"name": missing[0]})
    return {name: value for name, value in row.items() if name in expected}


def key_text(value: Any) -> str:
    """A key as it is stored. Raises RowProblem."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if len(text) > LONGEST_KEY:
        raise RowProblem("long_key", _("The key of the row is longer than %(most)s letters.") % {"most": LONGEST_KEY})
    return text


def row_key(kind: SiteKind, row: Mapping[str, Any]) -> str:
    value = key_of(kind, row)
    if kind.key_columns == (NUMBER,) and (not isinstance(value, int) or isinstance(value, bool)):
        raise RowProblem("no_key", _("The number of the row is no number."))
    return key_text(value)


def digest(line: bytes) -> UUID:
    """Of a row as the file has it: finds changes, proves nothing."""
    return UUID(bytes=hashlib.md5(line.strip(), usedforsecurity=False).digest())


def plain_values(kind: SiteKind, row: Mapping[str, Any]) -> dict[str, Any]:
    """The values of all fields but references, by attribute. Raises RowProblem."""
    values = {}
    for model_field in kind.fields:
        if model_field.name in kind.references or model_field.name not in row:
            continue
        values[model_field.attname] = _value(model_field, row[model_field.name])
    return values


def _value(model_field: models.Field[Any, Any], raw: Any) -> Any:
    if raw is None:
        if not model_field.null and not isinstance(model_field, models.JSONField):
            raise _refused(model_field, _("It must not be empty."))
        if model_field.null or model_field.default not in (dict, list):
            return None
    if isinstance(model_field, models.JSONField):
        return _json(model_field, raw)
    if isinstance(model_field, models.BinaryField):
        return _bytes(model_field, raw)
    if isinstance(raw, dict) or (isinstance(raw, list) and model_field.get_internal_type() != "ArrayField"):
        raise _refused(model_field, _("It must be one value."))
    if isinstance(model_field, models.CharField | models.TextField) and not isinstance(raw, str):
        raise _refused(model_field, _("It must be text."))
    try:
        value = model_field.to_python(raw)
        choices = [key for key, _label in model_field.flatchoices] if model_field.choices else [value]
        if value not in choices and not (model_field.blank and value == ""):
            raise _refused(model_field, _("“%(value)s” is not among its values.") % {"value": str(value)[:40]})
        model_field.run_validators(value)
    except (ValidationError, ValueError, TypeError, OverflowError) as error:
        words = error.messages[0] if isinstance(error, ValidationError) else str(error)
        raise _refused(model_field, words[:200]) from error
    if isinstance(value, datetime) and timezone.is_naive(value):
        raise _refused(model_field, _("The time has no time zone."))
    return value


def _json(model_field: models.Field[Any, Any], raw: Any) -> Any:
    """Of the shape that pages read: the type of the default, and texts where only texts are written."""
    is_texts, is_objects = model_field.name in _TEXTS, model_field.name in _OBJECTS
    if (model_field.default is dict or is_texts) and not isinstance(raw, dict):
        raise _refused(model_field, _("It must be a JSON object."))
    if model_field.default is list and not isinstance(raw, list):
        raise _refused(model_field, _("It must be a list."))
    if is_texts and not _are_texts(raw):
        raise _refused(model_field, _("Its values must be texts."))
    if is_objects and not all(isinstance(entry, dict) and _are_texts(entry) for entry in raw):
        raise _refused(model_field, _("It must be a list of JSON objects whose values are texts."))
    return raw


def _are_texts(content: Mapping[str, Any]) -> bool:
    return all(isinstance(text, str) for text in content.values())


def _bytes(model_field: models.Field[Any, Any], raw: Any) -> bytes:
    try:
        return base64.b64decode(raw, validate=False)
    except (ValueError, TypeError) as error:
        raise _refused(model_field, _("It is not base64.")) from error


def _refused(model_field: models.Field[Any, Any], words: str) -> RowProblem:
    return RowProblem("wrong_value", f"{model_field.name}: {words}")


def filled_values(kind: SiteKind, sources: Mapping[str, Any], place: int) -> dict[str, Any]:
    """What the import puts into fields that a release has not. `sources`: by name, see SiteKind.filled."""
    values: dict[str, Any] = {}
    for name, source in kind.filled.items():
        model_field: Any = kind.model._meta.get_field(name)
        if source.startswith("="):
            values[model_field.attname] = json.loads(source[1:])
        else:
            values[model_field.attname] = place if source == "place" else sources[source]
    return values
