"""Who and what is counted: models, days and versions of the sheet; and what a report's rows may be."""

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.http import QueryDict

from annotation.models import Annotation, Assignment, Campaign, Rating, SheetVersion, Unit
from benchmarks.models import Item
from evaluation.queries import ratings as rating_queries
from evaluation.selections.catalogue import catalogue_of
from evaluation.selections.selection import SelectionError, select
from people.models import Rater
from tests.evaluation.data import NOON, an_open_campaign, give_ratings, of_condition, table
from tests.evaluation.test_agreement_page import NOMINAL, cells, read_json, url
from tests.evaluation.test_measures import CHOICE, with_sheet
from tests.module_world import built_once
from tests.personas import SHEET, World


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(20)
    return an_open_campaign(world)


def by_a_model(campaign: Campaign, world: World, codes: dict[Item, str], *, name: str = "Onlooker") -> Rater:
    """A model's answers as a file of them leaves them: of no cohort."""
    rater, _new = Rater.objects.get_or_create(kind=Rater.Kind.MODEL, team=world.team, name=name)
    for item, code in codes.items():
        unit, _new = Unit.objects.get_or_create(item=item, target="Egypt")
        assignment = Assignment.objects.create(
            campaign=campaign, unit=unit, rater=rater, state="submitted", in_hand=False,
            reserved_at=NOON, shown_at=NOON, changed_at=NOON,
        )  # fmt: skip
        annotation = Annotation.objects.create(
            assignment=assignment, rater=rater, version=1, client_key=f"m-{assignment.pk}",
            answers={"relevance": code}, sheet_version=campaign.sheet_version, language="en",
            shown_at=NOON, submitted_at=NOON,
        )  # fmt: skip
        Rating.objects.create(
            annotation=annotation, campaign=campaign, unit=unit, rater=rater, field="relevance", code=code,
            value=float(code),
        )  # fmt: skip
    return rater


def test_models_are_a_choice_only_where_one_has_answered(world: World, campaign: Campaign) -> None:
    client = world.client(world.mara)
    assert '<select class="in" name="raters"' not in client.get(url(world)).content.decode()
    refused = client.get(url(world, "agreement.json?raters=both"))
    assert (refused.status_code, refused.json()["parameter"]) == (400, "raters")
    by_a_model(campaign, world, {world.items[0]: "3"})
    assert '<select class="in" name="raters"' in client.get(url(world)).content.decode()
    assert client.get(url(world, "agreement.json?raters=both")).status_code == 200


def test_a_model_is_one_rater_more_where_the_unit_was_asked(world: World, campaign: Campaign) -> None:
    natural = of_condition(world.items, "natural")[:5]
    table(campaign, world.egypt, natural, {world.nour: "11223"})
    by_a_model(campaign, world, dict(zip(natural, "12233", strict=True)))
    people = cells(read_json(world, "measure=alpha_nominal"))
    assert people["Egypt", "natural"]["rated"]["n_raters"] == 1
    both = read_json(world, "measure=alpha_nominal&raters=both")
    assert cells(both)["Egypt", "natural"]["rated"]["n_raters"] == 2
    assert cells(both)["Egypt", "natural"]["estimates"]["alpha_nominal"]["value"] == pytest.approx(NOMINAL)
    assert cells(both)["Brazil", "natural"]["rated"]["n_raters"] == 0, "Brazil was not asked for Egypt's units"
    assert both["selection"]["raters"] == ["person", "model"]
    assert "by people and by models together" in both["counted"][0]
    alone = cells(read_json(world, "raters=models"))["Egypt", "natural"]
    assert (alone["rated"]["n_raters"], alone["estimates"]["alpha_ordinal"]["reason"]) == (1, "too_few_raters")


def at_days(campaign: Campaign, world: World) -> list[Item]:
    """nour answers five natural photos on 1 March, tarek the same on 10 March at 22:30 UTC: the 11th in Cairo."""
    natural = of_condition(world.items, "natural")[:5]
    give_ratings(campaign, world.egypt, world.nour, dict(zip(natural, "11223", strict=True)), at=NOON)
    late = datetime(2026, 3, 10, 22, 30, tzinfo=UTC)
    give_ratings(campaign, world.egypt, world.tarek, dict(zip(natural, "12233", strict=True)), at=late)
    return natural


def natural_of(row: dict[str, Any]) -> dict[str, Any]:
    return next(cell for cell in row["cells"] if cell["condition"] == "natural")


