"""Stages in a chain: what is accepted in one is asked about in the next."""

import itertools
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign
from annotation.services.answers import submit
from annotation.services.answers.submit import Submission
from annotation.services.campaigns import lifecycle
from annotation.services.derivation import derived_items
from annotation.services.queue import next_work
from benchmarks.models import Benchmark, Item, Stage
from people.models import Cohort, Rater, Team
from tests.annotation.queue.factories import NOON, SKIPS, a_cohort
from tests.personas import stand_in

_number = itertools.count(1)


def a_field(key: str, kind: str, **config: Any) -> dict[str, Any]:
    return {"key": key, "kind": kind, "version": 1, "label": {"en": key.title()}, "config": config}


def points(key: str, *codes: int) -> dict[str, Any]:
    rows = [{"code": str(code), "label": {"en": str(code)}} for code in codes]
    return a_field(key, "rating", level="ordinal", points=rows)


QUESTION = {"fields": [a_field("question", "text"), a_field("answer", "text")]}
ANSWER = {"fields": [a_field("answer", "text")]}
GOOD = {"fields": [points("good", 0, 1)]}
RULE = {
    "clauses": [{"key": "good", "expression": "good == 1", "words": {"en": "It is good"}}],
    "over": "majority",
}
ASKED = {"kind": "promote", "from": ["ask"], "params": {"text": "question", "context": {"said": "answer"}}}


def a_benchmark(team: Team | None = None) -> Benchmark:
    number = next(_number)
    team = team or Team.objects.create(name=f"Chain {number}", slug=f"chain-{number}")
    return Benchmark.objects.create(team=team, name="C", slug=f"c-{number}", pseudonym_key=secrets.token_hex())


def a_stage(benchmark: Benchmark, key: str, sheet: Mapping[str, Any], **more: Any) -> Stage:
    more = {"display": "image", "skip_reasons": SKIPS, "has_target": False} | more
    position = benchmark.stages.count()
    return Stage.objects.create(benchmark=benchmark, key=key, name=key.title(), sheet=sheet, position=position, **more)


def items(stage: Stage, count: int, **more: Any) -> list[Item]:
    rows = (Item(stage=stage, key=f"{stage.key}-{n:03}", **more) for n in range(count))
    made = Item.objects.bulk_create(rows)
    stand_in(made)
    return made


def create_open_campaign(stage: Stage, *cohorts: Cohort, target: int = 1, seed: int = 7) -> Campaign:
    campaign = lifecycle.create(stage, f"{stage.name} round", None, dict.fromkeys(cohorts, target), seed=seed)
    lifecycle.open_campaign(campaign, None, NOON)
    return campaign


def create_question_stages(
    acceptance: str = "on_submit", pictures: int = 1, benchmark: Benchmark | None = None, **more: Any
) -> tuple[Stage, Stage, Cohort]:
    """Questions about pictures, and answers of others to what was accepted of them."""
    benchmark = benchmark or a_benchmark()
    ask = a_stage(benchmark, "ask", QUESTION, acceptance=acceptance, **more)
    reply = a_stage(benchmark, "reply", ANSWER, staffing="others", derivation=ASKED)
    items(ask, pictures)
    return ask, reply, a_cohort(benchmark.team)


def claim_sheet(person: Rater, campaign: Campaign, cohort: Cohort, at: datetime | None = None) -> Assignment | None:
    place = campaign.cohorts.select_related("campaign__stage", "cohort").get(cohort=cohort)
    return next_work.get_or_claim_work(person, place, at or timezone.now()).current


def answer(assignment: Assignment | None, at: datetime | None = None, **raw: Any) -> Annotation:
    assert assignment is not None, "there was nothing to answer"
    submission = Submission(raw=raw, client_key=secrets.token_hex(8))
    return submit.submit(assignment.pk, assignment.rater, submission, at or timezone.now()).annotation


def process_derivations() -> int:
    return derived_items.process_due(timezone.now())


def live_items(stage: Stage) -> list[Item]:
    return list(stage.items.filter(withdrawn_at=None).order_by("key"))
