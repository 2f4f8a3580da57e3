"""Ratings made elsewhere come in with a row for each field: what they say stands, and each fault is told by its row."""

import csv
import io
import json
import random
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import F

from annotation.models import Annotation, Assignment, Campaign, Rating, Tally
from annotation.queries.answers import watermark
from annotation.services.files import answer_files, withdrawals
from annotation.services.queue import recount
from benchmarks.models import Item
from jobs.models import Event, Job
from jobs.services import lifecycle as jobs
from jobs.services import runner
from people.models import Rater
from tests.annotation.files.test_answer_files import counted_ratings, export_zip, import_answers
from tests.evaluation.data import NOON, an_open_campaign
from tests.importing import outcomes
from tests.module_world import built_once
from tests.personas import SHEET, World

SECOND = {
    "key": "why",
    "kind": "choice",
    "label": {"en": "Why?"},
    "config": {"options": [{"code": code, "label": {"en": code}} for code in ("food", "dress")]},
}
HIDDEN = {**SECOND, "key": "which", "show_if": {"field": "why", "in": ["food"]}}


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(4)
    stage = world.stage
    stage.sheet = {"fields": [*SHEET["fields"], SECOND, HIDDEN]}
    stage.save()
    return an_open_campaign(world)


def lines(world: World, *rows: dict[str, Any]) -> bytes:
    good = {"item": world.items[0].key, "rater": "r1", "cohort": "Egypt", "field": "relevance", "code": "3"}
    return "\n".join(json.dumps({**good, **row}) for row in rows).encode()


def table(rows: list[dict[str, Any]], separator: str) -> bytes:
    out = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(out, names, delimiter=separator)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def study(world: World) -> list[dict[str, Any]]:
    """Two people about four items, two fields each."""
    return [
        {"unit": item.key, "cohort": "Egypt", "rater": rater, "field": field, "code": code}
        for item in world.items
        for rater in ("r1", "r2")
        for field, code in (("relevance", "4"), ("why", "dress"))
    ]


@pytest.mark.parametrize("form", [",", "\t", "jsonl"])
def test_rows_of_one_answer_become_one_wherever_they_stand(world: World, campaign: Campaign, form: str) -> None:
    rows = study(world)
    random.Random(1).shuffle(rows)
    data = "\n".join(map(json.dumps, rows)).encode() if form == "jsonl" else table(rows, form)
    job = import_answers(campaign, data, "study")
    assert job.state == "done" and job.done == job.total == 16, job.error
    assert set(outcomes(job).values()) == {("created", "")} and len(outcomes(job)) == 16
    annotations = Annotation.objects.filter(assignment__campaign=campaign)
    assert [one.answers for one in annotations] == [{"relevance": "4", "why": "dress"}] * 8
    assert Rating.objects.filter(campaign=campaign).count() == 16
    assert recount.find_differences() == []
    again = import_answers(campaign, data, "study")
    assert set(outcomes(again).values()) == {("unchanged", "")} and annotations.count() == 8
    assert withdrawals.withdraw(job, world.owner, NOON) == 8 and counted_ratings(campaign) == []
    assert set(outcomes(import_answers(campaign, data, "study")).values()) == {("updated", "brought_back")}
    assert len(counted_ratings(campaign)) == 16


def test_fields_that_the_file_lacks_were_not_asked(world: World, campaign: Campaign) -> None:
    """`which` is asked after a `why` that the file does not hold; `relevance`, which is required, is not there."""
    job = import_answers(campaign, lines(world, {"field": "which", "code": "food"}), "a.jsonl")
    assert outcomes(job) == {1: ("created", "")}, list(job.rows.values())
    assert [row[3:5] for row in counted_ratings(campaign)] == [("which", "food")]


