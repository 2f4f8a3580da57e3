"""Whose answers a file holds. An export names its raters by pseudonym: where it came from, they are known."""

import re
from collections.abc import Collection

from annotation.models import Campaign, Participation
from annotation.services.allocation import lock_seat
from benchmarks.models import Benchmark
from people.models import Rater

Name = tuple[str, str]
"""Kind and name, as the file has them."""
PSEUDONYM = re.compile(r"R-[0-9a-f]{12}")


def raters_for(campaign: Campaign, names: Collection[Name]) -> dict[Name, Rater]:
    """One person is one rater: a pseudonym of this benchmark means who bears it there. All others have no account, and
    are known by kind and name within the team; who is new is made. Needs a transaction that holds the team's row.

    The places of those who work in the campaign themselves are locked, so that what they have there stays so.
    """
    benchmark = campaign.stage.benchmark
    known = _bearers(benchmark, {name for _kind, name in names})
    found = {(kind, name): known[name] for kind, name in names if name in known}
    rest = sorted(set(names) - set(found))
    rows = Rater.objects.filter(team=benchmark.team, user=None, name__in=[name for _kind, name in rest])
    found |= {(row.kind, row.name): row for row in rows.order_by("-pk") if (row.kind, row.name) in rest}
    for kind, name in rest:
        if (kind, name) not in found:
            found[kind, name] = Rater.objects.create(kind=kind, team=benchmark.team, name=name)
    seats = Participation.objects.filter(cohort__campaign=campaign, rater__in=[one.pk for one in known.values()])
    for seat in seats.order_by("pk").values_list("pk", flat=True):
        lock_seat(seat)
    return found


def _bearers(benchmark: Benchmark, names: Collection[str]) -> dict[str, Rater]:
    """Of these names, the pseudonyms of people who took part, and of the team's raters without an account."""
    if not any(PSEUDONYM.fullmatch(name) for name in names):
        return {}
    people = Participation.objects.filter(cohort__campaign__stage__benchmark=benchmark).values_list("rater", flat=True)
    without_account = Rater.objects.filter(team=benchmark.team, user=None).values_list("pk", flat=True)
    borne = {benchmark.pseudonym(pk): pk for pk in {*people, *without_account}}
    raters = Rater.objects.in_bulk([borne[name] for name in names if name in borne])
    return {name: raters[borne[name]] for name in names if name in borne}
