"""An item is its stage and key. A picture is stored once and serves any number of items."""

import pytest
from django.core.files.base import ContentFile
from django.test import Client

from benchmarks.models import Image, Item, ItemFact, Stage
from tests.importing import draw_pictures, lines, outcomes, upload
from tests.personas import World

pytestmark = pytest.mark.django_db
TWO = draw_pictures(["a.png", "b.png"])
TEA = {"key": "tea", "file": "a.png", "concept": "tea", "text": "Mint tea", "model": "m1", "alt": "A cup"}


@pytest.fixture
def stage(world: World) -> Stage:
    return world.stage


@pytest.fixture
def mara(world: World) -> Client:
    return world.client(world.mara)


def shaped(stage: Stage, pictures: str, display: str = "image") -> Stage:
    stage.pictures, stage.display = pictures, display
    stage.save()
    return stage


def test_two_rows_with_one_picture_and_two_keys_are_two_items(stage: Stage, mara: Client) -> None:
    rows = lines({"key": "q/m1", "file": "a.png"}, {"key": "q/m2", "file": "a.png"}, {"key": "r", "file": "b.png"})
    job = upload(mara, stage, rows, TWO)
    assert outcomes(job) == {1: ("created", ""), 2: ("created", "shares_picture"), 3: ("created", "")}
    assert (stage.items.count(), Image.objects.count()) == (3, 2)
    assert "q/m1" in job.rows.get(number=2).message
    page = mara.get(f"/jobs/{job.pk}/").content.decode()
    assert "Added: 3" in page and "Duplicate picture: 1" in page and "Already exists" not in page
    again = upload(mara, stage, rows, TWO)
    assert set(outcomes(again).values()) == {("unchanged", "")} and stage.items.count() == 3


def test_the_report_names_a_row_by_its_key_with_the_file(stage: Stage, mara: Client) -> None:
    rows = lines({"key": "q/m1", "file": "away.png"}, {"key": "q/m2", "file": "a.png"}, {"file": "away.png"})
    job = upload(mara, stage, rows, TWO)
    names = dict(job.rows.values_list("number", "name"))
    assert names == {1: "q/m1 (away.png)", 2: "q/m2 (a.png)", 3: "away.png"}
    page = mara.get(f"/jobs/{job.pk}/").content.decode()
    assert "q/m1 (away.png)" in page and "There is no file “away.png”." in page


def test_a_picture_of_an_earlier_import_is_noted_too(stage: Stage, mara: Client) -> None:
    upload(mara, stage, lines({"key": "one", "file": "a.png"}), TWO)
    job = upload(mara, stage, lines({"key": "two", "file": "a.png"}), TWO)
    assert outcomes(job) == {1: ("created", "shares_picture")}


@pytest.mark.parametrize(
    ("change", "columns"),
    [
        ({"text": "Green tea"}, "text"),
        ({"concept": "drink", "model": "m2"}, "concept, model"),
        ({"alt": "A glass"}, "alt"),
        ({"country": "Egypt"}, "country"),
        ({"fact.clip_score": "0.3"}, "fact.clip_score"),
        ({"rank": "4"}, "rank"),
    ],
)
def test_a_known_key_that_says_something_else_is_an_error_that_names_the_columns(
    stage: Stage, mara: Client, change: dict[str, str], columns: str
) -> None:
    upload(mara, stage, lines(TEA), TWO)
    before = list(Item.objects.values())
    job = upload(mara, stage, lines({**TEA, **change}), TWO)
    assert outcomes(job) == {1: ("error", "key_differs")}
    assert f": {columns}." in job.rows.get().message
    assert list(Item.objects.values()) == before


def test_what_a_row_leaves_out_does_not_differ(stage: Stage, mara: Client) -> None:
    upload(mara, stage, lines(TEA), TWO)
    assert outcomes(upload(mara, stage, lines({"key": "tea", "file": "a.png"}), TWO)) == {1: ("unchanged", "")}


def test_complete_fills_what_is_empty_and_replaces_nothing(stage: Stage, mara: Client) -> None:
    bare = {"key": "tea", "file": "a.png", "concept": "tea"}
    upload(mara, stage, lines(bare), TWO)
    full = {**TEA, "fact.clip_score": "0.25", "licence": "CC0"}
    job = upload(mara, stage, lines(full), TWO, complete="on")
    assert outcomes(job) == {1: ("updated", "")}
    item = stage.items.get()
    assert (item.text, item.context, item.completed_at is not None) == ("Mint tea", {"model": "m1"}, True)
    assert (item.images.get().alt, item.images.get().licence) == ("A cup", "CC0")
    assert item.facts.get().value == 0.25
    other = {**full, "text": "Green tea", "rank": "1"}
    assert outcomes(upload(mara, stage, lines(other), TWO, complete="on")) == {1: ("error", "key_differs")}
    item.refresh_from_db()
    assert item.text == "Mint tea" and "rank" not in item.context
    assert outcomes(upload(mara, stage, lines(full), TWO)) == {1: ("unchanged", "")}


