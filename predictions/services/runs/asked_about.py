"""What a run asks each item about: the cohorts of its campaign, a label set, the item's own set, or gold labels.

A selection holds the choice under "asked_about": {"kind", "set", "labels", "others", "seed", "sets"}. Without it a run
asks about the cohorts, as all runs did before there were label sets.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Campaign
from annotation.queries.campaign_targets import targets_of
from benchmarks.models import CohortLabel, LabelSet
from benchmarks.queries.label_sets import spec_of
from benchmarks.queries.saved_recipes import recipe_of
from benchmarks.rules.label_sets.contract import LabelSetSpec
from benchmarks.rules.label_sets.registry import RECIPE_PREFIX
from benchmarks.services.label_sets import UnknownLabelSet, ensure
from people.models import Team

COHORTS, SET, OWN_SET, GOLD = "cohorts", "set", "own_set", "gold_and_others"
KINDS = {
    COHORTS: gettext_lazy("The cohorts of the campaign"),
    SET: gettext_lazy("The labels of a set"),
    OWN_SET: gettext_lazy("The labels of each item's own set"),
    GOLD: gettext_lazy("Each item's gold labels, and others of its own set"),
}
OWN_COLUMN, GOLD_COLUMN = "label_set", "gold"  # of an item's context
MOST_OTHERS = 1000


class AskedAboutRefused(ValueError):
    """Nothing can be asked about; the message says why and what to do."""


class Target(NamedTuple):
    """What a unit is about. `label_set`: a LabelSet's id; None where the target is a cohort's own label."""

    text: str
    label_set: int | None


class SelectedItem(NamedTuple):
    """An item as a selection reads it."""

    pk: int
    key: str
    origin: str
    own_set: str
    gold: tuple[str, ...]


def default_kind(campaign: Campaign) -> tuple[str, str]:
    """The recipe's choice for the campaign's stage, with its label set's key; empty where no recipe chooses."""
    recipe = recipe_of(campaign.stage.benchmark)
    spec = next((stage for stage in recipe.stages if stage.key == campaign.stage.key), None) if recipe else None
    if recipe is None or spec is None:
        return "", ""
    return spec.asked_about, recipe.own_label_set if spec.asked_about == SET else ""


