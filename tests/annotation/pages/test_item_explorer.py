"""The explorer of items: filters, orders, pages forward and back at any depth, text search, and disagreement."""

import json
import random
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.services import item_tallies
from annotation.tasks import renew_item_tallies
from benchmarks.models import Item, ItemTally, Stage, StageTally
from benchmarks.queries import item_selection, item_words
from benchmarks.queries.item_selection import SORTS, ItemSelection
from people.models import User
from tests import samples
from tests.personas import World

pytestmark = pytest.mark.django_db


def listed(world: World, user: User | None = None, **query: str) -> list[str]:
    reply = world.client(user or world.mara).get(f"/b/{world.benchmark.slug}/items/", query)
    assert reply.status_code == 200
    return [item.key for item in reply.context["list"].items]


def page_html(world: World, **query: str) -> str:
    return world.client(world.mara).get(f"/b/{world.benchmark.slug}/items/", query).content.decode()


def tally(item: Item, disagreement: float | None, answers: int = 2) -> None:
    ItemTally.objects.create(
        item=item, stage=item.stage, answers=answers, people=answers, disagreement=disagreement, field="relevance",
        at=timezone.now(),
    )  # fmt: skip


def second_stage(world: World) -> Stage:
    stage = world.benchmark.stages.get()
    stage.pk, stage.key, stage.name, stage.position = None, "second", "Second look", 1
    stage.save()
    return stage


@pytest.mark.parametrize("order", SORTS)
@pytest.mark.parametrize("stages", [1, 2])
def test_every_order_is_read_page_by_page_forward_and_back(world: World, order: str, stages: int) -> None:
    dice = random.Random(7)
    first = world.stage
    all_stages = [first, second_stage(world)][:stages]
    keys = [f"key {dice.randrange(9)}-{n}" for n in range(23)]
    items = [Item.objects.create(stage=all_stages[n % stages], key=key) for n, key in enumerate(keys)]
    for item in items[3:]:
        tally(item, dice.choice([0, 0.5, 1]))
    selection = ItemSelection(tuple(all_stages), sort=SORTS[order])
    wanted = list(selection.rows().order_by(*dict.fromkeys(SORTS[order].order())).values_list("pk", flat=True))
    assert len(wanted) == (20 if order == "disagreement" else 23)
    forward: list[int] = []
    page = selection.page(size=6)
    assert not page.before
    while True:
        forward += page.ids
        if not page.after:
            break
        page = selection.page(after=page.ids[-1], size=6)
        assert page.before
    assert forward == wanted
    backward = list(page.ids)
    while page.before:
        page = selection.page(before=page.ids[0], size=6)
        backward = [*page.ids, *backward]
    assert backward[-len(wanted) :] == wanted, "the first page is full, so its end may be shown twice"
    before, after = selection.neighbours(Item.objects.get(pk=wanted[7]))
    assert (before, after) == (wanted[6], wanted[8])
    assert selection.neighbours(Item.objects.get(pk=wanted[0]))[0] is None
    assert selection.page(after=0, size=6).ids == selection.page(after=10**9, size=6).ids, "an unknown item: page one"


def test_a_place_in_another_benchmark_tells_nothing(world: World) -> None:
    world.add_items(3)
    theirs = Item.objects.create(stage=world.other_benchmark.stages.get(), key="item-00001")
    assert len(listed(world, order="key", after=str(theirs.pk))) == 3
    assert world.client(world.rival).get(f"/b/{world.benchmark.slug}/items/").status_code == 404


def test_filters_narrow_together_and_each_can_be_removed(world: World) -> None:
    a, b, c, d = world.add_items(4)
    Item.objects.filter(pk=d.pk).update(withdrawn_at=timezone.now())
    tally(a, 0.0)
    tally(b, 0.75)
    tally(c, None, answers=1)
    assert listed(world) == [a.key, b.key, c.key]
    assert listed(world, state="withdrawn") == [d.key] and len(listed(world, state="all")) == 4
    assert listed(world, state="answered") == [a.key, b.key, c.key] and listed(world, state="unanswered") == []
    assert listed(world, disagreement="none") == [a.key] and listed(world, disagreement="some") == [b.key]
    assert listed(world, disagreement="half") == [b.key] and listed(world, disagreement="unknown") == [c.key]
    assert listed(world, concept=b.concept, origin=b.origin) == [b.key]
    assert listed(world, state="kept") == listed(world), "the stage has no filters, so nothing is kept by them"
    assert listed(world, state="x", disagreement="x", order="x", view="x") == listed(world)
    reply = world.client(world.mara).get(
        f"/b/{world.benchmark.slug}/items/", {"disagreement": "some", "concept": b.concept, "text": "item"}
    )
    assert [item.key for item in reply.context["list"].items] == [b.key]
    chips = {str(chip.label): dict(parse_qsl(chip.rest)) for chip in reply.context["explorer"].chips}
    assert set(chips) == {"Text", "Concept", "Disagreement"}
    assert "concept" not in chips["Concept"] and chips["Concept"]["disagreement"] == "some"


