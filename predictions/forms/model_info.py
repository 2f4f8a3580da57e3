"""What a person tells of a model: in JSON with a file, or in the form of the model's details."""

import json
import re
from datetime import date
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.imports.rows import MOST_ABOUT, clean
from benchmarks.imports.problems import RowProblem
from people.forms.base import StyledFormMixin
from people.forms.teams import validate_single_line
from people.models import ModelDetails

RELEASED = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")


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


class ModelDetailsForm(StyledFormMixin, forms.Form):
    """What figures and tables need of a model. All but the name may stay empty."""

    model = forms.CharField(
        label=_("Model"), max_length=200, help_text=_("Its name in the tables."),
        widget=forms.TextInput(attrs={"dir": "ltr", "autocomplete": "off", "spellcheck": "false"}),
    )  # fmt: skip
    access = forms.ChoiceField(
        label=_("Open or closed"), choices=[("", _("Unknown")), *ModelDetails.Access.choices], required=False
    )
    released = forms.CharField(
        label=_("Release date"), max_length=10, required=False, help_text=_("YYYY-MM-DD, YYYY-MM or YYYY."),
        widget=forms.TextInput(attrs={"dir": "ltr", "autocomplete": "off"}),
    )  # fmt: skip
    parameters = forms.CharField(
        label=_("Parameters"), max_length=40, required=False, help_text=_("Such as 7 B or 0.4 B."),
        widget=forms.TextInput(attrs={"dir": "ltr", "autocomplete": "off"}),
    )  # fmt: skip
    family = forms.CharField(label=_("Family"), max_length=80, required=False)
    training_data = forms.CharField(label=_("Training data"), max_length=1000, required=False)

    def clean_model(self) -> str:
        return validate_single_line(str(self.cleaned_data["model"]).strip())

    def clean_released(self) -> str:
        text = str(self.cleaned_data["released"]).strip()
        if text and not _is_date(text):
            raise forms.ValidationError(_("This is not a date. Write it as YYYY-MM-DD, YYYY-MM or YYYY."))
        return text

    def details(self) -> dict[str, str]:
        """As people.services.raters.save_details takes it."""
        return {name: value for name, value in self.cleaned_data.items() if name != "model"}


def _is_date(text: str) -> bool:
    if not RELEASED.fullmatch(text):
        return False
    try:
        date.fromisoformat(text + "-01-01"[len(text) - 4 :] if len(text) < 10 else text)
    except ValueError:
        return False
    return True
