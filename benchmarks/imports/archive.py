"""Zip files, read with care: counted and measured before they are opened, never unpacked to disk."""

import stat
import struct
import unicodedata
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from typing import BinaryIO

from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem, SourceProblem

MOST_MEMBERS = 100_000
LONGEST_DIRECTORY = 64 * 1024**2
MOST_RATIO = 200  # pictures hardly shrink in a zip; text does, up to here
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others take as much memory to unpack as they like
END = struct.Struct("<4s4H2LH")
LOCATOR = struct.Struct("<4sLQL")
BIG_END = struct.Struct("<4sQ2H2L4Q")
ENTRY = struct.Struct("<4s24x3H12x")
NESTED = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst")


class Archive:
    """Members by plain name. Raises SourceProblem if the file as a whole is not to be trusted.

    `nested`: names of members that may be archives, for a caller that opens them with the same care.
    """

    def __init__(self, file: BinaryIO, most_bytes: int, nested: Collection[str] = ()) -> None:
        self._nested = frozenset(nested)
        _check_directory(file)
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, struct.error, ValueError, OSError, NotImplementedError) as error:
            raise _not_a_zip() from error
        if len(self._zip.infolist()) > MOST_MEMBERS:
            raise _too_many()
        members = [info for info in self._zip.infolist() if not info.is_dir() and not _is_system_file(info.filename)]
        if sum(info.file_size for info in members) > most_bytes:
            text = _("Unpacked it is larger than %(most)s GB. Split it into several archives.")
            raise SourceProblem(text % {"most": most_bytes // 1024**3 or 1})
        self._members = {normalise_path(info.filename): info for info in members}
        counts = Counter(normalise_path(info.filename) for info in members)
        self._twice = {name for name, number in counts.items() if number > 1}
        self._by_base = defaultdict[str, list[str]](list)
        for name in self._members:
            self._by_base[name.rsplit("/", 1)[-1].lower()].append(name)

    def names(self) -> Iterator[str]:
        yield from self._members

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def similar_names(self, name: str) -> str | None:
        """A member of the same file name in another folder, or in other letters."""
        near = self._by_base.get(name.rsplit("/", 1)[-1].lower())
        return near[-1] if near else None

    def names_in_folders(self, name: str) -> list[str]:
        """The members that this is the end of the path of: who packs a folder puts its name before all others."""
        near = self._by_base.get(name.rsplit("/", 1)[-1].lower(), [])
        return [member for member in near if member.endswith(f"/{name}")]

    def open(self, name: str) -> BinaryIO:
        """A stream of one member; errors while reading are zipfile's own. Raises RowProblem."""
        self._check(name)
        return self._zip.open(self._members[name])  # type: ignore[return-value]

    def size(self, name: str) -> int:
        """What it says of itself; reading never gives more."""
        return self._members[name].file_size

    def read(self, name: str, most: int) -> bytes:
        """The bytes of one member, at most `most` + 1 of them. Raises RowProblem."""
        self._check(name)
        try:
            with self._zip.open(self._members[name]) as file:
                return file.read(most + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError) as error:
            raise RowProblem("damaged", _("The archive is damaged at this file. Pack it again.")) from error

    def _check(self, name: str) -> None:
        _check_member(self._members[name], may_nest=name.rpartition("/")[2] in self._nested)
        if name in self._twice:
            raise RowProblem("twice", _("The archive holds several files of this name. Keep one, or rename them."))


def normalise_path(name: str) -> str:
    """One spelling for a path: forward slashes, no leading ./, composed letters (a Mac's zip decomposes them)."""
    name = unicodedata.normalize("NFC", name.replace("\\", "/"))
    while name.startswith("./"):
        name = name[2:]
    return name


def check_path(name: str) -> None:
    """Nothing is ever written under these names; still, a path that leaves its folder is not followed."""
    if name.startswith("/") or ":" in name[:3] or "\x00" in name or ".." in name.split("/"):
        raise RowProblem("unsafe_path", _("The path leads out of its folder. Use a path inside it."))


def _check_member(info: zipfile.ZipInfo, *, may_nest: bool = False) -> None:
    check_path(normalise_path(info.filename))
    if stat.S_ISLNK(info.external_attr >> 16):
        raise RowProblem("link", _("This is a link, not a file. Put the file itself into the archive."))
    if info.filename.lower().endswith(NESTED) and not may_nest:
        raise RowProblem("nested", _("Archives inside archives are not opened. Put the pictures in directly."))
    if info.flag_bits & 1:
        raise RowProblem("encrypted", _("The file is locked with a password. Pack it again without one."))
    if info.compress_type not in METHODS:
        raise RowProblem("method", _("The file uses an unsupported compression method. Create a standard zip."))
    if info.file_size > 1024**2 and info.file_size > MOST_RATIO * max(info.compress_size, 1):
        raise RowProblem("ratio", _("The file unpacks to far more than its size. It is not opened."))


def _is_system_file(name: str) -> bool:
    """What operating systems leave behind: hidden files, thumbnails, resource forks."""
    parts = name.replace("\\", "/").split("/")
    return "__MACOSX" in parts or (parts[-1].startswith(".") and parts[-1] != "..") or parts[-1] == "Thumbs.db"


def _check_directory(file: BinaryIO) -> None:
    """Walk the list of members as Python would read it, before Python makes an object of each.

    The counts an archive states of itself are not believed: only the entries that are there are counted.
    """
    start, length = _directory(file)
    if length > LONGEST_DIRECTORY:
        raise _too_many()
    if start < 0:
        raise _not_a_zip()
    file.seek(start)
    listed = file.read(length)
    file.seek(0)
    at = members = 0
    while at + ENTRY.size <= len(listed):
        _mark, name, extra, comment = ENTRY.unpack_from(listed, at)
        at += ENTRY.size + name + extra + comment
        members += 1
        if members > MOST_MEMBERS:
            raise _too_many()


def _directory(file: BinaryIO) -> tuple[int, int]:
    """Where the list of members begins, and its length; found in the same places where Python's zipfile looks."""
    size = file.seek(0, 2)
    tail_start = max(0, size - END.size - 2**16)
    file.seek(tail_start)
    tail = file.read()
    at = len(tail) - END.size
    if at < 0 or not (tail.startswith(b"PK\x05\x06", at) and tail.endswith(b"\x00\x00")):
        at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < END.size:
        raise _not_a_zip()
    length: int = END.unpack_from(tail, at)[5]
    end = tail_start + at
    big = _big_directory(file, end)
    return (end - length, length) if big is None else (end - LOCATOR.size - BIG_END.size - big, big)


def _big_directory(file: BinaryIO, end: int) -> int | None:
    """The length in its zip64 form, which wins wherever there is one."""
    if end < LOCATOR.size:
        return None
    file.seek(end - LOCATOR.size)
    if file.read(4) != b"PK\x06\x07":
        return None
    file.seek(max(0, end - LOCATOR.size - BIG_END.size))
    record = file.read(BIG_END.size)
    if len(record) < BIG_END.size or record[:4] != b"PK\x06\x06":
        raise _not_a_zip()
    return int(BIG_END.unpack(record)[8])


def _not_a_zip() -> SourceProblem:
    return SourceProblem(_("This is not a zip file, or it is damaged. Pack it again."))


def _too_many() -> SourceProblem:
    text = _("The archive holds more than %(most)s files. Split it into several.")
    return SourceProblem(text % {"most": MOST_MEMBERS})
