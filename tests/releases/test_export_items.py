"""The items of a stage in an export: what was shown, which picture files, and what a derived item was made of."""

import csv
import io
import json

import pytest
from django.utils import timezone

from annotation.models import Annotation
from annotation.services.answers import consent, submit
from benchmarks.models import ItemImage, Stage
from people.models import Rater
from releases.rows.items import ITEMS
from tests.annotation.chain.factories import (
    GOOD,
    a_stage,
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
from tests.personas import World, make_consent_version
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


def agree(stage: Stage, *raters: Rater) -> None:
    version = make_consent_version(stage.benchmark.team)
    for rater in raters:
        assert rater.user is not None
        consent.agree(rater.user, version, "en")


def withdraw(writer: Rater, stage: Stage) -> None:
    """The person takes their consent back, and the worker looks at what was made of their answers."""
    assert writer.user is not None
    assert consent.withdraw(writer.user, stage.benchmark.team, timezone.now()) is not None
    process_derivations()


def texts_of(*stages: Stage) -> set[str]:
    return {row["text"] for stage in stages for row in lines(files(stage)["items.jsonl"])}


def test_an_item_that_hands_a_text_on_goes_with_the_person_who_wrote_it() -> None:
    ask, reply, cohort = create_question_stages()
    handed_on = {"kind": "promote", "from": ["reply"], "params": {"context": {"answer": "answer"}}}
    look = a_stage(ask.benchmark, "look", GOOD, derivation=handed_on)
    writer, other = a_person(cohort), a_person(cohort)
    agree(ask, writer, other)
    answer(claim_sheet(writer, create_open_campaign(ask, cohort), cohort), question="Who is my aunt?", answer="Tea")
    process_derivations()
    answer(claim_sheet(other, create_open_campaign(reply, cohort), cohort), answer="Nobody knows")
    process_derivations()
    assert [item.text for item in live_items(look)] == ["Who is my aunt?"] == list(texts_of(reply))
    withdraw(writer, ask)
    assert live_items(look) == []
    assert texts_of(ask, reply, look) == {""}, "the answer of the other person was made to a text of this one"


def test_an_item_of_an_earlier_version_goes_with_the_person_who_wrote_it() -> None:
    ask, reply, cohort = create_question_stages()
    writer = a_person(cohort)
    agree(ask, writer)
    sheet = claim_sheet(writer, create_open_campaign(ask, cohort), cohort)
    first = answer(sheet, question="Who is my aunt?", answer="Tea")
    process_derivations()
    submit.reopen(first.assignment_id, writer, timezone.now())
    answer(first.assignment, question="What is it?", answer="Tea")
    process_derivations()
    assert not Annotation.objects.get(pk=first.pk).live
    assert texts_of(reply) == {"Who is my aunt?", "What is it?"}
    withdraw(writer, ask)
    assert texts_of(reply) == set()
