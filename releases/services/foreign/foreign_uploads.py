"""Uploaded files of another tool, between their upload and their import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core import signing
from django.core.files.base import File

from benchmarks.imports import countries
from benchmarks.models import Benchmark, Stage
from benchmarks.services import storage
from releases.foreign.contract import ForeignFile, ForeignMapping
from releases.foreign.plain_table import PlainTableReader, possible_encodings
from releases.foreign.registry import reader_for
from releases.foreign.scan import Scan, proposed_mapping, scan_files
from releases.foreign.uploaded_files import whole_files
from releases.services.foreign.foreign_import import StoredForeign

SALT, LIFETIME = "releases.foreign", 24 * 3600
RaterName = tuple[str, str, bool]
"""A user of the tool, the name that is kept, and whether it is a model's."""


@dataclass(frozen=True)
class ForeignUpload:
    """What was uploaded for a benchmark."""

    stored: StoredForeign
    raters: tuple[RaterName, ...] = ()

    def mapping(self) -> ForeignMapping:
        """With the names of raters, and nothing else chosen."""
        names = {user: rater for user, rater, _model in self.raters}
        return ForeignMapping(raters=names, models=[user for user, _rater, model in self.raters if model])


def keep_files(
    files: Sequence[File[Any]], pictures: File[Any] | None, raters: Sequence[RaterName]
) -> ForeignUpload:  # fmt: skip
    kept = tuple((str(file.name)[:200], storage.keep_upload(file)) for file in files)
    stored = StoredForeign(kept, storage.keep_upload(pictures) if pictures else "")
    return ForeignUpload(stored, tuple(raters))


def sign(benchmark: Benchmark, upload: ForeignUpload) -> str:
    """For an address that only this site can have written."""
    data = {"benchmark": benchmark.pk, "files": upload.stored.files, "pictures": upload.stored.pictures,
            "raters": upload.raters}  # fmt: skip
    return signing.dumps(data, salt=SALT, compress=True)


def unsign(benchmark: Benchmark, signed: str) -> ForeignUpload:
    """Raises BadSignature, also for what was uploaded to another benchmark."""
    data: Mapping[str, Any] = signing.loads(signed, salt=SALT, max_age=LIFETIME)
    if data["benchmark"] != benchmark.pk:
        raise signing.BadSignature
    files = tuple((name, stored) for name, stored in data["files"])
    raters = tuple((user, rater, bool(model)) for user, rater, model in data["raters"])
    return ForeignUpload(StoredForeign(files, data["pictures"]), raters)


def look_into(
    files: Sequence[ForeignFile], mapping: ForeignMapping, stage: Stage | None
) -> tuple[Scan, ForeignMapping]:  # fmt: skip
    """What the files hold, and the mapping with all that was not chosen proposed. Raises SourceProblem."""
    whole, damaged = whole_files(files, heads=True)
    scan = scan_files(whole, reader_for(whole, mapping.tool), mapping, damaged=damaged, countries=_is_country)
    if scan.reader.key == PlainTableReader.key:
        scan.encodings = possible_encodings(whole)
    return scan, proposed_mapping(scan, mapping, field_keys(stage))


def field_keys(stage: Stage | None) -> list[str]:
    """Of the stage's sheet; none without a stage."""
    fields = stage.sheet.get("fields", []) if stage else []
    return [str(field["key"]) for field in fields if isinstance(field, Mapping) and field.get("key")]


def _is_country(text: str) -> bool:
    return countries.code_of(text) is not None
