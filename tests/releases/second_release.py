"""A release built of an imported release, compared with the first one file by file.

Files are equal byte by byte, but for what EXPECTED lists with its reason. Numbers of rows are given anew by each site:
they must be renamed one to one, the same number in the same way in every file.
"""

import csv
import io
import json
from collections.abc import Iterator
from fnmatch import fnmatch
from typing import Any

from benchmarks.models import Benchmark
from benchmarks.services import storage
from releases.models import Release
from tests.personas import World
from tests.releases.import_steps import release_of

NUMBER = "A number of the site, which each site gives anew."
TIME = "The moment of the build or of the import."
STATED = "Size, checksum or number of rows of a file that differs."
TEAM = "Without named authors the team is the author, and this is another team."
ACCOUNTS = "People of an import have no account, so that the site knows of no consent of theirs."
PICTURE = "The metadata of the picture were removed, so that the import has a smaller file."
HASH = "It is computed from the file when a filter asks for it, not believed."
PAUSED = "A campaign that was open is paused by the import."
Difference = tuple[str, str]
"""Path of a file, and the member, column or line that differs."""

NUMBERED = (
    *("annotation", "campaign", "run", "assignment", "participation", "number", "slot", "cohort", "id", "rating"),
    *(
        "derived_from",
        "emic_annotation",
        "benchmark_id",
        "campaigns",
        "cohorts",
        "stages",
        "call",
        "collection",
        "query",
        "entry",
        "plan",
        "source",
        "first",
        "final",
    ),
)
EXPECTED: tuple[tuple[str, str, str], ...] = (
    ("*.json", "exported_at", TIME), ("agreement/*.csv", "computed_at", TIME),
    ("site/benchmark.jsonl", "created_at", TIME), ("MANIFEST.json", "created_on", TIME),
    ("*.json", "sha256", STATED), ("*.json", "bytes", STATED), ("MANIFEST.json", "rows", STATED),
    ("croissant.json", "contentSize", STATED), ("README.md", "| `*", STATED), ("SHA256SUMS", "*", STATED),
    ("CITATION.cff", "*- name: *", TEAM), ("croissant.json", "name", TEAM), ("croissant.json", "citeAs", TEAM),
    ("README.md", "  author = *", TEAM),
    ("DATASHEET.md", "The team *", TEAM), ("coco/*.json", "contributor", TEAM),
    ("documents/*.json", "contributor", TEAM),
    ("DATASHEET.md", "Versions of the consent text*", ACCOUNTS), ("DATASHEET.md", "A person withdraws *", ACCOUNTS),
    ("README.md", "- Consent", ACCOUNTS), ("README.md", "- How consent is withdrawn", ACCOUNTS),
    ("eligibility.csv", "rule consent", ACCOUNTS),
    ("*/ratings.jsonl", "consent", ACCOUNTS), ("*/ratings.jsonl", "consent_version", ACCOUNTS),
    ("site/images.jsonl", "perceptual_hash", HASH), ("site/images.jsonl", "bytes", PICTURE),
    ("site/campaigns.jsonl", "state", PAUSED), ("codebook/*.json", "state", PAUSED),
)  # fmt: skip


def contents(release: Release) -> dict[str, bytes]:
    files = {}
    for file in release.files.all():
        file.release = release
        with storage.open_binary(file.stored_name) as stored:
            files[file.path] = stored.read()
    return files


def unexplained(world: World, release: Release, imported: Benchmark) -> list[Difference]:
    """What a release of the imported benchmark says otherwise, and nothing explains."""
    before, after = contents(release), contents(release_of(world, imported.pk))
    return compare(before, after)


def compare(before: dict[str, bytes], after: dict[str, bytes]) -> list[Difference]:
    numbers, before = Numbers(), _with_later_pictures(before, after)
    old, new = ({_path(path): (path, data) for path, data in files.items()} for files in (before, after))
    differences: list[Difference] = [(path, "only in one of the two") for path in sorted(old.keys() ^ new.keys())]
    for path in sorted(old.keys() & new.keys()):
        if old[path][1] != new[path][1]:
            differences += [
                (path, name) for name in dict.fromkeys(_differing(path, old[path][1], new[path][1], numbers))
            ]
    return [(path, name) for path, name in differences if not _is_expected(path, name)] + numbers.problems


