"""What a person tells of a model, in JSON."""

import json
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.imports.rows import MOST_ABOUT, clean
from benchmarks.imports.problems import RowProblem


def about_in(text: str) -> dict[str, Any]:
    """Raises ValidationError."""
    text = text.strip()
    if not text:
        return {}
    try:
        parsed = clean(json.loads(text))
    except (ValueError, RecursionError, RowProblem):
        parsed = None
    if not isinstance(parsed, dict) or len(text) > MOST_ABOUT:
        raise forms.ValidationError(_('This is not a JSON object. Write it like this: {"family": "CLIP"}.'))
    return parsed
