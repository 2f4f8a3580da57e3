"""Files for another tool: the live answers of some campaigns, as the archive of an export."""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from annotation.models import Campaign
from annotation.services.sheets.sheet_versions import sheet_of
from annotation.sheets.sheet import Sheet
from benchmarks.models import Stage
from jobs.models import record
from people.models import User
from releases.exports.archive_files import stage_scope
from releases.formats.archive import FileSummary, archive
from releases.rows.annotations import ANNOTATIONS, LIVE
from releases.rows.filters import conditions_of
from releases.rows.items import ITEMS
from releases.writers.contract import Row, Task, ToolWriter

USED = ("annotation", "item", "cohort", "rater", "rater_kind", "setting", "submitted_at", "active_seconds", "answers")


class StoredTasks:
    """Items and their answers in a temporary database on disk, so that writers may read them several times."""

    def __init__(
        self, stage: Stage, campaigns: Sequence[Campaign], sheet: Sheet, emails: Mapping[str, str]
    ) -> None:  # fmt: skip
        self.sheet, self.emails = sheet, emails
        self._rows = sqlite3.connect("", check_same_thread=False)
        self._rows.executescript("""
            PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF;
            CREATE TABLE items (key TEXT PRIMARY KEY, place INTEGER, row TEXT);
            CREATE TABLE answers (item TEXT, place INTEGER, row TEXT);
            CREATE INDEX answers_of ON answers (item, place);
        """)
        scope = stage_scope(stage, campaigns)
        raters: dict[str, None] = {}
        for place, row in enumerate(ITEMS.rows(scope)):
            if not row["withdrawn"]:
                self._rows.execute("INSERT INTO items VALUES (?, ?, ?)", (row["key"], place, _packed(row)))
        live = conditions_of(ANNOTATIONS.filters, LIVE)
        for place, row in enumerate(ANNOTATIONS.rows(scope, live)):
            raters.setdefault(str(row["rater"]), None)
            used = _packed({name: row[name] for name in USED})
            self._rows.execute("INSERT INTO answers VALUES (?, ?, ?)", (row["item"], place, used))
        self.raters = tuple(raters)

    def tasks(self) -> Iterator[Task]:
        for key, text in self._rows.execute("SELECT key, row FROM items ORDER BY place"):
            rows = self._rows.execute("SELECT row FROM answers WHERE item = ? ORDER BY place", (key,))
            yield json.loads(text), [json.loads(row) for (row,) in rows]


def _packed(row: Row | dict[str, Any]) -> str:
    return json.dumps(row, default=lambda value: value.isoformat() if isinstance(value, datetime) else str(value))


def export_for_tool(
    stage: Stage, campaigns: Sequence[Campaign], writer: ToolWriter, actor: User, at: datetime, *,
    emails: Mapping[str, str] | None = None,
) -> tuple[str, Iterator[bytes]]:  # fmt: skip
    """A file name and the archive in pieces. The sheet is that of the newest campaign. `emails`: by rater."""
    sheet = sheet_of(campaigns[-1].sheet_version)
    ids = [campaign.pk for campaign in campaigns]
    record(actor, "ratings.exported", scope=stage.benchmark.scope, target=stage.key, campaigns=ids, form=writer.key)
    name = f"{stage.benchmark.slug}-{stage.key}-{writer.key}-{at:%Y%m%d-%H%M}"
    source = StoredTasks(stage, campaigns, sheet, emails or {})
    members = [(f"{name}/{path}", pieces, FileSummary()) for path, pieces in writer.write(source)]
    return f"{name}.zip", archive(members, at)
