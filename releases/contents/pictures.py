"""The pictures of a release: a table that names each use of one, and their files in archives or inside Parquet files.

Names and checksums come from the frozen items. The first item that uses a picture names its file.
"""

import hashlib
import io
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet, Sum

from benchmarks.models import Image, ItemImage, Stage
from benchmarks.services import storage
from releases.contents.tables import ReleaseTable
from releases.descriptions.licences import EXTENSIONS, is_known, may_be_shared
from releases.formats.archive import DATED, ZipStream
from releases.formats.picture_metadata import Unreadable, strip_metadata
from releases.rows.columns import Row, RowColumn

ARCHIVE_BYTES = 1_900_000_000
"""Of one archive at most, and a picture: programs that know no larger ones can open it."""
SUMS = "images/SHA256SUMS"
MEANING = "One row per use of a picture by an item. Checksums of files in an archive are in images/SHA256SUMS there."
COLUMNS = (
    RowColumn("stage", "", "text", "Key of the stage."),
    RowColumn("item", "", "text", "Key of the item in its stage."),
    RowColumn("role", "", "text", "What the picture is in the item."),
    RowColumn("archive", "", "text", "What the file is in: an archive, or a folder of Parquet files; null: nothing."),
    RowColumn("file", "", "text", "Path of the file in it; null: the file is not in the release."),
    RowColumn("imported_file", "", "text", "Its path in the import; empty where it came otherwise."),
    RowColumn("source_sha256", "", "text", "Checksum of the file as it came."),
    RowColumn("format", "", "text", "Format of the file, such as jpeg."),
    RowColumn("width", "", "int4", "Of the picture upright.", unit="pixels"),
    RowColumn("height", "", "int4", "Of the picture upright.", unit="pixels"),
    RowColumn("alt", "", "text", "What it shows, in words."),
    RowColumn("source", "", "text", "Where it comes from."),
    RowColumn("licence", "", "text", "Its licence; empty: none is known."),
)
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class PictureMissing(Exception):
    """The file of a picture is not in the storage, or is damaged there. Its argument is the key of an item."""


LEFT_OUT = "images_left_out.csv"
LEFT_OUT_COLUMNS = (
    *(column for column in COLUMNS if column.name in ("stage", "item", "role", "imported_file", "source_sha256")),
    *(column for column in COLUMNS if column.name in ("source", "licence")),
    RowColumn("reason", "", "text", "Why its file is not in the release."),
)


@dataclass(frozen=True)
class PictureChoice:
    """Whether files are in the release, those of which pictures, and whether as they came."""

    files: bool
    unlicensed: bool = False
    originals: bool = False

    def has_file(self, licence: str) -> bool:
        return self.files and (self.unlicensed or may_be_shared(licence))


CHOICES = {
    "none": PictureChoice(files=False),
    "names": PictureChoice(files=False),
    "licensed": PictureChoice(files=True),
    "all": PictureChoice(files=True, unlicensed=True),
    "licensed_originals": PictureChoice(files=True, originals=True),
    "originals": PictureChoice(files=True, unlicensed=True, originals=True),
}


