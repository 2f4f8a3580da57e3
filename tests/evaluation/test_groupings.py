"""Two people's groupings of the same pictures, compared on the agreement page and in its files."""

from datetime import timedelta
from typing import Any

import pytest

from annotation.models import Annotation, Campaign
from annotation.services.campaigns import lifecycle
from benchmarks.models import Item, Stage
from evaluation.queries import answer_tables
from people.models import User
from tests.browser.dedup_steps import SHEET
from tests.evaluation.data import NOON, give_ratings
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db


def grouping(text: str) -> dict[str, Any]:
    """ "ab c -d ?e": a and b are one group, c is alone, d is dropped, e is not sure; the first of a group is kept."""
    parts = text.split()
    unsure = [part[1:] for part in parts if part[0] == "?"]
    groups = [list(part) for part in parts if part[0] not in "-?"] + [[one] for one in unsure]
    return {
        "groups": [{"images": one, "kept": [] if one[0] in unsure else one[:1], "roles": {}} for one in groups],
        "dropped": [part[1:] for part in parts if part[0] == "-"],
        "unsure": unsure,
    }


@built_once
def compared(world: World) -> Campaign:
    """Three concepts; nour and tarek have grouped them all, bia is another culture's."""
    stage = Stage.objects.create(
        benchmark=world.benchmark,
        key="look-alikes",
        name="Similar pictures",
        display="contact",
        sheet=SHEET,
        position=1,
    )
    items = [Item.objects.create(stage=stage, key=f"concept-{at}", concept=f"concept {at}") for at in range(3)]
    campaign = lifecycle.create(stage, "Similar pictures", world.owner, {world.egypt: 2, world.brazil: 1})
    lifecycle.open_campaign(campaign, world.owner, NOON)
    answers = {
        world.nour: ["abc d", "ab c d", "ab cd -e"],
        world.tarek: ["ab cd", "ab c d", "ab c d -e"],
        world.bia: ["abcd", "abcd", "abcde"],
    }
    for user, texts in answers.items():
        answer(campaign, world.brazil if user == world.bia else world.egypt, user, dict(zip(items, texts, strict=True)))
    return campaign


def answer(campaign: Campaign, cohort: Any, user: User, texts: dict[Item, str]) -> None:
    given = give_ratings(campaign, cohort, user, dict.fromkeys(texts, "1"))
    for row, text in zip(given, texts.values(), strict=True):
        row.ratings.all().delete()
        Annotation.objects.filter(pk=row.pk).update(answers={"duplicates": grouping(text)})


def cells(world: World, query: str = "") -> dict[str, dict[str, Any]]:
    address = f"/b/{world.benchmark.slug}/agreement.json?stage=look-alikes&measure=table&{query}"
    rows = world.client(world.mara).get(address).json()["rows"]
    return {row["cohort"]["label"]: row["cells"][0]["estimates"] for row in rows}


def test_two_people_are_compared_within_their_cohort(world: World, compared: Campaign) -> None:
    """n11 1, 1, 1; A + B = 3 + 2, 1 + 1, 2 + 1: 2 x 3 / 10."""
    egypt_cells = cells(world)["Egypt"]
    assert egypt_cells["pairwise_f1"]["value"] == pytest.approx(0.6)
    # (1 - 1) + (1 - 1/6) + (1 - 2/6) over (2.5 - 1) + (1 - 1/6) + (1.5 - 2/6)
    assert egypt_cells["adjusted_rand"]["value"] == pytest.approx((5 / 6 + 4 / 6) / (1.5 + 5 / 6 + 7 / 6))
    assert egypt_cells["keep_alpha"]["n_ratings"] == 6 and egypt_cells["keep_alpha"]["extras"]["n_pictures"] == 13
    assert egypt_cells["pairwise_f1"]["interval_reason"] == "too_few_raters_for_interval"
    assert cells(world, "interval=units")["Egypt"]["pairwise_f1"]["low"] < 0.6
    assert cells(world)["Brazil"]["pairwise_f1"]["reason"] == "too_few_raters"


def test_the_page_says_it_in_words(world: World, compared: Campaign) -> None:
    page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/agreement/?stage=look-alikes").content.decode()
    assert "Pairwise F1 of groupings" in page and "0.60" in page and "n = 3 × 2" in page
    assert "No interval: fewer than 3 raters" in page
    assert "not corrected for chance" in page and "0 is chance" not in page
    assert "Similar pictures" in page


def test_what_does_not_count_is_left_out_and_may_be_asked_for(world: World, compared: Campaign) -> None:
    tarek = Annotation.objects.filter(rater__user=world.tarek)
    tarek.update(counted=False, uncounted_because="surplus")
    assert cells(world)["Egypt"]["adjusted_rand"]["reason"] == "too_few_raters"
    assert cells(world, "counted=all")["Egypt"]["adjusted_rand"]["value"] is not None
    tarek.update(live=False)
    assert cells(world, "counted=all")["Egypt"]["adjusted_rand"]["reason"] == "too_few_raters"


def test_of_many_weeks_the_latest_are_shown_and_the_first_of_them_holds_what_was_before(
    world: World, compared: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_tables, "WEEKS", 2)
    for week in range(3):
        answers = Annotation.objects.filter(assignment__unit__item__key=f"concept-{week}")
        answers.update(submitted_at=NOON + timedelta(weeks=week))
    address = f"/b/{world.benchmark.slug}/agreement.json?stage=look-alikes&measure=table&by=time"
    rows = world.client(world.mara).get(address).json()["rows"]
    egypt = [row for row in rows if row["cohort"]["label"] == "Egypt"]
    assert [(row["part"], row["cells"][0]["rated"]["n_units"]) for row in egypt] == [
        ("2026-03-08", 2), ("2026-03-15", 3),
    ]  # fmt: skip


def test_a_picture_somebody_is_unsure_of_is_compared_for_nobody(world: World, compared: Campaign) -> None:
    first = Annotation.objects.filter(rater__user=world.tarek).order_by("pk")[0]
    Annotation.objects.filter(pk=first.pk).update(answers={"duplicates": grouping("ab d ?c")})
    found = cells(world)["Egypt"]
    assert found["pairwise_f1"]["value"] == pytest.approx(2 * 3 / (2 + 2 + 3))
    assert found["keep_alpha"]["extras"]["n_pictures"] == 12


def test_the_people_page_stays_whole(world: World, compared: Campaign) -> None:
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/people/?cohort={world.egypt.pk}")
    assert reply.status_code == 200


def test_strangers_see_nothing_of_it(world: World, compared: Campaign) -> None:
    for user in (world.stranger, world.rival, world.nour):
        assert world.client(user).get(f"/b/{world.benchmark.slug}/agreement.json?stage=look-alikes").status_code == 404


def test_a_person_sees_how_many_pictures_they_grouped_in_an_hour(world: World, compared: Campaign) -> None:
    """In their own statistics, not on the sheet: 4, 4 and 5 pictures, all in 26 seconds of active time."""
    own = Annotation.objects.filter(rater__user=world.nour).order_by("pk")
    for row, seconds in zip(own, (10, 6, 10), strict=True):
        Annotation.objects.filter(pk=row.pk).update(active_seconds=seconds)
    page = world.client(world.nour).get("/me/statistics/").content.decode()
    assert 'data-l="Pictures an hour">1,800</td>' in page
    Annotation.objects.filter(rater__user=world.nour).update(active_seconds=None)
    assert "Pictures an hour" not in world.client(world.nour).get("/me/statistics/").content.decode()
