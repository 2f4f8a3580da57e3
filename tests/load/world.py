"""Runs beside a real instance: `python -m tests.load.world make ITEMS PEOPLE`, `... writing PEOPLE`, `... count`,
`... asked CALLS PORT`, `... ran RUN`."""

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
    campaign = factories.lifecycle.create(stage, "Load", None, {cohort: 3}, seed=1)
    factories.lifecycle.open_campaign(campaign, None, factories.timezone.now())
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
    campaign = factories.lifecycle.create(stage, "Writing", None, {cohort: people}, seed=1)
    factories.lifecycle.open_campaign(campaign, None, factories.timezone.now())
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
    from annotation.services.queue import recount

    live = Rating.objects.filter(live=True).values_list("annotation__assignment_id", "code")
    twice = Assignment.objects.exclude(state="released").values_list("unit_id", "rater_id")
    return {
        "stored": {str(assignment): code for assignment, code in live},
        "annotations": Annotation.objects.count(),
        "counted": Annotation.objects.filter(counted=True).count(),
        "slots": sorted(set(Slot.objects.values_list("wanted", "reserved", "submitted"))),
        "twice": len(twice) - len(set(twice)),
        "differences": [str(one) for one in recount.find_differences()],
    }


def asked(calls: int, port: int) -> dict[str, Any]:
    """A run of so many calls to the model server at this port, begun."""
    from annotation.models import Campaign
    from predictions.models import Endpoint, Prices
    from predictions.prompts import registry
    from predictions.services.runs import answer_runs
    from tests.annotation.queue import factories

    stage = factories.a_stage()
    stage.display = "words"
    stage.save()
    for number, item in enumerate(factories.add_items(stage, calls)):
        stage.items.filter(pk=item.pk).update(text=f"Text {number:05}.")
    campaign = factories.lifecycle.create(stage, "Models", None, {factories.a_cohort(stage.benchmark.team): 1})
    factories.lifecycle.open_campaign(campaign, None, factories.timezone.now())
    team, actor = stage.benchmark.team, factories.a_person().user
    endpoint = Endpoint.objects.create(
        team=team, name="Scripted", base_url=f"http://127.0.0.1:{port}/v1", most_in_flight=16, timeout_seconds=20
    )
    Prices.objects.create(endpoint=endpoint, number=1, table={"*": {"request": "0.01"}})
    plan = answer_runs.RunPlan(Campaign.objects.get(pk=campaign.pk), endpoint, "scripted", registry.prompt("sheet"))
    return {"run": answer_runs.open_run(plan, actor, factories.timezone.now()).pk}


def ran(run: int) -> dict[str, Any]:
    """What a run holds now."""
    from django.db.models import Count, Sum

    from annotation.models import Annotation
    from predictions.models import Attempt, Call, Reply, Run

    calls, attempts = Call.objects.filter(run=run), Attempt.objects.filter(call__run=run)
    stored_run = Run.objects.get(pk=run)
    asked_again = attempts.filter(outcome="reply").values("call").annotate(n=Count("pk")).filter(n__gt=1)
    return {
        "state": stored_run.state,
        "because": stored_run.stopped_because,
        "states": dict(calls.values_list("state").annotate(n=Count("pk"))),
        "replies": Reply.objects.count(),
        "replaced": Reply.objects.filter(number__gt=1).count(),
        "answers": Annotation.objects.filter(counted=True, client_key__startswith=f"run:{run}:").count(),
        "asked_again": asked_again.count(),
        "attempts": dict(attempts.values_list("outcome").annotate(n=Count("pk"))),
        "cost": str(attempts.aggregate(all=Sum("cost"))["all"] or 0),
        "counted": str(calls.aggregate(all=Sum("cost"))["all"] or 0),
        "unaccounted": str(stored_run.unaccounted),
    }


if __name__ == "__main__":
    django.setup()
    act = {"make": make, "writing": writing, "count": count, "asked": asked, "ran": ran}[sys.argv[1]]
    print(json.dumps(act(*map(int, sys.argv[2:]))))
