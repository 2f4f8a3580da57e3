"""Small tables for tests: a specification of our own, and models that answer."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from unittest import mock

from django.db.models import F
from django.http import QueryDict

from annotation.models import Annotation, Assignment, Campaign, Rating, Tally, Unit
from benchmarks.models import Benchmark, Item
from evaluation.metrics.alpha import alpha, percent_agreement
from evaluation.rendering.report import Cell, PrintedValue, Rounding, Row
from evaluation.tables import registry
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import Table, TableOption
from evaluation.tables.table_builder import build_table
from evaluation.tables.table_inputs import TableInputs
from people.models import Rater, Team
from tests.evaluation.data import NOON
from tests.personas import World


def model(team: Team, name: str, setting: str = "", **about: Any) -> Rater:
    return Rater.objects.create(kind=Rater.Kind.MODEL, team=team, name=name, setting=setting, about=about)


def store_answers(
    campaign: Campaign, rater: Rater, answers: Mapping[tuple[Item, str], Any], *, field: str = "relevance",
    at: datetime = NOON, codes: bool = True,
) -> None:  # fmt: skip
    """What a model answers about (item, target): an answer without a place in a slot, and its rating."""
    for (item, target), answer in answers.items():
        unit, _new = Unit.objects.get_or_create(item=item, target=target)
        assignment = Assignment.objects.create(
            campaign=campaign, unit=unit, rater=rater, state="submitted", in_hand=False, reserved_at=at, shown_at=at,
            changed_at=at,
        )  # fmt: skip
        annotation = Annotation.objects.create(
            assignment=assignment, rater=rater, version=1, client_key=f"m-{assignment.pk}", answers={field: answer},
            sheet_version=campaign.sheet_version, language="en", shown_at=at, submitted_at=at,
        )  # fmt: skip
        if codes:
            Rating.objects.create(
                annotation=annotation, campaign=campaign, unit=unit, rater=rater, field=field, code=answer,
                value=float(answer) if answer.isdigit() else None,
            )  # fmt: skip
    row = campaign.cohorts.order_by("pk").values("pk")[:1]
    Tally.objects.filter(cohort__in=row, shard=0).update(changes=F("changes") + len(answers))


def build_small(inputs: TableInputs) -> Table:
    """Alpha and percent agreement, by origin of the picture and cohort: numbers, a name, a gap and an undefined."""
    observations = inputs.observed("relevance", "relevance", ("person",))
    decimals = int(inputs.chosen["decimals"])
    rows = []
    for name in observations.cohorts:
        of_cohort = observations.where(observations.cohort == observations.cohorts.index(name))
        for origin in ("Egypt", "Brazil"):
            part = of_cohort.where(of_cohort.of_item({"origin": origin})).ratings
            share = percent_agreement(part, interval=inputs.interval)
            cells = (
                Cell(text=origin[:2].upper(), printed=PrintedValue("EG")),
                Cell(alpha(part, "nominal", interval=inputs.interval), rounding=Rounding(decimals)),
                Cell(
                    share, rounding=Rounding(1, 100), printed=PrintedValue("60.0", "The text has 60, the figure 61.")
                ),
                Cell(empty=True) if origin == "Brazil" else Cell(share, rounding=Rounding(0, 100, cut=True)),
            )  # fmt: skip
            rows.append(Row(origin, cells, group=name))
    return inputs.table(
        corner="Origin", columns=["Sign", "Alpha & more", "Agree_%", "Cut"], rows=rows, words=["Alpha is nominal."]
    )


SMALL = TableSpec(
    key="small",
    number="Table 14",
    title="Agreement by origin",
    needs="Ratings by two people of a cohort.",
    build=build_small,
    options=(TableOption("decimals", "Decimals", {"2": "two", "4": "four"}),),
)


@contextmanager
def tables_are(benchmark: Benchmark, specs: Sequence[TableSpec]) -> Iterator[None]:
    """The benchmark is of a recipe whose tables are these."""
    Benchmark.objects.filter(pk=benchmark.pk).update(recipe="tests.small")
    benchmark.recipe = "tests.small"
    with mock.patch.dict(registry.BY_RECIPE, {"tests.small": tuple(specs)}):
        yield


def of_recipe(world: World, recipe: str) -> Benchmark:
    """The world's benchmark, as one that was made from this recipe."""
    Benchmark.objects.filter(pk=world.benchmark.pk).update(recipe=recipe)
    world.benchmark.recipe = recipe
    return world.benchmark


def table(benchmark: Benchmark, key: str, address: str = "") -> Table:
    spec = registry.table_of(benchmark, key)
    assert spec is not None
    return build_table(benchmark, spec, QueryDict(address), NOON)


def cells(built_table: Table, label: str, group: str | None = None) -> dict[str, Cell]:
    """One row's, by their columns."""
    row = next(one for one in built_table.rows if one.label == label and group in (None, one.group))
    return dict(zip(map(str, built_table.columns), row.cells, strict=True))
