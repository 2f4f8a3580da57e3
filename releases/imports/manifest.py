"""What a release says of itself, read with care. Pure."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from benchmarks.imports.archive import check_path
from benchmarks.imports.problems import RowProblem, SourceProblem
from benchmarks.imports.recipe_file import is_storable

MOST_BYTES = 16 * 1024**2
MOST_FILES = 20_000
SHA = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class ManifestFile:
    path: str
    sha256: str
    bytes: int
    rows: int | None


@dataclass(frozen=True)
class Manifest:
    """`site`: rows by kind of those from which a site is filled."""

    made_by: str
    name: str
    slug: str
    licence: str
    version: str
    created_on: str
    watermark: int
    files: tuple[ManifestFile, ...]
    site: Mapping[str, int]
    content: Mapping[str, Any]

    @property
    def has_pictures(self) -> bool:
        archives = any(file.path.startswith("images") and file.path.endswith(".zip") for file in self.files)
        return archives or bool(self.files_with_pictures)

    @property
    def files_with_pictures(self) -> list[list[str]]:
        """The Parquet files of items that hold pictures: the parts of their paths, such as data, stage, items, name."""
        selection = self.content.get("selection")
        if not isinstance(selection, dict) or selection.get("embed") is not True:
            return []
        paths = [file.path.split("/") for file in self.files]
        return [path for path in paths if len(path) == 4 and (path[0], path[2]) == ("data", "items")]


def read_manifest(data: bytes) -> Manifest:
    """Raises SourceProblem."""
    try:
        content = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _unreadable() from error
    if not isinstance(content, dict) or not is_storable(content):
        raise _unreadable()
    benchmark, listed = content.get("benchmark"), content.get("files")
    if not isinstance(benchmark, dict) or not isinstance(listed, list) or len(listed) > MOST_FILES:
        raise _unreadable()
    files = tuple(_file(row) for row in listed)
    if len({file.path for file in files}) < len(files):
        raise _unreadable()
    site = {
        file.path.removeprefix("site/").removesuffix(".jsonl"): file.rows or 0
        for file in files
        if file.path.startswith("site/")
    }
    if not site:
        text = _(
            "This release was built by an earlier version of Emic, and holds no rows for an import. Build it again."
        )
        raise SourceProblem(text)
    return Manifest(
        made_by=_text(content, "made_by"),
        name=_text(benchmark, "name"),
        slug=_text(benchmark, "slug"),
        licence=_text(benchmark, "licence"),
        version=_text(content, "version")[:40],
        created_on=_text(content, "created_on"),
        watermark=_number(content.get("watermark")),
        files=files,
        site=site,
        content=content,
    )


def _file(row: Any) -> ManifestFile:
    if not isinstance(row, dict):
        raise _unreadable()
    path, sha, rows = row.get("path"), row.get("sha256"), row.get("rows")
    if not isinstance(path, str) or not 0 < len(path) <= 300 or not isinstance(sha, str) or not SHA.fullmatch(sha):
        raise _unreadable()
    try:
        check_path(path)
    except RowProblem as problem:
        raise _unreadable() from problem
    return ManifestFile(path, sha, _number(row.get("bytes")), None if rows is None else _number(rows))


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**62:
        raise _unreadable()
    return value


def _text(content: Mapping[str, Any], name: str) -> str:
    value = content.get(name, "")
    if not isinstance(value, str) or len(value) > 500:
        raise _unreadable()
    return value


def _unreadable() -> SourceProblem:
    return SourceProblem(_("The file MANIFEST.json cannot be read. Download the release again."))
