"""What lies beside the ratings in an export: what rules and reviewers said, and the versions that are not live."""

import csv
import hashlib
import io
import json
import zipfile
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotation.models import Annotation, Campaign, Outcome, Rating, Review
from annotation.services.answers import submit
from annotation.services.files import answer_files
from annotation.services.review import reviews
from benchmarks.models import Stage
from jobs.models import Event
from jobs.services import runner
from people.models import User
from people.services.raters import rater_of
from releases.rows.decisions import OUTCOMES, REVIEWS
from releases.services.exports import export
from tests.annotation.chain.factories import (
    GOOD,
    RULE,
    a_benchmark,
    a_stage,
    answer,
    claim_sheet,
    create_open_campaign,
    create_question_stages,
    items,
)
from tests.annotation.chain.factories import process_derivations as judge_all
from tests.annotation.queue.factories import a_cohort, a_person
from tests.evaluation.data import an_open_campaign, give_ratings, table
from tests.module_world import built_once
from tests.personas import World
from tests.releases.test_export import download_files

pytestmark = pytest.mark.django_db
SCORED = {**RULE, "score": {"expression": "good", "most": 1}}


def a_user(name: str) -> User:
    email = f"{name.lower().replace(' ', '.')}@example.org"
    return User.objects.get_or_create(email=email, defaults={"name": name})[0]


def export_bytes(stage: Stage, campaigns: Sequence[Campaign], form: str = "jsonl", *, versions: bool = False) -> bytes:
    _name, pieces = export(stage, campaigns, form, a_user("Researcher"), timezone.now(), versions=versions)
    return b"".join(pieces)


def opened_zip(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name.rsplit("/", 1)[1]: archive.read(name) for name in archive.namelist()}


def files(stage: Stage, *campaigns: Campaign, form: str = "jsonl", versions: bool = False) -> dict[str, bytes]:
    return opened_zip(export_bytes(stage, campaigns, form, versions=versions))


def lines(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.decode().splitlines()]


def cells(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))


class Judged:
    """Things that a rule decides on, over two answers each."""

    def __init__(self, count: int = 2) -> None:
        benchmark = a_benchmark()
        self.stage = a_stage(benchmark, "rate", GOOD, acceptance="by_rule", acceptance_rule=SCORED)
        items(self.stage, count)
        self.cohort = a_cohort(benchmark.team)
        self.campaign = create_open_campaign(self.stage, self.cohort, target=2)

    def by(self, codes: str) -> None:
        """One person's answers, in the order in which things are handed out."""
        person = a_person(self.cohort)
        for code in codes:
            answer(claim_sheet(person, self.campaign, self.cohort), good=code)
        judge_all()


@built_once
def judged() -> Judged:
    return Judged()


class Scene:
    """Two questions of one writer: one returned, corrected and accepted, the other rejected, and that taken back."""

    def __init__(self) -> None:
        self.ask, _reply, self.cohort = create_question_stages("by_review", 2)
        self.campaign = create_open_campaign(self.ask, self.cohort)
        self.writer = a_person(self.cohort)
        self.rita, self.rami = a_user("Rita Reviewer"), a_user("Rami Reviewer")
        self.first = answer(claim_sheet(self.writer, self.campaign, self.cohort), question="What is it", answer="Tea")
        self.other = answer(claim_sheet(self.writer, self.campaign, self.cohort), question="Why?", answer="=1+1")
        self.at = timezone.now()
        reviews.decide(
            self.first.pk, self.rita, "return", self.at, reason="unclear", comment="=SUM(1) No question mark."
        )
        submit.reopen(self.first.assignment_id, self.writer, self.at)
        self.second = answer(self.first.assignment, question="What is it?", answer="Tea")
        reviews.decide(self.second.pk, self.rami, "accept", self.at + timedelta(seconds=1))
        gone = reviews.decide(self.other.pk, self.rita, "reject", self.at + timedelta(seconds=2), reason="rules")
        reviews.undo(gone.pk, self.rita, self.at + timedelta(seconds=3))


@built_once
def scene() -> Scene:
    return Scene()


def test_each_thing_that_a_rule_decided_on_has_its_row(judged: Judged) -> None:
    judged.by("11")
    judged.by("10")
    rows = lines(files(judged.stage, judged.campaign)["outcomes.jsonl"])
    assert [row["state"] for row in rows] == ["accepted", "undecided"]
    for row, stored in zip(rows, Outcome.objects.order_by("pk").select_related("unit__item"), strict=True):
        assert list(row) == [column.name for column in OUTCOMES.written]
        assert (row["campaign"], row["stage"], row["item"]) == (judged.campaign.pk, "rate", stored.unit.item.key)
        assert (row["failed"], row["numbers"]) == (stored.failed, stored.numbers)
        assert (row["decided_on"], row["rule_version"], row["score"]) == (2, 1, stored.numbers["score"])
        assert row["at"] == f"{stored.at:%Y-%m-%dT%H:%M:%S.%fZ}"
    assert [row["failed"] for row in rows] == [[], ["good"]] and [row["score"] for row in rows] == [1, 0.5]


