"""A report as JSON."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.functional import Promise

from evaluation.metrics.estimate import Estimate


def to_json(value: Any) -> Any:
    """Plain JSON types of a nested structure: an Estimate with all its parts, a moment in ISO 8601, texts in the
    reader's language."""
    if isinstance(value, Estimate):
        return to_json(value.to_json())
    if isinstance(value, Mapping):
        return {str(key): to_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(inner) for inner in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, Promise) else value