def _with_later_pictures(before: dict[str, bytes], after: dict[str, bytes]) -> dict[str, bytes]:
    """With the checksums that pictures have since their metadata was removed: the import has other files."""
    path, name = "site/images.jsonl", "sha256"
    pairs = zip(before[path].splitlines(), after[path].splitlines(), strict=True)
    renamed = {json.loads(old)[name]: json.loads(new)[name] for old, new in pairs}
    renamed = {old: new for old, new in renamed.items() if old != new}
    for old, new in renamed.items():
        before = {path: data.replace(old.encode(), new.encode()) for path, data in before.items()}
    return before


class Numbers:
    """How numbers of one site became those of another: one to one, by the kind of thing that they name."""

    def __init__(self) -> None:
        self.renamed: dict[tuple[str, int], int] = {}
        self.back: dict[tuple[str, int], int] = {}
        self.problems: list[Difference] = []

    def add(self, path: str, name: str, old: Any, new: Any) -> bool:
        """Whether two values differ by numbers alone."""
        pairs = list(_pairs(old, new))
        if not pairs or any(not (_is_number(a) and _is_number(b)) for a, b in pairs):
            return False
        kind = f"{path} {name}" if name in ("number", "id") else name
        for a, b in pairs:
            if self.renamed.setdefault((kind, a), b) != b or self.back.setdefault((kind, b), a) != a:
                self.problems.append((path, f"{name} {a} became {b}, and another number elsewhere"))
        return True


def _pairs(old: Any, new: Any) -> Iterator[tuple[Any, Any]]:
    """The values that differ, at any depth."""
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        for name in old:
            yield from _pairs(old[name], new[name])
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for one, other in zip(old, new, strict=True):
            yield from _pairs(one, other)
    elif old != new:
        yield old, new


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _path(path: str) -> str:
    """Texts of instructions are named after the number of their campaign."""
    if path.startswith("instructions/"):
        folder, _slash, name = path.rpartition("/")
        return f"{folder}/*-{name.partition('-')[2]}"
    return path


def _is_expected(path: str, name: str) -> bool:
    return any(fnmatch(path, where) and fnmatch(name, what) for where, what, _why in EXPECTED)


def _differing(path: str, old: bytes, new: bytes, numbers: Numbers) -> Iterator[str]:
    if path.endswith(".jsonl"):
        rows = [[json.loads(line) for line in data.splitlines()] for data in (old, new)]
        yield from _rows(path, rows[0], rows[1], numbers)
    elif path.endswith(".json"):
        yield from _members(path, json.loads(old), json.loads(new), numbers, "")
    elif path.endswith(".csv"):
        yield from _tables(path, old, new, numbers)
    else:
        lines = [data.decode().splitlines() for data in (old, new)]
        yield from sorted(line for line in {*lines[0]} ^ {*lines[1]} if not line.startswith("# Instructions "))


def _tables(path: str, old: bytes, new: bytes, numbers: Numbers) -> Iterator[str]:
    rows = [list(_cells(data.decode("utf-8-sig"))) for data in (old, new)]
    if path == "eligibility.csv":
        gone = {row["rule"] for row in rows[0]} - {row["rule"] for row in rows[1]}
        yield from (f"rule {rule}" for rule in sorted(gone))
        rows[0] = [row for row in rows[0] if row["rule"] not in gone]
    yield from _rows(path, rows[0], rows[1], numbers)


def _cells(text: str) -> Iterator[dict[str, Any]]:
    """The rows of one or more tables, each with a head, with an empty line between."""
    head: list[str] = []
    for row in csv.reader(io.StringIO(text)):
        if not row or not head:
            head = row
        else:
            yield {name: _value(cell) for name, cell in zip(head, row, strict=False)}


def _value(text: str) -> Any:
    return int(text) if text.isascii() and text.isdecimal() else text


def _rows(path: str, old: list[Any], new: list[Any], numbers: Numbers) -> Iterator[str]:
    if len(old) != len(new):
        yield f"{len(old)} rows became {len(new)}"
        return
    for before, after in zip(old, new, strict=True):
        for name in before.keys() | after.keys():
            a, b = before.get(name), after.get(name)
            if a != b and not (name in NUMBERED and numbers.add(path, name, a, b)):
                yield name


def _members(path: str, old: Any, new: Any, numbers: Numbers, name: str) -> Iterator[str]:
    """Names of the innermost members that differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            yield from _members(path, old.get(key), new.get(key), numbers, key)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for one, other in zip(old, new, strict=True):
            yield from _members(path, one, other, numbers, name)
    elif old != new and not (name in NUMBERED and numbers.add(path, name, old, new)):
        yield name
