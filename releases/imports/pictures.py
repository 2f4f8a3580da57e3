"""Pictures of a release into the storage: known by the checksum of the bytes that came, whatever the release says."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Protocol

from django.conf import settings
from django.utils.translation import gettext as _

from benchmarks.images.pictures import FORMATS
from benchmarks.imports.problems import RowProblem, SourceProblem
from benchmarks.models import Image
from benchmarks.services.images import ImageRefused, store_image
from people.models import Team
from releases.imports.manifest import SHA


class PictureSource(Protocol):
    """Files of pictures by their paths."""

    def __contains__(self, name: str) -> bool: ...

    def read(self, name: str, most: int) -> bytes:
        """At most `most` + 1 bytes. Raises RowProblem."""


class ReleasedPictures:
    """The files of pictures by the checksum that the release names them by."""

    def __init__(self, archives: Sequence[PictureSource], listed: Iterable[bytes]) -> None:
        self._archives = archives
        self._by_sha: dict[str, str] = {}
        for line in listed:
            try:
                row = json.loads(line)
                self._by_sha[str(row["source_sha256"])] = str(row["file"])
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                text = _("The file “%(path)s” is damaged. Download the release again.")
                raise SourceProblem(text % {"path": "site/picture_files.jsonl"}) from error

    def read(self, sha: str) -> bytes | None:
        """None where the release has no such file. Raises RowProblem."""
        name = self._by_sha.get(sha, "")
        archive = next((archive for archive in self._archives if name in archive), None)
        return archive.read(name, settings.IMAGE_MAX_BYTES) if archive is not None else None


def store_picture(team: Team, files: ReleasedPictures, stated: Image) -> Image:
    """The team's picture: the one it has, the file of the release, or a row without a file. Raises RowProblem.

    A row without a file gets a checksum that no file has: whoever names the checksum of another team's picture in a
    release must not get to see it.
    """
    if not SHA.fullmatch(stated.sha256):
        raise RowProblem("wrong_value", _("The checksum of the picture is none."))
    known = Image.objects.filter(team=team, sha256=stated.sha256).first()
    if known is not None:
        return known
    data = files.read(stated.sha256)
    if data is not None:
        try:
            return store_image(team, data, name=stated.sha256[:12])[0]
        except ImageRefused as problem:
            raise RowProblem(problem.code, problem.message) from problem
    return _without_file(team, stated)


def _without_file(team: Team, stated: Image) -> Image:
    if stated.format.upper() not in FORMATS or stated.width < 1 or stated.height < 1:
        raise RowProblem("wrong_value", _("The picture has no size, or a format that is not known."))
    sha = hashlib.sha256(f"no file:{team.pk}:{stated.sha256}".encode()).hexdigest()
    size = {"format": stated.format, "width": stated.width, "height": stated.height, "bytes": 0}
    return Image.objects.get_or_create(team=team, sha256=sha, defaults=size | {"orientation": stated.orientation})[0]
