"""Agreement over all cohorts together, where a stage asks no cohort about itself."""

import re
from typing import Any

import pytest

from annotation.models import Annotation, Assignment, Campaign, Rating, Unit
from benchmarks.models import Stage
from evaluation.reports.board_agreement import compute
from people.models import Cohort, Rater
from tests.annotation.chain.disputed_scene import a_willing_person
from tests.annotation.chain.factories import a_stage, answer, claim_sheet, create_open_campaign, items, points
from tests.evaluation.data import NOON
from tests.evaluation.sample_tables import model, store_answers
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db
ITEMS = 20
# 10 items that all find good, 7 that nobody does, 3 of which one person says otherwise: 36 and 24 of 60 codes.
# D_o = 3 x 2 / 60; D_e = 2 x 36 x 24 / (60 x 59); alpha = 1 - D_o / D_e.
ALPHA = 1 - (6 / 60) / (2 * 36 * 24 / (60 * 59))


@built_once
def stage(world: World) -> Stage:
    return a_stage(world.benchmark, "pairs", {"fields": [points("good", 0, 1)]})


@built_once
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


def answer_by_model(world: World, campaign: Campaign, code: str) -> None:
    """A model's answer to every item, of no cohort."""
    rater = Rater.objects.create(kind=Rater.Kind.MODEL, team=world.team, name="Onlooker")
    for unit in Unit.objects.filter(item__stage=campaign.stage):
        assignment = Assignment.objects.create(
            campaign=campaign, unit=unit, rater=rater, state="submitted", in_hand=False, reserved_at=NOON,
            shown_at=NOON, changed_at=NOON,
        )  # fmt: skip
        annotation = Annotation.objects.create(
            assignment=assignment, rater=rater, version=1, client_key=f"m-{assignment.pk}", answers={"good": code},
            sheet_version=campaign.sheet_version, language="en", shown_at=NOON, submitted_at=NOON,
        )  # fmt: skip
        Rating.objects.create(
            annotation=annotation, campaign=campaign, unit=unit, rater=rater, field="good", code=code,
            value=float(code),
        )  # fmt: skip


def test_a_model_asked_by_three_cohorts_counts_once_for_each_item(world: World, campaign: Campaign) -> None:
    answer_by_model(world, campaign, "1")
    address = f"/b/{world.benchmark.slug}/disagreement/?stage=pairs&raters="
    pages = {kind: world.client(world.mara).get(address + kind) for kind in ("people", "both", "models")}
    assert {kind: page.status_code for kind, page in pages.items()} == dict.fromkeys(pages, 200)
    html = pages["both"].content.decode()
    row = html.split("pairs-015</bdi>", 1)[1].split("</tr>", 1)[0]
    assert "<bdi>0</bdi> <small>× 3</small>" in row and "<bdi>1</bdi> <small>× 1</small>" in row
    assert re.findall(r'class="num" data-l="Raters">(\d+)<', row) == ["4"], "three people and the model"
    assert "20 items with fewer raters are left out." in pages["models"].content.decode()


def test_cohorts_stay_apart_where_each_is_asked_about_itself(world: World, stage: Stage, campaign: Campaign) -> None:
    Stage.objects.filter(pk=stage.pk).update(has_target=True)
    assert all(row["cohort"]["id"] for row in report(world)["rows"])
    assert report(world, "by=all")["rows"][0]["cohort"]["id"] == 0


def test_where_a_question_was_not_shown_nothing_is_missing_in_all_cohorts_together(world: World, stage: Stage) -> None:
    """Six items: at the first two of three people are asked why, at the second all, at the third one."""
    why = points("why", 1, 2) | {"show_if": {"field": "good", "in": ["0"]}}
    stage.sheet = {"fields": [points("good", 0, 1), why]}
    stage.save()
    items(stage, 6)
    stage.items.filter(key__gte="pairs-004").update(condition="generated")
    third = Cohort.objects.create(team=world.team, label="Peru", time_zone="America/Lima", languages=["es"])
    cohorts = (world.egypt, world.brazil, third)
    opened = create_open_campaign(stage, *cohorts)
    for cohort, bad in zip(cohorts, ("000 001 002", "000 001", "001"), strict=True):
        person = a_willing_person(cohort)
        while sheet := claim_sheet(person, opened, cohort):
            is_bad = sheet.unit.item.key[-3:] in bad.split()
            answer(sheet, **({"good": "0", "why": "1"} if is_bad else {"good": "1"}))
    data = report(world, "by=all&field=why")
    questions = {(row["field"], row["cohort"]["id"]): row for row in data["questions"]}
    not_shown = {cohort: questions["why", cohort]["n_units_not_shown"] for cohort in (0, *(one.pk for one in cohorts))}
    assert not_shown == {0: 3, world.egypt.pk: 3, world.brazil.pk: 4, third.pk: 5}
    [row] = [row for row in data["rows"] if row["cohort"]["id"] == 0]
    # 18 places of 6 items and 3 people: 6 answers, 12 not shown
    assert row["missing_of_asked"] == 0, "each condition has its own"
    assert {cell["condition"]: cell["rated"]["n_ratings"] for cell in row["cells"]} == {"": 6, "generated": 0}
    [estimate] = questions["why", 0]["estimates"].values()
    assert estimate["reason"] == "no_variation" and estimate["missing_share"] is None
    answered = Annotation.objects.get(cohort=third, answers__why="1")
    answered.ratings.filter(field="why").update(code="2", value=2)
    [natural] = [cell for cell in report(world, "by=all&field=why")["rows"][0]["cells"] if not cell["condition"]]
    [estimate] = natural["estimates"].values()
    # Two items and three people, of whom one was not asked at one of them: 5 answers in 5 places
    assert (estimate["n_units"], estimate["n_raters"], estimate["n_ratings"]) == (2, 3, 5)
    assert estimate["missing_share"] == 0


