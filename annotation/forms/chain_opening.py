"""The form that opens all stages at once: stages by cohorts, with targets and dates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.forms.campaigns import LARGEST_TARGET
from annotation.services.campaigns.chain_opening import StageOpening
from benchmarks.models import Stage
from people.models import Cohort


@dataclass(frozen=True)
class StageDefaults:
    """What the form offers for a stage. `targets`: where a cohort's number differs from `target`; 0: not asked.

    `target` 0: people are not asked in this stage. It is opened for models, unless a cohort gets a number.
    """

    stage: Stage
    checked: bool
    target: int
    targets: Mapping[int, int]


class ChainForm(forms.Form):
    """A stage's own dates replace those of the chain, a cohort's own number that of the stage; 0: it is not asked."""

    opens_on = forms.DateField(label=_("Opens on"), required=False, widget=forms.DateInput(attrs={"type": "date"}))
    closes_on = forms.DateField(label=_("Last day"), required=False, widget=forms.DateInput(attrs={"type": "date"}))

    def __init__(
        self, *args: Any, stages: Sequence[StageDefaults], cohorts: Sequence[Cohort], chosen: set[int], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.stages, self.team_cohorts = stages, cohorts
        self.fields["cohorts"] = forms.TypedMultipleChoiceField(
            coerce=int,
            choices=[(cohort.pk, cohort.name) for cohort in cohorts],
            initial=[cohort.pk for cohort in cohorts if cohort.pk in chosen],
            widget=forms.CheckboxSelectMultiple,
            error_messages={"required": _("Select at least one cohort.")},
        )
        for defaults in stages:
            self._add_stage(defaults)
        for field in self.fields.values():
            if not isinstance(field.widget, forms.CheckboxInput | forms.CheckboxSelectMultiple):
                field.widget.attrs.setdefault("class", "in")

    def _add_stage(self, defaults: StageDefaults) -> None:
        pk = defaults.stage.pk
        self.fields[f"open_{pk}"] = forms.BooleanField(required=False, initial=defaults.checked)
        self.fields[f"target_{pk}"] = _target_field(min(1, defaults.stage.target_answers), defaults.target)
        for name, label in (("opens_on", _("Opens on")), ("closes_on", _("Last day"))):
            widget = forms.DateInput(attrs={"type": "date"})
            self.fields[f"{name}_{pk}"] = forms.DateField(label=label, required=False, widget=widget)
        for cohort in self.team_cohorts:
            self.fields[f"target_{pk}_{cohort.pk}"] = _target_field(0, defaults.targets.get(cohort.pk), cohort.name)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        chosen = [defaults.stage for defaults in self.stages if data.get(f"open_{defaults.stage.pk}")]
        if not chosen:
            self.add_error(None, _("Select at least one stage."))
        _check_dates(self, "opens_on", "closes_on")
        for stage in chosen:
            _check_dates(self, f"opens_on_{stage.pk}", f"closes_on_{stage.pk}")
            if data.get(f"target_{stage.pk}") is None and f"target_{stage.pk}" not in self.errors:
                self.add_error(f"target_{stage.pk}", _("Enter a number from 1 to 1000."))
        return data

    def openings(self) -> list[StageOpening]:
        """Of the stages that are chosen, in their order. Needs a form that is valid, or one that is not bound: then as
        it is offered."""
        data = self._values()
        return [
            StageOpening(
                defaults.stage.pk,
                _targets(defaults.stage, data),
                data[f"opens_on_{defaults.stage.pk}"] or data["opens_on"],
                data[f"closes_on_{defaults.stage.pk}"] or data["closes_on"],
            )
            for defaults in self.stages
            if data[f"open_{defaults.stage.pk}"]
        ]

    def _values(self) -> dict[str, Any]:
        if self.is_bound:
            return self.cleaned_data
        return {name: self.get_initial_for_field(field, name) for name, field in self.fields.items()}


def _targets(stage: Stage, data: Mapping[str, Any]) -> dict[int, int]:
    targets = {}
    for cohort in data["cohorts"]:
        own = data[f"target_{stage.pk}_{cohort}"]
        targets[cohort] = data[f"target_{stage.pk}"] if own is None else own
    asked = {cohort: target for cohort, target in targets.items() if target}
    return asked or (targets if not stage.target_answers else {})


def _target_field(least: int, initial: int | None, label: str = "") -> forms.IntegerField:
    return forms.IntegerField(label=label, required=False, min_value=least, max_value=LARGEST_TARGET, initial=initial)


def _check_dates(form: ChainForm, first: str, last: str) -> None:
    opens, closes = form.cleaned_data.get(first), form.cleaned_data.get(last)
    if opens and closes and closes < opens:
        form.add_error(last, _("The last day lies before the first. Choose a later one."))
