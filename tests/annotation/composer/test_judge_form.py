"""A judge is added by one form: its stage, its items, and what a model is asked about each answer."""

import pytest

from annotation.models import StageDraft
from annotation.sheets.sheet import Sheet
from benchmarks.models import Item, Stage
from tests.annotation.chain.factories import (
    ANSWER,
    SKIPS,
    answer,
    claim_sheet,
    create_open_campaign,
    process_derivations,
)
from tests.annotation.composer.test_pages import post_form
from tests.chains.link_client import text_of
from tests.module_world import built_once
from tests.personas import World, stand_in
from tests.samples import rater

pytestmark = pytest.mark.django_db


@built_once
def answers(world: World) -> Stage:
    """A stage of pairs of texts whose one item has three answers."""
    stage = Stage.objects.create(
        benchmark=world.benchmark, key="pairs", name="Pairs", display="pair", pictures="none", sheet=ANSWER,
        has_target=False, position=1, skip_reasons=SKIPS,
    )  # fmt: skip
    stand_in([stage.items.create(key="p", context={"option_a": "A stitch in time", "option_b": "Better late"})])
    campaign = create_open_campaign(stage, world.egypt, world.brazil, target=2)
    for user, cohort in ((world.nour, world.egypt), (world.tarek, world.egypt), (world.bia, world.brazil)):
        answer(claim_sheet(rater(user), campaign, cohort), answer=f"Because of {user.name}")
    return stage


DATA = {
    "answers": "pairs|answer", "of_models": "on", "of_people": "on", "question": "Does it convince?", "scale": "three",
    "people": "1", "name": "Judge",
}  # fmt: skip


def test_one_form_makes_the_stage_with_its_items_and_a_sheet_that_says_what_was_answered(
    world: World, answers: Stage
) -> None:
    mara, url = world.client(world.mara), f"/b/{world.benchmark.slug}/stages/judge/"
    assert mara.post(url, DATA).status_code == 302
    stage = Stage.objects.get(key="judge")
    assert [len(field["config"].get("points", ())) for field in stage.sheet["fields"]] == [3]
    process_derivations()
    assert not stage.items.exists(), "one answer is missing"
    campaign = answers.campaigns.get()
    answer(claim_sheet(rater(world.caio), campaign, world.brazil), answer="Because of Caio")
    process_derivations()
    assert stage.items.count() == 4
    assert all(len(item.context["references"]) == 3 for item in stage.items.all())
    judging = create_open_campaign(stage, world.egypt)
    overview = text_of(mara.get(f"/b/{world.benchmark.slug}/").content.decode())
    assert "“Judge” has answers that no model has judged." in overview
    sheet = text_of(world.client(world.nour).get(f"/work/{judging.pk}/").content.decode())
    assert "Does it convince?" in sheet and "A stitch in time" in sheet and "Because of" in sheet


def test_two_answers_of_people_are_judged_each_against_the_other(world: World, answers: Stage) -> None:
    alone = Stage.objects.create(
        benchmark=world.benchmark, key="alone", name="Words", display="words", pictures="none", sheet=ANSWER,
        has_target=False, position=2, skip_reasons=SKIPS,
    )  # fmt: skip
    stand_in([alone.items.create(key="w", text="Patience")])
    campaign = create_open_campaign(alone, world.egypt, target=2)
    mara = world.client(world.mara)
    mara.post(f"/b/{world.benchmark.slug}/stages/judge/", {**DATA, "answers": "alone|answer"})
    judge = Stage.objects.get(key="judge")
    answer(claim_sheet(rater(world.nour), campaign, world.egypt), answer="A bird in the hand")
    page = f"/b/{world.benchmark.slug}/stages/{judge.pk}/inputs/"
    assert "judged where at least 2 people answered" in mara.get(page).content.decode()
    answer(claim_sheet(rater(world.tarek), campaign, world.egypt), answer="Haste makes waste")
    process_derivations()
    pairs = {item.context["candidate"]: item.context["references"] for item in judge.items.all()}
    assert pairs == {"A bird in the hand": ["Haste makes waste"], "Haste makes waste": ["A bird in the hand"]}
    shown = text_of(mara.get(page).content.decode())
    assert "at least 2 people" not in shown and "chosen automatically: default." in shown


def test_the_composer_shows_a_judge_that_was_made_and_changes_nothing_of_it(world: World, answers: Stage) -> None:
    mara = world.client(world.mara)
    mara.post(f"/b/{world.benchmark.slug}/stages/judge/", DATA)
    stage = Stage.objects.get(key="judge")
    before = stage.derivation, Sheet.from_json(stage.sheet).to_json(), stage.layout
    url = f"/b/{world.benchmark.slug}/stages/{stage.pk}/"
    assert "as JSON" not in mara.get(url).content.decode()
    assert post_form(mara, url, "publish").status_code == 302
    stage.refresh_from_db()
    assert (stage.derivation, Sheet.from_json(stage.sheet).to_json(), stage.layout) == before


@pytest.mark.parametrize(("change", "message"), [
    ({"of_models": "", "of_people": ""}, "Choose whose answers are judged"),
    ({"answers": "pairs|nothing"}, "Select a valid choice."),
    ({"people": "-1"}, "greater than or equal to 0"),
    ({"question": ""}, "This field is required."),
])  # fmt: skip
def test_a_wrong_value_is_refused_in_place(world: World, answers: Stage, change: dict[str, str], message: str) -> None:
    url = f"/b/{world.benchmark.slug}/stages/judge/"
    reply = world.client(world.mara).post(url, {key: value for key, value in {**DATA, **change}.items() if value})
    assert reply.status_code == 400 and message in reply.content.decode()
    assert not Stage.objects.filter(key="judge").exists()


