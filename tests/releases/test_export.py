"""The export: all that is stored, nothing that names a person, and a codebook that explains it."""

import csv
import hashlib
import io
import json
import zipfile
from typing import Any
from unittest.mock import patch

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Annotation, Campaign, Rating, Tally
from annotation.services.campaigns import lifecycle
from benchmarks.models import Benchmark, Item, Stage
from jobs.models import Event
from people.services.raters import rater_of
from releases.rows.annotations import current_answers
from releases.writers.registry import WRITERS
from tests.annotation.chain.factories import GOOD, a_stage, items
from tests.evaluation.data import an_open_campaign, give_ratings, of_condition, table
from tests.personas import World


@pytest.fixture
def campaign(world: World) -> Campaign:
    world.add_items(8)
    campaign = an_open_campaign(world)
    natural = of_condition(world.items, "natural")
    table(campaign, world.egypt, natural, {world.nour: "1234", world.tarek: "12.5"})
    give_ratings(campaign, world.brazil, world.bia, {natural[0]: "5"}, because="surplus")
    return campaign


def download_files(client: Client, world: World, form: str = "jsonl", **more: Any) -> dict[str, bytes]:
    """Download, and open: file name to bytes."""
    reply = client.post(
        f"/b/{world.benchmark.slug}/export/", {"form": form, "stage": more.pop("stage", None) or world.stage.pk, **more}
    )
    assert reply.status_code == 200, reply.content[:500]
    with zipfile.ZipFile(io.BytesIO(b"".join(reply.streaming_content))) as archive:  # type: ignore[attr-defined]
        assert archive.testzip() is None
        return {name.rsplit("/", 1)[1]: archive.read(name) for name in archive.namelist()}


def test_what_is_read_again_is_what_is_stored(world: World, campaign: Campaign) -> None:
    files = download_files(world.client(world.mara), world)
    rows = [json.loads(line) for line in files["ratings.jsonl"].decode().splitlines()]
    stored = Annotation.objects.filter(live=True).order_by("pk").select_related("assignment__unit__item", "cohort")
    assert len(rows) == 8
    for row, annotation in zip(rows, stored, strict=True):
        assert row["annotation"] == annotation.pk
        assert row["answers"] == annotation.answers
        assert row["codes"] == dict(annotation.ratings.values_list("field", "code"))
        assert row["item"] == annotation.assignment.unit.item.key
        assert row["target"] == row["cohort"] == annotation.cohort.label
        assert row["rater"] == world.benchmark.pseudonym(annotation.rater_id)
        assert (row["counted"], row["uncounted_because"]) == (annotation.counted, annotation.uncounted_because)
        assert row["shown_at"] == "2026-03-01T12:00:00.000000Z"
        assert row["active_seconds"] == 8.5
    assert [row["uncounted_because"] for row in rows].count("surplus") == 1


def test_the_csv_has_the_same_rows(world: World, campaign: Campaign) -> None:
    lines = download_files(world.client(world.mara), world, "csv")["ratings.csv"].decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(lines)))
    codes = dict(Rating.objects.values_list("annotation_id", "code"))
    assert {int(row["annotation"]): row["answer.relevance"] for row in rows} == codes
    assert {row["counted"] for row in rows} == {"true", "false"}


def test_superseded_and_taken_back_answers_stay_at_home(world: World, campaign: Campaign) -> None:
    gone = Annotation.objects.filter(rater=rater_of(world.nour)).order_by("pk")[0]
    Annotation.objects.filter(pk=gone.pk).update(live=False, counted=False, uncounted_because="undone")
    rows = download_files(world.client(world.mara), world)["ratings.jsonl"].decode().splitlines()
    assert gone.pk not in {json.loads(row)["annotation"] for row in rows}