def test_complete_brings_the_picture_that_an_item_lacks(stage: Stage, mara: Client) -> None:
    Item.objects.create(stage=stage, key="tea")
    rows = lines({"key": "tea", "file": "a.png"})
    assert outcomes(upload(mara, stage, rows, TWO)) == {1: ("error", "key_differs")}
    assert outcomes(upload(mara, stage, rows, TWO, complete="on")) == {1: ("updated", "")}
    assert stage.items.get().images.get().file_name == "a.png"


@pytest.mark.parametrize("choice", ["complete", "correct_facts"])
def test_facts_of_items_that_exist_come_without_their_pictures(stage: Stage, mara: Client, choice: str) -> None:
    first = {"key": "tea", "file": "a.png", "licence": "CC0"}
    upload(mara, stage, lines(first | ({"fact.objects": 2} if choice == "correct_facts" else {})), TWO)
    rows = lines({"key": "tea", "fact.objects": 3}, {"key": "new", "fact.objects": 4})
    job = upload(mara, stage, rows, licence="CC BY", source="elsewhere", **{choice: "on"})
    reason = "fact_corrected" if choice == "correct_facts" else ""
    assert outcomes(job) == {1: ("updated", reason), 2: ("error", "no_picture")}
    item = stage.items.get()
    assert item.facts.order_by("pk").last().value == 3 and item.context == {}
    assert item.images.get().licence == "CC0", "what the form says is said of pictures that come"
    assert outcomes(upload(mara, stage, rows, **{choice: "on"}))[1] == ("unchanged", "")


def test_a_row_without_its_picture_may_not_speak_of_one_that_is_not_there(stage: Stage, mara: Client) -> None:
    shaped(stage, "named", "pair")
    upload(mara, stage, lines({"key": "tea", "role": "a", "file": "a.png"}), TWO)
    rows = lines(
        {"key": "tea", "fact.objects": 3}, {"key": "tea", "role": "a", "alt": "A cup"},
        {"key": "tea", "role": "b"}, {"key": "tea", "licence": "CC0"},
    )  # fmt: skip
    assert outcomes(upload(mara, stage, rows, complete="on")) == {
        1: ("updated", ""), 2: ("updated", ""), 3: ("error", "no_picture"), 4: ("error", "no_picture"),
    }  # fmt: skip
    assert stage.items.get().images.get().alt == "A cup"


def test_a_manifest_alone_is_told_what_it_may_do_without_pictures(stage: Stage, mara: Client) -> None:
    table = ContentFile(lines({"key": "tea", "fact.objects": 3}), "facts.jsonl")
    reply = mara.post(f"/b/{stage.benchmark.slug}/import/", {"stage": stage.pk, "manifest": table})
    assert "tick “Fill in missing values” or “Correct facts”" in reply.content.decode()


def test_another_picture_under_a_known_key_stays_an_error(stage: Stage, mara: Client) -> None:
    upload(mara, stage, lines({"key": "tea", "file": "a.png"}), TWO)
    job = upload(mara, stage, lines({"key": "tea", "file": "b.png"}), TWO, complete="on")
    assert outcomes(job) == {1: ("error", "key_taken")}
    assert stage.items.get().images.get().file_name == "a.png"


@pytest.mark.parametrize("pictures", ["one", "named", "set"])
def test_a_row_without_a_file_is_refused_where_items_have_pictures(stage: Stage, mara: Client, pictures: str) -> None:
    shaped(stage, pictures)
    assert outcomes(upload(mara, stage, lines({"key": "tea", "text": "Tea"}), TWO)) == {1: ("error", "no_picture")}
    reply = mara.post(f"/b/{stage.benchmark.slug}/import/", {"stage": stage.pk})
    assert "Choose a zip with the pictures." in reply.content.decode()


def test_an_optional_picture_may_be_left_out_row_by_row(stage: Stage, mara: Client) -> None:
    shaped(stage, "optional", "question")
    rows = lines({"key": "a", "text": "Why?", "file": "a.png"}, {"key": "b", "text": "How?"}, {"text": "No key"})
    job = upload(mara, stage, rows, TWO)
    assert outcomes(job) == {1: ("created", ""), 2: ("created", ""), 3: ("error", "no_key")}
    assert [item.images.count() for item in stage.items.order_by("key")] == [1, 0]
    alone = upload(mara, stage, lines({"key": "c", "text": "When?"}, {"key": "d", "text": "?", "file": "x.png"}))
    assert outcomes(alone) == {1: ("created", ""), 2: ("error", "missing")}


