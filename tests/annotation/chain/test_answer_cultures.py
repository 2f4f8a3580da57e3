"""Answers that cohorts give about their own culture are judged by that cohort, or by all with the culture named."""

from collections import Counter
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone, translation

from annotation.models import Campaign, Slot
from annotation.pages.composer import derived_lines
from annotation.queries.board_counts import chain_counts
from annotation.queries.disputes import open_disputes
from annotation.services.answers import submit
from annotation.services.answers.submit import Submission
from annotation.services.derivation import derived_items
from annotation.services.queue.recount import find_differences
from annotation.services.queue.slot_creation import count_items
from annotation.services.sheets import stages as stage_services
from annotation.services.sheets.sheet_versions import sheet_of
from api.views.answers import item_json
from benchmarks.models import Item, Stage
from people.models import User
from predictions.queries.scenes import scene_of
from tests.annotation.chain.culture_scene import WORDS, asking_stage, give_answers, judging_stage, people_of
from tests.annotation.chain.factories import (
    ANSWER,
    GOOD,
    a_stage,
    answer,
    claim_sheet,
    create_open_campaign,
    live_items,
    process_derivations,
)
from tests.chains.link_client import text_of
from tests.module_world import built_once
from tests.personas import World
from tests.samples import rater

pytestmark = pytest.mark.django_db


@built_once
def ask(world: World) -> Stage:
    return asking_stage(world)


@built_once
def judge(world: World, ask: Stage) -> Stage:
    return judging_stage(world)


def wanted_of(campaign: Campaign) -> dict[str, Counter[str]]:
    """Slots by the cohort that has them and by the culture that their item is about."""
    wanted: dict[str, Counter[str]] = {}
    slots = Slot.objects.filter(cohort__campaign=campaign, wanted__gt=0)
    for label, item in slots.values_list("cohort__cohort__label", "unit__item__answer_target"):
        wanted.setdefault(label, Counter())[item] += 1
    return wanted


def test_each_cohort_judges_the_answers_about_its_own_culture_and_no_others(
    world: World, ask: Stage, judge: Stage
) -> None:
    give_answers(world, ask)
    assert Counter(item.answer_target for item in live_items(judge)) == {"Egypt": 4, "Brazil": 4}
    assert count_items(judge, ["Egypt", "Brazil", "Peru"]) == {"Egypt": 4, "Brazil": 4, "Peru": 0}
    campaign = create_open_campaign(judge, world.egypt, world.brazil)
    assert wanted_of(campaign) == {"Egypt": {"Egypt": 4}, "Brazil": {"Brazil": 4}}
    judged = []
    while sheet := claim_sheet(rater(world.bia), campaign, world.brazil):
        judged.append(sheet.unit.item.context["candidate"])
        answer(sheet, good="1")
    assert judged == ["As in Brazil"] * 2, "two of the four are her own"
    process_derivations()
    cells = chain_counts([judge], timezone.now()).cells
    assert {label: (cells[judge.pk, cohort.pk].answered, cells[judge.pk, cohort.pk].wanted) for label, cohort in (
        ("Egypt", world.egypt), ("Brazil", world.brazil))} == {"Egypt": (0, 4), "Brazil": (2, 4)}  # fmt: skip
    assert find_differences() == []


def test_all_cohorts_judge_all_answers_where_the_researcher_says_so(world: World, ask: Stage, judge: Stage) -> None:
    Stage.objects.filter(pk=judge.pk).update(own_items_only=False)
    judge.refresh_from_db()
    give_answers(world, ask)
    campaign = create_open_campaign(judge, world.egypt, world.brazil)
    both = {"Egypt": 4, "Brazil": 4}
    assert wanted_of(campaign) == {"Egypt": both, "Brazil": both}
    assert count_items(judge, ["Egypt", "Brazil"]) == {"Egypt": 8, "Brazil": 8}


def test_late_answers_reach_an_open_stage_of_their_culture_only(world: World, ask: Stage, judge: Stage) -> None:
    """The stage waits for no judgement of another cohort either, so later stages go on."""
    later = a_stage(
        world.benchmark, "later", GOOD, derivation={"kind": "promote", "from": ["judge"], "params": {"text": "good"}},
        **WORDS,
    )  # fmt: skip
    campaign = create_open_campaign(judge, world.egypt, world.brazil)
    give_answers(world, ask)
    assert wanted_of(campaign) == {"Egypt": {"Egypt": 4}, "Brazil": {"Brazil": 4}}
    for user in people_of(world, world.egypt):
        while sheet := claim_sheet(rater(user), campaign, world.egypt):
            answer(sheet, good="1")
    process_derivations()
    assert Counter(item.answer_target for item in live_items(later)) == {"Egypt": 4}, "what is judged keeps its culture"


