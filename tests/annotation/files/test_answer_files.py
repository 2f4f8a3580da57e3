"""Answers come in from a file: what an export says is what stands there again, and every fault is told by its row."""

import csv
import io
import json
import zipfile
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import F
from django.utils import timezone

from annotation.displays.shown_item import build_shown, upload_info
from annotation.fields.registry import KINDS, Kind
from annotation.models import Annotation, Assignment, Campaign, Due, Rating, SheetVersion, Slot, Tally, Unit, Upload
from annotation.services.answers import consent
from annotation.services.files import answer_files, withdrawals
from annotation.services.queue import recount
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.models import Image, Item, ItemImage, Stage
from jobs.models import Event, Job
from jobs.services import runner
from people.models import Rater
from people.services.raters import rater_of
from tests.evaluation.data import NOON, an_open_campaign, give_ratings, of_condition, table
from tests.importing import outcomes
from tests.module_world import built_once
from tests.personas import World, make_benchmark, make_items
from tests.releases.test_export import download_files

Found = list[tuple[Any, ...]]


def counted_ratings(campaign: Campaign) -> Found:
    """What every measure reads, by names instead of numbers."""
    rows = Rating.objects.filter(campaign=campaign, live=True)
    return sorted(
        rows.values_list("unit__item__key", "unit__target", "cohort__label", "field", "code", "value", "counted",
                         "annotation__uncounted_because", "annotation__version", "annotation__language")
    )  # fmt: skip


def export_zip(world: World, campaign: Campaign, form: str) -> bytes:
    """The zip as a browser gets it."""
    data = {"stage": campaign.stage_id, "form": form, "campaign": campaign.pk}
    reply = world.client(world.mara).post(f"/b/{world.benchmark.slug}/export/", data)
    return b"".join(reply.streaming_content)  # type: ignore[attr-defined]


def import_answers(campaign: Campaign, data: bytes, name: str = "export.zip") -> Job:
    owner = campaign.stage.benchmark.roles.get(name="owner").user
    job = answer_files.start(campaign, owner, SimpleUploadedFile(name, data))
    runner.run(job.pk)
    job.refresh_from_db()
    return job


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(8)
    campaign = an_open_campaign(world)
    natural = of_condition(world.items, "natural")
    table(campaign, world.egypt, natural, {world.nour: "1234", world.tarek: "12.5"})
    give_ratings(campaign, world.brazil, world.bia, {natural[0]: "5"}, because="surplus")
    return campaign


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_an_export_comes_back_with_equal_ratings(world: World, campaign: Campaign, form: str) -> None:
    again = an_open_campaign(world, name="Empty")
    job = import_answers(again, export_zip(world, campaign, form))
    assert job.state == "done", job.error
    assert [one for one, _reason in outcomes(job).values()] == ["created"] * 8
    assert counted_ratings(again) == counted_ratings(campaign) and len(counted_ratings(again)) == 8
    raters = Rater.objects.filter(annotations__assignment__campaign=again).distinct()
    assert set(raters) == {rater_of(user) for user in (world.nour, world.tarek, world.bia)}
    one = Annotation.objects.filter(assignment__campaign=again).order_by("pk").first()
    assert one is not None and one.shown_at == NOON and one.active_seconds == 8.5
    assert not Assignment.objects.filter(campaign=again).exclude(participation=None, slot=None).exists()
    assert Slot.objects.filter(cohort__campaign=again).filter(submitted__gt=0).count() == 0
    assert recount.find_differences() == []
    assert Event.objects.get(verb="answers.imported").data["counts"] == {"created": 8}


def test_it_comes_back_in_another_benchmark_with_an_equal_sheet(world: World, campaign: Campaign) -> None:
    other = make_benchmark(world.team, "copy", owner=world.owner)
    make_items(other.stages.get(), 8)
    from annotation.services.campaigns import lifecycle

    other_campaign = lifecycle.create(other.stages.get(), "There", world.owner, {world.egypt: 2, world.brazil: 2})
    lifecycle.open_campaign(other_campaign, world.owner, NOON)
    assert import_answers(other_campaign, export_zip(world, campaign, "jsonl")).state == "done"
    assert counted_ratings(other_campaign) == counted_ratings(campaign)


