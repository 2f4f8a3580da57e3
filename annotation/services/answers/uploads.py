"""Pictures that a person brings for a sheet: as a file, or by an address that the server asks."""

import hashlib
import io
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.core.files.base import File
from django.db.models import Sum
from django.utils.translation import gettext as _

from annotation.displays.shown_item import upload_info
from annotation.fields.contract import ShownImage
from annotation.models import Assignment, Draft, Upload
from annotation.queries.gate import SHUTS_OUT, check_gate
from annotation.services.sheets.sheet_versions import sheet_of
from annotation.services.transactions import in_transaction
from benchmarks.images import pictures
from benchmarks.models import Image
from benchmarks.services import derivatives, safe_fetch
from benchmarks.services.images import ImageRefused, store_image
from benchmarks.services.safe_fetch import FetchRefused, FetchResult
from jobs.models import record
from jobs.queries.statements import fetch

UNANSWERED = (Assignment.State.RESERVED, Assignment.State.RELEASED, Assignment.State.SKIPPED)
MOST_PICTURES = 12
MOST_BYTES = 120 * 1024 * 1024
MOST_FETCHES, MOST_ASKED = 20, 60  # in an hour: for one sheet, by one person
HOUR = 3600
Fetch = Callable[[str, int], FetchResult]


class UploadRefused(Exception):
    """`message` says to a person what is wrong and what to do."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code)
        self.code, self.message = code, message


def takes_pictures(assignment: Assignment) -> bool:
    return any(field.spec.takes_uploads for field in sheet_of(assignment.campaign.sheet_version).fields)


def uploads_of(assignment: Assignment) -> list[Upload]:
    """The pictures brought for it, the newest last; asked for only where the sheet has a use for them."""
    if not takes_pictures(assignment):
        return []
    return list(Upload.objects.filter(assignment=assignment).select_related("image").order_by("pk"))


def uploads_for_sheet(assignment: Assignment) -> list[ShownImage]:
    """As its sheet sees them, with how they came: no page decides that."""
    return [upload_info(upload.image, "url" if upload.fetched_from else "file") for upload in uploads_of(assignment)]


def store_upload(assignment: Assignment, content: "File[Any]", name: str, at: datetime) -> Image:
    """Keep a file. Raises UploadRefused."""
    _check_allowed(assignment, at)
    return _store_upload(assignment, content.read(settings.UPLOAD_MAX_BYTES + 1), name, "", at)


def fetch_upload(assignment: Assignment, url: str, at: datetime, ask: Fetch | None = None) -> Image:
    """Fetch a picture and keep it. Raises UploadRefused."""
    _check_allowed(assignment, at)
    _check_rate(assignment)
    try:
        result = (ask or _ask)(url.strip(), settings.UPLOAD_MAX_BYTES)
    except FetchRefused as refused:
        raise UploadRefused(refused.code, refused.message) from refused
    return _store_upload(assignment, result.data, result.url.rpartition("/")[2] or result.url, result.url, at)


def _ask(url: str, most: int) -> FetchResult:
    return safe_fetch.fetch(url, most_bytes=most)


def _check_allowed(assignment: Assignment, at: datetime) -> None:
    """Before anything is read or fetched: whether this sheet may still be filled, and by this person."""
    assert assignment.participation is not None
    if not takes_pictures(assignment):
        raise UploadRefused("no_picture_asked", _("This sheet does not ask for a picture."))
    answered = assignment.state not in UNANSWERED and not Draft.objects.filter(assignment=assignment).exists()
    refused = check_gate(assignment.participation.cohort_id, assignment.rater_id, at).refused
    if answered or refused in SHUTS_OUT:
        raise UploadRefused("closed", _("This sheet does not accept a picture now. Reload the page."))
    _check_count(assignment, 0)


def _check_rate(assignment: Assignment) -> None:
    """Whatever comes of it, every fetch holds up a server of ours, and asks one of somebody else."""
    for key, most in ((f"fetches:sheet:{assignment.pk}", MOST_FETCHES), (f"fetches:{assignment.rater_id}", MOST_ASKED)):
        cache.add(key, 0, HOUR)
        if cache.incr(key) > most:
            text = _("Too many addresses were tried. Download the picture and upload it here, or try again in an hour.")
            raise UploadRefused("too_often", text)


def _check_count(assignment: Assignment, more: int) -> None:
    rows = Upload.objects.filter(assignment=assignment)
    taken = rows.aggregate(bytes=Sum("image__bytes"))["bytes"] or 0
    if rows.count() >= MOST_PICTURES or taken + more > MOST_BYTES:
        text = _("%(most)s pictures have already been uploaded for this item. Use one of them, or skip.")
        raise UploadRefused("enough", text % {"most": rows.count()})


def _store_upload(assignment: Assignment, data: bytes, name: str, url: str, at: datetime) -> Image:
    if len(data) > settings.UPLOAD_MAX_BYTES:
        text = _("The file is larger than %(most)s MB. Use a smaller one.")
        raise UploadRefused("too_large", text % {"most": settings.UPLOAD_MAX_BYTES // 1024**2})
    known = Image.objects.filter(uploads__assignment=assignment, sha256=hashlib.sha256(data).hexdigest()).first()
    if known is not None:
        return known
    _check_count(assignment, len(data))
    try:
        with derivatives.ROOM.reserve(_memory(data)):
            image, _made = store_image(assignment.campaign.stage.benchmark.team, data, name=name[-80:])
    except ImageRefused as refused:
        raise UploadRefused(refused.code, refused.message) from refused
    _add_upload(assignment, image, url, at)
    return image


def _memory(data: bytes) -> int:
    try:
        return pictures.decode_memory(io.BytesIO(data), settings.IMAGE_MAX_PIXELS)
    except pictures.NotAPicture:
        return 0  # it is refused before it is decoded


@in_transaction
def _add_upload(assignment: Assignment, image: Image, url: str, at: datetime) -> None:
    """The same picture again is no second one. Two at once: the lock lets them count one after the other."""
    fetch("SELECT id FROM annotation_assignment WHERE id = %s FOR NO KEY UPDATE", [assignment.pk])
    if Upload.objects.filter(assignment=assignment, image=image).exists():
        return
    _check_count(assignment, image.bytes)
    upload = Upload.objects.create(assignment=assignment, image=image, fetched_from=url[:2000], at=at)
    scope = assignment.campaign.stage.benchmark.scope
    record(
        assignment.rater.user, "picture.brought", scope=scope, target=f"assignment:{assignment.pk}", upload=upload.pk
    )
