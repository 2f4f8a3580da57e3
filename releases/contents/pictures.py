"""The pictures of a release: a table that names each use of one, and an archive with the files.

Names and checksums come from the frozen items. The first item that uses a picture names its file.
"""

import hashlib
import io
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.models import Image
from benchmarks.services import storage
from releases.contents.tables import ReleaseTable
from releases.formats.archive import DATED, ZipStream
from releases.formats.picture_metadata import Unreadable, strip_metadata
from releases.rows.columns import Row, RowColumn

ARCHIVE = "images.zip"
SUMS = "images/SHA256SUMS"
MEANING = (
    "One row per use of a picture by an item. Files are in images.zip without metadata of cameras and programs; their"
    " checksums are in images/SHA256SUMS there."
)
COLUMNS = (
    RowColumn("stage", "", "text", "Key of the stage."),
    RowColumn("item", "", "text", "Key of the item in its stage."),
    RowColumn("role", "", "text", "What the picture is in the item."),
    RowColumn("file", "", "text", "Path in images.zip; null: the file is not in the release."),
    RowColumn("imported_file", "", "text", "Its path in the import; empty where it came otherwise."),
    RowColumn("source_sha256", "", "text", "Checksum of the file as it came."),
    RowColumn("format", "", "text", "Format of the file, such as jpeg."),
    RowColumn("width", "", "int4", "Of the picture upright.", unit="pixels"),
    RowColumn("height", "", "int4", "Of the picture upright.", unit="pixels"),
    RowColumn("alt", "", "text", "What it shows, in words."),
    RowColumn("source", "", "text", "Where it comes from."),
    RowColumn("licence", "", "text", "Its licence; empty: none is known."),
)
EXTENSIONS = {"jpeg": "jpg"}
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class PictureMissing(Exception):
    """The file of a picture is not in the storage, or is damaged there. Its argument is the key of an item."""


@dataclass(frozen=True)
class PictureChoice:
    """Whether files are in the release, and those of which pictures."""

    files: bool
    unlicensed: bool

    def has_file(self, licence: str) -> bool:
        return self.files and (self.unlicensed or bool(licence.strip()))


CHOICES = {
    "names": PictureChoice(files=False, unlicensed=False),
    "licensed": PictureChoice(files=True, unlicensed=False),
    "all": PictureChoice(files=True, unlicensed=True),
}


def picture_rows(
    tables: Sequence[ReleaseTable], choice: PictureChoice, progress: Callable[[int], None]
) -> Iterator[Row]:
    """Uses of pictures in the order of the items. Memory holds a name for each picture that has a file."""
    names: dict[str, str] = {}
    for table in tables:
        if table.table.key == "items":
            for item in table.frozen_rows(progress):
                for picture in item["pictures"]:
                    yield _row(item, picture, _file(names, item, picture, choice))


def _file(names: dict[str, str], item: Row, picture: Row, choice: PictureChoice) -> str | None:
    if not choice.has_file(picture["licence"]):
        return None
    if picture["sha256"] not in names:
        names[picture["sha256"]] = file_name(item["stage"], item["key"], picture["role"], picture["format"])
    return names[picture["sha256"]]


def _row(item: Row, picture: Row, file: str | None) -> Row:
    values = {name: picture[name] for name in ("role", "format", "width", "height", "alt", "source", "licence")}
    named = {"stage": item["stage"], "item": item["key"], "file": file, "imported_file": picture["file"]}
    return {**named, **values, "source_sha256": picture["sha256"]}


def file_name(stage: str, key: str, role: str, form: str) -> str:
    """A path that any file system takes, whatever the key of the item is; another key has another path."""
    name = key if role == "image" else f"{key}.{role}"
    if not _PLAIN.fullmatch(name):
        safe = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:60]
        name = f"{safe or 'item'}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"
    return f"images/{stage}/{name}.{EXTENSIONS.get(form.lower(), form.lower())}"


def picture_archive(rows: Iterator[Row]) -> Iterator[bytes]:
    """A zip archive with the file of each picture once, not compressed again. Raises PictureMissing.

    One picture is in memory at a time.
    """
    pipe, written, sums = ZipStream(), set(), io.StringIO()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_STORED) as archive:
        for row in rows:
            if row["file"] is None or row["source_sha256"] in written:
                continue
            written.add(row["source_sha256"])
            data = _shipped(row)
            sums.write(f"{hashlib.sha256(data).hexdigest()}  {row['file'].removeprefix('images/')}\n")
            archive.writestr(_entry(row["file"]), data)
            yield pipe.take()
        archive.writestr(_entry(SUMS), sums.getvalue())
        yield pipe.take()
    yield pipe.take()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, DATED.timetuple()[:6])
    entry.external_attr = 0o644 << 16
    return entry


def _shipped(row: Row) -> bytes:
    image = Image(sha256=row["source_sha256"])
    try:
        with storage.open_binary(image.original_name) as file:
            data = file.read()
    except FileNotFoundError as error:
        raise PictureMissing(row["item"]) from error
    orientations = Image.objects.filter(sha256=row["source_sha256"]).values_list("orientation", flat=True)
    try:
        return strip_metadata(data, row["format"], orientations[0])
    except Unreadable as error:
        raise PictureMissing(row["item"]) from error
