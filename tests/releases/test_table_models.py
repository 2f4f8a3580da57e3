"""Whatever model a table reads is in a release, or stands here with the reason why it need not be."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, models
from django.http import QueryDict

from benchmarks.models import Benchmark
from evaluation.selections.catalogue import catalogue_of
from evaluation.tables.registry import BY_RECIPE, tables_of
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData
from evaluation.tables.table_builder import build_table, missing_data
from releases.rows.site.kinds import NUMBER, SiteKind, SiteScope
from releases.rows.site.registry import BY_RECIPE as SITE_PARTS
from releases.rows.site.registry import site_kinds
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.filling.studies import STUDIES
from tests.personas import World
from tests.releases.import_steps import FAST, NOON, report_files

pytestmark = pytest.mark.django_db

NOT_RELEASED = {
    "annotation.Rating": "The sheet makes the codes anew of the answers.",
    "annotation.Tally": "Counted anew; the watermark goes on.",
    "people.Team": "The team that imports.",
    "people.User": "Accounts are in no release; raters keep their pseudonyms.",
    "people.Consent": "Of accounts. Answers of people who withdrew are in no release.",
    "people.ConsentVersion": "Of accounts.",
    "jobs.Job": "The watermark counts imports; it goes on from the release's.",
}
TABLE = re.compile(r'(?:FROM|JOIN)\s+"?([a-z]+_[a-z_]+)"?')
BY_TABLE = {model._meta.db_table: model._meta.label for model in apps.get_models()}


class ReadModels:
    """The models whose tables were named in statements, as a wrapper of the connection."""

    def __init__(self) -> None:
        self.labels: set[str] = set()

    def __call__(self, execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        self.labels |= {BY_TABLE[name] for name in TABLE.findall(str(sql)) if name in BY_TABLE}
        return execute(sql, params, many, context)


def unreleased(recipe: str, labels: set[str]) -> set[str]:
    released = {kind.model._meta.label for kind in site_kinds(recipe).values()}
    return labels - released - set(NOT_RELEASED)


def models_read(benchmark: Benchmark, specs: Sequence[TableSpec]) -> dict[str, set[str]]:
    """By the key of a table the models that it reads, with every value of every option."""
    catalogue, labels = catalogue_of(benchmark), {}
    for spec in specs:
        read = ReadModels()
        with connection.execute_wrapper(read):
            for query in queries_of(spec):
                try:
                    build_table(benchmark, spec, query, NOON, catalogue)
                except MissingData:
                    missing_data(catalogue, spec, query, NOON)
        labels[spec.key] = read.labels
    return labels


def unreleased_of_reports(benchmark: Benchmark) -> set[str]:
    """What the reports of a benchmark read that is in no release."""
    read = ReadModels()
    with connection.execute_wrapper(read):
        report_files(benchmark)
    assert {"annotation.Rating", "annotation.SecondReview"} <= read.labels
    return unreleased(benchmark.recipe, read.labels)


def unreleased_of(benchmark: Benchmark, specs: Sequence[TableSpec]) -> dict[str, set[str]]:
    """By the key of a table what it reads that is in no release; each reads something."""
    read = models_read(benchmark, specs)
    assert all(read.values()), [key for key, labels in read.items() if not labels]
    return {key: found for key, labels in read.items() if (found := unreleased(benchmark.recipe, labels))}


@pytest.mark.parametrize(
    "recipe", [pytest.param(key, marks=() if key == FAST else pytest.mark.slow) for key in STUDIES]
)
def test_what_a_table_of_a_paper_reads_is_in_a_release(studies: World, recipe: str) -> None:
    door = STUDIES[recipe].fill(studies)
    assert unreleased_of(door.benchmark, BY_RECIPE[recipe]) == {}


def test_what_a_general_table_or_a_report_reads_is_in_a_release(world: World) -> None:
    world.add_items(6)
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, of_condition(world.items, "natural"), {world.nour: "1234", world.tarek: "1233"})
    assert unreleased_of(world.benchmark, tables_of(world.benchmark)) == {}
    world.benchmark.stages.update(acceptance="by_review")
    assert unreleased_of_reports(world.benchmark) == set()


def queries_of(spec: TableSpec) -> Iterator[QueryDict]:
    """As it is shown first, and with each value of each of its options."""
    yield QueryDict("")
    for option in spec.options:
        for value in option.values:
            yield QueryDict(f"{option.key}={value}")


def test_a_model_that_is_in_no_release_is_found() -> None:
    read = ReadModels()
    read(lambda *args: None, 'SELECT 1 FROM "predictions_reply" JOIN benchmarks_item i ON true', (), False, {})
    assert read.labels == {"predictions.Reply", "benchmarks.Item"}
    assert unreleased("3xcm", read.labels) == {"predictions.Reply"}


EVERY_KIND = [(recipe, kind) for recipe in ("", *SITE_PARTS) for kind in site_kinds(recipe).values()]


@pytest.mark.parametrize(("recipe", "kind"), EVERY_KIND, ids=lambda value: getattr(value, "key", value) or "any")
def test_a_kind_says_of_each_field_what_becomes_of_it(recipe: str, kind: SiteKind) -> None:
    """A foreign key is a reference, filled or left out, and what is left out can be empty."""
    kinds = site_kinds(recipe)
    for model_field in kind.model._meta.concrete_fields:
        if isinstance(model_field, models.ForeignKey):
            assert model_field.name in {*kind.references, *kind.filled, *kind.left_out}, model_field.name
        if model_field.name in kind.left_out:
            automatic = getattr(model_field, "auto_now", False) or getattr(model_field, "auto_now_add", False)
            special = kind.key == "raters" or model_field.name == "pseudonym_key"
            assert model_field.null or model_field.has_default() or model_field.blank or automatic or special, (
                model_field.name
            )
    assert set(kind.references.values()) <= set(kinds)
    before = list(kinds)[: list(kinds).index(kind.key) + 1]
    assert set(kind.references.values()) <= set(before), "what a row refers to is written before it"
    assert all(name in {model_field.name for model_field in kind.fields} for name in kind.identity if name != NUMBER)


# Which tables are as long as there are answers, or pictures: no row of theirs looks through such a table for its own.
LONG = ("assignments", "annotations", "uploads", "item_images")


@pytest.mark.parametrize("key", LONG)
def test_a_row_of_a_long_table_does_not_look_for_others_like_itself(world: World, key: str) -> None:
    """To ask each of a million answers whether its rater has an answer took hours; the row is that answer."""
    kinds = site_kinds("blank")
    kind = kinds[key].row_kind(kinds, SiteScope(world.benchmark, (1,), (1,)))
    sql = " ".join([kind.source, *(column.select for column in kind.columns)])
    owners = ("participation_id", "rater_id", "image_id")
    assert not re.findall(rf"EXISTS \(SELECT FROM \w+ [su]\b[^()]*WHERE [su]\.(?:{'|'.join(owners)}) =", sql)
