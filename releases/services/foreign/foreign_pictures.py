"""Pictures of another tool's items: found among what came along or the team has, else fetched from their address."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from urllib.parse import parse_qs, unquote, urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from benchmarks.imports.archive import normalise_path
from benchmarks.imports.problems import RowProblem
from benchmarks.imports.sources import Files, missing_file_problem
from benchmarks.models import Image
from benchmarks.services import safe_fetch, storage
from people.models import Team
from releases.foreign.values import stem

UPLOAD_PREFIX = re.compile(r"^[0-9a-f]{8}-")
SHA = re.compile(r"[0-9a-f]{64}")


class PictureFinder:
    """By the tool's path, then the base name, then that without the prefix of an upload, then the sha256."""

    def __init__(self, team: Team, sources: Sequence[Files]) -> None:
        self._team = team
        self._by_path: dict[str, tuple[Files, str]] = {}
        self._by_base: dict[str, set[str]] = defaultdict(set)
        for source in sources:
            for name in source.names():
                path = stem(name)
                self._by_path.setdefault(path, (source, name))
                self._by_base[path.rpartition("/")[2]].add(path)

    def read(self, picture: str) -> tuple[str, bytes]:
        """The name that it is kept under, and its bytes. Raises RowProblem."""
        path = _path_of(picture)
        name = self._find(path)
        if name:
            source, own_name = self._by_path[name]
            return name, source.read(own_name, settings.IMAGE_MAX_BYTES)
        if stored := self._stored(path):
            return path, stored
        if picture.lower().startswith(("http://", "https://")):
            return path.rpartition("/")[2] or "picture", _fetch(picture)
        raise missing_file_problem(path, None)

    def _find(self, path: str) -> str:
        """Raises RowProblem where two pictures fit equally well."""
        if path in self._by_path:
            return path
        base = path.rpartition("/")[2]
        for name in (base, UPLOAD_PREFIX.sub("", base)):
            fitting = self._by_base.get(name, set())
            if len(fitting) > 1:
                text = _("Several pictures are called “%(name)s”: %(paths)s. Rename them, or keep one.")
                paths = ", ".join(sorted(fitting)[:3])
                raise RowProblem("ambiguous_picture", text % {"name": name, "paths": paths})
            if fitting:
                return next(iter(fitting))
        return ""

    def _stored(self, path: str) -> bytes | None:
        match = SHA.search(path.rpartition("/")[2])
        image = Image.objects.filter(team=self._team, sha256=match.group()).first() if match else None
        if image is None:
            return None
        with storage.open_binary(image.original_name) as file:
            return file.read(settings.IMAGE_MAX_BYTES + 1)


def _path_of(picture: str) -> str:
    """An address or a path as the path of a picture; Label Studio names local files in the query."""
    if "://" in picture or picture.startswith("/data/local-files/"):
        try:
            parts = urlsplit(picture)
        except ValueError:
            return stem(picture)
        local = parse_qs(parts.query).get("d", [""])[0]
        picture = local or unquote(parts.path)
    return stem(unicodedata.normalize("NFC", normalise_path(picture)))


def _fetch(url: str) -> bytes:
    try:
        return safe_fetch.fetch(url, most_bytes=settings.IMAGE_MAX_BYTES).data
    except safe_fetch.FetchRefused as refused:
        raise RowProblem(refused.code, refused.message) from refused
