"""./emic manage report <benchmark> <table>: the same numbers as the page, for a terminal or a file."""

import json
from collections.abc import Collection
from difflib import get_close_matches
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.http import QueryDict
from django.utils import timezone

from benchmarks.models import Benchmark
from evaluation.selections.catalogue import catalogue_of
from evaluation.selections.selection import SelectionError
from evaluation.tables.registry import table_of, tables_of
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData
from evaluation.tables.table_builder import build_or_load, missing_data, names_of
from evaluation.tables.table_formats import heading, to_csv, to_latex, to_text
from evaluation.tables.table_inputs import InvalidOption
from evaluation.tables.table_report import Data

FORMATS = ("text", "csv", "json", "latex")


class Command(BaseCommand):
    help = "Write one table of a benchmark, computed from what is in the database now."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="as in its address: /b/<benchmark>/")
        parser.add_argument("table", nargs="?", help="its key; --list names them")
        parser.add_argument("--format", choices=FORMATS, default="text")
        parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="may be repeated")
        parser.add_argument("--list", action="store_true", help="name the tables, their options, and what they lack")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = _benchmark(options["benchmark"])
        if options["list"] or not options["table"]:
            self.stdout.write(_list_tables(benchmark), ending="")
            return
        spec = _spec(benchmark, options["table"])
        self.stdout.write(_format_table(_load_table(benchmark, spec, options["option"]), options["format"]), ending="")


def _benchmark(slug: str) -> Benchmark:
    benchmark = Benchmark.objects.filter(slug=slug).select_related("team").first()
    if benchmark:
        return benchmark
    known = Benchmark.objects.order_by("slug").values_list("slug", flat=True)
    raise CommandError(f"There is no benchmark {slug!r}. {_hint(slug, list(known))}")


def _spec(benchmark: Benchmark, key: str) -> TableSpec:
    spec = table_of(benchmark, key)
    if spec:
        return spec
    known = [table_spec.key for table_spec in tables_of(benchmark)]
    raise CommandError(f"{benchmark.slug} has no table {key!r}. {_hint(key, known)}")


def _hint(given: str, known: Collection[str]) -> str:
    near = get_close_matches(given, known, n=1)
    if near:
        return f"Did you mean {near[0]!r}?"
    return f"There are: {', '.join(known)}." if known else "There are none."


def _load_table(benchmark: Benchmark, spec: TableSpec, given: list[str]) -> Data:
    try:
        return build_or_load(benchmark, spec, _params(spec, given), timezone.now())
    except MissingData as missing:
        raise CommandError(f"No value: {missing.message} It is made from: {spec.needs}", returncode=3) from None
    except (InvalidOption, SelectionError) as error:
        raise CommandError(error.message) from None


def _params(spec: TableSpec, pairs: list[str]) -> QueryDict:
    """What the page has in its address."""
    params = QueryDict(mutable=True)
    known = names_of(spec)
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise CommandError(f"--option takes key=value, not {pair!r}.")
        if key not in known:
            raise CommandError(f"{spec.key} has no option {key!r}. {_hint(key, known)}")
        params.appendlist(key, value)
    return params


def _format_table(data: Data, form: str) -> str:
    if form == "json":
        return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    if form == "csv":
        return "".join(to_csv(data))
    return to_latex(data) if form == "latex" else to_text(data)


def _list_tables(benchmark: Benchmark) -> str:
    catalogue, now = catalogue_of(benchmark), timezone.now()
    lines = []
    for spec in tables_of(benchmark):
        lines.append(f"{spec.key}  {heading({'number': spec.number, 'title': spec.title})}")
        lines += [f"    --option {option.key}={'|'.join(option.values)}" for option in spec.within(benchmark).options]
        lack = missing_data(catalogue, spec, QueryDict(), now)
        lines += [f"    nothing yet: {lack.message}"] if lack else []
    return "\n".join([*lines, ""]) if lines else f"{benchmark.slug} has no tables.\n"
