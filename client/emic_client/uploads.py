"""Files on their way to the site: pictures that it lacks, and tables in parts that go on after a lost connection."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from .connection import Connection
from .errors import Conflict, ServerError, Unreachable
from .jobs import Job, is_quiet
from .records import Item
from .row_query import RowQuery

ENDINGS = frozenset({".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".gif", ".avif"})
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
        """Import items. `pictures`: a folder, of which only what the site lacks is sent. `table`: what they show; CSV,
        JSON, Parquet or .xlsx. `mapping`: role to column, where the columns are not those of a manifest. `options`:
        encoding, sheet, condition, source, licence, complete, correct_facts. Returns the job: `.wait()`."""
        body: dict[str, Any] = {"kind": "items", **options}
        if stage is not None:
            body["stage"] = stage
        if mapping is not None:
            body["mapping"] = dict(mapping)
        if pictures is not None:
            body["pictures"] = self._send_pictures(Path(pictures))
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

    def _send_pictures(self, folder: Path) -> str:
        """Send the pictures that the site lacks, and the list of all of them."""
        digests = {path: digest_of(folder / path) for path in picture_paths(folder)}
        if not digests:
            raise ValueError(f"There is no picture in {folder}.")
        files = {digest: path for path, digest in digests.items()}
        missing = list(self._missing(list(files)))
        with _bar(len(missing), "Pictures") as bar:
            for digest in missing:
                self._connection.request(
                    "PUT", f"{self._path}images/{digest}/", content=(folder / files[digest]).read_bytes(),
                    headers={"Content-Type": "application/octet-stream"}, timeout=120.0,
                )  # fmt: skip
                bar.update()
        listed = json.dumps(digests).encode()
        return send_bytes(self._connection, listed)

    def _missing(self, digests: Sequence[str]) -> Iterator[str]:
        for start in range(0, len(digests), BATCH):
            body = {"sha256": digests[start : start + BATCH]}
            yield from self._connection.post(f"{self._path}images:missing/", body)["sha256"]


def picture_paths(folder: Path) -> list[str]:
    """The pictures below a folder, by their paths in it. Hidden files and folders are passed over."""
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is not a folder.")
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.suffix.lower() in ENDINGS)
    visible = (path for path in paths if not any(part.startswith(".") for part in path.parts))
    return sorted(path.as_posix() for path in visible if (folder / path).is_file())


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, read in blocks."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
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
