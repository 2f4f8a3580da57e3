"""The items of a stage in an export: what was shown, which picture files, and what a derived item was made of."""

import csv
import io
import json

import pytest
from django.utils import timezone

from annotation.models import Annotation
from benchmarks.models import ItemImage
from releases.rows.items import ITEMS
from tests.annotation.chain.factories import (
    answer,
    claim_sheet,
    create_open_campaign,
    create_question_stages,
    live_items,
    process_derivations,
)
from tests.annotation.queue.factories import a_person
from tests.evaluation.data import an_open_campaign
from tests.importing import draw_pictures, upload
from tests.personas import World
from tests.releases.test_export_members import cells, export_bytes, files, import_outcomes, lines, opened_zip

pytestmark = pytest.mark.django_db


def test_every_item_of_the_stage_has_its_row_with_its_pictures(world: World) -> None:
    world.add_items(2)
    [first, second] = world.items
    first.text, first.context = "Who dances?", {"kind": "=1+1"}
    first.save()
    second.withdrawn_at = timezone.now()
    second.save()
    ItemImage.objects.filter(item=first).update(source="https://example.org/a", licence="CC BY 4.0", alt="Dancers")
    picture = first.images.get()
    found = files(world.stage, an_open_campaign(world))
    [row, gone] = lines(found["items.jsonl"])
    assert list(row) == [column.name for column in ITEMS.written]
    for name in ("key", "concept", "origin", "condition", "text", "context"):
        assert row[name] == getattr(first, name)
    [shown] = row["pictures"]
    assert shown["sha256"] == picture.image.sha256 and shown["role"] == picture.role
    assert (shown["source"], shown["licence"], shown["alt"]) == ("https://example.org/a", "CC BY 4.0", "Dancers")
    assert row["derived_from"] == [] and (row["withdrawn"], row["withdrawn_at"]) == (False, None)
    assert gone["withdrawn"] and gone["withdrawn_at"] == f"{second.withdrawn_at:%Y-%m-%dT%H:%M:%S.%fZ}"


def test_items_of_another_stage_stay_out() -> None:
    ask, reply, cohort = create_question_stages()
    assert lines(files(reply, create_open_campaign(ask, cohort))["items.jsonl"]) == []


def test_a_derived_item_names_the_item_and_the_answer_it_was_made_of() -> None:
    ask, reply, cohort = create_question_stages()
    first = answer(
        claim_sheet(a_person(cohort), create_open_campaign(ask, cohort), cohort), question="What is it?", answer="Tea"
    )
    process_derivations()
    [made] = live_items(reply)
    [row] = lines(files(reply, create_open_campaign(reply, cohort))["items.jsonl"])
    assert (row["key"], row["text"], row["context"]) == (made.key, "What is it?", {"said": "Tea"})
    assert row["derived_from"] == [{"stage": "ask", "item": "ask-000", "annotation": first.pk}]
    assert Annotation.objects.get(pk=first.pk).live


def test_the_csv_has_the_same_items(world: World) -> None:
    world.add_items(2)
    campaign = an_open_campaign(world)
    [row, _other] = cells(files(world.stage, campaign, form="csv")["items.csv"])
    [same, _other_too] = lines(files(world.stage, campaign)["items.jsonl"])
    assert json.loads(row["pictures"]) == same["pictures"] and row["key"] == same["key"]
    assert (row["withdrawn"], row["withdrawn_at"], row["derived_from"]) == ("false", "", "[]")
    head = next(csv.reader(io.StringIO(files(world.stage, campaign, form="csv")["items.csv"].decode("utf-8-sig"))))
    assert head == [column.name for column in ITEMS.written]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_the_door_for_answers_passes_over_the_items(form: str) -> None:
    ask, _reply, cohort = create_question_stages()
    campaign = create_open_campaign(ask, cohort)
    answer(claim_sheet(a_person(cohort), campaign, cohort), question="What is it?", answer="Tea")
    data = export_bytes(ask, [campaign], form)
    assert opened_zip(data)[f"items.{form}"]
    assert import_outcomes(create_open_campaign(ask, cohort), data) == {"created": 1}


def test_the_file_name_of_an_import_is_exported_with_its_picture(world: World) -> None:
    client, pictures = world.client(world.mara), draw_pictures(["set/Blue Nile 1.png"])
    upload(client, world.stage, b"file,key\nset/Blue Nile 1.png,nile\n", pictures)
    found = files(world.stage, an_open_campaign(world))
    [row] = lines(found["items.jsonl"])
    assert row["key"] == "nile" and [one["file"] for one in row["pictures"]] == ["set/Blue Nile 1.png"]
