"""Every door reads the same ratings: against a slow reading with a model instance for each row, on awkward data."""

import functools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.db.models import F
from django.http import QueryDict

from annotation.models import Annotation, Assignment, Campaign, Rating, SheetVersion, Slot, Unit
from benchmarks.models import Item
from evaluation.queries.answer_tables import field_answers
from evaluation.queries.observations import answers, observe
from evaluation.queries.rating_rows import Units
from evaluation.queries.ratings import cohort_ratings, pooled_ratings, ratings, weekly
from evaluation.reports.disagreement import codes_of
from evaluation.selections.catalogue import catalogue_of
from evaluation.selections.selection import Selection, select
from people.models import Rater
from tests.evaluation.data import NOON, an_open_campaign, give_ratings
from tests.evaluation.sample_tables import model, store_answers
from tests.module_world import built_once
from tests.personas import SHEET, World, make_benchmark, make_items

DAY = timedelta(days=1)


def repeat_answer(campaign: Campaign, rater: Rater, item: Item, target: str, code: str, repeat: int, at: Any) -> None:
    """A model is asked the same once more: kept, and not counted."""
    unit = Unit.objects.get(item=item, target=target)
    assignment = Assignment.objects.create(
        campaign=campaign, unit=unit, rater=rater, state="submitted", in_hand=False, reserved_at=at, changed_at=at,
        repeat=repeat,
    )  # fmt: skip
    annotation = Annotation.objects.create(
        assignment=assignment, rater=rater, version=1, client_key=f"r-{assignment.pk}", answers={"relevance": code},
        sheet_version=campaign.sheet_version, language="en", shown_at=at, submitted_at=at, counted=False,
        uncounted_because="repeat",
    )  # fmt: skip
    Rating.objects.create(
        annotation=annotation, campaign=campaign, unit=unit, rater=rater, field="relevance", code=code,
        value=float(code), counted=False,
    )  # fmt: skip


@built_once
def awkward(world: World) -> World:
    """Two campaigns of two versions of the sheet, people of both and one who moved, models asked within and outside
    the cohorts and again, codes that are no number, what does not count, what is no longer live, another benchmark."""
    items, rng = world.add_items(24), np.random.default_rng(11)
    first = an_open_campaign(world)
    SheetVersion.objects.create(stage=world.stage, major=1, minor=1, definition=SHEET)
    second = an_open_campaign(world, name="Round two")
    people = [(world.egypt, u) for u in (world.nour, world.tarek, *world.add_annotators(world.egypt, 2))]
    people += [(world.brazil, u) for u in (world.bia, world.caio)] + [(world.brazil, world.nour)]
    reasons = ("", "", "", "", "surplus", "excluded")
    for number, campaign in enumerate((first, second)):
        for place, (cohort, user) in enumerate(people):
            for item in rng.permutation(np.array(items, object))[: 15 - 2 * place]:
                at = NOON + int(rng.integers(-20, 20)) * DAY if number else NOON
                give_ratings(
                    campaign, cohort, user, {item: str(rng.integers(1, 6))}, because=str(rng.choice(reasons)), at=at
                )
    for name in ("Judge", "Second judge"):
        judge = model(world.team, name, "main")
        for item in items[::2]:
            target = str(rng.choice(["Egypt", "Brazil", "Peru"]))
            store_answers(first, judge, {(item, target): str(rng.choice(["1", "3", "5", "cannot say"]))})
            for repeat in (1, 2):
                moment = NOON + int(rng.integers(-5, 5)) * DAY
                repeat_answer(first, judge, item, target, str(rng.integers(1, 6)), repeat, moment)
    Annotation.objects.filter(rater__user=world.tarek, pk__in=odd_annotations()).update(
        live=False, counted=False, uncounted_because="withdrawn"
    )
    Rating.objects.filter(annotation__live=False).update(live=False, counted=False)
    of_nobody = Annotation.objects.filter(rater__user=world.caio, pk__in=odd_annotations())  # a file said no cohort
    Rating.objects.filter(annotation__in=of_nobody.values("pk")).update(cohort=None)
    of_nobody.update(cohort=None)
    other = make_benchmark(world.team, "second-look", owner=world.owner)
    make_items(other.stages.get(), 4)
    return world


def odd_annotations() -> Any:
    return Annotation.objects.annotate(odd=F("pk") % 2).filter(odd=1).values("pk")


QUERIES = [
    "", "counted=all", "repeats=first", "counted=all&repeats=first", "condition=natural", "concept={concept}",
    "since=2026-02-20&until=2026-03-05", "version=1.1", "version=1.0&counted=all", "campaign={first}",
    "campaign={first}&counted=all", "campaign={first}&counted=all&repeats=first", "cohort={brazil}",
    "cohort={egypt}&campaign={second}&until=2026-02-27&counted=all",
]  # fmt: skip
RATERS = (("person",), ("model",), ("person", "model"))