def test_the_csv_has_the_same_outcomes(judged: Judged) -> None:
    judged.by("00")
    judged.by("00")
    [first, _other] = cells(files(judged.stage, judged.campaign, form="csv")["outcomes.csv"])
    assert (first["state"], json.loads(first["failed"]), first["score"], first["decided_on"]) == (
        "rejected",
        ["good"],
        "0.0",
        "2",
    )
    assert json.loads(first["numbers"])["failed"] == 2


def test_a_rule_that_decided_nothing_yet_has_its_file_all_the_same(judged: Judged) -> None:
    judged.by("11")
    found = files(judged.stage, judged.campaign)
    assert found["outcomes.jsonl"] == b"" and len(lines(found["ratings.jsonl"])) == 2
    [head] = files(judged.stage, judged.campaign, form="csv")["outcomes.csv"].decode("utf-8-sig").splitlines()
    assert head.split(",") == [column.name for column in OUTCOMES.written]


def test_outcomes_of_another_campaign_stay_out(judged: Judged) -> None:
    again = create_open_campaign(judged.stage, judged.cohort, target=1)
    answer(claim_sheet(a_person(judged.cohort), again, judged.cohort), good="1")
    judge_all()
    assert lines(files(judged.stage, judged.campaign)["outcomes.jsonl"]) == []
    assert [row["campaign"] for row in lines(files(judged.stage, again)["outcomes.jsonl"])] == [again.pk]


def test_only_a_stage_that_is_decided_on_has_the_file(judged: Judged, scene: Scene, world: World) -> None:
    world.add_items(1)
    assert set(files(judged.stage, judged.campaign)) == {
        "ratings.jsonl",
        "outcomes.jsonl",
        "items.jsonl",
        "codebook.json",
    }
    assert set(files(scene.ask, scene.campaign)) == {"ratings.jsonl", "reviews.jsonl", "items.jsonl", "codebook.json"}
    assert set(files(world.stage, an_open_campaign(world))) == {"ratings.jsonl", "items.jsonl", "codebook.json"}


def test_every_decision_is_there_also_on_earlier_versions_and_those_taken_back(scene: Scene) -> None:
    rows = lines(files(scene.ask, scene.campaign)["reviews.jsonl"])
    assert [list(row) for row in rows] == [[column.name for column in REVIEWS.written]] * 3
    decisions = [(row["annotation"], row["version"], row["decision"], row["reason"]) for row in rows]
    assert decisions == [
        (scene.first.pk, 1, "return", "unclear"),
        (scene.second.pk, 2, "accept", ""),
        (scene.other.pk, 1, "reject", "rules"),
    ]
    assert [row["comment"] for row in rows] == ["=SUM(1) No question mark.", "", ""]
    assert [row["undone_at"] is None for row in rows] == [True, True, False]
    assert [row["at"] for row in rows] == [f"{d.at:%Y-%m-%dT%H:%M:%S.%fZ}" for d in Review.objects.order_by("pk")]
    assert {row["author"] for row in rows} == {scene.ask.benchmark.pseudonym(scene.writer.pk)}


def test_reviewers_are_numbers_or_the_pseudonyms_they_have_and_never_names(scene: Scene) -> None:
    def reviewers() -> list[str]:
        return [row["reviewer"] for row in lines(files(scene.ask, scene.campaign)["reviews.jsonl"])]

    assert reviewers() == ["reviewer-1", "reviewer-2", "reviewer-1"]
    pseudonym = scene.ask.benchmark.pseudonym(rater_of(scene.rita).pk)
    assert reviewers() == [pseudonym, "reviewer-2", pseudonym]  # nobody else's number moves
    for form in ("csv", "jsonl"):
        text = b"".join(files(scene.ask, scene.campaign, form=form, versions=True).values()).decode()
        for user in (scene.rita, scene.rami):
            assert user.name not in text and user.email not in text


def test_a_reviewers_number_is_the_same_in_every_campaign_of_the_benchmark(scene: Scene) -> None:
    again = create_open_campaign(scene.ask, scene.cohort)
    given = answer(claim_sheet(a_person(scene.cohort), again, scene.cohort), question="What is it?", answer="Tea")
    reviews.decide(given.pk, scene.rami, "accept", timezone.now())
    assert [row["reviewer"] for row in lines(files(scene.ask, again)["reviews.jsonl"])] == ["reviewer-2"]
    elsewhere = Scene()
    reviewers = [row["reviewer"] for row in lines(files(elsewhere.ask, elsewhere.campaign)["reviews.jsonl"])]
    assert reviewers == ["reviewer-1", "reviewer-2", "reviewer-1"]  # numbers begin anew: nothing links benchmarks


def test_a_comment_that_a_spreadsheet_would_run_is_made_harmless(scene: Scene) -> None:
    rows = cells(files(scene.ask, scene.campaign, form="csv")["reviews.csv"])
    assert [row["comment"] for row in rows] == ["'=SUM(1) No question mark.", "", ""]
    assert rows[0]["undone_at"] == ""