def test_the_codebook_explains_every_code_and_column(world: World, campaign: Campaign) -> None:
    files = download_files(world.client(world.mara), world, "csv")
    book = json.loads(files["codebook.json"])
    [sheet] = book["sheets"]
    [field] = sheet["fields"]
    assert (field["kind"], field["version"], field["level"]) == ("rating", 1, "ordinal")
    assert [point["code"] for point in field["config"]["points"]] == ["1", "2", "3", "4", "5"]
    assert field["config"]["points"][0]["definition"]["en"].startswith("Nothing in the picture")
    assert field["label"]["ar"]
    [instructions] = book["instructions"]
    assert (instructions["number"], instructions["campaign"], instructions["required"]) == (1, campaign.pk, False)
    [text] = instructions["texts"]
    assert (text["language"], text["cohort"], text["body"]) == ("en", None, "Look first, then rate.")
    assert {cohort["label"] for cohort in book["cohorts"]} == {"Brazil", "Egypt"}
    header = next(csv.reader(io.StringIO(files["ratings.csv"].decode("utf-8-sig"))))
    explained = {c["name"] for c in book["columns"]} | {c["name"] for c in field["columns"]}
    assert set(header) <= explained
    assert book["file"]["rows"] == 8
    assert book["file"]["sha256"] == hashlib.sha256(files["ratings.csv"]).hexdigest()
    assert book["selection"]["campaigns"] == [campaign.pk]


def test_nobody_is_named(world: World, campaign: Campaign) -> None:
    for form in ("csv", "jsonl"):
        text = b"".join(download_files(world.client(world.mara), world, form).values()).decode()
        for user in world.annotators:
            assert user.name not in text
            assert user.email not in text


def test_texts_that_a_spreadsheet_would_run_are_made_harmless(world: World, campaign: Campaign) -> None:
    Item.objects.filter(pk=world.items[0].pk).update(concept='=cmd|"/c calc"!A1')
    rows = download_files(world.client(world.mara), world, "csv")["ratings.csv"].decode("utf-8-sig")
    concepts = {row["concept"] for row in csv.DictReader(io.StringIO(rows))}
    assert '\'=cmd|"/c calc"!A1' in concepts
    lines = download_files(world.client(world.mara), world)["ratings.jsonl"].decode().splitlines()
    assert '=cmd|"/c calc"!A1' in {json.loads(line)["concept"] for line in lines}


def test_one_campaign_can_be_taken_alone(world: World, campaign: Campaign) -> None:
    again = an_open_campaign(world, name="Round two")
    table(again, world.egypt, world.items[:1], {world.nour: "3"})
    lines = download_files(world.client(world.mara), world, campaign=again.pk)["ratings.jsonl"].splitlines()
    assert [json.loads(line)["campaign"] for line in lines] == [again.pk]
    assert len(download_files(world.client(world.mara), world)["ratings.jsonl"].splitlines()) == 9


def test_only_owners_and_researchers_export_and_it_is_written_down(world: World, campaign: Campaign) -> None:
    address = f"/b/{world.benchmark.slug}/export/"
    data = {"stage": world.stage.pk, "form": "csv"}
    for user in (world.reviewer, world.nour, world.manager, world.stranger, world.rival):
        assert world.client(user).post(address, data).status_code == 404, user
        assert world.client(user).get(address).status_code == 404, user
    assert world.client().post(address, data).status_code == 302
    assert not Event.objects.filter(verb="ratings.exported").exists()
    download_files(world.client(world.owner), world, "csv")
    event = Event.objects.get(verb="ratings.exported")
    assert (event.actor, event.scope, event.data) == (
        world.owner, world.benchmark.scope, {"campaigns": [campaign.pk], "form": "csv"},
    )  # fmt: skip


