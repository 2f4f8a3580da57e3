"""From an empty benchmark to an open chain in twelve pages, by somebody who knows no address."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import Campaign, CampaignCohort, Slot
from benchmarks.models import Item
from benchmarks.recipes.registry import recipe
from jobs.models import Job
from jobs.services import runner
from people.models import Cohort
from tests import pictures as draw
from tests.archives import pack_zip
from tests.chains.link_client import LinkClient
from tests.personas import World

pytestmark = pytest.mark.django_db
COUNTRIES = [spec.label for spec in recipe("culturalvqa").cohorts]
ITEMS = 200
MOST_PAGES = 12


def upload() -> dict[str, SimpleUploadedFile]:
    """200 items, of one country after the other. A few pictures show all: what counts here are the items."""
    shapes = {f"{n}.png": draw.png(60, 40, seed=900 + n) for n in range(5)}
    rows = [
        {"file": f"{n % 5}.png", "key": f"item-{n}", "country": COUNTRIES[n % 11], "concept": "tea", "facet": "drink"}
        for n in range(ITEMS)
    ]
    manifest = "\n".join(json.dumps(row) for row in rows).encode()
    return {
        "manifest": SimpleUploadedFile("manifest.jsonl", manifest),
        "archive": SimpleUploadedFile("pictures.zip", pack_zip(shapes)),
    }


def run_waiting_jobs() -> None:
    """What the worker does meanwhile."""
    for job in Job.objects.filter(finished_at=None):
        runner.run(job.pk)


def test_eleven_cohorts_and_200_items_are_open_within_twelve_pages(world: World) -> None:
    Cohort.objects.filter(pk=world.brazil.pk).update(label="North", country="")  # none of the recipe's
    visitor = LinkClient(world.client(world.team_admin), "/benchmarks/")
    visitor.follow("Create benchmark")
    visitor.submit("Create benchmark", {"recipe": "culturalvqa", "name": "Questions", "team": world.team.pk})

    visitor.follow("Import items")
    visitor.submit("Import", upload())
    run_waiting_jobs()
    visitor.follow("Overview")

    visitor.follow("Create cohorts")
    assert len(visitor.values("labels")) == len(COUNTRIES) == 11
    visitor.submit("Create cohorts")
    visitor.follow("Open the whole chain")
    visitor.submit("Open the chain")

    assert visitor.loads <= MOST_PAGES
    stages = len(recipe("culturalvqa").stages)
    assert Item.objects.count() == ITEMS
    assert Campaign.objects.filter(state="open").count() == stages
    assert CampaignCohort.objects.count() == 11 * stages
    assert Slot.objects.count() == ITEMS, "each cohort is asked about its own items; later stages wait for theirs"

    before = [list(model.objects.order_by("pk").values()) for model in (Campaign, CampaignCohort)]
    visitor.follow("Open the chain")
    visitor.submit("Open the chain")
    assert "Everything is open already." in visitor.page
    assert [list(model.objects.order_by("pk").values()) for model in (Campaign, CampaignCohort)] == before
    assert Slot.objects.count() == ITEMS
