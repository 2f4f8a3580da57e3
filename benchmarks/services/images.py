"""Taking a picture in: checked by content, kept as it came, known by its sha256."""

import hashlib
import json
from collections.abc import Iterator
from typing import BinaryIO

from django.conf import settings
from django.core.files.storage import default_storage
from django.utils.translation import gettext as _

from benchmarks.images import pictures
from benchmarks.imports.archive import normalise_path
from benchmarks.imports.problems import SourceProblem
from benchmarks.imports.sources import missing_file_problem
from benchmarks.models import Image
from benchmarks.models.images import UNREADABLE
from benchmarks.services import storage
from people.models import Team


class ImageRefused(Exception):
    """`code` is for machines, `message` says to a person what is wrong and what to do."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def store_image(team: Team, content: BinaryIO | bytes, *, name: str) -> tuple[Image, bool]:
    """Keep a picture for a team; the same bytes twice are one picture, whose file comes back if it was lost. Raises
    ImageRefused.

    `name` is only for messages and never decides anything.
    """
    data = _read_bounded(content)
    sha = hashlib.sha256(data).hexdigest()
    known = Image.objects.filter(team=team, sha256=sha).first()
    if known:
        _bring_back(known, data)
        return known, False
    try:
        info = pictures.inspect(data, settings.IMAGE_MAX_PIXELS)
    except pictures.NotAPicture as problem:
        raise ImageRefused(problem.code, _sentence(problem, name)) from problem
    fresh = Image(
        team=team,
        sha256=sha,
        format=info.format,
        bytes=len(data),
        width=info.width,
        height=info.height,
        orientation=info.orientation,
    )
    storage.store(fresh.original_name, data)
    facts = {key: getattr(fresh, key) for key in ("format", "bytes", "width", "height", "orientation")}
    return Image.objects.get_or_create(team=team, sha256=sha, defaults=facts)


def _bring_back(image: Image, data: bytes) -> None:
    """Store the file of a known picture where it is no longer there, after a damage to the disk for example."""
    if default_storage.exists(image.original_name):
        return
    storage.store(image.original_name, data)
    Image.objects.filter(pk=image.pk, perceptual_hash=UNREADABLE).update(perceptual_hash="")


def _read_bounded(content: BinaryIO | bytes) -> bytes:
    most: int = settings.IMAGE_MAX_BYTES
    data = content if isinstance(content, bytes) else content.read(most + 1)
    if not data:
        raise ImageRefused("empty", _("The file is empty. Add the picture again."))
    if len(data) > most:
        text = _("The file is larger than %(most)s MB. Export the picture smaller.")
        raise ImageRefused("too_large", text % {"most": most // 1024**2})
    return data


def _sentence(problem: pictures.NotAPicture, name: str) -> str:
    counts = {"has": problem.pixels // 1_000_000, "most": problem.most // 1_000_000}
    return {
        "too_many_pixels": _(
            "The picture has %(has)s million pixels. The maximum is %(most)s million. Use a smaller picture."
        )
        % counts,
        "markup": _("This is an SVG or a web page, not a photo file. Save it as PNG or JPEG."),
        "text": _("“%(name)s” holds text, not a picture. Put the picture itself there.") % {"name": name},
        "unknown": _("This is not a JPEG, PNG, WebP, GIF or AVIF. Save the picture in one of these formats."),
        "damaged": _("The picture is damaged or ends early. Copy or export it again."),
    }[problem.code]


class TeamPictures:
    """Pictures that a team has already, by the paths that rows name: a JSON object, path to SHA-256."""

    MOST_BYTES = 64 * 1024**2

    def __init__(self, team: Team, listed: BinaryIO) -> None:
        self._team = team
        try:
            data = json.loads(listed.read(self.MOST_BYTES))
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict) or not all(isinstance(sha, str) for sha in data.values()):
            raise SourceProblem(_("The list of pictures is not a JSON object from path to SHA-256."))
        self._by_path = {normalise_path(str(path)): sha for path, sha in data.items()}

    def names(self) -> Iterator[str]:
        yield from self._by_path

    def read(self, name: str, most: int) -> bytes:
        sha = self._by_path.get(name) or self._by_base_name(name)
        image = Image.objects.filter(team=self._team, sha256=sha).first() if sha else None
        if image is None:
            raise missing_file_problem(name, None)
        try:
            with storage.open_binary(image.original_name) as file:
                return file.read(most + 1)
        except FileNotFoundError as error:
            raise missing_file_problem(name, None) from error

    def _by_base_name(self, name: str) -> str | None:
        """Of a path that names folders which the list does not have."""
        return self._by_path.get(name.rpartition("/")[2])

    def open(self, name: str) -> BinaryIO:
        raise missing_file_problem(name, None)

    def size(self, name: str) -> int:
        raise missing_file_problem(name, None)
