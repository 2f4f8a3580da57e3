"""CAIRE: two open campaigns of relevance ratings, partly answered by the simulated raters."""

import secrets
from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random

import annotation.services.answers.submit as answers
import annotation.services.campaigns.lifecycle as campaigns
import annotation.services.queue.next_work as allocation
from annotation.models import Assignment, Campaign
from annotation.services.queue.next_work import Work
from benchmarks.models import Stage
from demo import pictures
from demo.context import OPENED_BEFORE, Demo, picture_row
from people.models import Rater

SEED = 20261120
TARGET = 8
STEP = 50  # answers from one line of progress to the next
# condition, name of its campaign, share of their items that the simulated raters answer
CAMPAIGNS = (
    ("natural", "Relevance, natural photos", 0.8),
    ("generated", "Relevance, generated pictures", 0.45),
)


def load(demo: Demo) -> None:
    """Create the benchmark and its campaigns; `rate` answers them."""
    benchmark = demo.create_benchmark("caire-universal", "CAIRE universal, demo", "caire-demo")
    stage = benchmark.stages.get(key="relevance")
    for label in demo.cohorts:
        demo.import_items(
            stage, (picture_row(picture) for picture in pictures.of_kind("scene") if picture.country == label)
        )
    for condition, name, _share in CAMPAIGNS:
        open_campaign(demo, stage, condition, name)


def open_campaign(demo: Demo, stage: Stage, condition: str, name: str) -> None:
    campaign = campaigns.create(
        stage,
        name,
        demo.actor,
        cohorts=dict.fromkeys(demo.cohorts.values(), TARGET),
        conditions=[condition],
        summary="Say how much a picture has to do with your own country, 1 to 5.",
        seed=SEED,
    )
    campaigns.open_campaign(campaign, demo.actor, demo.now - OPENED_BEFORE)


def rate(demo: Demo) -> None:
    """The simulated raters answer a share of their items, at plausible times of the last days."""
    parts = [
        (campaign, cohort, int(cohort.slots.count() * share))
        for condition, name, share in CAMPAIGNS
        for campaign in Campaign.objects.filter(stage__benchmark__slug="caire-demo", name=name)
        for cohort in campaign.cohorts.select_related("cohort").order_by("pk")
    ]
    total = sum(count * len(demo.raters[cohort.cohort.label]) for _campaign, cohort, count in parts)
    planned = 0
    for campaign, cohort, count in parts:
        rng = Random(f"{SEED}/{campaign.name}/{cohort.cohort.label}")
        for rater in demo.raters[cohort.cohort.label]:
            bias, start = rng.gauss(0, 0.45), demo.now - timedelta(hours=rng.uniform(20, 70))
            work = allocation.get_or_claim_work(rater, cohort, start)
            for number, (at, opinion) in enumerate(opinions(count, start, rng), start=planned + 1):
                if work.current is None:
                    break
                work = answer(work.current, rater, cohort.cohort.label, opinion + bias, rng, at)
                if number % STEP == 0:
                    demo.report(f"answers {number} of {total}")
            planned += count
    demo.report(f"answers {total} of {total}")


def opinions(count: int, start: datetime, rng: Random) -> Iterator[tuple[datetime, float]]:
    """Times of answers, and how far each is from what the cohort thinks."""
    at = start
    for _ in range(count):
        at += timedelta(seconds=rng.uniform(6, 30))
        yield at, rng.gauss(0, 0.55)


def answer(assignment: Assignment, rater: Rater, label: str, noise: float, rng: Random, at: datetime) -> Work:
    """Answer or skip an item, and return the next one. A cohort rates pictures of its own country high."""
    if rng.random() < 0.02:
        return answers.skip(assignment, rater, "unknown", "", at)
    item = assignment.unit.item
    seconds = rng.uniform(4, 15)
    submission = answers.Submission(
        raw={"relevance": score(item.concept, item.origin, label, noise)},
        client_key=secrets.token_hex(16),
        shown_at=at - timedelta(seconds=seconds),
        active_seconds=round(seconds, 1),
    )
    return answers.submit(assignment, rater, submission, at).work


def score(concept: str, origin: str, label: str, noise: float) -> str:
    """The relevance of a picture for a cohort, "1" to "5": high for its own country, with a taste of the cohort."""
    taste = Random(f"{concept}/{origin}/{label}").gauss(0, 0.7)
    return str(min(5, max(1, round((4.2 if origin == label else 1.7) + taste + noise))))
