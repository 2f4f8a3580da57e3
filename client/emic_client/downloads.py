"""Files on their way from the site: in a part of its own until it is whole, and resumed after a lost connection."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import httpx

from .connection import Connection
from .errors import BrokenStream, EmicError, Unreachable
from .uploads import digest_of

LOST = 5  # how often in a row the connection may be lost


def download(connection: Connection, address: str, target: Path, sha256: str, bar: Any = None) -> Path:
    """Bring a file. One that is there with this checksum is left alone. Raises BrokenStream where the bytes are not
    those that the site announced."""
    if target.is_file() and digest_of(target) == sha256:
        if bar is not None:
            bar.update(target.stat().st_size)
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.{sha256[:12]}.part")
    lost = 0
    while True:
        try:
            _append(connection, address, part, sha256, bar)
            break
        except (httpx.TransportError, Unreachable) as error:
            lost += 1
            if lost > LOST:
                raise Unreachable(f"The connection was lost {lost} times while {target.name} was read.") from error
            connection.pause(2.0 ** (lost - 1))
        except EmicError as error:
            if error.problem.status != httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
                raise
            break  # the part was whole already when the connection or the program ended
    if digest_of(part) != sha256:
        part.unlink()
        raise BrokenStream(f"{target.name} is not what the site announced. Download it again.")
    part.replace(target)
    return target


def _append(connection: Connection, address: str, part: Path, sha256: str, bar: Any) -> None:
    """Read on from the end of what is here."""
    size = part.stat().st_size if part.exists() else 0
    headers: Mapping[str, str] = {"Accept": "*/*", "Accept-Encoding": "identity"}
    if size:
        headers = {**headers, "Range": f"bytes={size}-", "If-Range": f'"{sha256}"'}
    with connection.stream(address, None, headers) as reply:
        resumes = reply.status_code == httpx.codes.PARTIAL_CONTENT
        with part.open("ab" if resumes else "wb") as file:
            for block in reply.iter_bytes():
                file.write(block)
                if bar is not None:
                    bar.update(len(block))


def local_path(folder: Path, path: str) -> Path:
    """Where a file of a release lies in a folder. Raises ValueError for one that would lie outside.

    >>> local_path(Path("out"), "csv/relevance/ratings.csv").as_posix()
    'out/csv/relevance/ratings.csv'
    >>> local_path(Path("out"), "../x")
    Traceback (most recent call last):
        ...
    ValueError: '../x' is no path inside a release.
    """
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or any(part in ("..", ".") or "\\" in part or ":" in part for part in parts):
        raise ValueError(f"{path!r} is no path inside a release.")
    return folder.joinpath(*parts)