def selections(awkward: World) -> Iterator[Selection]:
    catalogue = catalogue_of(awkward.benchmark)
    second, first = (entry.id for entry in catalogue.stages[0].campaigns)
    numbers = {"first": first, "second": second, "egypt": awkward.egypt.pk, "brazil": awkward.brazil.pk}
    for query in QUERIES:
        chosen = select(catalogue, QueryDict(query.format(concept=catalogue.stages[0].concepts[0], **numbers)))
        for raters in RATERS:
            yield replace(chosen, raters=raters)


@functools.cache
def every_rating() -> list[Rating]:
    """One instance for each row."""
    rows = Rating.objects.select_related("annotation", "unit__item__stage__benchmark", "rater")
    return list(rows.order_by("annotation__submitted_at", "annotation_id"))


@functools.cache
def asked_of(unit: int, campaigns: frozenset[int]) -> set[int]:
    """The cohorts that these campaigns asked for a unit."""
    slots = Slot.objects.filter(unit=unit, cohort__campaign__in=campaigns)
    return set(slots.values_list("cohort__cohort", flat=True))


@pytest.fixture(autouse=True)
def rows_of_this_test() -> None:
    """A test reads all rows once."""
    every_rating.cache_clear()
    asked_of.cache_clear()


def selected_ratings(selection: Selection) -> Iterator[tuple[Any, Rating]]:
    """Every condition in Python."""
    for row in every_rating():
        item, annotation, is_model = row.unit.item, row.annotation, row.rater.kind == "model"
        if (
            row.live
            and row.campaign_id in selection.campaigns
            and row.field == selection.field
            and (row.counted or selection.counted == "all")
            and row.rater.kind in selection.raters
            and item.condition in selection.conditions
            and (not selection.concepts or item.concept in selection.concepts)
            and (not selection.since or annotation.submitted_at >= selection.since)
            and (not selection.until or annotation.submitted_at < selection.until)
            and (not selection.versions or annotation.sheet_version_id in selection.versions)
            and (is_model or row.cohort_id in selection.cohorts)
        ):
            yield (is_model, row.cohort_id), row


def settled(rows: list[Rating], selection: Selection) -> list[Rating]:
    """Of several answers of one rater to a unit, the last or the first; by unit, then by the rater's name."""
    rows_by_pair: dict[tuple[int, int], Rating] = {}
    for row in rows:
        if selection.repeats == "latest" or (row.unit_id, row.rater_id) not in rows_by_pair:
            rows_by_pair[row.unit_id, row.rater_id] = row
    return sorted(rows_by_pair.values(), key=lambda row: (row.unit_id, rater_name(row)))


def rater_name(row: Rating) -> tuple[bool, str, str]:
    """By which raters are sorted: it is the same on each site, as their numbers are not."""
    rater, benchmark = row.rater, row.unit.item.stage.benchmark
    is_model = rater.kind == "model"
    return is_model, rater.name if is_model else benchmark.pseudonym(rater.pk), rater.setting


def by_cohort(selection: Selection) -> dict[int, list[Rating]]:
    """People's with their own cohort, a model's with each that was asked for the unit; only what is a number."""
    rows_by_cohort: dict[int, list[Rating]] = {cohort: [] for cohort in selection.cohorts}
    for (is_model, of), row in selected_ratings(selection):
        asked = {of}
        if is_model:
            asked = asked_of(row.unit_id, frozenset(selection.campaigns)) & set(selection.cohorts)
        for cohort in asked if row.value is not None or selection.level == "nominal" else ():
            rows_by_cohort[cohort].append(row)
    return rows_by_cohort


def rating_triples(rows: list[Rating]) -> list[tuple[int, int, str]]:
    """Units and raters by their place among those that are there, as measures see them."""
    units, raters = sorted({row.unit_id for row in rows}), sorted({rater_name(row) for row in rows})
    return [(units.index(row.unit_id), raters.index(rater_name(row)), row.code) for row in rows]


def read_triples(read: Any, codes: list[str] | None = None) -> list[tuple[int, int, str]]:
    rows = zip(read.unit.tolist(), read.rater.tolist(), read.value.tolist(), strict=True)
    return [(unit, rater, codes[int(value) - 1] if codes else f"{value:g}") for unit, rater, value in rows]


def test_every_door_reads_what_a_plain_reading_finds(awkward: World) -> None:
    for chosen in selections(awkward):
        compare_ratings(chosen)