def test_text_finds_words_their_beginnings_and_parts_of_words(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = world.stage
    for key, text, context in (
        ("pic-07.png", "A blue lantern", {"facet": "rituals"}),
        ("pic-08.png", "حفلة زفاف", {}),
        ("q 9", "የቡና ሥነ ሥርዓት", {"names": ["Lanternfish", "x'; DROP"]}),
    ):
        Item.objects.create(stage=stage, key=key, text=text, context=context)
    expected = {
        "lantern": ["pic-07.png", "q 9"],
        "LANT": ["pic-07.png", "q 9"],
        "blue lan": ["pic-07.png"],
        "زفا": ["pic-08.png"],
        "ቡና": ["q 9"],
        "ritual": ["pic-07.png"],
        "07": ["pic-07.png"],
        "antern": ["pic-07.png", "q 9"],
        "x'; drop": ["q 9"],
        "!&|:*()": [],
        "%": [],
        "\0lantern": ["pic-07.png", "q 9"],
        "nothing of the kind": [],
    }
    for text, keys in expected.items():
        assert listed(world, text=text) == keys, text
    monkeypatch.setattr(item_selection, "SUBSTRING_ROWS", 2)
    assert listed(world, text="antern") == [] and listed(world, text="lante") == ["pic-07.png", "q 9"]
    assert "Whole words and beginnings of words were searched" in page_html(world, text="lante")
    assert listed(world, text="antern", state="withdrawn") == [], "few items are left: parts of words again"
    assert listed(world, text="!&|") == []


def test_a_long_text_can_be_stored_and_found(world: World) -> None:
    text = " ".join(f"word{number}" for number in range(200_000))
    item = Item.objects.create(stage=world.stage, key="long", text=text, context={"more": text})
    assert listed(world, text="word17") == [item.key]
    assert item_words.word_query("a" * 500).count("a") == 200


def test_a_count_ends_at_its_limit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(item_selection, "MOST_COUNTED", 3)
    world.add_items(3)
    assert "3 items in the stage" in page_html(world)
    world.add_items(2)
    monkeypatch.setattr("benchmarks.pages.item_list.MOST_COUNTED", 3)
    assert "More than 3 items." in page_html(world)


def test_all_stages_are_one_list_and_the_view_is_remembered(world: World) -> None:
    world.add_items(2)
    other = Item.objects.create(stage=second_stage(world), key="elsewhere", text="A proverb")
    assert len(listed(world)) == 2 and other.key in listed(world, stage="*") and len(listed(world, stage="*")) == 3
    client = world.client(world.mara)
    base = f"/b/{world.benchmark.slug}/items/"
    assert 'class="tiles"' in client.get(base).content.decode()
    assert "<table" in client.get(base, {"view": "list"}).content.decode()
    later = client.get(base, {"stage": "*"}).content.decode()
    assert "<table" in later and "A proverb" in later and "Second look" in later
    assert 'class="tiles"' in world.client(world.owner).get(base).content.decode(), "each person has a choice"
    assert client.get(base, {"stage": "nothing"}).status_code == 404


def test_queries_are_as_many_for_many_items_as_for_few(world: World) -> None:
    def asked(**query: str) -> int:
        client = world.client(world.mara)
        client.get(f"/b/{world.benchmark.slug}/items/")
        with CaptureQueriesContext(connection) as queries:
            assert client.get(f"/b/{world.benchmark.slug}/items/", query).status_code == 200
        return len(queries)

    for item in world.add_items(4):
        tally(item, 0.5)
    few, few_sorted = asked(), asked(order="disagreement", text="item", disagreement="some")
    items = world.add_items(150)
    for item in items[:100]:
        tally(item, 0.5)
    assert asked() == few and asked(after=str(items[80].pk)) == few + 1, "the place of the item is one query more"
    assert asked(order="disagreement", text="item", disagreement="some") == few_sorted


def plan_rows(selection: ItemSelection, **place: int) -> int:
    """How many rows the statement of a page reads from tables, in all its parts."""
    with CaptureQueriesContext(connection) as queries:
        selection.page(**place)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")  # of a small table; of 100,000 items nobody would scan all
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {queries.captured_queries[-1]['sql']}")
        [(plan,)] = cursor.fetchall()
    plan = json.loads(plan) if isinstance(plan, str) else plan
    return sum(scanned(plan[0]["Plan"]))


def scanned(node: dict[str, Any]) -> list[int]:
    own = node["Node Type"].endswith("Scan") and "Relation Name" in node
    here = [(node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]] if own else []
    return here + [rows for child in node.get("Plans", ()) for rows in scanned(child)]


@pytest.mark.parametrize("order", SORTS)
def test_a_deep_page_reads_no_more_than_the_first(world: World, order: str) -> None:
    stage = world.stage
    items = Item.objects.bulk_create(Item(stage=stage, key=f"k{n:05}", concept="c") for n in range(3000))
    ItemTally.objects.bulk_create(
        ItemTally(item=item, stage=stage, answers=2, people=2, disagreement=n % 3 / 2, at=timezone.now())
        for n, item in enumerate(items)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE benchmarks_item, benchmarks_itemtally")
    selection = ItemSelection((world.stage,), sort=SORTS[order])
    ids = list(selection.rows().order_by(*dict.fromkeys(selection.sort.order())).values_list("pk", flat=True))
    first = plan_rows(selection)
    assert first <= 4 * item_selection.PAGE, "a page is read, not a table"
    for place in ({"after": ids[1500]}, {"after": ids[2800]}, {"before": ids[1500]}):
        # What is equal, among a third of the items, then what is beyond: no matter how deep.
        assert plan_rows(selection, **place) <= 4 * first, place


def answer(world: World, opened: Any, item: Item, person: User, code: str) -> Any:
    return samples.assign(opened, person, opened.slots.get(unit__item=item), code=code).annotations.get()


def test_disagreement_is_the_share_of_pairs_that_differ_and_follows_the_answers(world: World) -> None:
    same, differ, mixed, single, none = world.add_items(5)
    opened = samples.open_campaign(world, world.egypt)
    third = world.add_annotators(world.egypt, 1)[0]
    for item, codes in ((same, "444"), (differ, "15"), (mixed, "225"), (single, "3")):
        for person, code in zip([world.nour, world.tarek, third], codes, strict=False):
            last = answer(world, opened, item, person, code)
    assert renew_item_tallies() == 1 and renew_item_tallies() == 0, "nothing changed since"
    values = {row.item_id: row for row in ItemTally.objects.all()}
    assert values[same.pk].disagreement == 0 and values[differ.pk].disagreement == 1
    assert values[mixed.pk].disagreement == pytest.approx(2 / 3) and values[mixed.pk].field == "relevance"
    assert values[single.pk].disagreement is None and values[single.pk].answers == 1 and none.pk not in values
    assert listed(world, order="disagreement") == [differ.key, mixed.key, same.key]
    html = page_html(world, order="disagreement")
    assert "As of" in html and "Items without two answers to one question are not in this order" in html
    last.ratings.update(counted=False)
    type(last).objects.filter(pk=last.pk).update(counted=False, uncounted_because="excluded")
    opened.tallies.filter(shard=1).update(changes=5)
    stored = StageTally.objects.get()
    StageTally.objects.update(seconds=60)
    assert item_tallies.renew_all(stored.at + timedelta(seconds=90)) == 0, "a long computation is not repeated at once"
    assert item_tallies.renew_all(stored.at + timedelta(hours=1)) == 1
    assert not ItemTally.objects.filter(item=single).exists(), "its only answer counts no longer"


def test_boxes_disagree_by_what_they_do_not_share() -> None:
    def box(x0: float) -> list[dict[str, float]]:
        return [{"x0": x0, "y0": 0, "x1": x0 + 1, "y1": 1}]

    by_rater = {1: {"b": box(0)}, 2: {"b": box(0.5)}, 3: {"b": None}}
    [(item, key, value, n)] = item_tallies._of_unit((5, 9), by_rater, {"b": "box", "c": "box"})
    assert (item, key, n) == (5, "b", 2) and value == pytest.approx(2 / 3)
    assert list(item_tallies._of_unit((5, 9), {1: {"b": box(0)}}, {"b": "box"})) == []


def test_boxes_of_different_labels_disagree_as_in_reports() -> None:
    corners = {"x0": 0, "y0": 0, "x1": 1, "y1": 1}
    by_rater = {1: {"b": [{**corners, "label": "lamp"}]}, 2: {"b": [{**corners, "label": "stall"}]}}
    assert list(item_tallies._of_unit((5, 9), by_rater, {"b": "box"})) == [(5, "b", 1, 2)]
    by_rater[2] = by_rater[1]
    assert list(item_tallies._of_unit((5, 9), by_rater, {"b": "box"})) == [(5, "b", 0, 2)]


def test_order_and_empty_list_say_what_to_do_next(world: World) -> None:
    assert "No items yet. Import pictures" in page_html(world)
    world.add_items(1)
    html = page_html(world, order="disagreement")
    assert "No item has answers of two people" in html and "It was not computed yet" in html
    html = page_html(world, text="nothing", concept="absent")
    assert "No items match these filters" in html and "Without “Text”" in html and "Show all" in html
    derived = second_stage(world)
    Stage.objects.filter(pk=derived.pk).update(derivation={"kind": "promote", "from": ["relevance"]})
    assert "They are made of results of earlier stages" in page_html(world, stage="second")
    assert replace(ItemSelection((derived,)), state="all").count() == 0