def a_campaign_of(world: World, kind: Kind, name: str) -> Campaign:
    """Over one item that shows what the kind's examples are about."""
    field = {"key": "q", "kind": kind.key, "label": {"en": "?"}, "config": kind.spec.examples.config, "required": False}
    stage = world.stage
    if not world.items:
        world.add_items(len(kind.spec.examples.valid) + 1)
        shown = kind.spec.examples.shown
        for item in world.items:
            if shown and shown.images:
                ItemImage.objects.filter(item=item).delete()
                stage.display = "contact"
            if shown:
                Item.objects.filter(pk=item.pk).update(text=shown.text, context=dict(shown.context))
            for one in shown.images if shown else ():
                ItemImage.objects.create(item=item, role=one.role, image=get_or_create_image(world, one))
    stage.sheet = {"fields": [field]}
    stage.save()
    return an_open_campaign(world, name=name)


def get_or_create_image(world: World, one: Any) -> Image:
    facts = {"format": "png", "bytes": 9, "width": one.width, "height": one.height}
    return Image.objects.get_or_create(team=world.team, sha256=one.sha, defaults=facts)[0]


def answer_all(world: World, campaign: Campaign, kind: Kind) -> None:
    """Each valid example, and one sheet that was left empty."""
    sheet = sheet_of(campaign.sheet_version)
    uploads = [
        get_or_create_image(world, one)
        for one in (kind.spec.examples.shown.uploads if kind.spec.examples.shown else ())
    ]
    raws: Sequence[Any] = [*(example.raw for example in kind.spec.examples.valid), None]
    for item, raw in zip(Item.objects.filter(stage=campaign.stage).order_by("pk"), raws, strict=True):
        [annotation] = give_ratings(campaign, world.egypt, world.nour, {item: "1"})
        annotation.ratings.all().delete()
        parsed = sheet.parse(
            {"q": raw}, build_shown(annotation.assignment.unit, world.egypt, [upload_info(one) for one in uploads])
        )
        assert parsed.ok, parsed
        Annotation.objects.filter(pk=annotation.pk).update(answers=parsed.answers)
        for image in uploads:
            Upload.objects.create(assignment=annotation.assignment, image=image, at=NOON)
        for code in parsed.codes:
            Rating.objects.create(
                annotation=annotation, campaign=campaign, cohort=annotation.cohort,
                unit=annotation.assignment.unit, rater=annotation.rater,
                field=code.field, code=code.code, value=code.value,
            )  # fmt: skip


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda one: one.key)
def test_every_field_kind_comes_back_as_it_was(world: World, kind: Kind, form: str) -> None:
    campaign = a_campaign_of(world, kind, "First")
    answer_all(world, campaign, kind)
    again = a_campaign_of(world, kind, "Again")
    job = import_answers(again, export_zip(world, campaign, form))
    assert set(outcomes(job).values()) == {("created", "")}, list(job.rows.values())

    def answers(of: Campaign) -> Found:
        rows = Annotation.objects.filter(assignment__campaign=of, live=True).order_by("assignment__unit__item")
        return list(rows.values_list("assignment__unit__item__key", "answers", "confirmed"))

    assert answers(again) == answers(campaign) and len(answers(again)) == len(kind.spec.examples.valid) + 1
    assert counted_ratings(again) == counted_ratings(campaign)


def test_the_same_file_again_adds_nothing(world: World, campaign: Campaign) -> None:
    data, again = export_zip(world, campaign, "csv"), an_open_campaign(world, name="Empty")
    import_answers(again, data)
    before = list(Annotation.objects.order_by("pk").values())
    assert set(outcomes(import_answers(again, data)).values()) == {("unchanged", "")}
    assert set(outcomes(import_answers(again, export_zip(world, campaign, "jsonl"))).values()) == {("unchanged", "")}
    assert list(Annotation.objects.order_by("pk").values()) == before