def test_where_a_model_was_not_led_to_a_question_nothing_is_missing(world: World, stage: Stage) -> None:
    """Two people are asked why at two items, the model at the first of them: 5 answers in 6 places, one not shown."""
    why = points("why", 1, 2) | {"show_if": {"field": "good", "in": ["0"]}}
    stage.sheet = {"fields": [points("good", 0, 1), why]}
    stage.save()
    items(stage, 2)
    opened = create_open_campaign(stage, world.egypt, target=2)
    for _number in range(2):
        person = a_willing_person(world.egypt)
        while sheet := claim_sheet(person, opened, world.egypt):
            answer(sheet, good="0", why=str(1 + int(sheet.unit.item.key[-3:])))
    first, second = Unit.objects.filter(item__stage=stage).select_related("item").order_by("item__key")
    rater = model(world.team, "Near")
    store_answers(opened, rater, {(first.item, first.target): "1"}, field="why")
    store_answers(opened, rater, {(second.item, second.target): "1"}, field="good")
    [row] = report(world, "raters=both&field=why")["rows"]
    [cell] = row["cells"]
    [estimate] = cell["estimates"].values()
    assert (estimate["n_units"], estimate["n_raters"], estimate["n_ratings"]) == (2, 3, 5)
    assert (estimate["missing_share"], row["missing_of_asked"]) == (0, 0)


def test_an_item_of_another_cohorts_culture_is_not_missing_in_all_cohorts_together(world: World, stage: Stage) -> None:
    """Four items of each culture for two people of it, one of whom leaves out the last: 15 answers in 16 places. A
    table of 8 units and 4 people would have 32."""
    Stage.objects.filter(pk=stage.pk).update(own_items_only=True)
    items(stage, 8)
    stage.items.filter(key__lt="pairs-004").update(origin="Egypt")
    stage.items.filter(key__gte="pairs-004").update(origin="Brazil")
    stage.refresh_from_db()
    opened = create_open_campaign(stage, world.egypt, world.brazil, target=2)
    for cohort in (world.egypt, world.brazil):
        for most in (4, 4 if cohort == world.egypt else 3):
            person = a_willing_person(cohort)
            for _turn in range(most):
                sheet = claim_sheet(person, opened, cohort)
                answer(sheet, good=str(int(sheet.unit.item.pk % 2)))
    data = report(world, "by=all")
    [row] = [row for row in data["rows"] if row["cohort"]["id"] == 0]
    [cell] = row["cells"]
    [estimate] = cell["estimates"].values()
    assert (cell["rated"]["n_units"], cell["rated"]["n_raters"], cell["rated"]["n_ratings"]) == (8, 4, 15)
    assert (estimate["value"], estimate["n_units"], estimate["missing_share"]) == (1, 7, 0), "7 items are compared"
    assert row["missing_of_asked"] == cell["rated"]["missing_share"] == 1 / 16
    [question] = [row for row in data["questions"] if row["cohort"]["id"] == 0]
    assert [one["missing_share"] for one in question["estimates"].values()] == [0]
    page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/agreement/?stage=pairs&by=all").text
    assert "50 %" not in page and "54 %" not in page
    Stage.objects.filter(pk=stage.pk).update(own_items_only=False)
    [row] = [row for row in report(world, "by=all")["rows"] if row["cohort"]["id"] == 0]
    assert row["missing_of_asked"] == 1 - 15 / 32, "where all are asked for all, what a cohort lacks is missing"


def test_page_of_a_stage_without_a_target_opens_with_the_value_of_all_cohorts(world: World, campaign: Campaign) -> None:
    page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/agreement/?stage=pairs").content.decode()
    assert "No cohort has a value" not in page and "among the people of all cohorts together." in page


@pytest.mark.parametrize("has_target", [False, True])
def test_overview_page_and_table_have_one_value_of_all_cohorts(
    world: World, stage: Stage, campaign: Campaign, has_target: bool
) -> None:
    Stage.objects.filter(pk=stage.pk).update(has_target=has_target)
    [on_board] = [data for data in compute(world.benchmark) if data["key"] == "pairs"]
    pooled = dict(on_board["estimates"])[0]["value"]
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/tables/all-questions.json").json()
    first = reply["rows"][0]
    assert reply["columns"][0] == "All cohorts"
    assert first["cells"][0]["estimate"]["value"] == pooled is not None
    query = f"stage=pairs&by=all&measure={on_board['measure']}"
    [row, *_others] = world.client(world.mara).get(f"/b/{world.benchmark.slug}/agreement.json?{query}").json()["rows"]
    assert row["cohort"]["id"] == 0
    assert [one["value"] for one in row["cells"][0]["estimates"].values()] == [pytest.approx(pooled, abs=1e-12)]
