from collections.abc import Collection, Mapping
from typing import Any

from django.db import transaction

from jobs.models import record
from people.models import ModelDetails, Rater, Team, User

Configuration = tuple[str, str]
"""Of a model: its name and how it was asked."""


def rater_of(user: User) -> Rater:
    """The rater a person is. Two requests at once make one: the constraint decides, get_or_create reads again."""
    rater, _made = Rater.objects.get_or_create(user=user, defaults={"kind": Rater.Kind.PERSON})
    return rater


def models_of(team: Team, wanted: Collection[Configuration]) -> dict[Configuration, Rater]:
    """The team's model raters with these names and settings; who is new is made. Needs a transaction that holds the
    team's row."""
    names = {name for name, _setting in wanted}
    rows = Rater.objects.filter(team=team, kind=Rater.Kind.MODEL, name__in=names).order_by("-pk")
    raters = {(row.name, row.setting): row for row in rows if (row.name, row.setting) in wanted}
    details = {row.name: row.about for row in ModelDetails.objects.filter(team=team, name__in=names)}
    for name, setting in wanted:
        if (name, setting) not in raters:
            raters[name, setting] = Rater.objects.create(
                kind=Rater.Kind.MODEL, team=team, name=name, setting=setting, about=details.get(name, {})
            )
    return raters


def model_conflict(known: Mapping[str, Any], new_info: Mapping[str, Any]) -> str:
    """The first thing that is known otherwise than it is told; empty for none. All benchmarks of a team share what is
    known of a model, so a file adds to it and changes nothing."""
    return next((name for name, value in new_info.items() if name in known and known[name] != value), "")


def add_model_info(rater: Rater, new_info: Mapping[str, Any], actor: User | None, scope: str) -> bool:
    """Add what was unknown of a model, and say who told it; whether there was any. Needs a transaction."""
    locked = Rater.objects.select_for_update(no_key=True).get(pk=rater.pk)
    new = {name: value for name, value in new_info.items() if name not in locked.about}
    rater.about = locked.about | new
    if new:
        Rater.objects.filter(pk=rater.pk).update(about=rater.about)
        record(actor, "model.described", scope=scope, target=f"rater:{rater.pk}", told=new)
    return bool(new)


DETAILS = ("open", "released", "parameters", "family", "training_data")
"""The keys of `Rater.about` that the form of a model asks for."""


@transaction.atomic
def save_details(team: Team, name: str, values: Mapping[str, str], actor: User) -> ModelDetails:
    """What the team says of a model, for all its raters of this name; what files told besides stays as it is."""
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    row, _new = ModelDetails.objects.update_or_create(team=team, name=name, defaults={**values, "updated_by": actor})
    raters = Rater.objects.select_for_update(no_key=True).filter(team=team, kind=Rater.Kind.MODEL, name=name)
    for rater in raters.order_by("pk"):
        other = {key: value for key, value in rater.about.items() if key not in DETAILS}
        Rater.objects.filter(pk=rater.pk).update(about=other | row.about)
    record(actor, "model.described", scope=f"team:{team.pk}", target=f"model_details:{row.pk}", told=row.about)
    return row