def test_an_import_is_withdrawn_and_brought_back(world: World, campaign: Campaign) -> None:
    data, again = export_zip(world, campaign, "csv"), an_open_campaign(world, name="Empty")
    job = import_answers(again, data)
    path = f"/b/{world.benchmark.slug}/campaigns/{again.pk}/answers/"
    client = world.client(world.mara)
    assert "Withdraw its 8 answers" in client.get(f"{path}import/").content.decode()
    watermark = Tally.objects.filter(cohort__campaign=again).values_list("changes", flat=True)
    before = sum(watermark)
    page = client.post(f"{path}{job.pk}/withdraw/", follow=True).content.decode()
    assert "8 answers were withdrawn" in page and "Withdraw its" not in page
    assert counted_ratings(again) == [] and sum(watermark.all()) > before
    kept = Annotation.objects.filter(assignment__campaign=again)
    assert {(one.live, one.counted, one.uncounted_because) for one in kept} == {(False, False, "withdrawn")}
    assert Event.objects.get(verb="answers.withdrawn").actor == world.mara
    assert len(counted_ratings(campaign)) == 8  # others' answers stay
    assert set(outcomes(import_answers(again, data)).values()) == {("updated", "brought_back")}
    assert counted_ratings(again) == counted_ratings(campaign)
    assert recount.find_differences() == []


def test_the_same_answers_in_another_file_come_in_after_a_withdrawal(world: World, campaign: Campaign) -> None:
    again = an_open_campaign(world, name="Empty")
    withdrawals.withdraw(import_answers(again, export_zip(world, campaign, "csv")), world.owner, NOON)
    assert counted_ratings(again) == []
    other = import_answers(again, export_zip(world, campaign, "jsonl"), "other.jsonl")
    assert set(outcomes(other).values()) == {("created", "")}
    assert len(counted_ratings(again)) == len(counted_ratings(campaign)) == 8


def test_what_follows_from_answers_is_looked_at_again(world: World, campaign: Campaign) -> None:
    """A rule or a later stage that waits for these items hears of an import, and of its end."""
    again = an_open_campaign(world, name="Empty")
    Stage.objects.filter(pk=world.stage.pk).update(acceptance="by_rule")
    Due.objects.all().delete()
    job = import_answers(again, rows_of(world, {}, {"rater": "r2"}), "a.jsonl")
    assert set(Due.objects.values_list("source_id", flat=True)) == {world.items[0].pk}
    Due.objects.all().delete()
    withdrawals.withdraw(job, world.owner, NOON)
    assert set(Due.objects.values_list("source_id", flat=True)) == {world.items[0].pk}


def rows_of(world: World, *rows: dict[str, Any]) -> bytes:
    good = {
        "item": world.items[0].key,
        "rater": "r1",
        "cohort": "Egypt",
        "target": "Egypt",
        "answers": {"relevance": "3"},
    }
    return b"\n".join(json.dumps({**good, **row}).encode() for row in rows) + b"\n"


