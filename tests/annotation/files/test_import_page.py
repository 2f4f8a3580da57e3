"""The page of imports tells this sheet's own keys and codes, and gives a table to begin with that comes in as it is."""

import pytest

from annotation.models import Annotation, Campaign
from annotation.services.campaigns import lifecycle
from tests.annotation.chain.factories import a_field
from tests.annotation.files.test_answer_files import import_answers
from tests.evaluation.data import an_open_campaign
from tests.importing import outcomes
from tests.module_world import built_once
from tests.personas import World


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(4)
    return an_open_campaign(world)


def path(campaign: Campaign) -> str:
    return f"/b/{campaign.stage.benchmark.slug}/campaigns/{campaign.pk}/answers/import/"


def test_it_tells_the_keys_and_codes_of_this_sheet(world: World, campaign: Campaign) -> None:
    page = world.client(world.mara).get(path(campaign)).content.decode()
    assert "<code>relevance</code>" in page and "1, 2, 3, 4, 5" in page and "?example=1" in page


def test_the_example_comes_in_as_it_is(world: World, campaign: Campaign) -> None:
    reply = world.client(world.mara).get(path(campaign) + "?example=1")
    assert reply["Content-Type"].startswith("text/csv") and 'filename="ratings.csv"' in reply["Content-Disposition"]
    job = import_answers(campaign, reply.content, "ratings.csv")
    assert set(outcomes(job).values()) == {("created", "")} and len(outcomes(job)) == 6, list(job.rows.values())
    raters = Annotation.objects.filter(assignment__campaign=campaign).values_list("rater__kind", flat=True)
    assert sorted(raters) == ["model"] * 2 + ["person"] * 4
    for user in (world.reviewer, world.nour, world.stranger, world.rival):
        assert world.client(user).get(path(campaign) + "?example=1").status_code == 404


@pytest.mark.parametrize(
    "config",
    [{}, {"max_area": 0.3}, {"max_area": 0.05}, {"min_area": 0.2}, {"min_area": 0.9, "least": 2, "most": 2},
     {"labels": [{"code": "lamp", "label": {"en": "Lamp"}}], "label_required": True}],
)  # fmt: skip
def test_the_example_of_a_sheet_of_boxes_shows_how_a_box_is_written(world: World, config: dict[str, object]) -> None:
    stage = world.stage
    stage.sheet = {"fields": [a_field("box", "box", **config)]}
    stage.save()
    world.add_items(2)
    boxes = an_open_campaign(world)
    page = world.client(world.mara).get(path(boxes)).content.decode()
    assert "{&quot;x0&quot;: " in page and "fractions of the upright picture" in page
    data = world.client(world.mara).get(path(boxes) + "?example=1").content
    job = import_answers(boxes, data, "ratings.csv")
    assert set(outcomes(job).values()) == {("created", "")} and len(outcomes(job)) == 6, list(job.rows.values())


def test_the_job_says_what_stands_and_where_to_go(world: World, campaign: Campaign) -> None:
    data = world.client(world.mara).get(path(campaign) + "?example=1").content
    job = import_answers(campaign, data, "ratings.csv")
    page = world.client(world.mara).get(f"/jobs/{job.pk}/").content.decode()
    assert "6, of 3 raters to 2 items" in page
    assert f'href="/b/{world.benchmark.slug}/agreement/"' in page and "View results" in page


def test_a_job_that_took_nothing_says_so_and_names_the_tick(world: World, campaign: Campaign) -> None:
    empty = lifecycle.create(world.stage, "Empty", world.owner, {world.egypt: 2})
    lifecycle.open_campaign(empty, None, campaign.opened_at)  # type: ignore[arg-type]
    row = b'{"item": "lost", "rater": "r1", "cohort": "Egypt", "field": "relevance", "code": "3"}'
    job = import_answers(empty, row, "a.jsonl")
    assert "or select “Create missing items”" in job.rows.get().message
    page = world.client(world.mara).get(f"/jobs/{job.pk}/").content.decode()
    assert "No rows were imported" in page and "View results" not in page
