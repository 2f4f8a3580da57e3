"""Zip files, read with care: counted and measured before they are opened, never unpacked to disk."""

import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem, SourceProblem

MOST_MEMBERS = 100_000
LONGEST_DIRECTORY = 64 * 1024**2
MOST_RATIO = 200  # pictures hardly shrink in a zip; text does, up to here
END = struct.Struct("<4s4H2LH")
NESTED = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst")


class Archive:
    """Members by plain name. Raises SourceProblem if the file as a whole is not to be trusted."""

    def __init__(self, file: BinaryIO, most_bytes: int) -> None:
        _check_directory(file)
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, struct.error, ValueError, OSError) as error:
            raise SourceProblem(_("This is not a zip file, or it is damaged. Pack it again.")) from error
        members = [info for info in self._zip.infolist() if not info.is_dir() and not _is_litter(info.filename)]
        if sum(info.file_size for info in members) > most_bytes:
            text = _("Unpacked it is larger than %(most)s GB. Split it into several archives.")
            raise SourceProblem(text % {"most": most_bytes // 1024**3 or 1})
        self._members = {plain(info.filename): info for info in members}
        self._by_base = {name.rsplit("/", 1)[-1].lower(): name for name in self._members}

    def names(self) -> Iterator[str]:
        yield from self._members

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def near(self, name: str) -> str | None:
        """A member of the same file name in another folder, or in other letters."""
        return self._by_base.get(name.rsplit("/", 1)[-1].lower())

    def open(self, name: str) -> BinaryIO:
        """A stream of one member; errors while reading are zipfile's own. Raises RowProblem."""
        _check_member(self._members[name])
        return self._zip.open(self._members[name])  # type: ignore[return-value]

    def read(self, name: str, most: int) -> bytes:
        """The bytes of one member, at most `most` + 1 of them. Raises RowProblem."""
        info = self._members[name]
        _check_member(info)
        try:
            with self._zip.open(info) as file:
                return file.read(most + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError) as error:
            raise RowProblem("damaged", _("The archive is damaged at this file. Pack it again.")) from error


def plain(name: str) -> str:
    """One spelling for a path: forward slashes, no leading ./, composed letters (a Mac's zip decomposes them)."""
    name = unicodedata.normalize("NFC", name.replace("\\", "/"))
    while name.startswith("./"):
        name = name[2:]
    return name


def check_path(name: str) -> None:
    """Nothing is ever written under these names; still, a path that leaves its folder is not followed."""
    if name.startswith("/") or ":" in name[:3] or "\x00" in name or ".." in name.split("/"):
        raise RowProblem("unsafe_path", _("The path leads out of its folder. Use a path inside it."))


def _check_member(info: zipfile.ZipInfo) -> None:
    check_path(plain(info.filename))
    if stat.S_ISLNK(info.external_attr >> 16):
        raise RowProblem("link", _("This is a link, not a file. Put the file itself into the archive."))
    if info.filename.lower().endswith(NESTED):
        raise RowProblem("nested", _("Archives inside archives are not opened. Put the pictures in directly."))
    if info.flag_bits & 1:
        raise RowProblem("encrypted", _("The file is locked with a password. Pack it again without one."))
    if info.file_size > 1024**2 and info.file_size > MOST_RATIO * max(info.compress_size, 1):
        raise RowProblem("ratio", _("The file unpacks to far more than its size. It is not opened."))


def _is_litter(name: str) -> bool:
    """What operating systems leave behind: hidden files, thumbnails, resource forks."""
    parts = name.replace("\\", "/").split("/")
    return "__MACOSX" in parts or (parts[-1].startswith(".") and parts[-1] != "..") or parts[-1] == "Thumbs.db"


def _check_directory(file: BinaryIO) -> None:
    """The number of members and the size of their list, before Python reads all of it into memory."""
    file.seek(0, 2)
    size = file.tell()
    file.seek(max(0, size - 66_000))
    tail = file.read()
    file.seek(0)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < END.size:
        raise SourceProblem(_("This is not a zip file, or it is damaged. Pack it again."))
    _mark, _disk, _start, _here, members, length, _offset, _comment = END.unpack_from(tail, at)
    if members == 0xFFFF or length == 0xFFFFFFFF:
        members, length = _big_directory(file, tail, at, members, length)
    if members > MOST_MEMBERS or length > LONGEST_DIRECTORY:
        text = _("The archive holds more than %(most)s files. Split it into several.")
        raise SourceProblem(text % {"most": MOST_MEMBERS})


def _big_directory(file: BinaryIO, tail: bytes, at: int, members: int, length: int) -> tuple[int, int]:
    """The zip64 form of the same two numbers, where there is one."""
    locator = tail.rfind(b"PK\x06\x07", 0, at)
    if locator < 0 or len(tail) < locator + 16:
        return members, length
    (offset,) = struct.unpack_from("<Q", tail, locator + 8)
    file.seek(min(offset, 2**62))
    record = file.read(56)
    file.seek(0)
    if len(record) < 56 or record[:4] != b"PK\x06\x06":
        raise SourceProblem(_("This is not a zip file, or it is damaged. Pack it again."))
    return struct.unpack_from("<Q", record, 32)[0], struct.unpack_from("<Q", record, 40)[0]
