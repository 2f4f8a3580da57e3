"""Another tool's files become items, answers, skips and raters, once; and every row that does not says why."""

import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign, Rating
from annotation.services.files import withdrawals
from benchmarks.models import Item, ItemImage, Stage
from benchmarks.services import safe_fetch, storage
from benchmarks.services.images import store_image
from benchmarks.services.intake.web_pictures import WebPictures
from benchmarks.services.safe_fetch import FetchRefused, FetchResult
from jobs.models import Job, JobRow
from jobs.services import job_context, runner
from jobs.services import lifecycle as jobs
from jobs.services.job_context import JobFailed
from people.models import Rater
from releases.foreign.contract import ForeignMapping
from releases.foreign.registry import reader_for
from releases.foreign.scan import proposed_mapping, scan_files
from releases.services.foreign import foreign_import
from releases.services.foreign.foreign_import import StoredForeign
from releases.services.foreign.foreign_sheet import campaign_of_imports, create_stage
from tests.personas import World
from tests.releases.foreign_samples import ARGILLA, LABEL_STUDIO, PICTURES, POTATO, as_files, content, needs_peers

pytestmark = needs_peers
Uploads = list[tuple[str, bytes]]


def pack(members: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target.getvalue()


def pictures_zip() -> bytes:
    return pack({path: content(path) for path in PICTURES})


def keep(data: bytes, name: str = "file") -> str:
    return storage.keep_upload(ContentFile(data, name))


def uploads_of(*paths: str) -> Uploads:
    return [(path.rpartition("/")[2], content(path)) for path in paths]


class ForeignImporter:
    """Imports uploads into a stage that is made from them, as the page does. `required`: whether its questions are."""

    def __init__(
        self, world: World, uploads: Uploads, mapping: ForeignMapping | None = None, *, required: bool = False
    ) -> None:
        self.world, mapping = world, mapping or ForeignMapping()
        files = as_files(uploads)
        scan = scan_files(files, reader_for(files, mapping.tool), mapping)
        self.stage = create_stage(world.benchmark, "From a tool", world.owner, scan)
        if required:
            self.stage.sheet["fields"] = [{**field, "required": True} for field in self.stage.sheet["fields"]]
            self.stage.save(update_fields=["sheet"])
        self.campaign = campaign_of_imports(self.stage, world.egypt, world.owner, timezone.now())
        fields = [field["key"] for field in self.stage.sheet["fields"]]
        self.mapping = proposed_mapping(scan, mapping, fields)

    def run(self, uploads: Uploads, pictures: bytes | None = None, **more: Any) -> Job:
        mapping = ForeignMapping(**{**vars(self.mapping), **more})
        files = tuple((name, keep(data)) for name, data in uploads)
        stored = StoredForeign(files, keep(pictures) if pictures else "")
        job = foreign_import.start(self.stage, self.campaign, self.world.owner, stored, mapping, "Egypt")
        runner.run(job.pk)
        job.refresh_from_db()
        return job

    def live(self) -> Any:
        return Annotation.objects.filter(assignment__campaign=self.campaign, live=True)


def bring(world: World, *paths: str, **more: Any) -> tuple[ForeignImporter, Job]:
    uploads = uploads_of(*paths)
    importer = ForeignImporter(world, uploads)
    return importer, importer.run(uploads, pictures_zip(), **more)


def outcomes(job: Job) -> Counter[tuple[str, str]]:
    return Counter(JobRow.objects.filter(job=job).values_list("outcome", "reason"))


def test_label_studio_comes_in_with_items_answers_skip_and_boxes(world: World) -> None:
    importer, job = bring(world, *LABEL_STUDIO)
    assert job.state == "done", job.error
    assert Item.objects.filter(stage=importer.stage).count() == 12
    assert ItemImage.objects.filter(item__stage=importer.stage).count() == 12
    assert importer.live().count() == 34
    item = Item.objects.get(stage=importer.stage, key="item-01")
    assert (item.text, item.origin) == ("لباس سنتی", "Brazil")
    assert item.images.get().file_name == "images/pic-01.png"
    names = set(importer.live().values_list("rater__name", flat=True))
    assert names == {"label_studio:2", "label_studio:3", "label_studio:4"}
    skip = Assignment.objects.get(campaign=importer.campaign, state="skipped")
    assert (skip.skip_reason, skip.rater.name, skip.unit.item.key) == ("imported", "label_studio:4", "item-12")
    assert skip.shown_at is not None and skip.shown_at.isoformat() == "2026-11-22T11:05:55.766736+00:00"
    codes = Counter(Rating.objects.filter(campaign=importer.campaign, live=True).values_list("field", flat=True))
    assert codes == {"kind": 34, "relevance": 34, "place": 34, "tags": 27}
    boxes = [box for one in importer.live() for box in one.answers.get("box", ())]
    assert len(boxes) == 41  # three are rotated
    assert {box["label"] for box in boxes} == {"main object", "other object"}
    assert outcomes(job)["created", "left_out"] == 3
    assert any("rotated box (3)" in note for note in job.result["notes"])
    first = importer.live().get(rater__name="label_studio:2", assignment__unit__item__key="item-01")
    assert first.answers["box"] == [{"x0": 0.25777, "y0": 0.0449, "x1": 0.36304, "y1": 0.47989, "label": "main object"}]
    assert (first.trace["lead_seconds"], first.active_seconds) == (12.436, None)
    assert first.submitted_at.isoformat() == "2026-11-22T11:05:47.362335+00:00"


def test_rotated_boxes_become_upright_if_chosen(world: World) -> None:
    importer, _job = bring(world, *LABEL_STUDIO, rotated="upright")
    boxes = [box for one in importer.live() for box in one.answers.get("box", ())]
    angles = [row["angle"] for one in importer.live() for row in one.trace.get("rotated", ())]
    assert (len(boxes), angles) == (44, [12.5, 12.5, 12.5])


def test_the_same_files_again_add_nothing(world: World) -> None:
    importer, _first = bring(world, *LABEL_STUDIO)
    again = importer.run(uploads_of(*LABEL_STUDIO), pictures_zip())
    assert set(outcomes(again)) == {("unchanged", ""), ("unchanged", "skip")}
    assert importer.live().count() == 34
    other_form = importer.run(uploads_of("label-studio/export-min.json", "label-studio/label-config.xml"))
    assert {outcome for outcome, _reason in outcomes(other_form)} == {"unchanged"}


def test_withdrawn_answers_and_skips_are_kept_and_come_back(world: World) -> None:
    importer, job = bring(world, *LABEL_STUDIO)
    assert withdrawals.withdraw(job, world.owner, timezone.now()) == 34
    assert not importer.live().exists()
    assert not Assignment.objects.filter(campaign=importer.campaign, state="skipped").exists()
    importer.run(uploads_of(*LABEL_STUDIO), pictures_zip())
    assert importer.live().count() == 34
    assert Assignment.objects.filter(campaign=importer.campaign, state="skipped").count() == 1


def test_work_that_was_stopped_goes_on_where_it_was(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign_import, "STEP_RECORDS", 7)
    uploads = uploads_of(*POTATO)
    importer = ForeignImporter(world, uploads)
    steps = iter(range(100))
    step = foreign_import.ForeignImport._step

    def stops(self: Any, *arguments: Any) -> None:
        if next(steps) == 3:
            raise JobFailed("the disk is full")
        step(self, *arguments)

    monkeypatch.setattr(foreign_import.ForeignImport, "_step", stops)
    job = importer.run(uploads, pictures_zip())
    assert job.state == "failed"
    before = importer.live().count()
    assert 0 < before < 36
    jobs.resume(job, world.owner)
    runner.run(job.pk)
    job.refresh_from_db()
    assert (job.state, importer.live().count()) == ("done", 36)
    assert outcomes(job) == {("created", ""): 48}


COUNTS: list[tuple[tuple[str, ...], int, int, int, dict[str, int]]] = [
    # files, items, answers, boxes, codes by field
    (("doccano/text-classification.jsonl.zip",), 12, 35, 0, {"label": 35}),
    (("doccano/text-classification.csv.zip",), 12, 35, 0, {"label": 35}),
    (("doccano/seq2seq.csv.zip",), 12, 36, 0, {"label": 36}),
    (("doccano/image-classification.jsonl.zip",), 12, 36, 0, {"label": 36}),
    (("doccano/bounding-box.jsonl.zip",), 12, 36, 50, {}),
    (POTATO, 12, 36, 46, {"relevance": 36, "kind": 36, "tags": 22}),
    (("label-studio/export-coco.zip",), 12, 34, 44, {}),
    (("cvat/instances_default.json",), 12, 14, 14, {}),
    (("argilla/records.json", "argilla/.argilla/settings.json"), 12, 47, 0, {"relevance": 47, "kind": 35, "tags": 35}),
    (ARGILLA, 12, 46, 0, {"relevance": 46, "kind": 34, "tags": 34}),
]


@pytest.mark.parametrize("row", COUNTS, ids=lambda row: "+".join(row[0]))
def test_each_tool_comes_in_with_the_counts_of_its_files(world: World, row: tuple[Any, ...]) -> None:
    paths, items, answers, boxes, codes = row
    importer, job = bring(world, *paths)
    assert job.state == "done", job.error
    assert not JobRow.objects.filter(job=job, outcome="error").values_list("name", "message")
    assert Item.objects.filter(stage=importer.stage).count() == items
    assert importer.live().count() == answers
    assert sum(len(one.answers.get("box", ())) for one in importer.live()) == boxes
    ratings = Rating.objects.filter(campaign=importer.campaign, live=True)
    assert Counter(ratings.values_list("field", flat=True)) == codes


@pytest.mark.parametrize(("path", "boxes"), [("cvat/annotations-potato.xml", 46), ("cvat/annotations-datumaro.xml", 14),
                                             ("potato/annotations-coco.json", 46)])  # fmt: skip
def test_a_file_without_raters_needs_a_name(world: World, path: str, boxes: int) -> None:
    uploads = uploads_of(path)
    importer = ForeignImporter(world, uploads)
    job = importer.run(uploads, pictures_zip())
    assert outcomes(job)["error", "no_rater"] == 12
    importer.run(uploads, pictures_zip(), rater="lena")
    assert {one.rater.name for one in importer.live()} == {f"{importer.mapping.tool}:lena"}
    assert sum(len(one.answers["box"]) for one in importer.live()) == boxes
    if path.endswith("xml"):
        written_by = "Datumaro" if "datumaro" in path else "Potato"
        assert f"Written by: {written_by}." in job.result["notes"]


def test_predictions_are_of_model_raters_and_rankings_are_kept_with_the_answer(world: World) -> None:
    importer, job = bring(world, *ARGILLA)
    model = Rater.objects.get(kind="model", name="model-a")
    assert model.setting == "imported"
    assert importer.live().filter(rater=model).count() == 12
    person = importer.live().filter(rater__kind="person").first()
    assert person.trace["left_out"]["ranking"][0]["order"]
    assert any("ranking (35)" in note for note in job.result["notes"])


def test_a_column_that_stays_with_the_item_is_no_other_because_of_its_name(world: World) -> None:
    """The title is shown, so the text stays with the item; so does a country that is chosen to, and is none."""
    data = {"title": "A lamp", "text": "Made of brass.", "text_": "and glass", "file": "a.wav", "country": "Atlantis"}
    result = [{"from_name": "kind", "type": "choices", "value": {"choices": ["food"]}}]
    task = {"id": 1, "data": data, "annotations": [{"completed_by": 1, "result": result}]}
    uploads = [("export.json", json.dumps([task]).encode())]
    importer = ForeignImporter(world, uploads)
    job = importer.run(uploads, roles={})
    assert set(outcomes(job)) == {("created", "")}
    item = Item.objects.get(stage=importer.stage)
    assert (item.key, item.text, item.origin) == ("1", "A lamp", "")
    assert item.context == {
        "text__": "Made of brass.", "text_": "and glass", "file_": "a.wav", "country_": "Atlantis",
    }  # fmt: skip


def test_raters_may_be_mapped_to_names_and_models(world: World) -> None:
    importer, _job = bring(world, *LABEL_STUDIO, raters={"2": "Ana", "3": "gpt-x"}, models=["3"])
    raters = set(importer.live().values_list("rater__kind", "rater__name"))
    assert raters == {("person", "Ana"), ("model", "gpt-x"), ("person", "label_studio:4")}


def test_a_model_may_leave_required_questions_out_where_an_empty_answer_counts_and_a_person_may_not(
    world: World,
) -> None:
    """A prediction says what its model was asked; a person's answer has all that the sheet requires."""

    def chosen(*questions: str) -> list[dict[str, Any]]:
        return [{"from_name": q, "type": "choices", "value": {"choices": ["food"]}} for q in questions]

    answers = [{"completed_by": 1, "result": chosen("kind", "place")}, {"completed_by": 2, "result": chosen("kind")}]
    predictions = [{"model_version": "v7", "result": chosen("kind")}]
    task = {"id": 1, "data": {"text": "a"}, "annotations": answers, "predictions": predictions}
    uploads = [("export.json", json.dumps([task]).encode())]
    importer = ForeignImporter(world, uploads, required=True)
    job = importer.run(uploads, empty_is_answer=True)
    live = importer.live().values_list("rater__kind", "rater__name", "answers__place")
    assert {(kind, name, place is None) for kind, name, place in live} == {
        ("person", "label_studio:1", False), ("model", "v7", True),
    }  # fmt: skip
    assert outcomes(job)["error", "not_an_answer"] == 1


def test_an_answer_whose_questions_are_all_left_out_is_none_also_where_an_empty_answer_counts(world: World) -> None:
    """Who answered something that has no place here did not say that there is nothing."""
    result = [{"from_name": "kind", "type": "choices", "value": {"choices": ["food"]}}]
    annotations = [{"completed_by": 1, "result": result}, {"completed_by": 2, "result": []}]
    task = {"id": 1, "data": {"text": "a"}, "annotations": annotations}
    uploads = [("export.json", json.dumps([task]).encode())]
    importer = ForeignImporter(world, uploads)
    job = importer.run(uploads, empty_is_answer=True, answers={})
    assert list(importer.live().values_list("rater__name", "answers")) == [("label_studio:2", {})]
    assert outcomes(job)["error", "nothing_taken"] == 1


Damage = Callable[[list[Any]], None]


def _relabel(tasks: list[Any]) -> None:
    tasks[0]["annotations"][0]["result"][0]["value"]["choices"] = ["music"]


def _swap_sides(tasks: list[Any]) -> None:
    row = tasks[0]["annotations"][0]["result"][-1]
    row["original_width"], row["original_height"] = 480, 640


def _turn(tasks: list[Any]) -> None:
    tasks[0]["annotations"][0]["result"][-1]["image_rotation"] = 90


def _overhang(tasks: list[Any]) -> None:
    tasks[0]["annotations"][0]["result"][-1]["value"]["width"] = 99


def _out_of_time(tasks: list[Any]) -> None:
    tasks[0]["annotations"][0]["created_at"] = "2931-01-01T00:00:00Z"


DAMAGES: list[tuple[Damage, str]] = [
    (_relabel, "not_an_answer"), (_swap_sides, "size_differs"), (_turn, "image_rotated"), (_overhang, "box_outside"),
    (_out_of_time, "out_of_time"),
]  # fmt: skip


def test_a_damaged_answer_is_refused_with_its_row_and_the_rest_comes_in(world: World) -> None:
    importer = ForeignImporter(world, uploads_of(*LABEL_STUDIO))
    for damage, code in DAMAGES:
        tasks = json.loads(content("label-studio/export.json"))
        damage(tasks)
        uploads = [("export.json", json.dumps(tasks).encode()), *uploads_of("label-studio/label-config.xml")]
        job = importer.run(uploads, pictures_zip())
        (row,) = JobRow.objects.filter(job=job, outcome="error")
        assert (row.reason, row.name) == (code, "export.json, row 1: item-01 (2)")
        assert row.message
        assert importer.live().count() == 33


def test_one_bad_row_in_ten_leaves_the_others(world: World) -> None:
    importer = ForeignImporter(world, uploads_of(*POTATO))
    lines = content("potato/annotations.jsonl").decode().splitlines()
    lines[::10] = [line[:-9] for line in lines[::10]]
    uploads = [("annotations.jsonl", "\n".join(lines).encode()), *uploads_of(*POTATO[1:])]
    job = importer.run(uploads, pictures_zip())
    rows = list(JobRow.objects.filter(job=job, outcome="error").values_list("name", flat=True))
    assert rows == [f"annotations.jsonl, row {number}" for number in (1, 11, 21, 31)]
    assert importer.live().count() == 32


def test_a_picture_that_is_not_there_or_is_there_twice_is_refused(world: World) -> None:
    importer = ForeignImporter(world, uploads_of(*LABEL_STUDIO))
    members = {path: content(path) for path in PICTURES[2:]}
    members |= {f"{folder}/pic-02.png": content(PICTURES[1]) for folder in ("a", "b")}
    job = importer.run(uploads_of(*LABEL_STUDIO), pack(members))
    reasons = outcomes(job)
    assert (reasons["error", "missing"], reasons["error", "ambiguous_picture"]) == (1, 1)
    assert (reasons["error", "no_item"], Item.objects.filter(stage=importer.stage).count()) == (6, 10)
    importer.run(uploads_of(*LABEL_STUDIO), pictures_zip())  # with all pictures the rest comes in
    assert importer.live().count() == 34


def test_a_picture_of_another_size_than_the_file_says_is_refused(world: World) -> None:
    uploads = uploads_of("cvat/instances_default.json")
    importer = ForeignImporter(world, uploads)
    data = json.loads(uploads[0][1])
    data["images"][0]["width"], data["images"][0]["height"] = 480, 640
    job = importer.run([("instances_default.json", json.dumps(data).encode())], pictures_zip())
    assert outcomes(job)["error", "size_differs"] == 1
    assert Item.objects.filter(stage=importer.stage).count() == 11


def test_addresses_are_asked_through_the_outbound_client_only(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Private addresses, metadata servers and other schemes are refused by row; nothing is connected to."""
    addresses = ["http://127.0.0.1/a.png", "http://169.254.169.254/a.png", "http://[::1]/b.png", "http://10.0.0.1/c.png",
                 "file:///etc/passwd", "ftp://example.org/d.png", "http://user:pw@example.org/e.png",
                 "http://example.org:22/f.png"]  # fmt: skip
    tasks = [{"id": number, "data": {"image": address}, "annotations": []} for number, address in enumerate(addresses)]
    monkeypatch.setattr(safe_fetch, "resolve_name", lambda host: [])
    monkeypatch.setattr(safe_fetch, "_connect", lambda *where: pytest.fail("connected"))
    importer = ForeignImporter(world, uploads_of(*LABEL_STUDIO))
    job = importer.run([("export.json", json.dumps(tasks).encode())], pictures_zip(), key="", picture="image")
    assert {reason for _outcome, reason in outcomes(job)} <= {"private", "missing", "credentials", "port", "not_found"}
    assert outcomes(job)["error", "private"] == 4
    assert not Item.objects.filter(stage=importer.stage).exists()


def test_a_slow_server_is_asked_again_and_the_lease_is_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = [f"https://pictures.example/{path.rpartition('/')[2]}" for path in PICTURES[:4]]
    refusals = {addresses[1]: [FetchRefused("too_slow")]}
    in_lease: list[bool] = []

    def fetch(url: str, most_bytes: int) -> FetchResult:
        jobs_now = Job.objects.filter(state="running")
        in_lease.append(jobs_now.get().lease_until > timezone.now())
        jobs_now.update(lease_until=timezone.now() - timedelta(seconds=1))  # a picture that took as long as the lease
        if refusals.get(url):
            raise refusals[url].pop()
        return FetchResult(content(f"images/{url.rpartition('/')[2]}"), url)

    def web(stage: Stage, beat: Callable[[], None]) -> WebPictures:
        return WebPictures(stage, beat, lambda seconds: None)

    importer = ForeignImporter(world, uploads_of(*LABEL_STUDIO))
    monkeypatch.setattr(safe_fetch, "fetch", fetch)
    monkeypatch.setattr(foreign_import, "WebPictures", web)
    tasks = [{"id": n, "data": {"image": address}, "annotations": []} for n, address in enumerate(addresses)]
    uploads = [("export.json", json.dumps(tasks).encode())]
    job = importer.run(uploads, key="", picture="image")
    assert (job.state, outcomes(job)) == ("done", {("created", ""): 4}), job.error
    assert in_lease == [True] * 5
    names = ItemImage.objects.filter(item__stage=importer.stage).values_list("file_name", flat=True)
    assert set(names) == set(addresses)


def test_a_cancellation_is_heard_between_the_pictures(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(url: str, most_bytes: int) -> FetchResult:
        Job.objects.filter(state="running").update(cancel_asked=True)
        return FetchResult(content(PICTURES[0]), url)

    importer = ForeignImporter(world, uploads_of(*LABEL_STUDIO))
    monkeypatch.setattr(safe_fetch, "fetch", fetch)
    monkeypatch.setattr(job_context, "CHECK_SECONDS", 0)
    tasks = [{"id": n, "data": {"image": f"https://pictures.example/{n}.png"}, "annotations": []} for n in range(3)]
    job = importer.run([("export.json", json.dumps(tasks).encode())], key="", picture="image")
    assert (job.state, Item.objects.filter(stage=importer.stage).count()) == ("cancelled", 0)


def test_a_picture_whose_file_is_gone_is_missing_and_the_rest_comes_in(world: World) -> None:
    image, _new = store_image(world.benchmark.team, content(PICTURES[0]), name="a.png")
    default_storage.delete(image.original_name)
    importer = ForeignImporter(world, uploads_of(*LABEL_STUDIO))
    rows = [{"image": f"{image.sha256}.png"}, {"image": "pic-02.png", "more": {"n": 10**400}}]
    tasks = [{"id": number, "data": row, "annotations": []} for number, row in enumerate(rows)]
    job = importer.run([("export.json", json.dumps(tasks).encode())], pictures_zip(), key="", picture="image")
    assert job.state == "done", job.error
    assert outcomes(job) == {("error", "missing"): 1, ("created", ""): 1}


def test_hostile_uploads_end_the_job_with_a_sentence(world: World) -> None:
    importer = ForeignImporter(world, uploads_of(*LABEL_STUDIO))
    polyglot = b"GIF89a" + pictures_zip()
    cut = pack({"a.png": content(PICTURES[0])})
    hostile: list[Uploads] = [
        [("export.zip", pack({"../../export.json": content("label-studio/export.json")}))],
        [("export.json", b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><annotations/>')],
        [("export.zip", cut[:-10])],
        [("export.json", b"")],
        [("export.json", b"\x00" * 100)],
    ]
    for uploads in hostile:
        job = importer.run(uploads)
        assert (job.state, bool(job.error)) == ("failed", True)
    job = importer.run([*uploads_of(*LABEL_STUDIO), ("pictures.zip", polyglot)])
    assert (job.state, Item.objects.filter(stage=importer.stage).count()) == ("done", 0)  # it is no zip, so nothing


def test_a_picture_that_is_none_is_refused_by_content(world: World) -> None:
    importer = ForeignImporter(world, uploads_of(*LABEL_STUDIO))
    members = {path: content(path) for path in PICTURES}
    members[PICTURES[0]] = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
    job = importer.run(uploads_of(*LABEL_STUDIO), pack(members))
    assert outcomes(job)["error", "markup"] == 1
    assert Item.objects.filter(stage=importer.stage).count() == 11


def test_items_alone_come_in_without_a_campaign(world: World) -> None:
    importer = ForeignImporter(world, uploads_of(*POTATO))
    stored = StoredForeign(tuple((name, keep(data)) for name, data in uploads_of(*POTATO)), keep(pictures_zip()))
    job = foreign_import.start(importer.stage, None, world.owner, stored, importer.mapping, "")
    runner.run(job.pk)
    assert Item.objects.filter(stage=importer.stage).count() == 12
    assert not Campaign.objects.get(pk=importer.campaign.pk).assignments.exists()