class PictureFiles:
    """The name and the archive of each picture, in the order of first use. Memory holds both for each picture."""

    def __init__(self, choice: PictureChoice, *, embedded: bool) -> None:
        self.choice, self.embedded = choice, embedded
        self._files: dict[str, tuple[str, str]] = {}
        self._bytes = 0

    def file(self, item: Row, picture: Row) -> tuple[str, str] | None:
        """Archive and path."""
        if not self.choice.has_file(picture["licence"]):
            return None
        sha256 = picture["sha256"]
        if sha256 not in self._files:
            self._bytes += picture["bytes"]
            archive = f"data/{item['stage']}/items" if self.embedded else archive_name(self._bytes // ARCHIVE_BYTES)
            name = file_name(item["stage"], item["key"], picture["role"], picture["format"])
            self._files[sha256] = (archive, name)
        return self._files[sha256]


def archive_name(number: int) -> str:
    return f"images-{number + 1}.zip" if number else "images.zip"


def archive_names(stages: Sequence[int]) -> list[str]:
    """The archives that the pictures of these stages need; the last may be without any."""
    return [archive_name(number) for number in range(picture_bytes(stages) // ARCHIVE_BYTES + 1)]


def picture_bytes(stages: Sequence[int] | QuerySet[Stage]) -> int:
    """Of the pictures that items of these stages show, each once."""
    shown = ItemImage.objects.filter(item__stage__in=stages).values("image")
    return int(Image.objects.filter(pk__in=shown).aggregate(bytes=Sum("bytes"))["bytes"] or 0)


def picture_rows(tables: Sequence[ReleaseTable], files: PictureFiles, progress: Callable[[int], None]) -> Iterator[Row]:
    """Uses of pictures in the order of the items."""
    for table in tables:
        if table.table.key == "items":
            for item in table.frozen_rows(progress):
                for picture in item["pictures"]:
                    yield _row(item, picture, files.file(item, picture))


def left_out_rows(rows: Iterator[Row]) -> Iterator[Row]:
    """The uses whose file is not in the release for its licence, with the reason."""
    for row in rows:
        if row["file"] is None:
            yield {**row, "reason": "licence forbids it" if is_known(row["licence"]) else "no licence known"}


def embedded_rows(rows: Iterator[Row], choice: PictureChoice, *, single: bool) -> Iterator[Row]:
    """Items with their pictures: the file under "image", or a list under "images". Raises PictureMissing."""
    for row in rows:
        pictures = [_embedded(row, picture, choice) for picture in row["pictures"]]
        yield row | ({"image": next(iter(pictures), None)} if single else {"images": pictures})


def _embedded(item: Row, picture: Row, choice: PictureChoice) -> dict[str, object] | None:
    if not choice.has_file(picture["licence"]):
        return None
    path = file_name(item["stage"], item["key"], picture["role"], picture["format"])
    data = _shipped(item["key"], picture["sha256"], picture["format"], choice)
    return {"bytes": data, "path": path.rpartition("/")[2]}


def _row(item: Row, picture: Row, file: tuple[str, str] | None) -> Row:
    values = {name: picture[name] for name in ("role", "format", "width", "height", "alt", "source", "licence")}
    archive, path = file or (None, None)
    named = {"stage": item["stage"], "item": item["key"], "archive": archive, "file": path}
    return {**named, **values, "imported_file": picture["file"], "source_sha256": picture["sha256"]}


def file_name(stage: str, key: str, role: str, form: str) -> str:
    """A path that any file system takes, whatever the key of the item is; another key has another path."""
    name = key if role == "image" else f"{key}.{role}"
    if not _PLAIN.fullmatch(name):
        safe = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:60]
        name = f"{safe or 'item'}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"
    return f"images/{stage}/{name}.{EXTENSIONS.get(form.lower(), form.lower())}"


def picture_archive(rows: Iterator[Row], name: str, choice: PictureChoice) -> Iterator[bytes]:
    """A zip archive with the file of each of its pictures once, not compressed again. Raises PictureMissing.

    One picture is in memory at a time.
    """
    pipe, written, sums = ZipStream(), set(), io.StringIO()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_STORED) as archive:
        for row in rows:
            if row["archive"] != name or row["source_sha256"] in written:
                continue
            written.add(row["source_sha256"])
            data = _shipped(row["item"], row["source_sha256"], row["format"], choice)
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


def _shipped(item: str, sha256: str, form: str, choice: PictureChoice) -> bytes:
    image = Image(sha256=sha256)
    try:
        with storage.open_binary(image.original_name) as file:
            data = file.read()
    except FileNotFoundError as error:
        raise PictureMissing(item) from error
    if choice.originals:
        return data
    orientations = Image.objects.filter(sha256=sha256).values_list("orientation", flat=True)
    try:
        return strip_metadata(data, form, orientations[0])
    except Unreadable as error:
        raise PictureMissing(item) from error
