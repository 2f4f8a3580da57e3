"""Choosing the runs whose answers a stage judges."""

from collections.abc import Mapping
from typing import Any

from django import forms

from annotation.services.derivation.run_choice import ModelRun


class StageInputsForm(forms.Form):
    """`run`: the checkboxes that are ticked. `shown`: whether each checkbox of the page is ticked now; no other run can
    be chosen."""

    run = forms.MultipleChoiceField(required=False)

    def __init__(self, *args: Any, shown: Mapping[str, bool], **more: Any) -> None:
        super().__init__(*args, **more)
        self.fields["run"].choices = [(value, value) for value in shown]  # type: ignore[attr-defined]
        self._shown = shown

    def choices(self) -> dict[ModelRun, bool]:
        """What was changed: whether each of these runs is chosen now."""
        ticked = set(self.cleaned_data["run"])
        return {_model_run(value): value in ticked for value, was in self._shown.items() if was != (value in ticked)}


def _model_run(value: str) -> ModelRun:
    rater, _dash, run = value.partition("-")
    return int(rater), int(run)
