"""The archive of a release: found, verified against its manifest, and read. Nothing is unpacked but images.zip."""

import hashlib
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import BinaryIO

from django.conf import settings
from django.utils.translation import gettext as _

from benchmarks.imports.archive import Archive
from benchmarks.imports.problems import RowProblem, SourceProblem
from releases.imports.embedded import EmbeddedPictures
from releases.imports.manifest import MOST_BYTES, Manifest, ManifestFile, read_manifest

MANIFEST, SUMS = "MANIFEST.json", "SHA256SUMS"
NESTED = tuple(f"images{number}.zip" for number in ("", *(f"-{n}" for n in range(2, 1000))))
"""Archives of pictures in a release; no other archive inside an archive is opened."""
PictureArchive = Archive | EmbeddedPictures
LONGEST_LINE = 16 * 1024**2
_BLOCK = 256 * 1024
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, struct.error)


class ReleaseZip:
    """Files of a release by their path in it. Raises SourceProblem for an archive that is none."""

    def __init__(self, file: BinaryIO) -> None:
        self._archive = Archive(file, settings.IMPORT_MAX_BYTES, nested=NESTED)
        names = [name for name in self._archive.names() if name.rpartition("/")[2] == MANIFEST and name.count("/") <= 1]
        if len(names) != 1:
            text = _("This is not a release of Emic: it has no file MANIFEST.json. Choose the zip file of a release.")
            raise SourceProblem(text)
        self._folder = names[0].removesuffix(MANIFEST)
        self.manifest: Manifest = read_manifest(self._read(MANIFEST, MOST_BYTES))

    def verify(self, file: ManifestFile, beat: Callable[[], None]) -> None:
        """Raises SourceProblem, which names the file, if it is not as the manifest says."""
        sha, size = hashlib.sha256(), 0
        for block in self._blocks(file.path, beat):
            sha.update(block)
            size += len(block)
        if size != file.bytes or sha.hexdigest() != file.sha256:
            text = _(
                "The file “%(path)s” is not as it was published. Nothing was imported. Download the release again."
            )
            raise SourceProblem(text % {"path": file.path})

    def check_names(self) -> None:
        """Every file of the manifest is there, and no other. Raises SourceProblem."""
        listed = {file.path for file in self.manifest.files} | {MANIFEST, SUMS}
        names = {name.removeprefix(self._folder) for name in self._archive.names()}
        if missing := sorted(listed - names - {SUMS}):
            text = _("The file “%(path)s” is missing. Nothing was imported. Download the release again.")
            raise SourceProblem(text % {"path": missing[0]})
        if unknown := sorted(names - listed):
            text = _("The file “%(path)s” is not in the manifest of the release. Nothing was imported.")
            raise SourceProblem(text % {"path": unknown[0][:200]})

    def check_manifest(self) -> None:
        """The manifest is the one whose checksum is beside it. Raises SourceProblem."""
        if f"{self._folder}{SUMS}" not in self._archive:
            return
        sums = self._read(SUMS, MOST_BYTES).decode(errors="replace").splitlines()
        stated = [line.partition("  ")[0] for line in sums if line.partition("  ")[2] == MANIFEST]
        if stated and stated[0] != self.manifest_sha256:
            text = _(
                "The file “%(path)s” is not as it was published. Nothing was imported. Download the release again."
            )
            raise SourceProblem(text % {"path": MANIFEST})

    @property
    def manifest_sha256(self) -> str:
        return hashlib.sha256(self._read(MANIFEST, MOST_BYTES)).hexdigest()

    def lines(self, kind: str, skip: int) -> Iterator[bytes]:
        """Rows of a kind after the first `skip`, as the file has them. Raises SourceProblem."""
        path = f"site/{kind}.jsonl"
        if f"{self._folder}{path}" not in self._archive:
            return
        number = 0
        with self._opened(path) as stream:
            while line := _line(stream, path):
                number += 1
                if number > skip:
                    yield line

    @contextmanager
    def pictures(self, beat: Callable[[], None]) -> Iterator[list[PictureArchive]]:
        """The archives of pictures, or the Parquet files that hold them, each copied to a file of its own: they are
        read in any order."""
        with ExitStack() as stack:
            archives: list[PictureArchive] = []
            for file in self.manifest.files:
                if file.path in NESTED:
                    copy = stack.enter_context(tempfile.TemporaryFile())
                    self._copy(file.path, copy, beat)
                    archives.append(Archive(copy, settings.IMPORT_MAX_BYTES))
            items: list[tuple[str, BinaryIO]] = []
            for path in self.manifest.files_with_pictures:
                copy = stack.enter_context(tempfile.TemporaryFile())
                self._copy("/".join(path), copy, beat)
                items.append((path[1], copy))
            yield [*archives, *([EmbeddedPictures(items)] if items else [])]

    def _copy(self, path: str, copy: BinaryIO, beat: Callable[[], None]) -> None:
        for block in self._blocks(path, beat):
            copy.write(block)
        copy.seek(0)

    def _read(self, path: str, most: int) -> bytes:
        try:
            data = self._archive.read(f"{self._folder}{path}", most)
        except RowProblem as problem:
            raise SourceProblem(f"{path}: {problem.message}") from problem
        if len(data) > most:
            raise _damaged(path)
        return data

    def _blocks(self, path: str, beat: Callable[[], None]) -> Iterator[bytes]:
        with self._opened(path) as stream:
            while True:
                beat()
                try:
                    block = stream.read(_BLOCK)
                except DAMAGED as error:
                    raise _damaged(path) from error
                if not block:
                    return
                yield block

    @contextmanager
    def _opened(self, path: str) -> Iterator[BinaryIO]:
        try:
            stream = self._archive.open(f"{self._folder}{path}")
        except RowProblem as problem:
            raise SourceProblem(f"{path}: {problem.message}") from problem
        except DAMAGED as error:
            raise _damaged(path) from error
        with stream:
            yield stream


def _line(stream: BinaryIO, path: str) -> bytes:
    try:
        line = stream.readline(LONGEST_LINE + 1)
    except DAMAGED as error:
        raise _damaged(path) from error
    if len(line) > LONGEST_LINE:
        text = _("The file “%(path)s” has a row of more than %(most)s MB. It is not read.")
        raise SourceProblem(text % {"path": path, "most": LONGEST_LINE // 1024**2})
    return line


def _damaged(path: str) -> SourceProblem:
    return SourceProblem(_("The file “%(path)s” is damaged. Download the release again.") % {"path": path})
