"""Damaged files of other tools, through the import itself: every damaged row is named with a reason, and the rest comes
in. What the rest is, the whole file says: the report of its import, less the rows that are damaged."""

import io
import re
import zipfile
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.models import Job, JobRow
from releases.foreign.contract import ForeignAnswer, ForeignFile, ForeignMapping, ForeignProblem
from releases.foreign.doccano import DoccanoReader
from releases.foreign.uploaded_files import ENDINGS
from tests.personas import World
from tests.releases.damaged_files import (
    DAMAGES,
    FILES,
    UNKNOWN,
    Damage,
    DamagedFile,
    as_parquet,
    cut,
    unknown_label,
)
from tests.releases.foreign_samples import POTATO, content, needs_peers
from tests.releases.test_foreign_import import ForeignImporter, pictures_zip, uploads_of

pytestmark = needs_peers
Names = set[str]


def run(world: World, file: DamagedFile, text: str) -> Job:
    """Into a new stage, which is made from the whole file."""
    companions = uploads_of(*file.companions)
    mapping = ForeignMapping(encoding=file.asked_encoding)
    importer = ForeignImporter(world, [file.upload(file.text()), *companions], mapping)
    job = importer.run(
        [file.upload(text), *companions], pictures_zip(), **({"rater": file.rater} if file.rater else {})
    )
    assert job.state == "done", job.error
    return job


def created(job: Job) -> Names:
    return set(JobRow.objects.filter(job=job, outcome="created").values_list("name", flat=True))


def rows_in(file: DamagedFile, names: Iterable[str]) -> set[int]:
    """The rows of the damaged file that names of a report are of."""
    places = (re.match(rf"{re.escape(file.reported)}, row (\d+)", name) for name in names)
    return {int(place.group(1)) for place in places if place}


def key_of(name: str) -> str:
    """What a row of the report is about: items that several rows name are taken from the first that can be read."""
    return name.partition(": ")[2]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path)
def test_damaged_rows_are_named_and_the_rest_comes_in(world: World, file: DamagedFile) -> None:
    whole = created(run(world, file, file.text()))
    for damage in DAMAGES:
        if damage is not unknown_label or file.label:
            _check(world, file, damage, whole)


def _check(world: World, file: DamagedFile, damage: Damage, whole: Names) -> None:
    text, damaged = damage(file)
    job = run(world, file, text)
    wrong = JobRow.objects.filter(job=job, outcome="error")
    assert all(row.message and row.reason and ", row " in row.name for row in wrong)
    first = {min(damaged)} if damage is cut else damaged
    reported = rows_in(file, wrong.exclude(reason__in=("no_item", "same_answer")).values_list("name", flat=True))
    assert reported == first, f"{damage.__name__}: the rows that are damaged are reported, and no others"
    imported = {key_of(name) for name in created(job)}
    lost = {name for name in whole if key_of(name) not in imported}
    undamaged = rows_in(file, lost) - damaged - rows_in(file, wrong.values_list("name", flat=True))
    assert not undamaged, f"{damage.__name__}: what is not damaged came in"


PARQUET = "argilla/records-flattened.parquet"


def test_a_parquet_file_is_damaged_by_row_or_ends_the_job_with_a_sentence(world: World) -> None:
    table = pq.read_table(io.BytesIO(content(PARQUET)))
    rows, companions = table.to_pylist(), uploads_of("argilla/.argilla/settings.json")
    importer = ForeignImporter(world, [("records.parquet", content(PARQUET)), *companions])
    column = table.schema.get_field_index("caption")
    captions = [b"caf\xe9" if number == 4 else str(row["caption"]).encode() for number, row in enumerate(rows)]
    mixed = table.set_column(column, "caption", pa.array(captions, pa.binary()).view(pa.string()))
    rows[6]["kind.responses"][0] = UNKNOWN
    for number in (0, 10):
        rows[number]["relevance.responses.users"] = [""] * len(rows[number]["relevance.responses.users"])
    for data, wrong in ((as_parquet(mixed), {5}), (as_parquet(pa.Table.from_pylist(rows, table.schema)), {1, 7, 11})):
        job = importer.run([("records.parquet", data), *companions], pictures_zip())
        errors = JobRow.objects.filter(job=job, outcome="error")
        names = [name.partition(", row ")[2].partition(":")[0] for name in errors.values_list("name", flat=True)]
        assert {int(name) for name in names} == wrong and job.state == "done"
    assert importer.live().filter(rater__kind="model").count() == 12, "between them the two files hold everything"
    cut = importer.run([("records.parquet", content(PARQUET)[:-300]), *companions], pictures_zip())
    assert cut.state == "failed" and "damaged or ends early" in cut.error


@pytest.mark.parametrize("path", sorted({file.path for file in FILES if file.member}))
def test_a_zip_that_ends_early_says_so_and_a_damaged_file_in_it_is_named(world: World, path: str) -> None:
    data, base = content(path), path.rpartition("/")[2]
    importer = ForeignImporter(world, [(base, data)])
    cut_off = importer.run([(base, data[: len(data) * 2 // 3])])
    assert cut_off.state == "failed" and "damaged" in cut_off.error
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if name.endswith(ENDINGS)]
        at = archive.getinfo(names[0]).header_offset + 70
    spoiled = data[:at] + bytes(byte ^ 255 for byte in data[at : at + 20]) + data[at + 20 :]
    job = importer.run([(base, spoiled)], pictures_zip())
    if len(names) == 1:
        assert job.state == "failed" and f"damaged at “{names[0]}”" in job.error
        return
    (row,) = JobRow.objects.filter(job=job, outcome="error")
    assert (row.name, row.reason) == (names[0], "damaged") and importer.live().count() > 20


def test_a_member_of_doccanos_zip_that_is_damaged_from_its_start_is_named() -> None:
    packed = zipfile.ZipFile(io.BytesIO(content("doccano/bounding-box.jsonl.zip")))
    members = {name: packed.read(name) for name in packed.namelist()}
    members["ann2.jsonl"] = b"\xff\xfe" + members["ann2.jsonl"]
    members |= {"empty.jsonl": b"", "read me.txt": b"hello"}
    files = [ForeignFile(name, lambda data=data: io.BytesIO(data)) for name, data in members.items()]  # type: ignore[misc]
    rows = list(DoccanoReader().read(files, ForeignMapping()))
    problems = [row for row in rows if isinstance(row, ForeignProblem)]
    assert [(problem.file, problem.row, problem.code) for problem in problems] == [("ann2.jsonl", 0, "unreadable")]
    assert {row.rater for row in rows if isinstance(row, ForeignAnswer)} == {"ann1", "ann3"}


def test_files_of_which_nothing_is_read_are_not_called_imported(world: World) -> None:
    importer = ForeignImporter(world, uploads_of(*POTATO))
    job = importer.run([("annotations.jsonl", b'{"some": "thing else"}\n')])
    assert job.state == "failed" and "No row of Potato" in job.error