@pytest.mark.parametrize(
    ("row", "reason", "words"),
    [
        ({"item": "nowhere"}, "no_item", "no item “nowhere”"),
        ({"item": ""}, "missing", "“item” is empty"),
        ({"rater": None}, "missing", "“rater” is empty"),
        ({"cohort": "Norway"}, "no_cohort", "This campaign does not ask the cohort "),
        ({"target": "Norway"}, "no_target", "“Norway” is not asked about"),
        ({"answers": {"relevance": "9"}}, "not_an_answer", "relevance: This is not one of the options."),
        ({"answers": {}}, "not_an_answer", "relevance: This is not answered yet."),
        ({"answers": {"relevance": "3", "fit": "3"}}, "not_an_answer", "no question “fit”"),
        ({"answers": "{"}, "unreadable", "“answers”"),
        ({"answers": [3]}, "unreadable", "“answers”"),
        ({"submitted_at": "yesterday"}, "unreadable", "“submitted_at” is 'yesterday'"),
        ({"counted": "perhaps"}, "unreadable", "“counted”"),
        ({"active_seconds": -1}, "unreadable", "“active_seconds”"),
        ({"active_seconds": "NaN"}, "unreadable", "“active_seconds”"),
        ({"active_seconds": 1e308}, "unreadable", "“active_seconds”"),
        ({"active_seconds": 10**400}, "unreadable", "“active_seconds”"),
        ({"active_seconds": float("inf")}, "unreadable", "NaN or infinity"),
        ({"submitted_at": "9999-12-31T23:59:59-12:00"}, "out_of_time", "between 1990 and tomorrow"),
        ({"submitted_at": "9999-12-31T23:59:59"}, "out_of_time", "between 1990 and tomorrow"),
        ({"submitted_at": "0001-01-01T00:00:00+12:00"}, "out_of_time", "between 1990 and tomorrow"),
        ({"submitted_at": "1989-12-31T23:59:59Z"}, "out_of_time", "between 1990 and tomorrow"),
        ({"shown_at": "0001-01-02T00:00:00"}, "out_of_time", "between 1990 and tomorrow"),
        ({"item": "a\0b"}, "no_item", "no item “ab”"),
        ({"target": "Nor\0way"}, "no_target", "“Norway” is not asked about"),
        ({"rater": "\ud800"}, "not_utf8", "not in UTF-8"),
        ({"answers": '{"relevance": "\\ud800"}'}, "not_utf8", "not in UTF-8"),
        ({"answers": json.loads("[" * 300 + "]" * 300)}, "unreadable", "nested too deeply"),
        ({"answers": "[" * 600 + "]" * 600}, "unreadable", "nested too deeply"),
        ({"version": 1.5}, "unreadable", "“version”"),
        ({"rater_kind": "robot"}, "unreadable", "“rater_kind”"),
        ({"rater": "r" * 300}, "too_long", "longer than 200"),
    ],
)
def test_a_faulty_row_is_told_and_the_rest_is_taken(
    world: World, campaign: Campaign, row: dict[str, Any], reason: str, words: str
) -> None:
    again = an_open_campaign(world, name="Empty")
    job = import_answers(again, rows_of(world, row, {"rater": "r2"}), "answers.jsonl")
    assert job.state == "done", job.error
    assert outcomes(job) == {1: ("error", reason), 2: ("created", "")}
    assert words in job.rows.get(number=1).message
    assert len(counted_ratings(again)) == 1


@pytest.mark.parametrize("name", ["submitted_at", "shown_at"])
@pytest.mark.parametrize(
    ("ahead", "outcome"),
    [
        (timedelta(hours=23, minutes=59), ("created", "")),
        (timedelta(hours=24, minutes=10), ("error", "out_of_time")),
        (timedelta(days=30), ("error", "out_of_time")),
    ],
)
def test_a_date_in_the_near_future_is_taken_until_tomorrow(
    world: World, campaign: Campaign, name: str, ahead: timedelta, outcome: tuple[str, str]
) -> None:
    """Somewhere it is tomorrow already; later than that, a date is a mistake."""
    again = an_open_campaign(world, name="Empty")
    moment = timezone.now() + ahead
    job = import_answers(again, rows_of(world, {name: moment.isoformat()}), "answers.jsonl")
    assert outcomes(job) == {1: outcome}
    if outcome[0] == "created" and name == "submitted_at":
        assert Annotation.objects.get(assignment__campaign=again).submitted_at == moment


