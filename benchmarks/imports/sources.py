"""Where rows and pictures come from: an archive or a folder, with or without a manifest."""

import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from django.utils.translation import gettext as _

from benchmarks.imports import manifest
from benchmarks.imports.archive import NESTED, Archive, normalise_path
from benchmarks.imports.problems import RowProblem, SourceProblem
from benchmarks.imports.records import Defaults, Row, from_manifest, from_path
from benchmarks.imports.tables.mapping import MappedTable
from benchmarks.imports.vocabulary import Vocabulary

# Without a manifest only these become rows; the sounds and notes that lie beside pictures are passed over and counted.
# What they really are is decided by content.
LOOKED_AT = {
    "", "jpg", "jpeg", "jpe", "jfif", "png", "webp", "gif", "avif", "heic", "heif", "bmp", "tif", "tiff", "jxl", "svg",
    *(ending.lstrip(".") for ending in NESTED),
}  # fmt: skip
MANIFESTS = ("manifest.csv", "manifest.jsonl", "manifest.ndjson", "manifest.tsv")


class Files(Protocol):
    """Pictures by path. Reading raises RowProblem and says what to do."""

    def names(self) -> Iterator[str]: ...
    def read(self, name: str, most: int) -> bytes: ...
    def open(self, name: str) -> BinaryIO: ...
    def size(self, name: str) -> int: ...


class ZipFiles:
    def __init__(self, file: BinaryIO, most_bytes: int) -> None:
        self._archive = Archive(file, most_bytes)

    def names(self) -> Iterator[str]:
        return self._archive.names()

    def open(self, name: str) -> BinaryIO:
        return self._archive.open(name)

    def size(self, name: str) -> int:
        return self._archive.size(name)

    def read(self, name: str, most: int) -> bytes:
        """A name without its folders is enough, where it is the only one. Raises RowProblem."""
        if name not in self._archive:
            fitting = self._archive.names_in_folders(name)
            if len(fitting) > 1:
                raise ambiguous_file_problem(name, fitting)
            if not fitting:
                raise missing_file_problem(name, self._archive.similar_names(name))
            name = fitting[0]
        return self._archive.read(name, most)


class FolderFiles:
    """A folder on the server: only ever named on the command line, never from a page."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        if not self._root.is_dir():
            raise SourceProblem(_("There is no folder %(path)s.") % {"path": root})

    def names(self) -> Iterator[str]:
        for folder, folders, files in os.walk(self._root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(files):
                if not name.startswith(".") and name != "Thumbs.db":
                    yield Path(folder, name).relative_to(self._root).as_posix()

    def open(self, name: str) -> BinaryIO:
        return self._path_inside(name).open("rb")

    def size(self, name: str) -> int:
        return self._path_inside(name).stat().st_size

    def read(self, name: str, most: int) -> bytes:
        try:
            with self._path_inside(name).open("rb") as file:
                return file.read(most + 1)
        except FileNotFoundError as error:
            raise missing_file_problem(name, None) from error
        except OSError as error:
            raise RowProblem("unreadable", _("The file cannot be read. Look at its permissions.")) from error

    def _path_inside(self, name: str) -> Path:
        path = (self._root / name).resolve()
        if not path.is_relative_to(self._root):
            raise RowProblem("unsafe_path", _("The path leads out of its folder. Use a path inside it."))
        return path


class NoFiles:
    """A manifest alone, for items without pictures."""

    def names(self) -> Iterator[str]:
        yield from ()

    def read(self, name: str, most: int) -> bytes:
        raise missing_file_problem(name, None)

    def open(self, name: str) -> BinaryIO:
        raise missing_file_problem(name, None)

    def size(self, name: str) -> int:
        raise missing_file_problem(name, None)


class Source:
    """Rows in a fixed order, so that a count of them is a place to go on from. `table`: how `separate` is read, where
    it has columns of its own."""

    def __init__(
        self,
        files: Files,
        words: Vocabulary,
        defaults: Defaults,
        separate: BinaryIO | None = None,
        pulse: Callable[[], None] = manifest.no_progress,
        table: MappedTable | None = None,
    ) -> None:
        self._files = files
        self._words = words
        self._defaults = defaults
        self._separate = separate
        self._pulse = pulse
        self._table = table
        self._inner = None if separate else self._find_manifest()
        self._base = self._inner.rpartition("/")[0] if self._inner else ""

    def count(self) -> int:
        return sum(1 for _row in self._iter_rows())

    def skipped_files(self) -> int:
        """Files that become no row, where no manifest says which should."""
        listed = bool(self._separate or self._inner)
        return 0 if listed else sum(not _is_looked_at(name) for name in self._files.names())

    def rows(self, skip: int = 0) -> Iterator[Row]:
        for index, row in enumerate(self._all()):
            if index >= skip:
                yield row

    def read(self, file: str, most: int) -> bytes:
        """A manifest inside an archive speaks of files beside it."""
        return self._files.read(f"{self._base}/{file}" if self._base else file, most)

    def _all(self) -> Iterator[Row]:
        listed = bool(self._separate or self._inner)
        for number, entry in self._iter_rows():
            if listed:
                yield from_manifest(number, entry, self._words, self._defaults)
            else:
                yield from_path(number, entry, self._words, self._defaults)

    def _iter_rows(self) -> Iterator[tuple[int, Any]]:
        """Numbers with manifest rows, or with paths."""
        if not (self._separate or self._inner):
            yield from enumerate(filter(_is_looked_at, self._files.names()), start=1)
            return
        try:
            with self._manifest() as file:
                if self._table:
                    yield from self._table.item_rows(file, self._pulse)
                else:
                    yield from manifest.read_rows(file, self._pulse)
        except RowProblem as problem:
            raise SourceProblem(problem.message) from problem
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, struct.error) as error:
            raise SourceProblem(_("The manifest is damaged inside the archive. Pack it again.")) from error

    def _manifest(self) -> AbstractContextManager[BinaryIO]:
        if self._separate:
            self._separate.seek(0)
            return nullcontext(self._separate)
        assert self._inner
        if self._files.size(self._inner) > manifest.MOST_BYTES:
            text = _("The manifest is larger than %(most)s MB. Split it into several.")
            raise SourceProblem(text % {"most": manifest.MOST_BYTES // 1024**2})
        return closing(self._files.open(self._inner))

    def _find_manifest(self) -> str | None:
        """At the top, or in the one folder that holds everything."""
        candidates = [
            name for name in self._files.names() if name.count("/") <= 1 and name.rpartition("/")[2] in MANIFESTS
        ]
        return min(candidates, key=lambda name: (name.count("/"), name), default=None)


def _is_looked_at(name: str) -> bool:
    base = name.rpartition("/")[2]
    return (base.rpartition(".")[2].lower() if "." in base else "") in LOOKED_AT


def ambiguous_file_problem(name: str, fitting: Iterable[str]) -> RowProblem:
    text = _("Several pictures are called “%(name)s”: %(paths)s. Rename them, or keep one.")
    return RowProblem("ambiguous_picture", text % {"name": name, "paths": ", ".join(sorted(fitting)[:3])})


def missing_file_problem(name: str, near: str | None) -> RowProblem:
    if near and normalise_path(near) != name:
        text = _("There is no file “%(name)s”. Perhaps “%(near)s” was meant.")
        return RowProblem("missing", text % {"name": name, "near": near})
    return RowProblem("missing", _("There is no file “%(name)s”. Add it, or correct the row.") % {"name": name})
