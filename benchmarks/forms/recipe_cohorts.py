from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks.recipes.contract import CohortSpec


class RecipeCohortsForm(forms.Form):
    """Which of the recipe's cohorts to create. A label that the team has is valid too: nothing is created for it."""

    labels = forms.MultipleChoiceField(error_messages={"required": _("Select at least one cohort.")})

    def __init__(self, *args: Any, specs: list[CohortSpec], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["labels"].choices = [(spec.label, spec.label) for spec in specs]  # type: ignore[attr-defined]
