"""ValueGround's stages: questions as items that the survey decides about; pairs go on once all sources pass."""

import re
from collections import Counter

import pytest
from django.test import Client

from annotation.models import Campaign, Unit
from annotation.sheets.sheet import Sheet
from benchmarks.models import Benchmark, Item, ItemImage
from papers.valueground.survey.models import Survey
from papers.valueground.survey.services import decisions
from people.models import Cohort, Rater
from people.services.raters import rater_of
from predictions.prompts import registry
from predictions.queries.scenes import Scenes
from predictions.services.runs.unit_selection import scene_seed
from tests.annotation.chain.factories import answer, claim_sheet, create_open_campaign, live_items, process_derivations
from tests.chains.link_client import text_of
from tests.module_world import built_once
from tests.papers.valueground.survey_samples import CODEBOOK, EIGHT, new_benchmark, page_of, upload
from tests.personas import World, stand_in

pytestmark = pytest.mark.django_db
PASSES = {"match_a": "2", "match_b": "2", "pair_match": "2", "no_cue": "1"}
FAILS = {**PASSES, "pair_match": "0"}


@built_once
def benchmark(world: World) -> Benchmark:
    return new_benchmark(world)


@pytest.fixture
def client(world: World) -> Client:
    return world.client(world.owner)


def question_states(benchmark: Benchmark) -> Counter[str]:
    items = Item.objects.filter(stage__benchmark=benchmark, stage__key="options", withdrawn_at=None)
    return Counter(items.values_list("intake", flat=True))


def press(client: Client, benchmark: Benchmark, action: str, key: str = "", **more: str) -> str:
    reply = client.post(page_of(benchmark), {"action": action, "question": key, **more})
    return re.search(r"act=([0-9a-f-]+)", reply.url)[1] if "act=" in reply.url else ""  # type: ignore[index]


def test_questions_are_items_that_the_survey_page_decides_about(client: Client, benchmark: Benchmark) -> None:
    upload(client, benchmark, EIGHT)
    assert question_states(benchmark) == {"waiting": 7, "dropped": 1}
    item = Item.objects.get(stage__benchmark=benchmark, key="Q2")
    shown = (item.concept, item.context["option_a"], item.context["option_b"], item.context["codes"])
    assert shown == ("Q2", "Better", "Worse", [1, 3]) and item.context["flags"] == ["adjusted"]
    act = press(client, benchmark, "confirm", "Q2")
    press(client, benchmark, "exclude", "Q6", reason="factual")
    assert question_states(benchmark) == {"waiting": 5, "dropped": 2, "kept": 1}
    press(client, benchmark, "undo", act=act)
    assert question_states(benchmark) == {"waiting": 6, "dropped": 2}
    press(client, benchmark, "include", "Q6")
    assert question_states(benchmark) == {"waiting": 7, "dropped": 1}


def test_a_later_version_keeps_decisions_and_withdraws_questions_that_it_lacks(
    client: Client, benchmark: Benchmark, world: World
) -> None:
    upload(client, benchmark, EIGHT)
    press(client, benchmark, "confirm", "Q10")
    upload(client, benchmark, {"codebook": {key: entry for key, entry in CODEBOOK.items() if key != "Q8"}})
    assert question_states(benchmark) == {"waiting": 5, "dropped": 1, "kept": 1}
    assert Item.objects.get(stage__benchmark=benchmark, key="Q8").withdrawn_because == "survey"
    upload(client, benchmark, {"codebook": CODEBOOK})
    assert question_states(benchmark) == {"waiting": 6, "dropped": 1, "kept": 1}, "it is back, and to be decided"


def test_a_benchmark_that_got_the_stage_later_is_filled_by_the_next_decision(
    client: Client, benchmark: Benchmark, world: World
) -> None:
    benchmark.stages.get(key="options").delete()
    upload(client, benchmark, EIGHT)
    other = new_benchmark(world, "later").stages.get(key="options")
    other.benchmark = benchmark
    other.save()
    survey = Survey.objects.get(benchmark=benchmark)
    decisions.confirm(survey.questions.get(key="Q10"), world.owner)
    assert question_states(benchmark) == {"waiting": 6, "dropped": 1, "kept": 1}


