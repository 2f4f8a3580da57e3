"""Simulated reviewers: a first decision, a second one that does not see the first, and a third where they differ."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from annotation.models import Annotation, Campaign
from annotation.services.review import reviews, second_draws, second_reviews
from demo.context import SEED, Demo
from demo.simulation import people_answers

EVERY = 100  # percent of the first decisions


@dataclass(frozen=True)
class Decision:
    """What a reviewer says of an answer; whatever is not accepted has one of the reasons of its stage."""

    name: str = "accept"
    reason: str = ""
    comment: str = ""


ACCEPT = Decision()
Decide = Callable[[Annotation, int], Sequence[Decision]]
"""Up to three decisions on an answer, whose number counts those of its country from 1."""


def review_answers(demo: Demo, campaign: Campaign, decide: Decide) -> None:
    """The two simulated reviewers decide, and the researcher where a third decision is given."""
    second_draws.set_share(campaign.stage, EVERY, SEED, demo.actor, demo.now)
    first_reviewer, *others = (*demo.reviewers, demo.actor)
    numbers: Counter[str] = Counter()
    for answer in people_answers(campaign):
        country = answer.assignment.unit.item.origin
        numbers[country] += 1
        first, *later = decide(answer, numbers[country]) or (None,)
        if first is None:
            continue
        why = {"reason": first.reason, "comment": first.comment}
        reviews.decide(answer.pk, first_reviewer, first.name, demo.now, **why)
        for turn, reviewer, decision in zip(("second", "third"), others, later, strict=False):
            why = {"reason": decision.reason, "comment": decision.comment}
            second_reviews.decide_round(answer.pk, turn, reviewer, decision.name, demo.now, **why)
