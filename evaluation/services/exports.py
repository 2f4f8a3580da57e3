"""Exports leave an event: who took what, and when."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime

from annotation.models import Campaign
from benchmarks.models import Stage
from evaluation.exports.codebook import codebook, finished, sheets_of
from evaluation.exports.formats import Written, archive, csv_lines, json_lines
from evaluation.exports.rows import rows
from jobs.models import record
from people.models import User

FORMATS = ("csv", "jsonl")


def export(
    stage: Stage, campaigns: Sequence[Campaign], form: str, actor: User, at: datetime
) -> tuple[str, Iterator[bytes]]:
    """A file name and the archive in pieces: the rows, then the codebook with their meaning and number.

    What the codebook needs is read now; the rows are read while the archive is sent.
    """
    if form not in FORMATS:
        raise ValueError(f"form must be one of {', '.join(FORMATS)}, got {form!r}")
    benchmark = stage.benchmark
    ids = [campaign.pk for campaign in campaigns]
    record(actor, "ratings.exported", scope=benchmark.scope, target=stage.key, campaigns=ids, form=form)
    name = f"{benchmark.slug}-{stage.key}-{at:%Y%m%d-%H%M}"
    return f"{name}.zip", _pieces(stage, campaigns, form, name, at)


def _pieces(stage: Stage, campaigns: Sequence[Campaign], form: str, name: str, at: datetime) -> Iterator[bytes]:
    written = Written()
    book = codebook(stage, campaigns, at)
    sheets = {pk: sheet for pk, (_version, sheet) in sheets_of(campaigns).items()}
    found = rows([campaign.pk for campaign in campaigns], stage.benchmark.pseudonym, sheets)
    columns = list(dict.fromkeys(c.suffix for sheet in sheets.values() for c in sheet.columns()))
    lines = csv_lines(found, columns, written) if form == "csv" else json_lines(found, written)

    def book_lines() -> Iterator[bytes]:
        done = finished(book, f"{name}/ratings.{form}", written)
        yield json.dumps(done, ensure_ascii=False, indent=2).encode() + b"\n"

    members = [(f"{name}/ratings.{form}", lines), (f"{name}/codebook.json", book_lines())]
    yield from archive(members, at, written)