def test_the_overview_leads_to_the_survey(client: Client, benchmark: Benchmark, world: World) -> None:
    page = client.get(f"/b/{benchmark.slug}/").content.decode()
    assert "There is no survey yet." in text_of(page) and page_of(benchmark, "import") in page
    column = re.search(r'data-stage="options".*?</th>', page, re.DOTALL)
    assert column and f'href="{page_of(benchmark)}"' in column[0], "a survey brings the questions, and no list of words"
    assert "Items come from the page “Survey”." in page and "Import a list of words" not in page
    assert "There is no survey yet." not in world.client(world.stranger).get(f"/b/{benchmark.slug}/").content.decode()
    upload(client, benchmark, EIGHT)
    page = client.get(f"/b/{benchmark.slug}/").content.decode()
    assert "7 questions wait for a decision." in text_of(page) and page_of(benchmark) in page
    press(client, benchmark, "confirm", "Q2")
    page = text_of(client.get(f"/b/{benchmark.slug}/").content.decode())
    assert "questions wait for a decision" not in page, "what is confirmed can go on"
    assert "6 wait for a decision" in page and "wait for a fact" not in page, "people decide on the page of the survey"


def add_pairs(benchmark: Benchmark, *names: str) -> list[Item]:
    """Pairs under review, each of a question and a source, as "Q1 s1"."""
    stage = benchmark.stages.get(key="pair-review")
    rows = [
        Item(stage=stage, key=name.replace(" ", "-"), concept=name.split()[0], condition=name.split()[1],
             text="Is it so?", context={"option_a": "Yes", "option_b": "No"})
        for name in names
    ]  # fmt: skip
    items = Item.objects.bulk_create(rows)
    stand_in(items)
    uses = ItemImage.objects.filter(item__in=items)
    ItemImage.objects.bulk_create(ItemImage(item=use.item, image=use.image, role="b") for use in uses)
    uses.filter(role="image").update(role="a")
    return items


def review(campaign: Campaign, person: Rater, cohort: Cohort, failing: str = "") -> None:
    while (sheet := claim_sheet(person, campaign, cohort)) is not None:
        answer(sheet, **(FAILS if sheet.unit.item.key == failing else PASSES))
    process_derivations()


def test_a_question_goes_on_once_its_pairs_of_all_sources_pass(world: World, benchmark: Benchmark) -> None:
    cohort, person = world.brazil, rater_of(world.bia)
    add_pairs(benchmark, "Q1 s1", "Q1 s2", "Q2 s1", "Q2 s2", "Q3 s1")
    campaign = create_open_campaign(benchmark.stages.get(key="pair-review"), cohort)
    review(campaign, person, cohort, failing="Q2-s2")
    for key in ("choice", "alignment"):
        assert [item.key for item in live_items(benchmark.stages.get(key=key))] == ["Q1/s1", "Q1/s2"]
    item = live_items(benchmark.stages.get(key="choice"))[0]
    assert (item.concept, item.condition, item.context) == ("Q1", "s1", {"option_a": "Yes", "option_b": "No"})


def test_two_sources_share_one_request_without_pictures(benchmark: Benchmark) -> None:
    """What is shown first is drawn for each question and country, so both pairs are asked in the same words."""
    stage = benchmark.stages.get(key="choice")
    keys = [(f"Q{number}", source) for number in range(6) for source in ("s1", "s2")]
    items = Item.objects.bulk_create(
        Item(stage=stage, key=f"{question}/{source}", concept=question, condition=source, text=f"{question}?",
             context={"option_a": "Yes", "option_b": "No"})
        for question, source in keys
    )  # fmt: skip
    prompt = registry.prompt("valueground-text")
    scenes = Scenes(stage, Sheet.from_json(stage.sheet), prompt, {})
    orders: dict[tuple[str, str], set[str]] = {}
    for item in items:
        for country in ("Japan", "Kenya"):
            scene, shown = scenes.of(Unit(item=item, target=country))
            asked = scenes.build_requests(scene, shown, scene_seed(5, scene, prompt))
            orders.setdefault((item.concept, country), set()).add(str((asked.order, asked.requests)))
    assert len(orders) == 12 and {len(requests) for requests in orders.values()} == {1}
    assert len({order[:12] for requests in orders.values() for order in requests}) == 2, "both orders are drawn"
