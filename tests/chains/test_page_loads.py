"""From an empty benchmark to an open chain of eleven cohorts and their items in twelve pages, by somebody who knows no
address."""

import json
from collections import Counter

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import Campaign, CampaignCohort, Slot
from benchmarks.models import Item
from benchmarks.recipes.registry import recipe
from papers.culturalvqa.recipe_pictures import LABELLED
from people.models import Cohort
from tests import pictures as draw
from tests.archives import pack_zip
from tests.chains.link_client import LinkClient
from tests.chains.researcher import do_waiting_work
from tests.personas import World

pytestmark = pytest.mark.django_db
COUNTRIES = [spec.label for spec in recipe("culturalvqa").cohorts]
ITEMS = 200  # of each cohort
MOST_PAGES = 12


def upload() -> dict[str, SimpleUploadedFile]:
    """The items of one country after the other. A few pictures show all: what counts here are the items."""
    shapes = {f"{n}.png": draw.png(160, 120, seed=900 + n) for n in range(5)}
    rows = [
        {"file": f"{n % 5}.png", "key": f"item-{n}", "country": COUNTRIES[n % 11], "concept": "tea", "facet": "drink",
         "fact.clip_score": "27"}
        for n in range(11 * ITEMS)
    ]  # fmt: skip
    manifest = "\n".join(json.dumps(row) for row in rows).encode()
    return {
        "manifest": SimpleUploadedFile("manifest.jsonl", manifest),
        "archive": SimpleUploadedFile("pictures.zip", pack_zip(shapes)),
    }


def test_eleven_cohorts_of_200_items_are_open_within_twelve_pages(world: World) -> None:
    Cohort.objects.filter(pk=world.brazil.pk).update(label="North", country="")  # none of the recipe's
    visitor = LinkClient(world.client(world.team_admin), "/benchmarks/")
    visitor.follow("Create benchmark")
    visitor.submit("Create benchmark", {"recipe": "culturalvqa", "name": "Questions", "team": world.team.pk})

    visitor.follow("Import items")
    visitor.submit("Import", upload())
    do_waiting_work()
    visitor.follow("Overview")

    visitor.follow("Create cohorts")
    assert len(visitor.values("labels")) == len(COUNTRIES) == 11
    visitor.submit("Create cohorts")
    visitor.follow("Open the whole chain")
    visitor.submit(visitor.button("Open "))

    assert visitor.loads <= MOST_PAGES
    do_waiting_work()
    asked = [stage.key for stage in recipe("culturalvqa").stages if stage.target_answers]
    assert Item.objects.filter(stage__key="candidates", intake="kept").count() == 11 * ITEMS
    assert sorted(Campaign.objects.filter(state="open").values_list("stage__key", flat=True)) == sorted(asked)
    assert CampaignCohort.objects.count() == 11 * (len(asked) + 1), "and a campaign for the judge"
    slots = Slot.objects.filter(cohort__campaign__stage__key="questions")
    asked_about = Counter(slots.values_list("cohort__cohort__label", flat=True))
    assert asked_about == dict.fromkeys(COUNTRIES, ITEMS), "each cohort's own"
    assert Slot.objects.count() == 11 * ITEMS + LABELLED, "later stages wait for theirs"

    before = [list(model.objects.order_by("pk").values()) for model in (Campaign, CampaignCohort)]
    visitor.follow("Open the whole chain")
    visitor.submit(visitor.button("Open "))
    assert "Everything is open already." in visitor.page
    assert [list(model.objects.order_by("pk").values()) for model in (Campaign, CampaignCohort)] == before
    assert Slot.objects.count() == 11 * ITEMS + LABELLED
