"""Files on their way to the site: pictures that it lacks, and tables in parts that go on after a lost connection."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from .connection import Connection
from .errors import Conflict, ServerError, Unreachable
from .jobs import Job, is_quiet
from .records import Item
from .row_query import RowQuery

ENDINGS = frozenset({".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".gif", ".avif"})
TABLES = frozenset({".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".xlsx"})
BATCH = 5000  # of one question which pictures are missing
BLOCK = 1024 * 1024
LOST = 5  # how often in a row a part may be lost


class Items:
    """The items of a benchmark: `bench.items(stage="relevance")` reads them, `bench.items.upload(...)` adds some."""

    def __init__(self, connection: Connection, path: str) -> None:
        self._connection = connection
        self._path = path

    def __call__(self, **filters: Any) -> RowQuery[Item]:
        return RowQuery(self._connection, f"{self._path}items/", Item, filters)

    def upload(
        self,
        pictures: str | Path | None = None,
        table: str | Path | None = None,
        *,
        mapping: Mapping[str, Any] | None = None,
        stage: str | None = None,
        **options: Any,
    ) -> Job:
        """Import items. `pictures`: a folder or a .zip, of which only what the site lacks is sent. `table`: what they
        show; CSV, JSON, Parquet or .xlsx. A .zip that has its table in it is sent as it is. `mapping`: role to column,
        where the columns are not those of a manifest. `options`: encoding, sheet, condition, source, licence, complete,
        correct_facts. Returns the job: `.wait()`."""
        body: dict[str, Any] = {"kind": "items", **options}
        if stage is not None:
            body["stage"] = stage
        if mapping is not None:
            body["mapping"] = dict(mapping)
        if pictures is not None:
            body |= self._send_pictures(Path(pictures), has_table=table is not None)
        if table is not None:
            body |= self._send_table(Path(table))
        return Job(self._connection, self._connection.post(f"{self._path}imports/", body))

    def preview(self, table: str | Path, *, stage: str | None = None, **options: Any) -> dict[str, Any]:
        """How a table would be read, and what each column is likely to be and why; `["mapping"]` can be passed on."""
        body = {**self._send_table(Path(table)), **options, **({"stage": stage} if stage else {})}
        return dict(self._connection.post(f"{self._path}imports:preview/", body))

    def upload_answers(self, campaign: int, table: str | Path, *, makes_items: bool = False) -> Job:
        """Import a file of answers into a campaign that is open for imports."""
        body = {"kind": "answers", "campaign": campaign, "makes_items": makes_items, **self._send_table(Path(table))}
        return Job(self._connection, self._connection.post(f"{self._path}imports/", body))

    def _send_table(self, table: Path) -> dict[str, str]:
        return {"table": send_file(self._connection, table), "table_name": table.name[:200]}

    def _send_pictures(self, place: Path, *, has_table: bool) -> dict[str, str]:
        """Send the pictures that the site lacks, and the list of all of them."""
        if place.suffix.lower() != ".zip":
            return {"pictures": self._send_missing(PictureFolder(place), place)}
        with zipfile.ZipFile(place) as archive:
            if has_table or not has_table_in(archive):
                return {"pictures": self._send_missing(PictureArchive(archive), place)}
        return {"archive": send_file(self._connection, place)}

    def _send_missing(self, source: PictureSource, place: Path) -> str:
        digests = {path: source.digest(path) for path in source.paths()}
        if not digests:
            raise ValueError(f"There is no picture in {place}.")
        files = {digest: path for path, digest in digests.items()}
        missing = list(self._missing(list(files)))
        with _bar(len(missing), "Pictures") as bar:
            for digest in missing:
                self._connection.request(
                    "PUT", f"{self._path}images/{digest}/", content=source.read(files[digest]),
                    headers={"Content-Type": "application/octet-stream"}, timeout=120.0,
                )  # fmt: skip
                bar.update()
        return send_bytes(self._connection, json.dumps(digests).encode())

    def _missing(self, digests: Sequence[str]) -> Iterator[str]:
        for start in range(0, len(digests), BATCH):
            body = {"sha256": digests[start : start + BATCH]}
            yield from self._connection.post(f"{self._path}images:missing/", body)["sha256"]


class PictureSource(Protocol):
    """Where pictures are, by their paths in it."""

    def paths(self) -> list[str]: ...

    def digest(self, path: str) -> str: ...

    def read(self, path: str) -> bytes: ...


class PictureFolder:
    """The pictures below a folder. Hidden files and folders are passed over."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise NotADirectoryError(f"{folder} is neither a folder nor a .zip file.")
        self._folder = folder

    def paths(self) -> list[str]:
        files = (path for path in self._folder.rglob("*") if path.is_file())
        return sorted(
            path for path in (file.relative_to(self._folder).as_posix() for file in files) if is_picture(path)
        )

    def digest(self, path: str) -> str:
        return digest_of(self._folder / path)

    def read(self, path: str) -> bytes:
        return (self._folder / path).read_bytes()