def test_an_item_that_was_there_before_stays_the_same_item(world: World, ask: Stage, judge: Stage) -> None:
    """What it is about is no part of its content: no version, nothing withdrawn, no answer lost."""
    Stage.objects.filter(pk=judge.pk).update(own_items_only=False)
    give_answers(world, ask)
    before = list(judge.items.order_by("pk").values_list("pk", "key", "revision", "withdrawn_at"))
    Item.objects.filter(stage=judge).update(answer_target="")
    derived_items.rederive_stage(judge)
    process_derivations()
    assert list(judge.items.order_by("pk").values_list("pk", "key", "revision", "withdrawn_at")) == before


def test_the_upgrade_says_what_known_items_are_about_and_moves_none_to_another_cohort(
    world: World, ask: Stage, judge: Stage
) -> None:
    give_answers(world, ask)
    fill = import_module("annotation.migrations.0017_answer_targets").FILL
    for own, expected in ((True, {"": 8}), (False, {"Egypt": 4, "Brazil": 4})):
        Stage.objects.filter(pk=judge.pk).update(own_items_only=own)
        Item.objects.filter(stage=judge).update(answer_target="")
        with connection.cursor() as cursor:
            cursor.execute(fill)
        assert Counter(item.answer_target for item in live_items(judge)) == expected


@pytest.mark.parametrize(("language", "own", "other"), [
    ("en", "Answer about: Brazil", "Answer about: Egypt"),
    ("pt-br", "Resposta sobre: Brasil", "Resposta sobre: Egypt"),
    ("ar", "إجابة عن: البرازيل", "إجابة عن: مصر"),
])  # fmt: skip
def test_the_sheet_names_the_culture_in_the_language_of_the_reader(
    world: World, ask: Stage, judge: Stage, language: str, own: str, other: str
) -> None:
    Stage.objects.filter(pk=judge.pk).update(own_items_only=False)
    judge.refresh_from_db()
    give_answers(world, ask)
    campaign = create_open_campaign(judge, world.brazil)
    User.objects.filter(pk=world.bia.pk).update(language=language)
    page = world.client(world.bia).get(f"/work/{campaign.pk}/", HTTP_ACCEPT_LANGUAGE=language).content.decode()
    plain = page.replace("<bdi>", "").replace("</bdi>", "")
    assert own in plain or other in plain
    Stage.objects.filter(pk=judge.pk).update(layout={"references": True})
    page = world.client(world.bia).get(f"/work/{campaign.pk}/", HTTP_ACCEPT_LANGUAGE=language).content.decode()
    assert "about-culture" not in page, "the researcher may leave it out"


def test_reviewers_researchers_and_programs_see_the_culture_as_well(world: World, ask: Stage, judge: Stage) -> None:
    Stage.objects.filter(pk=judge.pk).update(acceptance=Stage.Acceptance.BY_REVIEW)
    judge.refresh_from_db()
    give_answers(world, ask)
    campaign = create_open_campaign(judge, world.brazil)
    sheet = claim_sheet(rater(world.bia), campaign, world.brazil)
    assert sheet is not None
    assert item_json(sheet)["lines"][0] == {"label": "", "value": "Answer about: Brazil"}
    judged, base = answer(sheet, good="1"), f"/b/{world.benchmark.slug}"
    line = "Answer about: <bdi>Brazil</bdi>"
    for user, address in (
        (world.reviewer, f"{base}/review/{judged.pk}/"),
        (world.mara, f"{base}/disagreement/{sheet.unit_id}/?stage=judge"),
    ):
        reply = world.client(user).get(address)
        assert reply.status_code == 200 and line in reply.content.decode()
    item = world.client(world.mara).get(f"{base}/items/{sheet.unit.item_id}/").content.decode()
    assert "Its answer is about" in item


def test_models_are_told_the_culture_as_people_are(world: World, ask: Stage, judge: Stage) -> None:
    give_answers(world, ask)
    campaign = create_open_campaign(judge, world.egypt)
    unit = Slot.objects.filter(cohort__campaign=campaign).first().unit
    sheet = sheet_of(campaign.sheet_version)
    with translation.override("ar"):
        parts = [getattr(part, "text", "") for part in scene_of(unit, sheet, {}).parts]
    assert parts[0] == "Answer about: Egypt"
    judge.layout = {"references": True}
    judge.save()
    unit.item.refresh_from_db()
    assert not any("about:" in getattr(part, "text", "") for part in scene_of(unit, sheet, {}).parts)


