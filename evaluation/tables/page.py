"""A table as its page shows it: cells ready to draw, and the form above them."""

from collections.abc import Mapping
from itertools import chain
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.functional import Promise
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from annotation.sheets.conditions import condition_name
from benchmarks.models import Benchmark
from evaluation.rendering.html import page_table
from evaluation.rendering.report import Words
from evaluation.selections.catalogue import Catalogue, StageEntry
from evaluation.selections.selection import COUNTED_LABELS, INTERVAL_LABELS, Params
from evaluation.tables.sources import CLEARS, SETTINGS, SOURCES
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData
from evaluation.tables.table_builder import names_of
from evaluation.tables.table_formats import heading, to_latex
from evaluation.tables.table_inputs import NARROWING
from evaluation.tables.table_report import Data, table_report, without_printed
from predictions.pages.variant_names import VariantNames

SHOWS_INTERVALS = 6  # columns: a wider table shows intervals and n of a row when it is opened
DEFAULTS = ("counted", "latest", next(iter(INTERVAL_LABELS)))


def table_context(data: Data, params: Params, names: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What templates/evaluation/tables/table.html takes, besides the form. `paper` and `detail` are of the address.
    `names`: of rows and columns on the page, by label; files keep the labels."""
    paper = params.getlist("paper") == ["1"] and any(data["beside_the_paper"].values())
    report = table_report(data, names)
    if not paper:
        report = without_printed(report)
    detail = len(data["columns"]) <= SHOWS_INTERVALS or params.getlist("detail") == ["1"]
    style = "paper open" if detail else "paper"
    numbers = [cell.estimate for cell in report.cells if cell.estimate]
    return {
        "data": data,
        "computed_at": parse_datetime(data["computed_at"]),
        "table": page_table(report, style, heading(data, ". ")) | {"scrolls": "caption", "folds": not detail},
        "newer": _newer_text(data),
        "asked": data.get("asked", False),
        "numbers": bool(numbers),
        "many_raters": any(estimate.n_raters > 1 for estimate in numbers),
        "cut": any(estimate.extras.get("cut") for estimate in numbers),
        "paper": paper,
        "has_paper": any(data["beside_the_paper"].values()),
        "compared": _comparison_text(data["beside_the_paper"]) if paper else "",
        "known": report.footnotes,
        "detail": detail,
        "dense": len(data["columns"]) > SHOWS_INTERVALS,
        "latex": to_latex(data),
    }


def _newer_text(data: Data) -> str:
    """How far a table that was kept is behind; empty for one that is not."""
    n = data["newer"]
    if not data["stored"] or not data["changed"]:
        return ""
    if not n:
        return _("answers or items have changed since")
    return ngettext("%(n)s newer answer", "%(n)s newer answers", n) % {"n": f"{n:,}"}


def _comparison_text(marks: Mapping[str, int]) -> str:
    text = ngettext(
        "The paper prints %(n)s of these cells: %(same)s the same, %(rounding)s the same after rounding, "
        "%(differs)s different.",
        "The paper prints %(n)s of these cells: %(same)s the same, %(rounding)s the same after rounding, "
        "%(differs)s different.",
        sum(marks.values()),
    )
    return text % {"n": sum(marks.values()), **marks}


def action_links(missing: MissingData, benchmark: Benchmark) -> list[tuple[str, Words]]:
    """Addresses and names of where it is brought."""
    door = missing.action
    if door is None:
        return []
    query = f"?{door.query}" if door.query else ""
    doors = [(reverse(door.route, args=[benchmark.slug, *door.args]) + query, door.label)]
    if door.campaign is not None:
        run = reverse("predictions:answer_run_new", args=[benchmark.slug])
        doors.insert(0, (f"{run}?campaign={door.campaign}", _("Run a model")))
    return doors


def query_of(spec: TableSpec, params: Params) -> str:
    """What the table's other addresses have to carry."""
    return urlencode(_requested_params(spec, params))


def _requested_params(spec: TableSpec, params: Params) -> list[tuple[str, str]]:
    return [(name, str(value)) for name in names_of(spec) for value in params.getlist(name) if value]


def form_context(
    catalogue: Catalogue, spec: TableSpec, data: Data, params: Params, variants: VariantNames
) -> dict[str, Any]:
    """The selects above the table: its options, and who is counted where answers are. The rest is carried along."""
    asked = _requested_params(spec, params)
    stages = [selection["stage"] for selection in data["selections"]]
    selects = [one for choice in data["choices"] for one in _of_choice(choice, asked, variants, stages)]
    selects += [_select(o.key, o.label, o.values, data["options"][o.key]) for o in spec.options]
    if data["selections"]:
        selects += _narrowing(catalogue, data["selections"], asked)
    shown = {select["name"] for select in selects}
    return {
        "selects": selects,
        "carried": [(name, value) for name, value in asked if name not in shown],
        "narrowed": any(name in (*NARROWING, *SOURCES) and value not in DEFAULTS for name, value in asked),
        "query": query_of(spec, params),
    }


def _of_choice(
    choice: Data, asked: list[tuple[str, str]], variants: VariantNames, stages: list[str]
) -> list[dict[str, Any]]:
    """A collection's versions, its runs, campaigns, prompt variants: where there are several."""
    key, label, values = choice["key"], choice["label"], choice["values"]
    if key == SETTINGS:
        values = {value: variants.name_of(text, *stages) for value, text in values.items()}
    if choice["several"]:
        older = not any(name == key for name, _value in asked) and len(choice["chosen"]) < len(values)
        words = _("The newest %(n)s") % {"n": len(choice["chosen"])} if older else ""
        return _all_or_one(key, label, values, asked, words)
    if len(values) < 2:
        return []
    return [{**_select(key, label, values, choice["chosen"][0]), "clears": CLEARS.get(key, "")}]


def _narrowing(
    catalogue: Catalogue, selections: list[Data], asked: list[tuple[str, str]]
) -> list[dict[str, Any]]:  # fmt: skip
    used = {one["stage"] for one in selections}
    stages = [stage for stage in catalogue.stages if stage.key in used]
    first = selections[0]
    selects = _all_or_one("cohort", _("Cohort"), _cohorts(catalogue, stages), asked)
    selects += _all_or_one("condition", _("Condition"), _conditions(catalogue, stages), asked)
    return [
        *selects,
        _select("counted", _("Answers included"), COUNTED_LABELS, first["counted"]),
        _select("interval", _("Confidence interval"), INTERVAL_LABELS, first["interval"]),
    ]


def _cohorts(catalogue: Catalogue, stages: list[StageEntry]) -> dict[str, Any]:
    there = set(chain.from_iterable(c.cohorts for stage in stages for c in stage.current))
    return {str(pk): cohort.name for pk, cohort in catalogue.cohorts.items() if pk in there}


def _conditions(catalogue: Catalogue, stages: list[StageEntry]) -> dict[str, Any]:
    """Those that every stage of the table has: another one would leave a stage without anything."""
    shared = [c for c in stages[0].conditions if c and all(c in stage.conditions for stage in stages)] if stages else []
    return {c: condition_name(catalogue.benchmark, c, get_language() or "en") for c in shared}


def _all_or_one(
    name: str, label: str, labels: dict[str, Any], asked: list[tuple[str, str]], default: str = ""
) -> list[dict[str, Any]]:
    """All or one of them; nothing where there is no choice, or where the address asks for several."""
    values = [value for one, value in asked if one == name]
    if len(labels) < 2 or len(values) > 1:
        return []
    every = {"": default or _("All %(n)s") % {"n": len(labels)}, **labels}
    return [_select(name, label, every, values[0] if values else "")]


def _select(name: str, label: str | Promise, labels: Mapping[str, Any], chosen: str) -> dict[str, Any]:
    return {"name": name, "label": label, "options": [(v, text, v == chosen) for v, text in labels.items()]}
