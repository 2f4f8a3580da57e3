"""Many ratings: reading and exporting takes memory that does not grow with their number. For ./emic test --slow."""

import gc
import importlib
import io
import json
import threading
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.http import QueryDict
from django.utils import timezone

from annotation.models import Campaign
from evaluation.queries.ratings import ratings
from evaluation.selections.catalogue import catalogue_of
from evaluation.selections.selection import select
from releases.services.exports import export
from tests.api.clients import program
from tests.evaluation.data import an_open_campaign
from tests.personas import World

pytestmark = pytest.mark.slow

# One annotation with its rating for every (item, rater): all in SQL, since what is tested is the reading.
FILL = """
WITH given AS (
  INSERT INTO annotation_assignment (campaign_id, participation_id, slot_id, unit_id, rater_id, state, in_hand,
    reserved_at, shown_at, changed_at, skip_reason, skip_note)
  SELECT %(campaign)s, NULL, NULL, u.id, r.id, 'submitted', false, now(), now(), now(), '', ''
  FROM annotation_unit u CROSS JOIN unnest(%(raters)s::bigint[]) AS r(id) WHERE u.target = %(target)s
  RETURNING id, unit_id, rater_id
), written AS (
  INSERT INTO annotation_annotation (assignment_id, rater_id, version, client_key, answers, sheet_version_id,
    rule_version, cohort_id, language, shown_at, submitted_at, active_seconds, confirmed, trace, live,
    counted, uncounted_because)
  SELECT id, rater_id, 1, id::text, jsonb_build_object('relevance', (1 + (id %% 5))::text), %(sheet)s, '', %(cohort)s,
    'en', now(), now(), 7.5, '[]', '{}', true, true, '' FROM given
  RETURNING id, assignment_id, rater_id
)
INSERT INTO annotation_rating (annotation_id, campaign_id, cohort_id, unit_id, rater_id, field, code, value, live,
  counted)
SELECT w.id, %(campaign)s, %(cohort)s, g.unit_id, w.rater_id, 'relevance', (1 + (g.id %% 5))::text, 1 + (g.id %% 5),
  true, true
FROM written w JOIN given g ON g.id = w.assignment_id
"""


def resident_bytes() -> int:
    """Bytes this process holds now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


class Peak:
    """The most that was held between entering and leaving, above what was held at the start."""

    def __enter__(self) -> "Peak":
        gc.collect()
        self.start = self.most = resident_bytes()
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()
        return self

    def _watch(self) -> None:
        while not self.done.wait(0.005):
            self.most = max(self.most, resident_bytes())

    def __exit__(self, *_error: object) -> None:
        self.done.set()
        self.thread.join()

    @property
    def grown(self) -> int:
        return self.most - self.start


def campaign_with(world: World, items: int, raters: int) -> Campaign:
    world.add_items(items)
    campaign = an_open_campaign(world, cohorts=[world.egypt])
    people = world.add_annotators(world.egypt, raters)
    params = {
        "campaign": campaign.pk, "raters": [user.rater.pk for user in people], "target": "Egypt",
        "cohort": world.egypt.pk, "sheet": campaign.sheet_version_id,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(FILL, params)
        cursor.execute("ANALYZE")
    return campaign


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_an_export_of_200_000_rows_stays_small(world: World, form: str) -> None:
    campaign = campaign_with(world, 10_000, 20)
    importlib.import_module("releases.formats.parquet")  # its library is no part of what grows
    began = time.perf_counter()
    with Peak() as peak:
        _name, pieces = export(world.stage, [campaign], form, world.mara, timezone.now())
        archive = io.BytesIO()
        largest = 0
        for piece in pieces:
            largest = max(largest, len(piece))
            archive.write(piece)
    seconds = time.perf_counter() - began
    with zipfile.ZipFile(archive) as opened:
        [path] = [name for name in opened.namelist() if name.endswith("codebook.json")]
        book = json.loads(opened.read(path))
    assert book["file"]["rows"] == 200_000
    print(
        f"\n200,000 rows, {form}: {seconds:.1f} s, {peak.grown / 2**20:.0f} MiB, {archive.tell() / 2**20:.1f} MiB sent"
    )
    assert largest < 2 * 2**20, "a piece grew with the export"
    assert peak.grown < 64 * 2**20


def test_a_stream_of_200_000_rows_stays_small(world: World) -> None:
    """As REST sends them: counted and read in one transaction."""
    campaign_with(world, 10_000, 20)
    client = program(world.mara, "export")
    address = f"/api/v1/benchmarks/{world.benchmark.slug}/ratings/"
    began = time.perf_counter()
    with Peak() as peak:
        reply: Any = client.get(address, headers={"accept": "application/x-ndjson"})
        rows = sum(piece.count(b"\n") for piece in reply.streaming_content)
    print(f"\n200,000 rows, stream: {time.perf_counter() - began:.1f} s, {peak.grown / 2**20:.0f} MiB")
    assert rows == int(reply["X-Emic-Rows"]) == 200_000
    assert peak.grown < 64 * 2**20


def test_a_million_ratings_are_read_into_arrays(world: World) -> None:
    campaign_with(world, 20_000, 50)
    catalogue = catalogue_of(world.benchmark)
    selection = select(catalogue, QueryDict(""))
    began = time.perf_counter()
    with Peak() as peak:
        read = ratings(selection)
    print(f"\n1,000,000 ratings: {time.perf_counter() - began:.1f} s, {peak.grown / 2**20:.0f} MiB")
    assert sum(cell.n_ratings for cell in read.cells.values()) == 1_000_000
    assert peak.grown < 400 * 2**20