def n_of(report: dict[str, Any]) -> int:
    return int(cells(report)["Egypt", "natural"]["rated"]["n_ratings"])


def test_days_are_those_of_who_reads(world: World, campaign: Campaign) -> None:
    at_days(campaign, world)
    assert n_of(read_json(world, "until=2026-03-10")) == 10
    world.mara.time_zone = "Africa/Cairo"
    world.mara.save()
    report = read_json(world, "until=2026-03-10")
    assert n_of(report) == 5
    assert report["selection"]["until"] == "2026-03-11T00:00:00+02:00"
    assert "Only answers submitted until" in " ".join(report["counted"]) and "Africa/Cairo" in " ".join(
        report["counted"]
    )
    assert n_of(read_json(world, "since=2026-03-11")) == 5
    assert n_of(read_json(world, "since=2026-03-01&until=2026-03-01")) == 5
    page = world.client(world.mara).get(url(world) + "?since=2026-03-11").content.decode()
    assert 'name="since" value="2026-03-11"' in page and "agreement.csv?since=2026-03-11" in page


@pytest.mark.parametrize(
    ("query", "name", "words"),
    [
        ("since=yesterday", "since", "2026-03-01"),
        ("since=0001-01-01", "since", "2026-03-01"),
        ("until=2026-13-01", "until", "2026-03-01"),
        ("since=2026-03-02&until=2026-03-01", "until", "before"),
        ("version=9.9", "version", "There are: 1.0"),
        ("by=mood", "by", "There are: cohort, all, time"),
        ("by=field", "by", "There are: cohort, all, time"),
    ],
)
def test_invalid_date_or_version_is_reported(
    world: World, campaign: Campaign, query: str, name: str, words: str
) -> None:
    refused = world.client(world.mara).get(url(world, f"agreement.json?{query}"))
    assert refused.status_code == 400
    assert refused.json()["parameter"] == name
    assert words in refused.json()["error"]


def correct_wording(campaign: Campaign, world: World) -> SheetVersion:
    """The wording was mended: what tarek answered, he answered by version 1.1."""
    at_days(campaign, world)
    newer = SheetVersion.objects.create(stage=world.stage, major=1, minor=1, definition=SHEET)
    Annotation.objects.filter(rater__user=world.tarek).update(sheet_version=newer)
    return newer


def test_a_version_of_the_sheet_can_be_looked_at_alone(world: World, campaign: Campaign) -> None:
    assert 'name="version"' not in world.client(world.mara).get(url(world)).content.decode()
    newer = correct_wording(campaign, world)
    assert 'name="version"' in world.client(world.mara).get(url(world)).content.decode()
    report = read_json(world, "version=1.1")
    assert n_of(report) == 5 and report["selection"]["versions"] == [newer.pk]
    assert "Only versions of the sheet: 1.1." in report["counted"]
    assert n_of(read_json(world)) == 10


def test_rows_by_version_stand_under_their_cohort(world: World, campaign: Campaign) -> None:
    correct_wording(campaign, world)
    report = read_json(world, "by=version")
    rows = [(row["cohort"]["label"], row["part"], natural_of(row)["rated"]["n_ratings"]) for row in report["rows"]]
    assert rows == [("Brazil", "1.0", 0), ("Brazil", "1.1", 0), ("Egypt", "1.0", 5), ("Egypt", "1.1", 5)]


def test_over_time_each_week_counts_what_was_there_before(world: World, campaign: Campaign) -> None:
    at_days(campaign, world)  # 1 March 2026 is a Sunday; 10 March lies in the second week after
    report = read_json(world, f"by=time&cohort={world.egypt.pk}&measure=alpha_nominal")
    rows = [(row["part"], natural_of(row)["rated"]["n_ratings"]) for row in report["rows"]]
    assert rows == [("2026-03-01", 5), ("2026-03-15", 10)]
    values = [natural_of(row)["estimates"]["alpha_nominal"]["value"] for row in report["rows"]]
    assert values == [None, pytest.approx(NOMINAL)]
    assert report["n_ratings"] == 10, "what was there before is not counted twice"
    page = world.client(world.mara).get(url(world) + "?by=time").content.decode()
    assert "only weeks in which answers came" in page and "Egypt" in page


