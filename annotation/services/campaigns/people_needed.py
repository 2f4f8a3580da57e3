"""How many people a cohort needs, where those who had a part in an item may not answer it: a warning before opening."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count
from django.utils.translation import gettext as _

from annotation.models import Campaign, CampaignCohort
from annotation.queries.opened_stages import RUNNING
from benchmarks.models import Stage
from benchmarks.rules.derivations import Derivation, DerivationError, promote
from people.models import Cohort, CohortMember

BARRING = (Stage.Staffing.OTHERS, Stage.Staffing.NOT_OWN)
NAMED = 3  # cohorts that a sentence names
Targets = Mapping[int, Mapping[int, int]]
"""Answers wanted of each item, by the stage's id and the cohort's."""


@dataclass(frozen=True)
class ItemAuthors:
    """How many people may have had a part in one item: `own` whose own it is, and `every` with those whose answers it
    only refers to."""

    own: int = 0
    every: int = 0


@dataclass(frozen=True)
class PeopleShortage:
    """Cohorts with fewer people than `barred` and `wanted` together; `people` of each, by name. Where the answers are
    wanted of all cohorts together, that is one entry."""

    stage: Stage
    barred: int
    wanted: int
    people: Mapping[str, int]

    @property
    def text(self) -> str:
        named = [f"{name} {n}" for name, n in list(self.people.items())[:NAMED]]
        values = {
            "people": ", ".join([*named, *(["…"] if len(self.people) > NAMED else [])]),
            "needed": self.barred + self.wanted, "wanted": self.wanted, "barred": self.barred,
        }  # fmt: skip
        text = _(
            "Too few people: %(people)s. %(needed)s are needed: %(wanted)s answer an item, and up to %(barred)s had a "
            "part in it and may not. Invite more people, or change who may answer."
        )
        return text % values


def people_shortages(stages: Sequence[Stage], targets: Targets) -> dict[int, list[PeopleShortage]]:
    """By the stage's id, of `stages`, all those of a benchmark. A stage or cohort without a target asks nobody. Two
    queries, and none where no stage bars anybody."""
    barring = [stage for stage in stages if stage.staffing in BARRING and stage.derivation and targets.get(stage.pk)]
    if not barring:
        return {}
    asked = {cohort for stage in barring for cohort in targets[stage.pk]}
    names = {cohort.pk: cohort.name for cohort in Cohort.objects.filter(pk__in=asked).order_by("label")}
    members = _count_members(asked)
    return {stage.pk: _shortages(stage, stages, targets, names, members) for stage in barring}


def _count_members(cohorts: Iterable[int]) -> Mapping[int, int]:
    rows = CohortMember.objects.filter(cohort__in=list(cohorts), left_at=None, user__is_active=True)
    return dict(rows.order_by().values_list("cohort").annotate(n=Count("pk")))


def _shortages(
    stage: Stage, stages: Sequence[Stage], targets: Targets, names: Mapping[int, str], members: Mapping[int, int]
) -> list[PeopleShortage]:
    own = {cohort: wanted for cohort, wanted in targets[stage.pk].items() if wanted}
    groups = [list(own)] if stage.target_in_all else [[cohort] for cohort in names if cohort in own]
    short: dict[tuple[int, int], dict[str, int]] = {}
    for cohorts in filter(None, groups):
        authors = item_authors(stage, stages, targets, cohorts)
        barred = (authors.every if stage.staffing == Stage.Staffing.OTHERS else authors.own) if authors else 0
        wanted, people = max(own[cohort] for cohort in cohorts), sum(members.get(cohort, 0) for cohort in cohorts)
        if barred and people < barred + wanted:
            name = _("All cohorts") if stage.target_in_all else names[cohorts[0]]
            short.setdefault((barred, wanted), {})[name] = people
    return [PeopleShortage(stage, barred, wanted, people) for (barred, wanted), people in short.items()]


def item_authors(stage: Stage, stages: Sequence[Stage], targets: Targets, cohorts: Sequence[int]) -> ItemAuthors | None:
    """Of people of these cohorts, at most; None where that is not known: of kinds that make sets of items."""
    try:
        derivation = Derivation.from_json(stage.derivation)
    except DerivationError:
        return None
    if derivation is None:
        return ItemAuthors()
    known = []
    for source in [source for source in stages if source.key in derivation.sources and source.pk != stage.pk]:
        before = item_authors(source, stages, targets, cohorts) if source.position < stage.position else None
        if before is None:
            return None
        known.append(_authors_from(derivation, source, before, _answers(source, targets, cohorts), len(cohorts)))
    if not known or None in known:
        return None
    parts = [authors for authors in known if authors is not None]
    return ItemAuthors(max(part.own for part in parts), max(part.every for part in parts))


def _answers(source: Stage, targets: Targets, cohorts: Sequence[int]) -> int:
    """Of people of these cohorts to one item of the stage."""
    wanted = targets.get(source.pk, {})
    if source.target_in_all:
        return max(wanted.values(), default=0)
    return sum(wanted.get(cohort, 0) for cohort in cohorts)


def _authors_from(
    derivation: Derivation, source: Stage, before: ItemAuthors, answers: int, n_cohorts: int
) -> ItemAuthors | None:
    """Of an item that is made of items of `source`, which have `answers` of people each."""
    params = derivation.params
    asked = answers if derivation.of == "results" else 0
    if derivation.kind == "promote":
        authors = min(1, asked) if promote.is_per_answer(params) else asked
        return ItemAuthors(before.own + authors, before.every + authors)
    if derivation.kind == "pair":
        authors = min(1, asked) if params.get("per") == "answer" else asked
        # Sides of two cohorts have one author in each.
        sides = 1 if params.get("sides") == "unit.cohort" and n_cohorts == 1 else 2
        return ItemAuthors(sides * (before.own + authors), sides * (before.every + authors))
    if derivation.kind == "verdicts":
        judges_people = params.get("people", "none") != "none"
        refers = judges_people or params.get("references", "people_and_asker") != "none" or "where" in params
        own = before.own + min(1, asked) if judges_people else before.own
        return ItemAuthors(own, before.every + asked if refers else max(own, before.every))
    return None


def targets_now(stages: Sequence[Stage], cohorts: Iterable[int]) -> dict[int, dict[int, int]]:
    """What campaigns that are open or paused want of these cohorts; of other stages what they begin with. One query."""
    asked: dict[int, dict[int, int]] = {}
    rows = CampaignCohort.objects.filter(campaign__stage__in=stages, campaign__state__in=RUNNING).order_by("pk")
    for stage, cohort, wanted in rows.values_list("campaign__stage", "cohort", "target_answers"):
        asked.setdefault(stage, {})[cohort] = wanted
    chosen = list(cohorts)
    return {stage.pk: asked.get(stage.pk) or dict.fromkeys(chosen, stage.target_answers) for stage in stages}


def campaign_shortages(campaign: Campaign) -> list[PeopleShortage]:
    """Of a draft, before it opens. Five queries at most."""
    stages = list(campaign.stage.benchmark.stages.all())
    wanted = dict(campaign.cohorts.values_list("cohort", "target_answers"))
    targets = {**targets_now(stages, wanted), campaign.stage_id: wanted}
    return people_shortages(stages, targets).get(campaign.stage_id, [])
