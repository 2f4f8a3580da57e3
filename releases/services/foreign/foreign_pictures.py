"""Pictures of another tool's items: found among what came along or the team has, else fetched from their address."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from urllib.parse import parse_qs, unquote, urlsplit

from django.conf import settings

from benchmarks.imports.archive import normalise_path
from benchmarks.imports.sources import Files, ambiguous_file_problem, missing_file_problem
from benchmarks.imports.web_addresses import is_web_address
from benchmarks.models import Image
from benchmarks.services import storage
from benchmarks.services.images import store_image
from benchmarks.services.intake.web_pictures import WebPictures
from people.models import Team
from releases.foreign.values import stem

UPLOAD_PREFIX = re.compile(r"^[0-9a-f]{8}-")
SHA = re.compile(r"[0-9a-f]{64}")


class PictureFinder:
    """By the tool's path, then the base name, then that without the prefix of an upload, then the sha256."""

    def __init__(self, team: Team, sources: Sequence[Files], web: WebPictures) -> None:
        self._team, self._web = team, web
        self._by_path: dict[str, tuple[Files, str]] = {}
        self._by_base: dict[str, set[str]] = defaultdict(set)
        for source in sources:
            for name in source.names():
                path = stem(name)
                self._by_path.setdefault(path, (source, name))
                self._by_base[path.rpartition("/")[2]].add(path)

    def load(self, picture: str, content: bytes | None) -> tuple[str, Image]:
        """The name that it is kept under, and the stored picture. `content`: its bytes, where the record has them.

        Raises RowProblem and ImageRefused.
        """
        name, data = (picture, content) if content else self._read(picture)
        if data is None:
            return picture, self._web.load(picture)
        image, _created = store_image(self._team, data, name=name)
        return name, image

    def _read(self, picture: str) -> tuple[str, bytes | None]:
        """Its name and its bytes; no bytes where it has to be fetched. Raises RowProblem."""
        path = _path_of(picture)
        name = self._find(path)
        if name:
            source, own_name = self._by_path[name]
            return name, source.read(own_name, settings.IMAGE_MAX_BYTES)
        if stored := self._stored(path):
            return path, stored
        if is_web_address(picture):
            return picture, None
        raise missing_file_problem(path, None)

    def _find(self, path: str) -> str:
        """Raises RowProblem where two pictures fit equally well."""
        if path in self._by_path:
            return path
        base = path.rpartition("/")[2]
        for name in (base, UPLOAD_PREFIX.sub("", base)):
            fitting = self._by_base.get(name, set())
            if len(fitting) > 1:
                raise ambiguous_file_problem(name, fitting)
            if fitting:
                return next(iter(fitting))
        return ""

    def _stored(self, path: str) -> bytes | None:
        match = SHA.search(path.rpartition("/")[2])
        image = Image.objects.filter(team=self._team, sha256=match.group()).first() if match else None
        if image is None:
            return None
        try:
            with storage.open_binary(image.original_name) as file:
                return file.read(settings.IMAGE_MAX_BYTES + 1)
        except FileNotFoundError:
            return None


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