def test_the_stage_with_most_answers_is_chosen_first(world: World, campaign: Campaign) -> None:
    address, client = f"/b/{world.benchmark.slug}/export/", world.client(world.mara)
    earlier = a_stage(world.benchmark, "earlier", GOOD)
    Stage.objects.filter(pk=earlier.pk).update(position=0)
    Stage.objects.filter(pk=campaign.stage_id).update(position=1)
    items(earlier, 1)
    opened = lifecycle.create(earlier, "Earlier", None, {world.egypt: 1}, seed=1)
    lifecycle.open_campaign(opened, None, timezone.now())
    Tally.objects.update(submitted=0)
    assert client.get(address).context["form"]["stage"].value() is None, "nobody has answered"
    Tally.objects.filter(cohort__campaign=campaign).update(submitted=2)
    page = client.get(address)
    assert page.context["form"]["stage"].value() == campaign.stage_id
    assert f'<option value="{campaign.stage_id}" selected>' in page.content.decode()


def test_looking_at_the_page_takes_nothing(world: World, campaign: Campaign) -> None:
    page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/export/")
    assert page.status_code == 200
    assert not page.streaming
    assert not Event.objects.filter(verb="ratings.exported").exists()


def test_a_post_without_its_token_is_refused(world: World, campaign: Campaign) -> None:
    client = world.client(world.mara, enforce_csrf_checks=True)
    reply = client.post(f"/b/{world.benchmark.slug}/export/", {"stage": world.stage.pk, "form": "csv"})
    assert reply.status_code == 403


@pytest.mark.parametrize("data", [{"form": "xlsx"}, {"stage": "0"}, {"campaign": "x"}])
def test_what_is_not_on_offer_is_refused_with_words(world: World, campaign: Campaign, data: dict[str, str]) -> None:
    good = {"stage": str(world.stage.pk), "form": "csv"}
    reply = world.client(world.mara).post(f"/b/{world.benchmark.slug}/export/", good | data)
    assert reply.status_code == 400
    assert "msg err" in reply.content.decode()


def test_a_stage_of_another_team_cannot_be_named(world: World, campaign: Campaign) -> None:
    foreign = world.other_benchmark.stages.get()
    reply = world.client(world.mara).post(f"/b/{world.benchmark.slug}/export/", {"stage": foreign.pk, "form": "csv"})
    assert reply.status_code == 400


@pytest.mark.django_db(transaction=True)
def test_an_export_that_is_broken_off_leaves_the_connection_usable(world: World) -> None:
    world.add_items(8)
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, world.items, {world.nour: "12345123", world.tarek: "12345123"})
    found = current_answers(world.benchmark, [campaign.pk])
    assert next(found)["codes"] == {"relevance": "1"}
    found.close()
    assert Annotation.objects.count() == 16
    with pytest.raises(ZeroDivisionError), patch.object(Benchmark, "pseudonym", lambda *_: str(1 // 0)):
        list(current_answers(world.benchmark, [campaign.pk]))
    assert Annotation.objects.count() == 16
    address = f"/b/{world.benchmark.slug}/export/"
    reply = world.client(world.mara).post(address, {"stage": world.stage.pk, "form": "csv"})
    reply.close()
    assert len(download_files(world.client(world.mara), world)["ratings.jsonl"].splitlines()) == 16


@pytest.mark.parametrize("tool", [writer.key for writer in WRITERS if writer.key != "coco"])
def test_an_answer_to_an_older_question_does_not_end_the_file(world: World, tool: str) -> None:
    """The points of the question were words before the sheet was changed."""
    world.add_items(2)
    campaign = an_open_campaign(world)
    first, second = world.items[:2]
    older, _newer = give_ratings(campaign, world.egypt, world.nour, {first: "3", second: "4"})
    Annotation.objects.filter(pk=older.pk).update(answers={"relevance": "high"})
    reply: Any = world.client(world.mara).post(
        f"/b/{world.benchmark.slug}/export/tools/", {"stage": campaign.stage_id, "form": tool}
    )
    with zipfile.ZipFile(io.BytesIO(b"".join(reply.streaming_content))) as archive:
        assert archive.testzip() is None
        assert any(second.key.encode() in archive.read(name) for name in archive.namelist())
