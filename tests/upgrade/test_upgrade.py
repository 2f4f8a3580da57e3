"""A site of every tagged version becomes a site of this one: nothing is lost, and no number changes."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.upgrade import site

DUMPS = sorted(site.HERE.glob("*.sql.gz"))
LARGEST = 1_000_000  # bytes of a dump in the repository
# Tables that a later version adds rows to by itself, each with the reason.
GROWS = {
    "django_migrations": "each migration is a row",
    "django_content_type": "each new model is a row",
    "auth_permission": "each new model has permissions",
    "evaluation_snapshot": "reading a page stores its report",
    "django_session": "reading the pages signs in",
}
# What a later version counts otherwise on purpose: "page or table": reason. It begins empty with each tag.
CHANGED: dict[str, str] = {}


@pytest.fixture(scope="module", params=DUMPS, ids=[path.name.removesuffix(".sql.gz") for path in DUMPS])
def upgraded(request: pytest.FixtureRequest) -> Iterator[tuple[dict[str, Any], str]]:
    """The values that the old version printed, and the database after the upgrade."""
    dump: Path = request.param
    before = json.loads(dump.with_name(dump.name.replace(".sql.gz", ".json")).read_text())
    with site.empty_database(os.environ["DATABASE_URL"], f"emic_upgrade_{os.getpid()}") as url:
        site.load(url, dump)
        site.manage(url, "migrate", "--no-input", "-v", "0")
        yield before, url


def test_no_row_is_lost_and_no_number_changes(upgraded: tuple[dict[str, Any], str]) -> None:
    before, url = upgraded
    after = site.read_values(url)
    kept = {table: count for table, count in before["rows"].items() if table not in {*GROWS, *CHANGED}}
    assert kept == {table: count for table, count in after["rows"].items() if table in kept}
    for table in GROWS:
        assert after["rows"].get(table, 0) >= min(before["rows"].get(table, 0), 1), table
    for address, rows in before["pages"].items():
        if address in CHANGED:
            continue
        found = after["pages"][address]
        assert len(found) == len(rows), address
        for old, new in zip(rows, found, strict=True):
            assert as_numbers(old) == pytest.approx(as_numbers(new), rel=1e-9), address
            assert {name: old[name] for name in site.LABELS if name in old} == {
                name: new[name] for name in site.LABELS if name in old
            }


def as_numbers(row: dict[str, str]) -> dict[str, float]:
    """Of a row's numbers; an empty cell becomes a number that none of them can be."""
    return {name: float(row[name]) if row[name] else -1e9 for name in site.NUMBERS if name in row}


def test_the_sample_holds_what_a_site_holds_and_is_small() -> None:
    assert DUMPS
    for dump in DUMPS:
        assert dump.stat().st_size <= LARGEST
        rows = json.loads(dump.with_name(dump.name.replace(".sql.gz", ".json")).read_text())["rows"]
        for table in ("annotation_annotation", "annotation_review", "predictions_run", "annotation_campaign"):
            assert rows[table] > 0, f"{dump.name} has no rows in {table}"