@pytest.mark.parametrize(
    ("row", "reason", "words"),
    [
        ({"field": "fit"}, "no_field", "no question “fit” in this sheet. There are: relevance, why, which"),
        ({"code": "9"}, "not_an_answer", "relevance: This is not one of the options."),
        ({"code": "9"}, "not_an_answer", "It says “9”; there are: 1, 2, 3, 4, 5."),
        ({"code": ""}, "no_code", "no code for “relevance”"),
        ({"code": None}, "no_code", "no code for “relevance”"),
        ({"field": None}, "no_field", "no question “”"),
        ({"item": "nowhere"}, "no_item", "no item “nowhere”"),
        ({"rater": ""}, "missing", "“rater” is empty"),
        ({"cohort": "Norway"}, "no_cohort", "This campaign does not ask the cohort"),
        ({"submitted_at": "soon"}, "unreadable", "“submitted_at”"),
        ({"code": json.loads("[" * 99 + "]" * 99)}, "unreadable", "nested too deeply"),
        ({"code": float("nan")}, "unreadable", "NaN or infinity"),
        ({"code": "3\0", "rater": "\ud800"}, "not_utf8", "not in UTF-8"),
        ({"about": "[1]", "rater_kind": "model"}, "unreadable", "“about”"),
        ({"about": {"x": "y" * 5000}, "rater_kind": "model"}, "too_long", "“about” is longer"),
        ({"model_info": "[1]", "rater_kind": "model"}, "unreadable", "“model_info”"),
        ({"rater_kind": "model", "cohort": ""}, "no_target", "A model says for which culture"),
        ({"rater_kind": "model", "target": "T" * 121}, "no_target", "at most 120 characters"),
        ({"rater_kind": "model", "setting": "s" * 61}, "too_long", "“setting” is longer than 60"),
    ],
)
def test_a_faulty_row_names_what_is_wrong_and_what_there_is(
    world: World, campaign: Campaign, row: dict[str, Any], reason: str, words: str
) -> None:
    job = import_answers(campaign, lines(world, {"rater": "good"}, row), "a.jsonl")
    assert job.state == "done", job.error
    assert outcomes(job) == {1: ("created", ""), 2: ("error", reason)}
    assert words in job.rows.get(number=2).message


def test_an_answer_is_taken_whole_or_not_at_all(world: World, campaign: Campaign) -> None:
    """Mend the row, send the file again: nothing is in the way."""
    rows = [{}, {"field": "why", "code": "music"}, {"rater": "r2"}]
    job = import_answers(campaign, lines(world, *rows), "a.jsonl")
    assert outcomes(job) == {1: ("error", "same_answer"), 2: ("error", "not_an_answer"), 3: ("created", "")}
    assert "Row 2 belongs to the same answer" in job.rows.get(number=1).message
    rows[1]["code"] = "food"
    assert [one for one, _reason in outcomes(import_answers(campaign, lines(world, *rows), "b.jsonl")).values()] == [
        "created", "created", "unchanged",
    ]  # fmt: skip


def test_a_row_that_is_there_twice_is_harmless_and_two_that_differ_are_told(world: World, campaign: Campaign) -> None:
    rows = [{}, {}, {"rater": "r2"}, {"rater": "r2", "code": "5"}, {"rater": "r3"}, {"rater": "r3", "field": "why",
            "code": "food", "cohort": "Brazil", "target": "Egypt"}]  # fmt: skip
    job = import_answers(campaign, lines(world, *rows), "a.jsonl")
    assert outcomes(job) == {
        1: ("created", ""), 2: ("unchanged", "repeated"), 3: ("error", "same_answer"), 4: ("error", "twice"),
        5: ("error", "same_answer"), 6: ("error", "two_cohorts"),
    }  # fmt: skip


def test_a_row_after_an_answer_that_rules_its_question_out_is_told(world: World, campaign: Campaign) -> None:
    job = import_answers(
        campaign, lines(world, {"field": "why", "code": "dress"}, {"field": "which", "code": "food"}), "a.jsonl"
    )
    assert outcomes(job) == {1: ("error", "same_answer"), 2: ("error", "not_asked")}


@pytest.mark.parametrize("wide", [False, True])
def test_a_model_is_one_for_each_setting_and_may_answer_for_any_culture(
    world: World, campaign: Campaign, wide: bool
) -> None:
    """It needs no cohort; what is told of it is put together; pages of numbers see that something is new."""
    answer_columns = {"answers": {"relevance": "3", "why": "food", "which": "food"}} if wide else {"field": "relevance"}
    model = {"rater": "Llava", "rater_kind": "model", "cohort": None, **answer_columns}
    before = watermark(world.benchmark)
    rows = [
        {**model, "target": "Norway", "setting": "main", "model_info": {"family": "L"}},
        {**model, "target": "Peru", "setting": "main", "about": '{"open": true}'},
        {**model, "target": "Norway", "setting": "text_only"},
        {"rater": "Llava", "setting": "ignored", **answer_columns},
    ]
    data = lines(world, *rows)
    data = data.replace(b'"field": "relevance", "code": "3", ', b"") if wide else data
    job = import_answers(campaign, data, "a.jsonl")
    assert set(outcomes(job).values()) == {("created", "")}, list(job.rows.values())
    models = Rater.objects.filter(kind="model").order_by("setting")
    assert [(one.name, one.setting, one.about) for one in models] == [
        ("Llava", "main", {"family": "L", "open": True}), ("Llava", "text_only", {}),
    ]  # fmt: skip
    assert Rater.objects.get(kind="person", name="Llava").setting == ""
    assert set(Rating.objects.filter(rater=models[0]).values_list("unit__target", "cohort")) == {
        ("Norway", None), ("Peru", None),
    }  # fmt: skip
    assert watermark(world.benchmark) > before