def test_of_many_weeks_the_latest_are_shown_and_the_first_of_them_holds_what_was_before(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rating_queries, "WEEKS", 2)
    natural = of_condition(world.items, "natural")[:5]
    for week, item in enumerate(natural[:4]):
        give_ratings(campaign, world.egypt, world.nour, {item: "3"}, at=NOON + timedelta(weeks=week))
    rows = read_json(world, f"by=time&cohort={world.egypt.pk}")["rows"]
    assert [(row["part"], natural_of(row)["rated"]["n_ratings"]) for row in rows] == [
        ("2026-03-15", 3), ("2026-03-22", 4),
    ]  # fmt: skip


def test_every_question_is_measured_at_its_own_level(world: World) -> None:
    campaign = with_sheet(world, SHEET["fields"][0], CHOICE)
    natural = of_condition(world.items, "natural")
    table(campaign, world.egypt, natural, {world.nour: "1123", world.tarek: "1223"})
    client = world.client(world.mara)
    report = read_json(world, "by=field")
    rows_by_question = {(row["part"], row["cohort"]["label"]): row for row in report["rows"]}
    assert list(rows_by_question["relevance", "Egypt"]["cells"][0]["estimates"]) == ["alpha_ordinal"]
    assert list(rows_by_question["sort", "Egypt"]["cells"][0]["estimates"]) == ["alpha_nominal"]
    assert rows_by_question["sort", "Egypt"]["cells"][0]["estimates"]["alpha_nominal"]["reason"] == "no_ratings"
    text = client.get(url(world, "agreement.csv?by=field")).content.decode("utf-8-sig")
    lines = list(csv.DictReader(io.StringIO(text)))
    assert {(line["part"], line["level"]) for line in lines} == {("relevance", "ordinal"), ("sort", "nominal")}
    assert r"Cohort & Question" in client.get(url(world, "agreement.tex?by=field")).content.decode()
    assert "What is it?" in client.get(url(world) + "?by=field").content.decode()
    refused = client.get(url(world, "agreement.json?by=field&measure=percent"))
    assert (refused.status_code, refused.json()["parameter"]) == (400, "measure")


def test_a_scale_without_order_never_offers_what_needs_one(world: World) -> None:
    """CulturalVQA's verdict: codes 1 to 5 that are nominal. No mean, no interval alpha, no correlation."""
    options = [{"code": code, "label": {"en": code}} for code in "12345"]
    verdict = {**CHOICE, "key": "relevance", "config": {"many": False, "options": options}}
    campaign = with_sheet(world, verdict)
    natural = of_condition(world.items, "natural")
    table(campaign, world.egypt, natural, {world.nour: "1123", world.tarek: "1223"})
    Rating.objects.update(value=None)
    catalogue = catalogue_of(world.benchmark)
    assert select(catalogue, QueryDict("")).level == "nominal"
    for measure in ("alpha_interval", "alpha_ordinal", "alpha_ratio", "spearman", "pearson", "table", "mean"):
        with pytest.raises(SelectionError, match=measure):
            select(catalogue, QueryDict(f"measure={measure}"))
    people = world.client(world.mara).get(url(world, f"people/?cohort={world.egypt.pk}")).content.decode()
    assert "Spearman" not in people


def test_what_was_asked_is_carried_by_every_link(world: World, campaign: Campaign) -> None:
    selection = select(catalogue_of(world.benchmark), QueryDict("since=2026-03-01&by=time&someone=else"))
    assert selection.to_params() == [("by", "time"), ("since", "2026-03-01")]
    assert selection.since and selection.since - timedelta(0) == datetime(2026, 3, 1, tzinfo=UTC)


def test_each_against_the_rest_is_told_with_the_least_and_the_largest(world: World, campaign: Campaign) -> None:
    natural = of_condition(world.items, "natural")[:4]
    [third] = world.add_annotators(world.egypt, 1)
    table(campaign, world.egypt, natural, {world.nour: "1234", world.tarek: "1245", third: "2245"})
    cell = cells(read_json(world, "measure=rest"))["Egypt", "natural"]["estimates"]["rest"]
    assert cell["value"] == pytest.approx((2 + 0.9486833) / 3)
    assert (cell["extras"]["least"], cell["extras"]["most"]) == (pytest.approx(0.9486833), pytest.approx(1))
    assert "raters: 0.95 to 1.00" in world.client(world.mara).get(url(world) + "?measure=rest").content.decode()
    assert cells(read_json(world, "measure=rest"))["Brazil", "natural"]["estimates"]["rest"]["reason"] == "no_ratings"