def test_facts_lists_and_objects_are_read_from_a_table(stage: Stage, mara: Client) -> None:
    shaped(stage, "none", "words")
    head = "key,text,fact.clip_score,fact.objects,labels,counts,prompt,source\n"
    row = 'tea,Mint | tea,0.31,3,cup | leaf,"{""Egypt"": {""1"": 9}}",a | b,https://example.org\n'
    job = upload(mara, stage, (head + row).encode())
    assert outcomes(job) == {2: ("created", "")}
    item = stage.items.get()
    assert item.text == "Mint | tea"
    assert item.context == {
        "labels": ["cup", "leaf"],
        "counts": {"Egypt": {"1": 9}},
        "prompt": "a | b",
        "source": "https://example.org",
    }
    facts = ItemFact.objects.order_by("key").values_list("key", "value", "source", "version")
    assert list(facts) == [("clip_score", 0.31, "import", ""), ("objects", 3, "import", "")]
    assert outcomes(upload(mara, stage, (head + row).encode())) == {2: ("unchanged", "")}
    unnamed = upload(mara, stage, b"key,fact.\nx,1\n")
    assert outcomes(unnamed) == {2: ("error", "bad_fact")}


def test_a_list_that_an_older_import_kept_as_text_does_not_differ(stage: Stage, mara: Client) -> None:
    shaped(stage, "none", "words")
    Item.objects.create(stage=stage, key="tea", context={"labels": "cup | leaf"})
    assert outcomes(upload(mara, stage, b"key,labels\ntea,cup | leaf\n")) == {2: ("unchanged", "")}


def test_the_imported_file_name_stays_with_the_picture(stage: Stage, mara: Client) -> None:
    upload(mara, stage, b"file,key\nset/a.png,tea\n", {"set/a.png": TWO["a.png"]})
    assert stage.items.get().images.get().file_name == "set/a.png"


def test_a_wrong_fact_is_corrected_where_that_is_asked_for_and_the_filter_decides_again(
    stage: Stage, mara: Client
) -> None:
    score = {"key": "score", "kind": "fact", "params": {"key": "clip_score", "least": 23}}
    Stage.objects.filter(pk=stage.pk).update(filters=[score])
    upload(mara, stage, lines({**TEA, "fact.clip_score": "2.7"}), TWO)
    assert stage.items.get().intake == "dropped"
    right = lines({**TEA, "fact.clip_score": "27"})
    assert outcomes(upload(mara, stage, right, TWO)) == {1: ("error", "key_differs")}, "never by chance"
    job = upload(mara, stage, right, TWO, correct_facts="on")
    assert outcomes(job) == {1: ("updated", "fact_corrected")}
    assert "fact.clip_score: 2.7 → 27" in job.rows.get().message
    assert stage.items.get().intake == "kept"
    facts = ItemFact.objects.order_by("pk").values_list("value", "version")
    assert list(facts) == [(2.7, ""), (27, "2")], "the earlier one stays"
    assert outcomes(upload(mara, stage, right, TWO, correct_facts="on")) == {1: ("unchanged", "")}
    other = lines({**TEA, "text": "Green tea", "fact.clip_score": "28"})
    assert outcomes(upload(mara, stage, other, TWO, correct_facts="on")) == {1: ("error", "key_differs")}
    assert ItemFact.objects.count() == 2, "only facts are corrected"


def test_a_row_that_adds_a_picture_does_not_also_correct_a_fact(stage: Stage, mara: Client) -> None:
    shaped(stage, "named", "pair")
    first = {"key": "tea", "role": "a", "file": "a.png", "fact.clip_score": "2"}
    second = {"key": "tea", "role": "b", "file": "b.png", "fact.clip_score": "3"}
    assert outcomes(upload(mara, stage, lines(first), TWO)) == {1: ("created", "")}
    job = upload(mara, stage, lines(second), TWO, correct_facts="on")
    assert outcomes(job) == {1: ("error", "key_differs")} and "fact.clip_score" in job.rows.get().message
    assert [use.role for use in stage.items.get().images.all()] == ["a"]
    assert list(ItemFact.objects.values_list("value", flat=True)) == [2]


def test_a_fact_of_zero_is_there_when_its_row_comes_again(stage: Stage, mara: Client) -> None:
    rows = lines({**TEA, "fact.faces": 0})
    assert outcomes(upload(mara, stage, rows, TWO)) == {1: ("created", "")}
    assert outcomes(upload(mara, stage, rows, TWO)) == {1: ("unchanged", "")}
    assert outcomes(upload(mara, stage, lines({**TEA, "fact.faces": 1}), TWO)) == {1: ("error", "key_differs")}
