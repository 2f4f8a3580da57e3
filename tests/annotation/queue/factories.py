"""A small world for the queue: one team, one benchmark, cohorts, people, items; no pages."""

import itertools
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

from django.utils import timezone

from annotation.models import Assignment, Campaign, CampaignCohort
from annotation.services.answers import submit
from annotation.services.answers.submit import Submission, SubmitResult
from annotation.services.campaigns import lifecycle
from benchmarks.models import Benchmark, Item, Stage
from people.models import Cohort, CohortMember, Rater, Team, User
from tests.personas import stand_in

_number = itertools.count(1)
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SHEET = {
    "fields": [
        {
            "key": "relevance",
            "kind": "rating",
            "version": 1,
            "label": {"en": "How relevant is it?"},
            "help": {},
            "required": True,
            "config": {
                "level": "ordinal",
                "points": [
                    {"code": str(n), "label": {"en": f"Point {n}"}, "definition": {"en": "x"}} for n in range(1, 6)
                ],
            },
        }
    ]
}
SKIPS = [{"code": "unknown", "label": {"en": "I do not know this"}}]


def a_cohort(team: Team, label: str = "") -> Cohort:
    return Cohort.objects.create(team=team, label=label or f"Cohort {next(_number)}")


def a_stage(items: int = 0, *, has_target: bool = True) -> Stage:
    number = next(_number)
    team = Team.objects.create(name=f"Team {number}", slug=f"team-{number}")
    benchmark = Benchmark.objects.create(team=team, name="B", slug=f"b-{number}", pseudonym_key=secrets.token_hex())
    stage = Stage.objects.create(
        benchmark=benchmark, key="rate", name="Rate", display="image", sheet=SHEET, skip_reasons=SKIPS,
        has_target=has_target,
    )  # fmt: skip
    add_items(stage, items)
    return stage


def add_items(stage: Stage, count: int, condition: str = "natural") -> list[Item]:
    rows = (Item(stage=stage, key=f"item-{next(_number):07}", condition=condition) for _ in range(count))
    made = Item.objects.bulk_create(rows, batch_size=5000)
    stand_in(made)
    return made


def a_person(*cohorts: Cohort) -> Rater:
    user = User.objects.create(email=f"p{next(_number)}@example.org", name="P", simulated=True)
    for cohort in cohorts:
        CohortMember.objects.create(cohort=cohort, user=user)
    return Rater.objects.create(kind=Rater.Kind.PERSON, user=user)


def an_open_campaign(
    items: int = 3, target: int = 1, *, labels: Sequence[str] = ("",), has_target: bool = True
) -> Campaign:
    stage = a_stage(items, has_target=has_target)
    cohorts = {a_cohort(stage.benchmark.team, label): target for label in labels}
    campaign = lifecycle.create(stage, "Round 1", None, cohorts, seed=7)
    lifecycle.open_campaign(campaign, None, NOON)
    return campaign


def get_campaign_cohort(campaign: Campaign) -> CampaignCohort:
    return campaign.cohorts.select_related("campaign", "cohort").get()


def rate(assignment: Assignment, code: str = "4", *, key: str = "", at: datetime | None = None) -> SubmitResult:
    submission = Submission(raw={"relevance": code}, client_key=key or secrets.token_hex(8), active_seconds=3.5)
    return submit.submit(assignment.pk, assignment.rater, submission, at or timezone.now())
