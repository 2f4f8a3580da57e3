"""Taking a picture in: checked by content, kept as it came, known by its sha256."""

import hashlib
from typing import BinaryIO

from django.conf import settings
from django.utils.translation import gettext as _

from benchmarks.images import pictures
from benchmarks.models import Image
from benchmarks.services import storage
from people.models import Team


class ImageRefused(Exception):
    """`code` is for machines, `message` says to a person what is wrong and what to do."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def store_image(team: Team, content: BinaryIO | bytes, *, name: str) -> tuple[Image, bool]:
    """Keep a picture for a team; the same bytes twice are one picture. Raises ImageRefused.

    `name` is only for messages and never decides anything.
    """
    data = _read_bounded(content)
    sha = hashlib.sha256(data).hexdigest()
    known = Image.objects.filter(team=team, sha256=sha).first()
    if known:
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
