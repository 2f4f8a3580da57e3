"""Items with several pictures, with any number of them, and with none, come in by the same door."""

import json
from itertools import chain

import pytest
from django.core.files.base import ContentFile

from benchmarks.imports.records import Defaults
from benchmarks.services import imports
from benchmarks.services.benchmarks import create_from_recipe
from jobs.services import runner
from tests import pictures as draw
from tests.archives import pack_zip

pytestmark = pytest.mark.django_db


def lines(*rows: dict) -> bytes:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()


def import_archive(stage, archive: bytes | None, listed: bytes | None = None):
    job = imports.start_upload(
        stage,
        stage.benchmark.created_by,
        archive=ContentFile(archive, "a.zip") if archive else None,
        manifest=ContentFile(listed, "manifest.jsonl") if listed else None,
        defaults=Defaults(),
    )
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "done", job.error
    return {row.number: (row.outcome, row.reason) for row in job.rows.order_by("number")}


def stage_of(world, recipe: str, key: str):
    benchmark = create_from_recipe(world.team, recipe, recipe, f"b-{recipe}", world.mara)
    return benchmark.stages.get(key=key)


PICTURES = {f"{n}.png": draw.png(60, 40, seed=n) for n in range(4)}


def test_a_pair_is_one_item_with_a_picture_in_each_role(world):
    stage = stage_of(world, "valueground", "pair-review")
    rows = (
        {"key": "Q1", "role": "a", "file": "0.png", "text": "Family?", "option_a": "Very", "option_b": "Not"},
        {"key": "Q1", "role": "b", "file": "1.png"},
        {"key": "Q1", "role": "b", "file": "2.png"},
        {"key": "Q2", "file": "3.png"},
    )
    first = import_archive(stage, pack_zip(PICTURES), lines(*rows))
    assert first == {1: ("created", ""), 2: ("created", ""), 3: ("error", "role_taken"), 4: ("error", "no_role")}
    item = stage.items.get()
    assert (item.key, item.text, item.context) == ("Q1", "Family?", {"option_a": "Very", "option_b": "Not"})
    assert sorted(item.images.values_list("role", flat=True)) == ["a", "b"]
    again = import_archive(stage, pack_zip(PICTURES), lines(*rows[:2]))
    assert set(again.values()) == {("unchanged", "")}


def test_a_bar_in_the_text_of_either_side_is_a_letter_as_others_are(world):
    stage = stage_of(world, "valueground", "pair-review")
    sides = {"option_a": "Good|bad", "option_b": "Often|never"}
    rows = ({"key": "Q1", "role": "a", "file": "0.png", **sides}, {"key": "Q1", "role": "b", "file": "1.png"})
    import_archive(stage, pack_zip(PICTURES), lines(*rows))
    assert stage.items.get().context == sides


def test_a_set_numbers_its_pictures_and_keeps_what_is_told_of_each(world, monkeypatch):
    monkeypatch.setattr(imports, "STEP_ROWS", 2)  # the set goes on in the next step
    stage = stage_of(world, "3xcm", "look-alikes")
    rows = [
        {"key": "brazil-market", "file": f"{n}.png", "concept": "market", "country": "Brazil", "rank": str(n)}
        for n in range(3)
    ]
    import_archive(stage, pack_zip(PICTURES), lines(*rows))
    item = stage.items.get()
    assert sorted(item.images.values_list("role", flat=True)) == ["p001", "p002", "p003"]
    assert (item.concept, item.origin) == ("market", "Brazil")
    assert sorted(chain.from_iterable(item.context["groups"])) == ["p001", "p002", "p003"]
    assert item.context["pictures"] == {"p001": {"rank": "0"}, "p002": {"rank": "1"}, "p003": {"rank": "2"}}
    more = [*rows, {**rows[0], "file": "3.png"}]
    assert list(import_archive(stage, pack_zip(PICTURES), lines(*more)).values()) == [("unchanged", "")] * 3 + [
        ("created", "")
    ]
    assert stage.items.get().images.count() == 4


def test_a_picture_without_a_role_follows_the_last_of_its_set_also_after_a_gap(world):
    stage = stage_of(world, "3xcm", "look-alikes")
    place = {"key": "brazil-market", "concept": "market", "country": "Brazil"}
    rows = [{**place, "file": "0.png", "role": "p002"}, {**place, "file": "1.png"}]
    assert import_archive(stage, pack_zip(PICTURES), lines(*rows)) == {1: ("created", ""), 2: ("created", "")}
    uses = stage.items.get().images
    assert dict(uses.values_list("role", "file_name")) == {"p002": "0.png", "p003": "1.png"}


def test_folders_are_sets_when_no_manifest_says_so(world):
    stage = stage_of(world, "3xcm", "look-alikes")
    import_archive(stage, pack_zip({f"Brazil/market/{name}": data for name, data in PICTURES.items()}))
    item = stage.items.get()
    assert (item.key, item.origin, item.images.count()) == ("Brazil/market", "Brazil", 4)


def test_words_come_in_as_a_manifest_alone(world):
    stage = stage_of(world, "globalrg-grounding", "finding")
    rows = lines(
        {"key": "ajrak", "country": "Pakistan", "concept": "ajrak"},
        {"country": "Pakistan", "concept": "roti"},
        {"key": "x", "file": "0.png", "country": "Pakistan"},
    )
    first = import_archive(stage, None, rows)
    assert first == {1: ("created", ""), 2: ("error", "no_key"), 3: ("created", "picture_not_used")}
    assert list(stage.items.order_by("key").values_list("key", "concept")) == [("ajrak", "ajrak"), ("x", "")]
    assert not stage.items.filter(images__isnull=False).exists()


def test_lists_stay_lists(world):
    stage = stage_of(world, "3xcm", "labels")
    import_archive(
        stage, pack_zip(PICTURES), lines({"key": "a", "file": "0.png", "labels": ["market", "fruit", 3, {"no": 1}]})
    )
    assert stage.items.get().context["labels"] == ["market", "fruit", "3"]


def test_a_surveys_counts_stay_a_table(world):
    stage = stage_of(world, "valueground", "choice")
    survey = {"Japan": {"1": 910, "4": 20.5, "deep": {"no": 1}}, "Kenya": "unasked"}
    first = {"key": "Q1", "role": "a", "file": "0.png", "concept": "Q1", "text": "Family?", "survey": survey}
    second = {"key": "Q1", "role": "b", "file": "1.png", "concept": "Q1"}
    job_rows = import_archive(stage, pack_zip(PICTURES), lines(first, second))
    assert job_rows == {1: ("created", "shortened"), 2: ("created", "")}
    item = stage.items.get()
    assert item.concept == "Q1"
    assert item.context["survey"] == {"Japan": {"1": 910, "4": 20.5}, "Kenya": "unasked"}


def test_the_page_asks_for_a_zip_where_items_have_pictures(world):
    with_pictures = stage_of(world, "3xcm", "labels")
    page = world.client(world.mara).post(f"/b/{with_pictures.benchmark.slug}/import/", {"stage": with_pictures.pk})
    assert page.status_code == 200 and "Choose a zip with the pictures." in page.content.decode()
    words = stage_of(world, "globalrg-grounding", "finding")
    page = world.client(world.mara).post(
        f"/b/{words.benchmark.slug}/import/",
        {"stage": words.pk, "manifest": ContentFile(b"key,concept\na,b", "m.csv")},
    )
    assert page.status_code == 302