def test_single_answers_of_people_cannot_be_judged_against_others(world: World, answers: Stage) -> None:
    mara, path = world.client(world.mara), f"/b/{world.benchmark.slug}/stages/judge/"
    Stage.objects.filter(pk=answers.pk).update(target_answers=1, has_target=True)
    refused = mara.post(path, {**DATA, "of_people": "on"})
    assert refused.status_code == 400 and "no others to judge it against" in refused.content.decode()
    Stage.objects.filter(pk=answers.pk).update(has_target=False)
    assert mara.post(path, {**DATA, "of_people": "on"}).status_code == 302, "cohorts answer the same question"


def test_only_who_works_on_the_benchmark_adds_a_judge(world: World, answers: Stage) -> None:
    url = f"/b/{world.benchmark.slug}/stages/judge/"
    for user in (world.reviewer, world.nour, world.rival, world.stranger):
        assert world.client(user).get(url).status_code == 404
        assert world.client(user).post(url, DATA).status_code == 404
    assert world.client(world.mara).get(url).status_code == 200


@built_once
def own(world: World) -> Stage:
    """A question that each cohort answers about its own culture, with two answers about each."""
    stage = Stage.objects.create(
        benchmark=world.benchmark, key="own", name="Customs", display="words", pictures="none", sheet=ANSWER,
        has_target=True, position=1, skip_reasons=SKIPS,
    )  # fmt: skip
    stand_in([stage.items.create(key="tea", text="What is tea for?")])
    campaign = create_open_campaign(stage, world.egypt, world.brazil, target=2)
    for user, cohort in (
        (world.nour, world.egypt), (world.tarek, world.egypt), (world.bia, world.brazil), (world.caio, world.brazil),
    ):  # fmt: skip
        answer(claim_sheet(rater(user), campaign, cohort), answer=f"For guests, {user.name} says")
    return stage


@pytest.mark.parametrize("judged_by", ["own", "all"])
def test_the_form_asks_who_judges_answers_about_a_culture(world: World, own: Stage, judged_by: str) -> None:
    mara, url = world.client(world.mara), f"/b/{world.benchmark.slug}/stages/judge/"
    page = mara.get(url).content.decode()
    assert "“Customs” asks each cohort about its own culture. Its answers now: Brazil 2, Egypt 2." in page
    assert '<option value="own" selected>' in page, "unless the researcher says otherwise"
    own.items.update(intake=Item.Intake.DROPPED)
    assert "Its answers now" not in mara.get(url).content.decode(), "answers to dropped items cannot be judged"
    own.items.update(intake="")
    mara.post(url, {**DATA, "answers": "own|answer", "judged_by": judged_by})
    process_derivations()
    judge = Stage.objects.get(key="judge")
    assert (judge.own_items_only, judge.layout["culture"]) == (judged_by == "own", True)
    campaign = create_open_campaign(judge, world.egypt, world.brazil)
    by_cohort = campaign.cohorts.order_by("cohort__label").values_list("cohort__label", "tallies__wanted")
    n = 2 if judged_by == "own" else 4
    assert sorted(row for row in by_cohort if row[1]) == [("Brazil", n), ("Egypt", n)]
    composed = mara.get(f"/b/{world.benchmark.slug}/stages/{judge.pk}/").content.decode()
    words = {
        "own": "Each cohort gets only the items of its own culture: Brazil 2, Egypt 2.",
        "all": "Every cohort gets all of them, and the sheet names the culture that an answer is about.",
    }
    assert words[judged_by] in composed and words["all" if judged_by == "own" else "own"] not in composed


def test_answers_about_no_culture_are_judged_by_all_as_before(world: World, answers: Stage) -> None:
    mara, url = world.client(world.mara), f"/b/{world.benchmark.slug}/stages/judge/"
    assert "Its answers now" not in mara.get(url).content.decode()
    mara.post(url, DATA)
    judge = Stage.objects.get(key="judge")
    assert not judge.own_items_only and "culture" not in judge.layout


def test_a_stage_composed_by_hand_begins_with_the_cohort_of_the_culture(world: World, own: Stage) -> None:
    mara, start = world.client(world.mara), f"/b/{world.benchmark.slug}/stages/"
    mara.post(start, {"name": "By hand", "like": ""})
    stage = Stage.objects.get(name="By hand")
    url = f"{start}{stage.pk}/"

    def drafted() -> tuple[bool, bool]:
        content = StageDraft.objects.get(stage=stage).content
        return bool(content.get("own_items_only")), bool((content.get("layout") or {}).get("culture"))

    post_form(mara, url, "save", change={"s:display": "candidate"})
    assert drafted() == (False, False), "nothing is judged yet"
    post_form(mara, url, "save", change={"s:derivation.kind": "verdicts", "m:derivation.from": "own"})
    assert drafted() == (True, True)
    post_form(mara, url, "save", change={"b:own_items_only": "0", "b:layout.culture": "0"})
    post_form(mara, url, "save", change={"s:name": "By hand, all"})
    assert drafted() == (False, False), "a choice stays"
    assert "does not name the culture that an answer is about" in mara.get(url).content.decode()


def test_answers_about_two_cultures_are_judged_by_all(world: World, answers: Stage) -> None:
    """An answer to a pair of two cultures is no cohort's own, so the choice of the form would leave it to nobody."""
    answers.items.update(answer_target="Brazil|Egypt")
    mara, url = world.client(world.mara), f"/b/{world.benchmark.slug}/stages/judge/"
    mara.post(url, {**DATA, "judged_by": "own"})
    judge = Stage.objects.get(key="judge")
    assert not judge.own_items_only and judge.layout["culture"]
