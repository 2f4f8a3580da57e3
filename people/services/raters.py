from collections.abc import Mapping
from typing import Any

from people.models import Rater, Team, User

Configuration = tuple[str, str]
"""Of a model: its name and how it was asked."""


def rater_of(user: User) -> Rater:
    """The rater a person is. Two requests at once make one: the constraint decides, get_or_create reads again."""
    rater, _made = Rater.objects.get_or_create(user=user, defaults={"kind": Rater.Kind.PERSON})
    return rater


def models_of(team: Team, wanted: Mapping[Configuration, Mapping[str, Any]]) -> dict[Configuration, Rater]:
    """The team's model raters with these names and settings; who is new is made. `wanted`: with what is told of each,
    which is added to what is known. Needs a transaction that holds the team's row."""
    names = {name for name, _setting in wanted}
    rows = Rater.objects.filter(team=team, kind=Rater.Kind.MODEL, name__in=names).order_by("-pk")
    found = {(row.name, row.setting): row for row in rows if (row.name, row.setting) in wanted}
    for (name, setting), about in wanted.items():
        rater = found.get((name, setting))
        if rater is None:
            found[name, setting] = Rater.objects.create(
                kind=Rater.Kind.MODEL, team=team, name=name, setting=setting, about=dict(about)
            )
        elif {**rater.about, **about} != rater.about:
            rater.about = {**rater.about, **about}
            rater.save(update_fields=["about"])
    return found
