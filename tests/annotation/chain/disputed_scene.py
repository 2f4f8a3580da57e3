"""A chain of boxes, boxes of others in the same pictures, and a stage that settles where two of them differ."""

from typing import Any

from annotation.models import Annotation, Assignment, Resolution
from benchmarks.models import Benchmark, Item
from people.models import Cohort, Consent, ConsentVersion, Rater
from tests.annotation.chain.factories import (
    a_benchmark,
    a_field,
    a_stage,
    answer,
    claim_sheet,
    create_open_campaign,
    items,
    live_items,
    process_derivations,
)
from tests.annotation.queue.factories import a_cohort, a_person

BOX = {"fields": [a_field("box", "box", least=1, most=1)]}
MORE = [{"code": "another", "label": {"en": "Another"}}, {"code": "undecided", "label": {"en": "Cannot be decided"}}]
SETTLE = {
    "fields": [
        a_field("decision", "choice", options_from="numbers", more=MORE),
        {**BOX["fields"][0], "show_if": {"field": "decision", "in": ["another"]}},
        a_field("reason", "text"),
    ]
}
BETWEEN = [{"stage": "boxes", "field": "box"}, {"stage": "verification", "field": "box"}]
DISPUTE = {
    "kind": "disagree",
    "from": ["boxes", "verification"],
    "params": {"between": BETWEEN, "measure": "iou", "under": 0.5},
}
FIRST = [[0.0, 0.0, 1.0, 0.5]]


def a_willing_person(cohort: Cohort) -> Rater:
    """Somebody of the cohort, who gave consent where the team asks for it."""
    person = a_person(cohort)
    for version in ConsentVersion.objects.filter(team=cohort.team_id):
        Consent.objects.create(user=person.user, version=version, language="en")
    return person


def lower(share: float) -> list[list[float]]:
    """A box inside the first one that covers this share of it: their IoU."""
    return [[0.0, 0.0, share, 0.5]]


def corners(answer: list[dict[str, float]]) -> list[float]:
    """Of the one box of a stored answer."""
    return [answer[0][side] for side in ("x0", "y0", "x1", "y1")]


class Disputes:
    """A picture; the finder drew a box, and a verifier is to draw one."""

    def __init__(self, benchmark: Benchmark | None = None, cohort: Cohort | None = None) -> None:
        benchmark = benchmark or a_benchmark()
        self.boxes = a_stage(benchmark, "boxes", BOX)
        verified = {"kind": "promote", "from": ["boxes"], "params": {"context": {"first_box": "box"}}}
        self.verification = a_stage(benchmark, "verification", BOX, staffing="others", derivation=verified)
        self.settling = a_stage(benchmark, "settling", SETTLE, staffing="others", derivation=DISPUTE)
        handed_on = {"kind": "promote", "from": ["boxes"], "params": {"context": {"gold": "box"}}}
        self.later = a_stage(benchmark, "later", BOX, derivation=handed_on)
        items(self.boxes, 1)
        self.cohort = cohort or a_cohort(benchmark.team)
        stages = {"boxes": self.boxes, "verification": self.verification, "settling": self.settling}
        self.campaigns = {key: create_open_campaign(stage, self.cohort) for key, stage in stages.items()}
        self.finder, self.verifier = self.person(), self.person()

    def person(self) -> Rater:
        return a_willing_person(self.cohort)

    def claim(self, stage: str, person: Rater) -> Assignment | None:
        return claim_sheet(person, self.campaigns[stage], self.cohort)

    def answer(self, stage: str, person: Rater, **raw: Any) -> Annotation:
        given = answer(self.claim(stage, person), **raw)
        process_derivations()
        return given

    def draw_both(self, second: list[list[float]]) -> None:
        self.answer("boxes", self.finder, box=FIRST)
        self.answer("verification", self.verifier, box=second)

    def disputed(self) -> list[Item]:
        process_derivations()
        return live_items(self.settling)

    def gold(self) -> list[float]:
        """The box that the stage after the first one was handed."""
        process_derivations()
        [item] = live_items(self.later)
        return corners(item.context["gold"])

    def live(self) -> list[Resolution]:
        return list(Resolution.objects.filter(live=True))
