"""Bytes into Django's storage, whole or not at all."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage, default_storage
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.utils.functional import LazyObject

from jobs.services.uploads import INCOMING


def store(name: str, data: bytes) -> None:
    """Store under exactly this name; what is there already stays. Readers never see half a file.

    The storage moves a file that has a path, which on one file system is an atomic rename; object stores
    write whole objects anyway. Two makers at once leave one file: the loser's copy is removed.
    """
    if not default_storage.exists(name):
        _store_pieces(name, [data])


def replace(name: str, pieces: Iterable[bytes]) -> int:
    """Store what comes in pieces under exactly this name, in place of what is there, and return its size.

    Nothing is stored where the pieces end with an exception. Only one worker may write a name.
    """
    return _store_pieces(name, pieces, in_place=True)


def _store_pieces(name: str, pieces: Iterable[bytes], *, in_place: bool = False) -> int:
    handle, path = tempfile.mkstemp(dir=_staging_folder())
    try:
        with os.fdopen(handle, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        if in_place:
            default_storage.delete(name)
        with Path(path).open("rb") as file:
            stored = default_storage.save(name, _MovedUpload(file, path, size))
        if stored != name:
            default_storage.delete(stored)
    finally:
        Path(path).unlink(missing_ok=True)
    return size


def keep_upload(upload: File[Any], folder: str = "uploads") -> str:
    """Store the file of a job and return its name. Raises OSError, and then leaves nothing behind: half a file on a
    full disk would take the last room. `jobs.services.uploads` deletes what no job needs any more."""
    name = f"{folder}/{uuid.uuid4().hex}"
    try:
        return default_storage.save(name, upload)
    except OSError:
        with suppress(OSError):
            default_storage.delete(name)
        raise


def open_binary(name: str) -> BinaryIO:
    """A stored file; FileNotFoundError if it is not there. It reads and seeks as any file does."""
    return cast(BinaryIO, default_storage.open(name, "rb"))


def _staging_folder() -> str | None:
    """A folder on the storage's own file system, where it has one."""
    storage = default_storage._wrapped if isinstance(default_storage, LazyObject) else default_storage
    if not isinstance(storage, FileSystemStorage):
        return None
    folder = Path(storage.location) / INCOMING
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder)


class _MovedUpload(TemporaryUploadedFile):
    """A file of ours in the clothes of an upload: the storage moves it instead of copying."""

    def __init__(self, file: BinaryIO, path: str, size: int) -> None:
        super(TemporaryUploadedFile, self).__init__(file, Path(path).name, "application/octet-stream", size, None)
        self._path = path

    def temporary_file_path(self) -> str:
        return self._path

    def close(self) -> None:
        if self.file:
            self.file.close()