def pairs_of(world: World, **params: object) -> Stage:
    context = {"option_a": "a.answer", "option_b": "b.answer"}
    derivation = {"kind": "pair", "from": ["ask"], "params": {"per": "answer", "context": context, **params}}
    return a_stage(
        world.benchmark, "pairs", GOOD, derivation=derivation, display="pair", pictures="none", layout={"culture": True}
    )


def test_a_pair_of_two_cultures_names_both_and_is_no_cohorts_own(world: World, ask: Stage) -> None:
    pairs = pairs_of(world, sides="unit.target", by="item.key")
    give_answers(world, ask)
    assert {item.answer_target for item in live_items(pairs)} <= {"Egypt|Brazil", "Brazil|Egypt"}
    assert len(live_items(pairs)) == 8
    campaign = create_open_campaign(pairs, world.brazil)
    page = world.client(world.bia).get(f"/work/{campaign.pk}/").content.decode()
    plain = page.replace("<bdi>", "").replace("</bdi>", "")
    item = claim_sheet(rater(world.bia), campaign, world.brazil).unit.item
    for side, label in zip("AB", item.answer_target.split("|"), strict=True):
        assert f"Answer {side} about: {label}" in plain
        assert item.context[f"option_{side.lower()}"] == f"As in {label}"
    Stage.objects.filter(pk=pairs.pk).update(own_items_only=True)
    assert count_items(Stage.objects.get(pk=pairs.pk), ["Egypt", "Brazil"]) == {"Egypt": 0, "Brazil": 0}


def test_pairs_within_one_culture_go_to_its_cohort(world: World, ask: Stage) -> None:
    pairs = pairs_of(world, by=["unit.target"])
    give_answers(world, ask)
    Stage.objects.filter(pk=pairs.pk).update(own_items_only=True)
    counts = count_items(Stage.objects.get(pk=pairs.pk), ["Egypt", "Brazil"])
    assert counts["Egypt"] and counts["Egypt"] == counts["Brazil"] and sum(counts.values()) == len(live_items(pairs))


def own_pairs(world: World, **params: object) -> Stage:
    """Pairs of answers of which each cohort gets only its own."""
    pairs = pairs_of(world, **params)
    Stage.objects.filter(pk=pairs.pk).update(own_items_only=True)
    return Stage.objects.get(pk=pairs.pk)


def test_pairs_that_nobody_may_answer_are_named_on_the_overview_with_what_to_do(world: World, ask: Stage) -> None:
    pairs = own_pairs(world, sides="unit.target", by="item.key")
    give_answers(world, ask)
    assert "two cultures" not in overview(world), "the stage is not open, so nobody waits for it"
    create_open_campaign(pairs, world.egypt, world.brazil)
    text, page = "8 pairs compare answers of two cultures: nobody may answer them", overview(world)
    assert f"“{pairs.name}”: {text}." in page and "Let both sides of a pair share the culture." in page
    assert page.count(f"Stuck: {text}") == 3, "in the cells of both cohorts, and of all together"
    settings = f"/b/{world.benchmark.slug}/stages/{pairs.pk}/?at="
    html = world.client(world.mara).get(f"/b/{world.benchmark.slug}/").text
    assert f"{settings}derivation.params.by#s-items" in html and f"{settings}own_items_only#s-people" in html
    assert settings not in world.client(world.reviewer).get(f"/b/{world.benchmark.slug}/").text
    Stage.objects.filter(pk=pairs.pk).update(own_items_only=False)
    assert text not in overview(world), "all cohorts are asked"


def test_a_few_pairs_of_two_cultures_hold_up_nothing_and_are_named_with_the_export(world: World, ask: Stage) -> None:
    pairs = own_pairs(world)
    world.benchmark.stages.exclude(pk__in=[ask.pk, pairs.pk]).update(target_answers=0)
    give_answers(world, ask)
    campaign = create_open_campaign(pairs, world.egypt, world.brazil)
    mixed = sum("|" in item.answer_target for item in live_items(pairs))
    assert 0 < mixed < len(live_items(pairs))
    text = f"{mixed} pairs compare answers of two cultures: nobody may answer them"
    page = overview(world)
    assert page.count(f"Stuck: {text}") == 1, "each cohort has pairs of its own; so it stands where all are together"
    assert f"“{pairs.name}”: {text}." not in page
    for cohort in (world.egypt, world.brazil):
        for user in people_of(world, cohort):
            while sheet := claim_sheet(rater(user), campaign, cohort):
                answer(sheet, good="1")
    page = overview(world)
    assert f"All wanted answers are there. “{pairs.name}”: {text}." in page, page[:900]