def test_what_later_files_tell_of_a_model_is_added_and_changes_nothing(world: World, campaign: Campaign) -> None:
    """All benchmarks of a team share what is known of a model; so does nothing that was not taken."""
    model = {"rater": "M", "rater_kind": "model", "cohort": ""}
    rows = [
        {**model, "target": "Peru", "about": {"family": "L"}},
        {**model, "target": "Chile", "about": {"family": "other", "parameters": "7 B"}},
        {**model, "target": "Egypt", "code": "99", "about": {"released": 2024}},
    ]
    job = import_answers(campaign, lines(world, *rows), "a.jsonl")
    assert outcomes(job) == {1: ("created", ""), 2: ("error", "known_otherwise"), 3: ("error", "not_an_answer")}
    assert "is 'L' in this team. The row gives 'other'" in job.rows.get(number=2).message
    assert Rater.objects.get(kind="model").about == {"family": "L"}
    assert Assignment.objects.filter(campaign=campaign).count() == 1, "what was refused left nothing"
    wrong = {**model, "target": "Chile", "about": {"family": "VANDAL"}}
    assert outcomes(import_answers(campaign, lines(world, wrong), "b.jsonl")) == {1: ("error", "known_otherwise")}
    import_answers(
        campaign, lines(world, {**model, "target": "Egypt", "about": {"open": False, "family": "L"}}), "c.jsonl"
    )
    assert Rater.objects.get(kind="model").about == {"family": "L", "open": False}
    told = Event.objects.filter(verb="model.described").order_by("pk")
    assert [(one.actor, one.data["told"]) for one in told] == [
        (world.owner, {"family": "L"}), (world.owner, {"open": False}),
    ]  # fmt: skip