@dataclass
class TargetChooser:
    """The targets of each item of a campaign, as a selection has them.

    Label sets are stored for the team when they are first asked about.
    """

    campaign: Campaign
    selection: Mapping[str, Any]
    _sets: dict[str, LabelSet | None] = field(default_factory=dict, init=False)
    _specs: dict[int, LabelSetSpec] = field(default_factory=dict, init=False)
    _targets: dict[int, dict[str, Target]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.about: Mapping[str, Any] = self.selection.get("asked_about") or {}
        self.kind = str(self.about.get("kind") or COHORTS)
        self.cohorts = list(targets_of(self.campaign).values())
        self._pinned: Mapping[str, str] = self.about.get("sets") or {}

    @property
    def per_item(self) -> bool:
        """Whether items have targets of their own."""
        return self.campaign.stage.has_target and self.kind in (OWN_SET, GOLD)

    def common(self) -> list[Target]:
        """The targets of every item; those of the campaign's cohorts, or of a set."""
        if not self.campaign.stage.has_target:
            return [Target("", None)]
        if self.kind == SET:
            return self._of_set(self.set_of(str(self.about.get("set") or "")), self.about.get("labels") or ())
        return [Target(text, None) for text in self.selection.get("targets") or self.cohorts]

    def of(self, item: SelectedItem) -> list[Target]:
        """The targets of an item of its own: those of its set, or its gold labels and others of the set."""
        label_set = self.set_of(item.own_set) if item.own_set.strip() else None
        if self.kind == OWN_SET:
            return self._of_set(label_set)
        return self._gold(item, label_set)

    def set_of(self, reference: str) -> LabelSet | None:
        """The team's set; None where it has none of this name."""
        if reference not in self._sets:
            try:
                self._sets[reference] = ensure(self._team, self._pinned.get(reference, reference))
            except UnknownLabelSet:
                self._sets[reference] = None
        return self._sets[reference]

    @property
    def _team(self) -> Team:
        return self.campaign.stage.benchmark.team

    def _spec(self, label_set: LabelSet) -> LabelSetSpec:
        if label_set.pk not in self._specs:
            self._specs[label_set.pk] = spec_of(label_set)
            self._targets[label_set.pk] = self._targets_by_key(label_set)
        return self._specs[label_set.pk]

    def _targets_by_key(self, label_set: LabelSet) -> dict[str, Target]:
        """The target of each label: of one that a cohort of the campaign has, the cohort's own, so that a model
        answers the items that its people answer."""
        rows = CohortLabel.objects.filter(label_set=label_set, cohort__campaigns__campaign=self.campaign)
        own = targets_of(self.campaign)
        cohorts = dict(self.campaign.cohorts.values_list("cohort", "pk"))
        of_cohort = {}
        if label_set.key.startswith(RECIPE_PREFIX):  # the labels are the names of the recipe's cohorts
            texts = set(own.values())
            of_cohort = {
                label.key: Target(label.text, None) for label in self._specs[label_set.pk].labels if label.text in texts
            }
        of_cohort |= {
            key: Target(own[cohorts[cohort]], None)
            for key, cohort in rows.order_by("-cohort").values_list("label__key", "cohort")
        }
        return {
            label.key: of_cohort.get(label.key, Target(label.text, label_set.pk))
            for label in self._specs[label_set.pk].labels
        }

    def _of_set(self, label_set: LabelSet | None, keys: Iterable[str] = ()) -> list[Target]:
        if label_set is None:
            return []
        wanted, spec = set(keys), self._spec(label_set)
        targets = self._targets[label_set.pk]
        return _once([targets[label.key] for label in spec.labels if not wanted or label.key in wanted])

    def _gold(self, item: SelectedItem, label_set: LabelSet | None) -> list[Target]:
        """Gold labels as they are written, or as the set writes them; then the others, drawn by the plan's seed."""
        if label_set is None:
            return []
        spec, gold, keys = self._spec(label_set), [], set()
        for text in item.gold:
            label = spec.find(text)
            keys |= {label.key} if label else set()
            gold.append(self._targets[label_set.pk][label.key] if label else Target(text, label_set.pk))
        if not gold:
            return []
        seed = f"{self.about.get('seed') or 0}:{item.key}"
        others = sorted(
            (label for label in spec.labels if label.key not in keys),
            key=lambda label: hashlib.sha256(f"{seed}:{label.key}".encode()).digest(),
        )
        drawn = others[: max(0, int(self.about.get("others") or 0))]
        return _once([*gold, *(self._targets[label_set.pk][label.key] for label in drawn)])


def _once(targets: Sequence[Target]) -> list[Target]:
    return list(dict.fromkeys(targets))


def gold_of(value: Any) -> tuple[str, ...]:
    """Gold labels of an item's context: a list, or a text with | between them."""
    parts = value if isinstance(value, list | tuple) else str(value or "").split("|")
    return tuple(text for text in (str(part).strip() for part in parts) if text)


def pinned(campaign: Campaign, selection: Mapping[str, Any], references: Iterable[str] = ()) -> dict[str, Any]:
    """The choice with the versions of its sets, as a run stores it: later versions do not change what it asks about.
    `references`: the sets that items name. Empty where the selection has no choice."""
    about = dict(selection.get("asked_about") or {})
    if not about:
        return {}
    chooser = TargetChooser(campaign, selection)
    names = [str(about.get("set") or "")] if about.get("kind") == SET else list(references)
    sets = {name: row.reference for name in names if name and (row := chooser.set_of(name)) is not None}
    return {"asked_about": about | {"sets": sets}}


def check(campaign: Campaign, selection: Mapping[str, Any]) -> None:
    """Raises AskedAboutRefused where a label set is unknown, empty, or none of its labels is chosen."""
    chooser = TargetChooser(campaign, selection)
    if chooser.kind != SET or not campaign.stage.has_target:
        return
    reference = str(chooser.about.get("set") or "")
    label_set = chooser.set_of(reference)
    if label_set is None:
        text = _("The team has no label set “%(name)s”. Choose another set, or import it under Targets.")
        raise AskedAboutRefused(text % {"name": reference[:130]})
    if not chooser.common():
        text = _("The label set “%(name)s” is empty. Choose labels of it, or another set.")
        raise AskedAboutRefused(text % {"name": label_set.name})


def nothing_reason(campaign: Campaign, selection: Mapping[str, Any]) -> str:
    """Why no unit is selected, where the items' own sets are the reason; else empty."""
    chooser = TargetChooser(campaign, selection)
    if not chooser.per_item:
        return ""
    if chooser.kind == GOLD:
        return _("No item has a label set and gold labels. Import them in the columns “label_set” and “gold”.")
    return _("No item has a label set that the team knows. Import it in the column “label_set”, or choose one set.")