def test_answers_of_somebody_who_withdrew_come_in_and_do_not_count(world: World, campaign: Campaign) -> None:
    again = an_open_campaign(world, name="Empty")
    data = export_zip(world, campaign, "jsonl")
    consent.withdraw(world.nour, world.team, timezone.now())
    job = import_answers(again, data)
    assert job.state == "done", job.error
    rows = Annotation.objects.filter(assignment__campaign=again)
    assert {row.uncounted_because for row in rows.filter(rater__user=world.nour)} == {"consent_withdrawn"}
    assert {row.uncounted_because for row in rows.filter(rater__user=world.tarek)} == {""}
    assert not Rating.objects.filter(campaign=again, rater__user=world.nour, counted=True).exists()
    assert recount.find_differences() == []


def test_lines_that_are_no_rows_are_told(world: World, campaign: Campaign) -> None:
    data = rows_of(world, {}) + b'{"item": \n["a list"]\n\xff\xfe{}\n\n' + rows_of(world, {"rater": "r2"})
    job = import_answers(campaign, data, "answers.jsonl")
    assert outcomes(job) == {
        1: ("created", ""), 2: ("error", "unreadable"), 3: ("error", "unreadable"), 4: ("error", "unreadable"),
        6: ("created", ""),
    }  # fmt: skip


def test_a_table_of_ones_own_needs_four_columns(world: World, campaign: Campaign) -> None:
    key = world.items[3].key
    table_ = f"item;rater;cohort;answer.relevance\n{key};=r1;Egypt;4\n{key};r2;Egypt\n{key};r3;;4\n".encode()
    job = import_answers(campaign, table_, "mine.csv")
    assert outcomes(job) == {2: ("created", ""), 3: ("error", "wrong_cells"), 4: ("error", "no_target")}
    assert Rating.objects.get(rater__name="=r1").code == "4"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_end_as_they_do_on_any_machine(world: World, campaign: Campaign, end: bytes) -> None:
    first, second = (item.key.encode() for item in world.items[3:5])
    lines = [b"item,rater,cohort,answer.relevance", first + b",r1,Egypt,4", second + b',"r\r2",Egypt,5', b""]
    job = import_answers(campaign, end.join(lines), "mine.csv")
    assert outcomes(job) == {2: ("created", ""), 3: ("created", "")}, job.error
    assert Rating.objects.filter(rater__name__in=("r1", "r\r2")).count() == 2


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"name;answer\nr1;4\n", "one of them must be “item”"),
        (b"", "one of them must be “item”"),
        (b"item;item\n", "each once"),
        (b"item;" + b"x" * 140_000 + b"\n", "The first line must name the columns"),
        (b'item;"never closed\n' + b"a;b\n" * 40_000, "The first line must name the columns"),
        (b"x" * 3_000_000, "longer than 1 MB"),
        (b"PK\x03\x04 no zip", "damaged"),
    ],
)
def test_a_file_of_something_else_is_refused_as_a_whole(
    world: World, campaign: Campaign, data: bytes, words: str
) -> None:
    job = import_answers(campaign, data)
    assert job.state == "failed" and words in job.error


def test_a_zip_without_ratings_is_refused(world: World, campaign: Campaign) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a/photo.jpg", b"x")
    assert "one is needed" in import_answers(campaign, out.getvalue()).error


def test_who_has_answered_differently_is_not_overwritten(world: World, campaign: Campaign) -> None:
    import_answers(campaign, rows_of(world, {}), "a.jsonl")
    job = import_answers(campaign, rows_of(world, {"answers": {"relevance": "5"}}), "b.jsonl")
    assert outcomes(job) == {1: ("error", "answered")}
    assert "Withdraw the earlier import, then import one file with everything" in job.rows.get().message
    assert Rating.objects.get(rater__name="r1").code == "3"


def test_an_excluded_rater_of_a_file_does_not_count(world: World, campaign: Campaign) -> None:
    from annotation.services.answers.exclusions import exclude

    import_answers(campaign, rows_of(world, {}), "a.jsonl")
    exclude(world.benchmark, Rater.objects.get(name="r1"), "Answers by chance.", world.owner, NOON)
    import_answers(campaign, rows_of(world, {"item": world.items[1].key}), "b.jsonl")
    mine = Annotation.objects.filter(rater__name="r1")
    assert {(one.counted, one.uncounted_because) for one in mine} == {(False, "excluded")}