def compare_ratings(chosen: Selection) -> None:
    plain = by_cohort(chosen)
    cells = {
        (cohort, condition): rating_triples(settled([r for r in rows if r.unit.item.condition == condition], chosen))
        for cohort, rows in plain.items()
        for condition in chosen.conditions
    }
    read = ratings(chosen)
    assert {cell: read_triples(one) for cell, one in read.cells.items()} == cells
    assert read.raters == {cohort: len({row.rater_id for row in rows}) for cohort, rows in plain.items()}
    for cohort, rows in plain.items():
        of_cohort = cohort_ratings(chosen, cohort)
        assert read_triples(of_cohort.ratings) == rating_triples(settled(rows, chosen))
        moments = [row.annotation.submitted_at.timestamp() * 1e6 for row in settled(rows, chosen)]
        assert of_cohort.at.tolist() == moments
    everything = settled(sorted({r for rows in plain.values() for r in rows}, key=submit_moment), chosen)
    together, units = pooled_ratings(chosen)
    assert (read_triples(together), units) == (rating_triples(everything), sorted({row.unit_id for row in everything}))
    if everything:
        assert {cell: read_triples(one) for cell, one in weekly(chosen)[-1][1].cells.items()} == cells


def test_whole_answers_and_observations_are_those_of_a_plain_reading(awkward: World) -> None:
    for chosen in selections(awkward):
        compare_answers(chosen)


def compare_answers(chosen: Selection) -> None:
    rows = settled([row for _who, row in selected_ratings(chosen)], chosen)
    observations = observe(chosen)
    places = zip(
        observations.unit_pk,
        observations.item,
        observations.target,
        observations.rater,
        observations.code,
        observations.value,
        strict=True,
    )
    assert [
        (
            unit,
            observations.items[i].pk,
            observations.targets[t],
            observations.raters[r].pk,
            observations.codes[c],
            None if v != v else v,
        )
        for unit, i, t, r, c, v in places
    ] == [(row.unit_id, row.unit.item_id, row.unit.target, row.rater_id, row.code, row.value) for row in rows]
    assert list(observations.codes) == sorted({row.code for _who, row in selected_ratings(chosen)})
    by_unit: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        by_unit[row.unit_id][row.code] += 1
    assert codes_of(chosen, sorted(by_unit)) == {unit: sorted(codes.items()) for unit, codes in by_unit.items()}
    whole = sorted((one.thing.pk, one.target, one.rater.pk, one.answer) for one in answers(chosen))
    assert whole == sorted((row.unit.item_id, row.unit.target, row.rater_id, row.code) for row in rows)
    assert len(field_answers(chosen)) == len(list(selected_ratings(chosen)))


def submit_moment(row: Rating) -> Any:
    return row.annotation.submitted_at, row.annotation_id


def test_unordered_codes_are_distinguished_by_their_text(awkward: World) -> None:
    catalogue, codes = catalogue_of(awkward.benchmark), sorted({row.code for row in Rating.objects.all()})
    assert "cannot say" in codes
    for raters in RATERS:
        chosen = replace(select(catalogue, QueryDict("")), raters=raters, level="nominal")
        compare_codes(chosen, codes)


def compare_codes(chosen: Selection, codes: list[str]) -> None:
    for (cohort, condition), one in ratings(chosen).cells.items():
        rows = [row for row in by_cohort(chosen)[cohort] if row.unit.item.condition == condition]
        assert read_triples(one, codes) == rating_triples(settled(rows, chosen))


def test_a_model_that_was_asked_again_says_one_thing_and_the_selection_says_which(awkward: World) -> None:
    query = f"counted=all&campaign={catalogue_of(awkward.benchmark).stages[0].campaigns[1].id}"
    chosen = replace(select(catalogue_of(awkward.benchmark), QueryDict(query)), raters=("model",))
    latest, first = (observe(replace(chosen, repeats=which)) for which in ("latest", "first"))
    assert latest.n == first.n == 24  # two models, twelve units, three times each
    assert latest.code.tolist() != first.code.tolist()
    counted = observe(replace(chosen, counted="counted"))
    asked_once = Rating.objects.filter(rater__kind="model", annotation__assignment__repeat=0)
    order = asked_once.order_by("unit_id", "rater__name", "rater__setting").values_list("code", flat=True)
    assert [counted.codes[c] for c in counted.code] == list(order)
    words = chosen.description(catalogue_of(awkward.benchmark), "en")
    assert "Where somebody answered twice, or a model was asked again, the latest answer." in words


@pytest.mark.parametrize("pks", [[], [5], [3, 4, 9], [1, 2_000_000_000_000]])
def test_units_are_found_wherever_their_ids_lie(pks: list[int]) -> None:
    none = np.zeros(len(pks), np.int64)
    units = Units(np.array(pks, np.int64), none, none, none, ())
    for asked in ([], [0], [1, 5, 3, 9, 4, 10], [2_000_000_000_000, 7, -3, 2**62]):
        found = units.place(np.array(asked, np.int64)).tolist()
        assert found == [pks.index(pk) if pk in pks else -1 for pk in asked]
