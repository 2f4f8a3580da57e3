"""Files that a person chose, as readers take them: zips are looked into, members by name. Pure."""

import io
import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, BinaryIO, TypeVar

from django.utils.translation import gettext as _

from benchmarks.imports.archive import Archive
from benchmarks.imports.problems import RowProblem, SourceProblem
from releases.foreign.contract import ForeignFile, ForeignProblem

MOST_FILES = 2000
BLOCK = 1024 * 1024
ENDINGS = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".xml", ".yaml", ".yml", ".parquet")
Opener = Callable[[], BinaryIO]
Result = TypeVar("Result")
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError)


def foreign_files(uploads: Sequence[tuple[str, Opener]], most_bytes: int) -> list[ForeignFile]:
    """By name and how to open it; of a zip its members with a reader's ending. Raises SourceProblem."""
    files: list[ForeignFile] = []
    for name, opener in uploads:
        with closing(opener()) as stream:
            zipped = stream.read(4) in (b"PK\x03\x04", b"PK\x05\x06")
        if not zipped:
            files.append(ForeignFile(name, opener))
            continue
        files += _members(name, opener, most_bytes)
    if len(files) > MOST_FILES:
        raise SourceProblem(_("The archive holds more than %(most)s files of data.") % {"most": MOST_FILES})
    if not files:
        raise SourceProblem(_("The archive holds no JSON, CSV, XML, YAML or Parquet file."))
    return files


def whole_files(files: Sequence[ForeignFile], *, heads: bool = False) -> tuple[list[ForeignFile], list[ForeignProblem]]:
    """The files that can be read to their end, and a problem for each other. `heads`: only their beginnings are tried.

    Raises SourceProblem if none can be read.
    """
    whole: list[ForeignFile] = []
    problems: list[ForeignProblem] = []
    for file in files:
        try:
            if not heads:
                with file.open() as stream:
                    while stream.read(BLOCK):
                        pass
            assert isinstance(file.head, bytes)
        except SourceProblem as problem:
            problems.append(ForeignProblem(file.name, 0, "damaged", str(problem)))
        else:
            whole.append(file)
    if not whole:
        raise SourceProblem(problems[0].message)
    return whole, problems


def with_pulse(file: ForeignFile, pulse: Callable[[], None]) -> ForeignFile:
    """The file; `pulse` is called whenever a block of it is read."""
    return replace(file, open=lambda: io.BufferedReader(_PulsedStream(file.open(), pulse)))


def _members(name: str, opener: Opener, most_bytes: int) -> list[ForeignFile]:
    with closing(opener()) as stream:
        archive = Archive(stream, most_bytes)
        names = [member for member in archive.names() if member.lower().endswith(ENDINGS)]
        for member in names:
            try:
                archive.open(member).close()
            except RowProblem as problem:
                raise SourceProblem(f"{name}, {member}: {problem.message}") from problem
            except DAMAGED:
                continue  # `whole_files` reports it, and the others are read
    return [ForeignFile(member, _member_opener(opener, member, most_bytes)) for member in names]


def _member_opener(opener: Opener, member: str, most_bytes: int) -> Opener:
    def open_member() -> BinaryIO:
        outer = opener()
        try:
            return io.BufferedReader(_MemberStream(Archive(outer, most_bytes).open(member), outer, member))
        except RowProblem as problem:
            raise SourceProblem(problem.message) from problem
        except DAMAGED as error:
            raise _damaged(member) from error

    return open_member


class _MemberStream(io.RawIOBase):
    """A member that says what is wrong with the archive, and closes it with itself."""

    def __init__(self, inner: BinaryIO, outer: BinaryIO, name: str) -> None:
        self._inner, self._outer, self._name = inner, outer, name

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._guarded(lambda: self._inner.seek(offset, whence))

    def readinto(self, buffer: Any) -> int:
        block = self._guarded(lambda: self._inner.read(len(buffer)))
        buffer[: len(block)] = block
        return len(block)

    def _guarded(self, act: Callable[[], Result]) -> Result:
        try:
            return act()
        except DAMAGED as error:
            raise _damaged(self._name) from error

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
            self._outer.close()
        super().close()


class _PulsedStream(io.RawIOBase):
    def __init__(self, inner: BinaryIO, pulse: Callable[[], None]) -> None:
        self._inner, self._pulse = inner, pulse

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._inner.seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        self._pulse()
        block = self._inner.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
        super().close()


def _damaged(name: str) -> SourceProblem:
    return SourceProblem(_("The archive is damaged at “%(name)s”. Pack it again.") % {"name": name})