def overview(world: World) -> str:
    return text_of(world.client(world.mara).get(f"/b/{world.benchmark.slug}/").text)


def test_an_item_without_its_answer_or_with_an_origin_of_its_own_says_nothing_else(world: World, ask: Stage) -> None:
    plain = a_stage(world.benchmark, "plain", GOOD, derivation={"kind": "promote", "from": ["ask"], "params": {}})
    chosen = a_stage(
        world.benchmark, "chosen", GOOD,
        derivation={"kind": "promote", "from": ["ask"], "params": {"text": "answer", "origin": "item.key"}},
    )  # fmt: skip
    give_answers(world, ask)
    assert {item.answer_target for item in live_items(plain)} == {""}, "one question, asked about two cultures"
    assert {item.culture for item in live_items(chosen)} == {"wedding", "market"}


def test_disputes_are_counted_by_the_culture_that_they_are_about(world: World, ask: Stage) -> None:
    between = [{"stage": "ask", "field": "answer"}]
    settle = a_stage(
        world.benchmark, "settle", ANSWER, own_items_only=True,
        derivation={"kind": "disagree", "from": ["ask"], "params": {"between": between, "measure": "share"}},
    )  # fmt: skip
    campaign = create_open_campaign(ask, world.egypt, target=2)
    for user, text in ((world.nour, "Tea"), (world.tarek, "Coffee")):
        while sheet := claim_sheet(rater(user), campaign, world.egypt):
            submission = Submission(raw={"answer": text}, client_key=f"{user.pk}-{sheet.pk}")
            submit.submit(sheet.pk, sheet.rater, submission, timezone.now())
    process_derivations()
    assert [(row.cohort, row.n) for row in open_disputes(world.benchmark)] == [("Egypt", 2)]
    assert count_items(settle, ["Egypt", "Brazil"]) == {"Egypt": 2, "Brazil": 0}


def test_agreement_by_cohort_has_the_units_of_its_own_culture(world: World, ask: Stage, judge: Stage) -> None:
    give_answers(world, ask)
    campaign = create_open_campaign(judge, world.egypt, world.brazil)
    for cohort in (world.egypt, world.brazil):
        for user in people_of(world, cohort):
            while sheet := claim_sheet(rater(user), campaign, cohort):
                answer(sheet, good="1")
    url = f"/b/{world.benchmark.slug}/agreement.json?stage=judge&measure=percent&by=cohort"
    rows = world.client(world.mara).get(url).json()["rows"]
    assert {row["cohort"]["label"]: [cell["n_units"] for cell in _estimates(row)] for row in rows} == {
        "Brazil": [4], "Egypt": [4]
    }  # fmt: skip


def _estimates(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    cells = [cell["estimates"] for cell in row["cells"]]
    return [one for cell in cells for one in (cell.values() if isinstance(cell, dict) else cell)]


def test_whoever_composes_reads_which_cohort_gets_how_many(world: World, ask: Stage, judge: Stage) -> None:
    give_answers(world, ask)
    content = stage_services.content_of(judge)
    assert derived_lines(judge, content, {})[-1] == (
        "Each cohort gets only the items of its own culture: Brazil 4, Egypt 4."
    )
    world.brazil.label = "Peru"
    world.brazil.save()
    assert derived_lines(judge, content, {})[-1] == (
        "4 items are of two cultures, or of none that has a cohort, and no cohort gets them."
    )
    for layout, words in (({"culture": True}, "names the culture"), ({}, "does not name the culture")):
        everyone = {**content, "own_items_only": False, "layout": layout}
        assert words in derived_lines(judge, everyone, {})[-1]
        warned = [problem for problem in stage_services.problems(judge, everyone) if problem.path == "layout.culture"]
        assert bool(warned) is not bool(layout) and not any(problem.blocks for problem in warned)
    assert "Brazil 4, Egypt 4" in derived_lines(judge, {**content, "own_items_only": False, "layout": {}}, {})[-1]
    assert len(derived_lines(judge, {**content, "target_answers": 0}, {})) == 1, "models judge all of them"