class PictureArchive:
    """The pictures of a zip archive, one in memory at a time; nothing is unpacked on the disk."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def paths(self) -> list[str]:
        return sorted(entry.filename for entry in self._archive.infolist() if is_picture(entry.filename))

    def digest(self, path: str) -> str:
        with self._archive.open(path) as member:
            return _digest(member)

    def read(self, path: str) -> bytes:
        return self._archive.read(path)


def is_picture(path: str) -> bool:
    """
    >>> is_picture("a/b.JPG"), is_picture("a/.thumbs/b.jpg"), is_picture("__MACOSX/b.jpg"), is_picture("b.txt")
    (True, False, False, False)
    """
    *folders, name = path.split("/")
    is_visible = not any(part.startswith(".") or part == "__MACOSX" for part in (*folders, name))
    return is_visible and Path(name).suffix.lower() in ENDINGS


def has_table_in(archive: zipfile.ZipFile) -> bool:
    names = (entry.filename for entry in archive.infolist() if not entry.filename.startswith("__MACOSX/"))
    return any(Path(name).suffix.lower() in TABLES for name in names)


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return _digest(file)


def _digest(file: Any) -> str:
    """Read in blocks."""
    digest = hashlib.sha256()
    while block := file.read(BLOCK):
        digest.update(block)
    return digest.hexdigest()


def send_file(connection: Connection, path: Path) -> str:
    with path.open("rb") as file:
        return _send(connection, file, path.stat().st_size, path.name)


def send_bytes(connection: Connection, data: bytes) -> str:
    return _send(connection, io.BytesIO(data), len(data), "List of pictures")


def _send(connection: Connection, file: BinaryIO, size: int, name: str) -> str:
    """Send a file in parts and return the name of the upload. After a lost part the site is asked how far it is."""
    if size == 0:
        raise ValueError(f"{name} is empty.")
    begun = connection.post("/api/v1/uploads/", {"size": size})
    key, most, offset, lost = str(begun["upload"]), int(begun["part_bytes"]), 0, 0
    path = f"/api/v1/uploads/{key}/"
    with _bar(size, name, unit="B", unit_scale=True) as bar:
        while offset < size:
            file.seek(offset)
            headers = {"Upload-Offset": str(offset), "Content-Type": "application/offset+octet-stream"}
            try:
                reply = connection.request("PATCH", path, content=file.read(most), headers=headers).json()
                offset, lost = int(reply["offset"]), 0
            except (Unreachable, ServerError, Conflict) as error:
                lost += 1
                if lost > LOST or (isinstance(error, Conflict) and error.problem.code != "wrong-offset"):
                    raise
                connection.pause(2.0 ** (lost - 1))
                offset = int(connection.get(path)["offset"])
            bar.update(offset - bar.n)
    return key


def _bar(total: int, name: str, **options: Any) -> Any:
    from tqdm.auto import tqdm

    return tqdm(total=total, desc=name, disable=is_quiet() or not total, leave=False, **options)