def test_versions_that_are_not_live_are_a_file_for_those_who_ask(scene: Scene) -> None:
    plain, full = files(scene.ask, scene.campaign), files(scene.ask, scene.campaign, versions=True)
    assert "versions.jsonl" not in plain and plain["ratings.jsonl"] == full["ratings.jsonl"]
    [row] = lines(full["versions.jsonl"])
    assert (row["annotation"], row["version"], row["counted"]) == (scene.first.pk, 1, False)
    assert (row["uncounted_because"], row["answers"]["question"]) == ("superseded", "What is it")
    assert row["state"] == "returned", "what was decided on this version, not on the one that took its place"
    states = {one["annotation"]: one["state"] for one in lines(full["ratings.jsonl"])}
    assert states == {scene.second.pk: "accepted", scene.other.pk: "submitted"}
    [cell] = cells(files(scene.ask, scene.campaign, form="csv", versions=True)["versions.csv"])
    assert cell["answer.question"] == "What is it"


def test_the_codebook_explains_the_other_files_and_has_their_checksums(judged: Judged, scene: Scene) -> None:
    judged.by("01")
    judged.by("01")
    for stage, campaign, keys in (
        (judged.stage, judged.campaign, ["versions", "outcomes", "items"]),
        (scene.ask, scene.campaign, ["versions", "reviews", "items"]),
    ):
        contents = files(stage, campaign, form="csv", versions=True)
        book = json.loads(contents["codebook.json"])
        assert list(book["further"]) == keys
        for key in keys:
            description, data = book["further"][key], contents[f"{key}.csv"]
            assert description["file"]["name"].endswith(f"/{key}.csv")
            assert description["file"]["sha256"] == hashlib.sha256(data).hexdigest()
            assert description["file"]["rows"] == len(cells(data))
            head = next(csv.reader(io.StringIO(data.decode("utf-8-sig"))))
            assert [c["name"] for c in description["columns"]] == [
                name for name in head if not name.startswith("answer.")
            ]
        for row in cells(contents["versions.csv"]):
            assert row["uncounted_because"] in book["uncounted"]
    assert set(book["further"]["reviews"]["values"]) == {"accept", "return", "reject"}
    assert {"rules", "unclear"} <= {row["code"] for row in book["further"]["reviews"]["reasons"]}
    rules = json.loads(files(judged.stage, judged.campaign)["codebook.json"])
    assert rules["rules"][0]["number"] == rules["campaigns"][0]["rule_version"] == 1
    assert rules["rules"][0]["clauses"] == RULE["clauses"]
    assert set(rules["further"]["outcomes"]["values"]) == {"accepted", "rejected", "undecided", "waiting"}


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_an_export_with_them_comes_back_as_one_without(judged: Judged, scene: Scene, form: str) -> None:
    judged.by("10")
    judged.by("10")
    for stage, campaign, cohort in (
        (judged.stage, judged.campaign, judged.cohort),
        (scene.ask, scene.campaign, scene.cohort),
    ):
        data = export_bytes(stage, [campaign], form, versions=True)
        assert {f"versions.{form}"} < set(opened_zip(data))
        again = create_open_campaign(stage, cohort, target=2)
        live = Annotation.objects.filter(assignment__campaign=campaign, live=True).count()
        assert import_outcomes(again, data) == {"created": live}
        assert live_answers(again) == live_answers(campaign)


def import_outcomes(campaign: Campaign, data: bytes) -> dict[str, int]:
    """How many rows came to what."""
    job = answer_files.start(campaign, a_user(f"Owner {campaign.pk}"), SimpleUploadedFile("export.zip", data))
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "done", job.error
    found = [row.outcome for row in job.rows.all()]
    return {outcome: found.count(outcome) for outcome in found}


def live_answers(campaign: Campaign) -> list[Any]:
    rows = Annotation.objects.filter(assignment__campaign=campaign, live=True)
    codes = Rating.objects.filter(campaign=campaign, live=True).values_list("unit__item__key", "code")
    return [*sorted(map(str, rows.values_list("assignment__unit__item__key", "answers"))), *sorted(codes)]


def test_the_page_gives_versions_only_when_they_are_asked_for(world: World) -> None:
    world.add_items(2)
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, world.items[:1], {world.nour: "4"})
    [gone] = give_ratings(campaign, world.egypt, world.tarek, {world.items[0]: "2"})
    Annotation.objects.filter(pk=gone.pk).update(live=False, counted=False, uncounted_because="undone")
    assert set(download_files(world.client(world.mara), world)) == {"ratings.jsonl", "items.jsonl", "codebook.json"}
    assert "versions" not in Event.objects.get(verb="ratings.exported").data
    found = download_files(world.client(world.mara), world, versions="on")
    assert [row["annotation"] for row in lines(found["versions.jsonl"])] == [gone.pk]
    assert gone.pk not in {row["annotation"] for row in lines(found["ratings.jsonl"])}
    assert Event.objects.filter(verb="ratings.exported").order_by("-pk")[0].data["versions"] is True
    page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/export/").content.decode()
    assert 'type="checkbox" name="versions"' in page and "checked" not in page
