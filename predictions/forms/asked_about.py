"""What a planned run asks each item about: the part of the plan's form that chooses cohorts or labels of a set."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import Campaign
from benchmarks.models import LabelSet
from benchmarks.queries.label_sets import find_offered, find_set, labels_of, newest_sets, offered_sets
from jobs.formats.numbers import parse_id
from people.models import Team
from predictions.services.runs.asked_about import (
    COHORTS,
    GOLD,
    KINDS,
    MOST_OTHERS,
    OWN_COLUMN,
    SET,
    default_kind,
)

FIELDS = ("asked_about", "label_set", "labels", "others")


class AskedAboutMixin(forms.BaseForm):
    """Fields for stages that ask about a target; other stages have none of them.

    The value of `label_set` is the id of a version that the team has, or the key of a set that it has not used yet.
    """

    def offer_targets(self, campaign: Campaign) -> None:
        """Add the fields, with the recipe's choice chosen; without a recipe's choice none is."""
        self._team: Team = campaign.stage.benchmark.team
        self.has_target = campaign.stage.has_target
        if not self.has_target:
            return
        self._default, default_set = default_kind(campaign)
        kinds = _kinds_for(campaign, self._posted("asked_about") or self._default)
        self.fields["asked_about"] = forms.ChoiceField(
            label=_("Asked about"), choices=kinds, required=False, initial=self._default,
            widget=forms.RadioSelect(attrs={"data-submits": ""}),
        )  # fmt: skip
        chosen = str(self._posted("label_set") or _value_of(self._team, default_set))
        self.fields["label_set"] = forms.ChoiceField(
            label=_("Label set"), choices=[("", _("Choose")), *set_choices(self._team, chosen)], required=False,
            initial=chosen, widget=forms.Select(attrs={"data-submits": "", "data-clears": "labels", "class": "in"}),
        )  # fmt: skip
        self.fields["labels"] = forms.MultipleChoiceField(
            label=_("Labels"), choices=_label_choices(self._team, chosen), required=False,
            widget=forms.CheckboxSelectMultiple,
        )  # fmt: skip
        self.fields["others"] = forms.IntegerField(
            label=_("Other labels for each item"), min_value=0, max_value=MOST_OTHERS, required=False, initial=5,
            help_text=_("Drawn from the item's set by the seed of the run."),
            widget=forms.NumberInput(attrs={"class": "in"}),
        )  # fmt: skip

    def _posted(self, name: str) -> Any:
        """What was sent or typed before, unchecked."""
        return self.data.get(name) if self.is_bound else self.initial.get(name)

    @property
    def about_kind(self) -> str:
        """The kind that the page shows fields for."""
        return str(self._posted("asked_about") or self._default) if self.has_target else ""

    def clean_asked_about(self) -> str:
        kind = str(self.cleaned_data["asked_about"] or self._default)
        if not kind:
            raise forms.ValidationError(_("Choose what the model is asked about."))
        return kind

    def clean_label_set(self) -> str:
        value = str(self.cleaned_data["label_set"] or "")
        if self.cleaned_data.get("asked_about") == SET and not value:
            value = _value_of(self._team, str(self.fields["label_set"].initial or ""))
        if self.cleaned_data.get("asked_about") == SET and not value:
            raise forms.ValidationError(_("Choose the label set."))
        return value

    def asked_about(self) -> dict[str, Any]:
        """The choice as a selection holds it; empty for a stage that asks about no target."""
        if not self.has_target:
            return {}
        data: Mapping[str, Any] = self.cleaned_data
        about: dict[str, Any] = {"kind": data["asked_about"]}
        if data["asked_about"] == SET:
            about |= {"set": _reference(self._team, data["label_set"]), "labels": data["labels"]}
        if data["asked_about"] == GOLD:
            about |= {"others": data["others"] or 0, "seed": data.get("seed") or 0}
        return {"asked_about": about}


def _kinds_for(campaign: Campaign, chosen: Any) -> list[tuple[str, Any]]:
    """Items' own sets are offered where an item has one."""
    own = campaign.stage.items.filter(withdrawn_at=None, context__has_key=OWN_COLUMN).exists()
    return [(kind, text) for kind, text in KINDS.items() if kind in (COHORTS, SET, chosen) or own]


def set_choices(team: Team, chosen: str = "") -> list[tuple[str, str]]:
    """The newest version of each of the team's sets, the sets it has not used yet, and the chosen older version."""
    rows = list(newest_sets(team))
    choices = [(str(row.pk), f"{row.name} · {row.version}") for row in rows]
    known = {row.key for row in rows}
    choices += [(offered.key, offered.name) for offered in offered_sets() if offered.key not in known]
    if chosen and chosen not in dict(choices):
        row = _row(team, chosen)
        choices += [(chosen, f"{row.name} · {row.version}")] if row else []
    return choices


def _row(team: Team, value: str) -> LabelSet | None:
    if label_set := parse_id(value):
        return LabelSet.objects.filter(team=team, pk=label_set).first()
    return find_set(team, value)


def _value_of(team: Team, key: str) -> str:
    """The value of the team's newest version of a set, else the key itself."""
    row = _row(team, key) if key else None
    return str(row.pk) if row else key


def _reference(team: Team, value: str) -> str:
    row = _row(team, value)
    return row.reference if row else value


def _label_choices(team: Team, chosen: str) -> list[tuple[str, str]]:
    row = _row(team, chosen) if chosen else None
    if row is not None:
        return list(labels_of(row).values_list("key", "text"))
    offered = find_offered(chosen) if chosen else None
    return [(label.key, label.text) for label in offered.labels] if offered else []
