"""Agreement over all cohorts together, where a stage asks no cohort about itself."""

from typing import Any

import pytest

from annotation.models import Campaign
from benchmarks.models import Stage
from people.models import Cohort
from tests.annotation.chain.disputed_scene import a_willing_person
from tests.annotation.chain.factories import a_stage, answer, claim_sheet, create_open_campaign, items, points
from tests.personas import World

pytestmark = pytest.mark.django_db
ITEMS = 20
# 10 items that all find good, 7 that nobody does, 3 of which one person says otherwise: 36 and 24 of 60 codes.
# D_o = 3 x 2 / 60; D_e = 2 x 36 x 24 / (60 x 59); alpha = 1 - D_o / D_e.
ALPHA = 1 - (6 / 60) / (2 * 36 * 24 / (60 * 59))


@pytest.fixture
def stage(world: World) -> Stage:
    return a_stage(world.benchmark, "pairs", {"fields": [points("good", 0, 1)]})


@pytest.fixture
def campaign(world: World, stage: Stage) -> Campaign:
    """Twenty pairs, each reviewed by one person of each of three cohorts."""
    items(stage, ITEMS)
    third = Cohort.objects.create(team=world.team, label="Peru", time_zone="America/Lima", languages=["es"])
    cohorts = (world.egypt, world.brazil, third)
    opened = create_open_campaign(stage, *cohorts, target=1)
    for place, cohort in enumerate(cohorts):
        person = a_willing_person(cohort)
        while sheet := claim_sheet(person, opened, cohort):
            number = int(sheet.unit.item.key[-3:])
            is_good = number < 10 or (number < 13 and place > 0)
            answer(sheet, good=str(int(is_good)))
    return opened


def report(world: World, query: str = "") -> dict[str, Any]:
    reply = world.client(world.mara).get(
        f"/b/{world.benchmark.slug}/agreement.json?stage=pairs&measure=alpha_nominal&{query}"
    )
    assert reply.status_code == 200, reply.content[:500]
    return reply.json()  # type: ignore[no-any-return]


def test_sixty_reviews_by_people_of_three_cohorts_give_one_alpha(world: World, campaign: Campaign) -> None:
    data = report(world)
    [pooled] = [row for row in data["rows"] if row["cohort"]["id"] == 0]
    [cell] = pooled["cells"]
    [estimate] = cell["estimates"].values() if isinstance(cell["estimates"], dict) else cell["estimates"]
    assert estimate["value"] == pytest.approx(ALPHA, abs=1e-12)
    assert (estimate["n_units"], estimate["n_raters"], estimate["n_ratings"]) == (20, 3, 60)
    within = [row for row in data["rows"] if row["cohort"]["id"]]
    assert [row["cohort"]["label"] for row in within] == ["Brazil", "Egypt", "Peru"]
    for row in within:
        [own] = row["cells"]
        [alone] = own["estimates"].values() if isinstance(own["estimates"], dict) else own["estimates"]
        assert alone["value"] is None and alone["reason"], "one person of a cohort agrees with nobody in it"


def test_the_page_and_its_files_show_all_cohorts_first_and_count_once(world: World, campaign: Campaign) -> None:
    client, base = world.client(world.mara), f"/b/{world.benchmark.slug}/agreement"
    page = client.get(f"{base}/?stage=pairs").content.decode()
    assert "All cohorts" in page and "60 ratings" in page and "120 ratings" not in page
    assert '<option value="all" selected>' in page
    for form in ("csv", "tex"):
        text = client.get(f"{base}.{form}?stage=pairs").content.decode()
        assert text.index("All cohorts") < text.index("Brazil")
    alone = client.get(f"{base}/?stage=pairs&by=cohort").content.decode()
    assert "<bdi>All cohorts</bdi>" not in alone and '<option value="cohort" selected>' in alone


def test_cohorts_stay_apart_where_each_is_asked_about_itself(world: World, stage: Stage, campaign: Campaign) -> None:
    Stage.objects.filter(pk=stage.pk).update(has_target=True)
    assert all(row["cohort"]["id"] for row in report(world)["rows"])
    assert report(world, "by=all")["rows"][0]["cohort"]["id"] == 0