def test_a_stop_between_steps_goes_on_where_it_was(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_files, "STEP", 2)
    again = an_open_campaign(world, name="Empty")
    real, steps = answer_files.import_batch, []

    def stops(*args: Any) -> Any:
        steps.append(1)
        if len(steps) == 3:
            raise KeyboardInterrupt  # as a kill would, in the middle of a step
        return real(*args)

    monkeypatch.setattr(answer_files, "import_batch", stops)
    job = answer_files.start(again, world.owner, SimpleUploadedFile("a.zip", export_zip(world, campaign, "csv")))
    with pytest.raises(KeyboardInterrupt):
        runner.run(job.pk)
    assert len(counted_ratings(again)) == 4
    Job.objects.filter(pk=job.pk).update(lease_until=F("started_at"))
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "done" and job.done == 8 and len(steps) == 5
    assert counted_ratings(again) == counted_ratings(campaign)
    assert set(outcomes(job).values()) == {("created", "")}


def test_only_those_who_plan_may_import(world: World, campaign: Campaign) -> None:
    path = f"/b/{world.benchmark.slug}/campaigns/{campaign.pk}/answers/import/"
    job = import_answers(campaign, rows_of(world, {}), "a.jsonl")
    for user in (world.reviewer, world.nour, world.manager, world.stranger, world.rival):
        client = world.client(user)
        assert client.get(path).status_code == client.post(path).status_code == 404
        assert client.post(path.replace("import/", f"{job.pk}/withdraw/")).status_code == 404
    reply = world.client(world.mara).post(path, {"file": SimpleUploadedFile("b.jsonl", rows_of(world, {"rater": "b"}))})
    assert reply.status_code == 302 and reply.url.startswith("/jobs/")
    assert world.client(world.mara).post(path).status_code == 400
    other = an_open_campaign(world, name="Other")  # a job of another campaign is not withdrawn through this one
    wrong = path.replace(f"/{campaign.pk}/", f"/{other.pk}/").replace("import/", f"{job.pk}/withdraw/")
    assert world.client(world.mara).post(wrong).status_code == 404


def test_a_campaign_that_was_not_opened_takes_none(world: World, campaign: Campaign) -> None:
    version = SheetVersion.objects.first()
    draft = Campaign.objects.create(stage=world.stage, name="Draft", sheet_version=version)
    path = f"/b/{world.benchmark.slug}/campaigns/{draft.pk}/answers/import/"
    assert "The campaign is not open yet" in world.client(world.mara).get(path).content.decode()
    reply = world.client(world.mara).post(path, {"file": SimpleUploadedFile("b.jsonl", b"{}")})
    assert reply.status_code == 400 and not Job.objects.exists()


def test_export_marks_raters_imported_from_a_file(world: World, campaign: Campaign) -> None:
    """Exported, imported, exported: the rows say the same but for numbers, pseudonyms and the consent."""
    again = an_open_campaign(world, name="Empty")
    import_answers(again, export_zip(world, campaign, "csv"))

    def exported_rows(of: Campaign) -> Found:
        files = download_files(world.client(world.mara), world, "csv", campaign=of.pk)
        rows = csv.DictReader(io.StringIO(files["ratings.csv"].decode("utf-8-sig")))
        read = list(rows)
        consents.append({row["consent"] for row in read})
        new = {"annotation", "campaign", "rater", "instruction_version", "consent"}
        return sorted(tuple(value for name, value in row.items() if name not in new) for row in read)

    consents: list[set[str]] = []
    assert exported_rows(again) == exported_rows(campaign)
    assert consents == [{"in_file"}, {"agreed"}]
    assert Unit.objects.count() == Unit.objects.values("item", "target").distinct().count()
