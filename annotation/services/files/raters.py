"""Whose answers a file holds. An export names people by pseudonym and models by their own name: where it came from,
both are known; elsewhere the models are."""

import re
from collections.abc import Collection, Mapping

from annotation.models import Campaign, Participation
from annotation.services.queue.locks import lock_participation
from benchmarks.models import Benchmark
from people.models import Rater
from people.services.raters import models_of

Name = tuple[str, str, str]
"""Kind, name and setting, as the file has them."""
PSEUDONYM = re.compile(r"R-[0-9a-f]{12}")


def raters_for(campaign: Campaign, names: Collection[Name]) -> dict[Name, Rater]:
    """One person is one rater: a pseudonym of this benchmark means who bears it there, if they are of that kind. All
    others have no account, and are known by kind, name and setting within the team; who is new is made. A model that
    goes by a person's pseudonym is left out. Needs a transaction that holds the team's row.

    The places of those who work in the campaign themselves are locked, so that what they have there stays so.
    """
    benchmark = campaign.stage.benchmark
    known = _pseudonym_owners(benchmark, {name for _kind, name, _setting in names})
    raters = {
        name_key: known[name_key[1]]
        for name_key in names
        if name_key[1] in known and known[name_key[1]].kind == name_key[0]
    }
    rest = sorted(name_key for name_key in set(names) - set(raters) if not _reject_model_as_person(name_key, known))
    models = [(name, setting) for kind, name, setting in rest if kind == Rater.Kind.MODEL]
    new_models = models_of(benchmark.team, models) if models else {}
    raters |= {(Rater.Kind.MODEL.value, *model_name): rater for model_name, rater in new_models.items()}
    raters |= _people(benchmark, [name_key for name_key in rest if name_key not in raters])
    seats = Participation.objects.filter(cohort__campaign=campaign, rater__in=[rater.pk for rater in known.values()])
    for seat in seats.order_by("pk").values_list("pk", flat=True):
        lock_participation(seat)
    return raters


def _reject_model_as_person(name_key: Name, known: Mapping[str, Rater]) -> bool:
    kind, name, _setting = name_key
    return kind == Rater.Kind.MODEL and name in known and known[name].kind == Rater.Kind.PERSON


def _people(benchmark: Benchmark, wanted: Collection[Name]) -> dict[Name, Rater]:
    """Without an account. Only models have a setting."""
    names = {name for _kind, name, _setting in wanted}
    rows = Rater.objects.filter(team=benchmark.team, user=None, kind=Rater.Kind.PERSON, name__in=names)
    known = {row.name: row for row in rows.order_by("-pk")}
    for name in sorted(names - set(known)):
        known[name] = Rater.objects.create(kind=Rater.Kind.PERSON, team=benchmark.team, name=name)
    return {name_key: known[name_key[1]] for name_key in wanted}


def _pseudonym_owners(benchmark: Benchmark, names: Collection[str]) -> dict[str, Rater]:
    """Of these names, the pseudonyms of people who took part, and of the team's raters without an account."""
    if not any(PSEUDONYM.fullmatch(name) for name in names):
        return {}
    people = Participation.objects.filter(cohort__campaign__stage__benchmark=benchmark).values_list("rater", flat=True)
    without_account = Rater.objects.filter(team=benchmark.team, user=None).values_list("pk", flat=True)
    borne = {benchmark.pseudonym(pk): pk for pk in {*people, *without_account}}
    raters = Rater.objects.in_bulk([borne[name] for name in names if name in borne])
    return {name: raters[borne[name]] for name in names if name in borne}
