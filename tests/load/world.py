"""Runs beside a real instance: `python -m tests.load.world make ITEMS PEOPLE`, `... writing PEOPLE`, `... count`."""

import json
import sys
from typing import Any

import django


def make(items: int, people: int) -> dict[str, Any]:
    """A campaign with three places for each item, and signed-in people."""
    from tests.annotation.queue import factories
    from tests.load.server import session_of

    stage = factories.a_stage()
    pictured(stage, items)
    cohort = factories.a_cohort(stage.benchmark.team)
    campaign = factories.campaigns.create(stage, "Load", None, {cohort: 3}, seed=1)
    factories.campaigns.open_campaign(campaign, None, factories.timezone.now())
    raters = [factories.a_person(cohort) for _ in range(people)]
    return {"campaign": campaign.pk, "sessions": [session_of(rater.user) for rater in raters]}


def writing(people: int) -> dict[str, Any]:
    """A campaign that asks for a text, and signed-in people."""
    from tests.annotation.queue import factories
    from tests.load.server import session_of

    stage = factories.a_stage()
    label = {"en": "What happens here?"}
    stage.sheet = {"fields": [{"key": "story", "kind": "text", "label": label, "config": {"long": True}}]}
    stage.save()
    pictured(stage, people + 1)
    cohort = factories.a_cohort(stage.benchmark.team)
    campaign = factories.campaigns.create(stage, "Writing", None, {cohort: people}, seed=1)
    factories.campaigns.open_campaign(campaign, None, factories.timezone.now())
    raters = [factories.a_person(cohort) for _ in range(people)]
    return {"campaign": campaign.pk, "sessions": [session_of(rater.user) for rater in raters]}


def pictured(stage: Any, items: int) -> None:
    """Items that all show one picture, which need not be there: addresses are made, and no browser asks for them."""
    from benchmarks.models import Image, ItemImage
    from tests.annotation.queue import factories

    image = Image.objects.create(
        team=stage.benchmark.team, sha256=f"{items:064}", format="jpeg", bytes=1, width=1200, height=900
    )
    made = factories.add_items(stage, items)
    ItemImage.objects.filter(item__in=made).update(image=image, alt="A picture")


def count() -> dict[str, Any]:
    """What the database holds now."""
    from annotation.models import Annotation, Assignment, Rating, Slot
    from annotation.services import recount

    live = Rating.objects.filter(live=True).values_list("annotation__assignment_id", "code")
    twice = Assignment.objects.exclude(state="released").values_list("unit_id", "rater_id")
    return {
        "stored": {str(assignment): code for assignment, code in live},
        "annotations": Annotation.objects.count(),
        "counted": Annotation.objects.filter(counted=True).count(),
        "slots": sorted(set(Slot.objects.values_list("wanted", "reserved", "submitted"))),
        "twice": len(twice) - len(set(twice)),
        "differences": [str(one) for one in recount.look()],
    }


if __name__ == "__main__":
    django.setup()
    act = {"make": make, "writing": writing, "count": count}[sys.argv[1]]
    print(json.dumps(act(*map(int, sys.argv[2:]))))
