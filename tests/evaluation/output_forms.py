"""Every form of a table or figure, fetched as a reader fetches it; and what no form may contain."""

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from django.test import Client

from benchmarks.models import Benchmark
from evaluation.figures.figure import Figure
from evaluation.figures.spec import FigureData, FigureSpec
from evaluation.tables import table_builder
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import Table
from evaluation.views import figures as figures_view

TABLE_FILES, FIGURE_FILES = ("json", "csv", "tex"), ("svg", "png", "csv")
NO_VALUE = re.compile(r"\b(None|NaN|nan|inf|undefined)\b")
CAPTION = re.compile(r"\\caption\{.*?\}\n", re.DOTALL)
# Such a number has no interval: a count, a bound, one score, and the p of a test.
EXACT = ("count", "floor", "similarity", "chi-square", "sign-flip permutation")
TAG = re.compile(r"<[^>]*>")


def table_forms(
    client: Client, slug: str, key: str, query: str = "", files: Sequence[str] = TABLE_FILES
) -> dict[str, str]:
    """The page and each file of a table that has numbers: each answers 200 and shows no missing value as a value. The
    numbers are computed once: nothing changes between the forms."""
    with computed_once():
        forms = {"page": _read(client, f"/b/{slug}/tables/{key}/", query)}
        forms |= {form: _read(client, f"/b/{slug}/tables/{key}.{form}", query) for form in files}
    assert 'id="latex"' in forms["page"], f"{key}: the page has no table"
    check_rows(key, forms["page"])
    check_files(key, forms.get("csv", ""), forms.get("tex", ""))
    check_cells(key, json.loads(forms["json"], parse_constant=_refuse))
    return forms


@contextmanager
def computed_once() -> Iterator[None]:
    """Inside, each table and figure is computed at its first form, and the others show the same numbers."""
    compute, tables = table_builder.build_table, dict[str, Table]()
    build, figures = figures_view.build_figure, dict[str, Figure]()

    def compute_first(benchmark: Benchmark, spec: TableSpec, *how: Any) -> Table:
        if spec.key not in tables:
            tables[spec.key] = compute(benchmark, spec, *how)
        return tables[spec.key]

    def build_first(ground: FigureData, spec: FigureSpec) -> Figure:
        if spec.key not in figures:
            figures[spec.key] = build(ground, spec)
        return figures[spec.key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_builder, "build_table", compute_first)
        patch.setattr(figures_view, "build_figure", build_first)
        yield


def check_files(key: str, table: str, latex: str) -> None:
    _clean(key, "tex", CAPTION.sub("", latex))
    for row in csv.DictReader(io.StringIO(table)):
        for name, text in row.items():
            _clean(key, f"csv, {name}", text)


def table_data(client: Client, slug: str, key: str, query: str = "") -> dict[str, Any]:
    return json.loads(_read(client, f"/b/{slug}/tables/{key}.json", query))  # type: ignore[no-any-return]


def check_rows(key: str, text: str) -> None:
    """The rows of a page's tables; of a file all of it but what a number may be called."""
    rows = re.findall(r"(?s)<tbody[^>]*>.*?</tbody>", text)
    if rows or text.lstrip().startswith("<"):
        _clean(key, "page", " ".join(TAG.sub(" ", row) for row in rows))
    else:
        assert not re.search(r"\b(None|NaN|nan)\b", text), key


def check_cells(key: str, data: dict[str, Any]) -> None:
    """A value has units and ratings behind it, and an interval or the reason why not; no value has a reason."""
    for row in data["rows"]:
        for column, cell in zip(data["columns"], row["cells"], strict=True):
            place, estimate = f"{key}: {row['group']} / {row['label']} / {column}", cell["estimate"]
            for text in _texts(cell):
                _clean(place, "json", text)
            if estimate is None:
                continue
            if estimate["value"] is None:
                assert estimate["reason"] and cell["why"]["words"] and not cell["shown"], f"{place}: no reason"
                continue
            assert estimate["n_units"] > 0 and estimate["n_ratings"] > 0, f"{place}: a value of nothing: {estimate}"
            if estimate["method"] not in EXACT:
                assert estimate["low"] is not None or cell["why"], f"{place}: neither interval nor reason"


def figure_forms(client: Client, slug: str, key: str, query: str = "") -> dict[str, bytes]:
    """Each file of a figure that is drawn. The figure is built once: nothing changes between the forms."""
    forms = {}
    with computed_once():
        for form in FIGURE_FILES:
            reply = client.get(f"/b/{slug}/figures/{key}.{form}?{query}")
            assert reply.status_code == 200, f"{key}.{form}: {reply.status_code} {reply.content[:500]!r}"
            forms[form] = reply.content
    assert forms["png"].startswith(b"\x89PNG"), key
    _clean(key, "svg", forms["svg"].decode())
    for row in csv.reader(io.StringIO(forms["csv"].decode("utf-8-sig"))):
        for text in row:
            _clean(key, "csv", text)
    return forms


def figures_page(client: Client, slug: str, query: str = "") -> str:
    reply = client.get(f"/b/{slug}/figures/?{query}")
    assert reply.status_code == 200, reply.status_code
    page = b"".join(reply.streaming_content).decode()  # type: ignore[attr-defined]
    assert "The figure could not be drawn" not in page
    return page


def _read(client: Client, path: str, query: str) -> str:
    reply = client.get(f"{path}?{query}")
    assert reply.status_code == 200, f"{path}?{query}: {reply.status_code} {reply.content.decode()[:500]}"
    return reply.content.decode("utf-8-sig")


def _refuse(constant: str) -> Any:
    raise AssertionError(f"{constant} in JSON")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)


def _clean(key: str, form: str, text: str | None) -> None:
    assert not (found := NO_VALUE.search(text or "")), (
        f"{key} ({form}): {found[0]!r} in {(text or '')[max(found.start() - 200, 0) : found.end() + 100]!r}"
    )
