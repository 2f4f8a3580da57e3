"""What a team knows of its models, by their names in the tables."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from people.models import ModelDetails, Rater, Team

KEYS = ("open", "released", "parameters", "family", "training_data")


@dataclass(frozen=True)
class KnownModel:
    """A model of a team. `about`: what is known of it; `missing`: what nobody has said, by key."""

    name: str
    about: dict[str, Any]

    @property
    def missing(self) -> list[str]:
        return [key for key in KEYS if self.about.get(key) in (None, "")]


def known_models(team: Team) -> list[KnownModel]:
    """All models that have a rater, or details, by name. Two queries."""
    about: dict[str, dict[str, Any]] = {}
    raters = Rater.objects.filter(team=team, kind=Rater.Kind.MODEL).exclude(name="").order_by("pk")
    for name, told in raters.values_list("name", "about"):
        about[name] = about.get(name, {}) | told
    for row in ModelDetails.objects.filter(team=team):
        about[row.name] = about.get(row.name, {}) | row.about
    return [KnownModel(name, about[name]) for name in sorted(about)]


def known_model(team: Team, name: str) -> KnownModel:
    """With nothing known where the team has no such model."""
    return next((model for model in known_models(team) if model.name == name), KnownModel(name, {}))


def without_detail(team: Team, names: Collection[str], key: str) -> Sequence[str]:
    """Those of these models of which nobody has said this."""
    known = {model.name for model in known_models(team) if key not in model.missing}
    return sorted(set(names) - known)