def test_what_was_withdrawn_half_way_does_not_go_on(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of an import would count, and the report would say that all of it does."""
    monkeypatch.setattr(answer_files, "STEP", 3)
    real = answer_files.import_batch
    job = answer_files.start(campaign, world.owner, SimpleUploadedFile("a.csv", table(study(world), ",")))

    def stops(*args: Any) -> Any:
        jobs.request_cancel(job, world.owner)
        return real(*args)

    monkeypatch.setattr(answer_files, "import_batch", stops)
    runner.run(job.pk)
    job.refresh_from_db()
    assert (job.state, len(counted_ratings(campaign))) == ("cancelled", 4)
    assert withdrawals.withdraw(job, world.owner, NOON) == 2
    jobs.resume(job, world.owner)
    runner.run(job.pk)
    job.refresh_from_db()
    assert (job.state, counted_ratings(campaign)) == ("failed", []) and "were withdrawn" in job.error
    monkeypatch.setattr(answer_files, "import_batch", real)
    import_answers(campaign, table(study(world), ","), "a.csv")
    assert len(counted_ratings(campaign)) == 16


def test_items_are_not_made_in_a_campaign_that_opened_meanwhile(world: World, campaign: Campaign) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(state="paused")
    upload = SimpleUploadedFile("a", lines(world, {"item": "new", "country": "EG"}))
    job = answer_files.start(campaign, world.owner, upload, makes_items=True)
    Campaign.objects.filter(pk=campaign.pk).update(state="open")
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "failed" and "Pause it, then resume" in job.error
    assert not Item.objects.filter(key="new").exists()
    Campaign.objects.filter(pk=campaign.pk).update(state="paused")
    jobs.resume(job, world.owner)
    runner.run(job.pk)
    assert Item.objects.filter(key="new").exists()


def test_an_import_without_a_cohort_is_seen_by_the_pages_of_numbers(world: World, campaign: Campaign) -> None:
    before = watermark(world.benchmark)
    row = {"rater": "M", "rater_kind": "model", "cohort": "", "target": "Egypt"}
    import_answers(campaign, lines(world, row), "a.jsonl")
    assert watermark(world.benchmark) == before + 1
    assert Tally.objects.filter(cohort__campaign=campaign, submitted__gt=0).count() == 0


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_models_come_back_from_an_export_with_their_settings(world: World, campaign: Campaign, form: str) -> None:
    model = {"rater": "M", "rater_kind": "model", "cohort": None, "target": "Peru"}
    both = [{**model, "setting": setting, "code": code} for setting, code in (("main", "2"), ("text_only", "5"))]
    whole = [{**one, **more} for one in both for more in ({}, {"field": "why", "code": "dress"})]
    import_answers(campaign, lines(world, *whole), "a.jsonl")
    again = an_open_campaign(world, name="Empty")
    job = import_answers(again, export_zip(world, campaign, form))
    assert set(outcomes(job).values()) == {("created", "")}, list(job.rows.values())
    assert counted_ratings(again) == counted_ratings(campaign) and len(counted_ratings(again)) == 4
    assert b"text_only" in b"".join(_members(export_zip(world, again, form)))
    assert Rater.objects.filter(kind="model").count() == 2


def _members(data: bytes) -> list[bytes]:
    import zipfile

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [archive.read(name) for name in archive.namelist() if "/ratings." in name]


def test_a_kill_between_steps_loses_nothing_and_doubles_nothing(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_files, "STEP", 3)
    rows = study(world)
    random.Random(2).shuffle(rows)
    real, steps = answer_files.import_batch, []

    def stops(*args: Any) -> Any:
        steps.append(len(steps))
        job_rows = real(*args)
        if len(steps) == 2:
            raise KeyboardInterrupt  # after the rows of the step were written, before its commit
        return job_rows

    monkeypatch.setattr(answer_files, "import_batch", stops)
    job = answer_files.start(campaign, world.owner, SimpleUploadedFile("a.csv", table(rows, ",")))
    with pytest.raises(KeyboardInterrupt):
        runner.run(job.pk)
    assert len(counted_ratings(campaign)) == 4  # two whole answers
    Job.objects.filter(pk=job.pk).update(lease_until=F("started_at"))
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "done" and job.done == 16 and set(outcomes(job).values()) == {("created", "")}
    assert (
        len(counted_ratings(campaign)) == 16 == len(set(counted_ratings(campaign))) * 2
    )  # two raters say the same of each
    assert Assignment.objects.filter(campaign=campaign).count() == 8


def test_items_that_are_missing_are_made_when_it_is_asked_for(world: World, campaign: Campaign) -> None:
    rows = [
        {
            "item": "new",
            "country": "EG",
            "concept": "bread",
            "condition": "photo",
            "prompt": "a loaf",
            "gold": '["Egypt"]',
        },
        {"item": "new", "field": "why", "code": "food", "country": "Brazil"},
        {"item": "lost", "country": "Nowhere"},
        {"item": world.items[0].key, "concept": "other"},
    ]
    Campaign.objects.filter(pk=campaign.pk).update(state="paused")
    items_before = list(Item.objects.values())
    job = answer_files.start(campaign, world.owner, SimpleUploadedFile("a", lines(world, *rows)), makes_items=True)
    runner.run(job.pk)
    assert outcomes(job) == {
        1: ("created", ""), 2: ("created", ""), 3: ("error", "bad_country"), 4: ("created", ""),
    }, list(job.rows.values())  # fmt: skip
    new = Item.objects.get(key="new")
    assert (new.origin, new.concept, new.condition) == ("Egypt", "bread", "photo")
    assert new.context == {"prompt": "a loaf", "gold": ["Egypt"]}
    assert list(Item.objects.exclude(key="new").values()) == items_before


def test_people_at_work_are_not_given_items_without_a_picture(world: World, campaign: Campaign) -> None:
    path = f"/b/{world.benchmark.slug}/campaigns/{campaign.pk}/answers/import/"
    mara = world.client(world.mara)

    def send() -> Any:
        upload = SimpleUploadedFile("a.jsonl", lines(world, {}))
        return mara.post(path, {"file": upload, "makes_items": "on"})

    refused = send()
    assert refused.status_code == 400 and "Pause it first" in refused.content.decode() and not Job.objects.exists()
    Campaign.objects.filter(pk=campaign.pk).update(state="paused")
    assert send().status_code == 302
    assert Job.objects.get().params["makes_items"] is True


def test_a_draft_without_items_opens_for_imports_only(world: World) -> None:
    from annotation.services.campaigns import lifecycle

    draft = lifecycle.create(world.stage, "Elsewhere", world.owner, {world.egypt: 2})
    path = f"/b/{world.benchmark.slug}/campaigns/{draft.pk}/answers/import/"
    for user in (world.nour, world.manager, world.reviewer, world.stranger):
        assert world.client(user).post(path, {"do": "open"}).status_code == 404
    page = world.client(world.mara).post(path, {"do": "open"}, follow=True).content.decode()
    assert "no work is assigned" in page and 'type="file"' in page
    draft.refresh_from_db()
    assert (draft.state, Event.objects.get(verb="campaign.opened_for_imports").actor) == ("paused", world.mara)
    data = SimpleUploadedFile("a", lines(world, {"item": "a1", "country": "Egypt"}) if world.items else _first())
    world.client(world.mara).post(path, {"file": data, "makes_items": "on"})
    runner.run(Job.objects.get().pk)
    assert [row[0] for row in counted_ratings(draft)] == ["a1"]
    for page in (f"campaigns/{draft.pk}/", "campaigns/", "coverage/", "agreement/", "items/"):
        assert world.client(world.mara).get(f"/b/{world.benchmark.slug}/{page}").status_code == 200, page


def _first() -> bytes:
    return json.dumps({"item": "a1", "rater": "r", "cohort": "Egypt", "field": "relevance", "code": 3}).encode()
