"""Uploads in parts, for programs: after a lost connection one goes on where the site has received so far.

There is no table of them: the name of the file says whose it is and how long it will be, its length is how much of it
is here. `jobs.services.uploads` deletes what no job has used within a day.
"""

from __future__ import annotations

import fcntl
import os
import re
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage

from jobs.services.uploads import PARTS, live_uploads

PART_BYTES = 1024 * 1024
MOST_OPEN = 20
NAME = re.compile(r"([0-9]{1,18})-([0-9a-f]{32})-([0-9]{1,13})")


class PartRefused(Exception):
    """Too many uploads that nothing used, or a part that does not belong there; `message` says what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class OffsetMismatch(Exception):
    """The part does not begin where the upload ends, which is at `offset`."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


@dataclass(frozen=True)
class PartialUpload:
    """`key` names it in addresses; `size` is that of the whole."""

    key: str
    size: int

    @property
    def stored(self) -> str:
        return f"{PARTS}/{self.key}"

    @property
    def offset(self) -> int:
        """How many bytes are here."""
        return int(default_storage.size(self.stored))

    @property
    def is_whole(self) -> bool:
        return self.offset == self.size


def begin(user_id: int, size: int) -> PartialUpload:
    """Raises PartRefused."""
    keys = _keys_of(user_id)
    if len(keys) >= MOST_OPEN:
        used = live_uploads()
        keys = [key for key in keys if f"{PARTS}/{key}" not in used]
    if len(keys) >= MOST_OPEN:
        text = "There are {n} uploads that nothing has used. Import them, or wait a day until they are deleted."
        raise PartRefused(text.format(n=MOST_OPEN))
    upload = PartialUpload(f"{user_id}-{uuid.uuid4().hex}-{size}", size)
    default_storage.save(upload.stored, ContentFile(b""))
    return upload


def keep(user_id: int, file: File[bytes]) -> PartialUpload:
    """A whole file that came with its import. Raises PartRefused and OSError, and then leaves nothing behind."""
    upload = begin(user_id, int(file.size))
    try:
        offset = 0
        for chunk in file.chunks(PART_BYTES):
            offset = append(upload, offset, chunk)
    except (OSError, PartRefused):
        discard(upload)
        raise
    return upload


def find(user_id: int, key: str) -> PartialUpload | None:
    """The person's upload; None if it is another's, or is no longer there."""
    match = NAME.fullmatch(key)
    if match is None or int(match[1]) != user_id:
        return None
    upload = PartialUpload(key, int(match[3]))
    return upload if default_storage.exists(upload.stored) else None


def append(upload: PartialUpload, offset: int, data: bytes) -> int:
    """Write a part and return the new offset: it is on the disk then. Raises OffsetMismatch and PartRefused."""
    with Path(default_storage.path(upload.stored)).open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # two senders of one upload take turns
        end = file.seek(0, os.SEEK_END)
        if end != offset:
            raise OffsetMismatch(end)
        if end + len(data) > upload.size:
            raise PartRefused(f"The upload has {upload.size} bytes, and this part goes beyond them.")
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        except OSError:
            with suppress(OSError):
                file.truncate(end)
            raise
    return end + len(data)


def discard(upload: PartialUpload) -> None:
    default_storage.delete(upload.stored)


def _keys_of(user_id: int) -> list[str]:
    try:
        _folders, names = default_storage.listdir(PARTS)
    except FileNotFoundError:
        return []
    return [name for name in names if name.startswith(f"{user_id}-")]
