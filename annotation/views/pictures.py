"""Bringing a picture for the sheet in hand: by script with a preview, without one with the rest of the sheet."""

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.access import assignment_for
from annotation.models import Assignment
from annotation.services.answers import drafts, uploads
from annotation.services.answers.submit import AlreadyAnswered, AssignmentStateError
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.images.image_urls import image_url
from benchmarks.models import Image
from jobs.formats.numbers import parse_int
from people.views.request_helpers import current_user

PREVIEW = 480


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def upload_picture(request: HttpRequest, assignment_id: int) -> HttpResponse:
    """POST one picture, as `file` or as `url`; GET those that were brought for this sheet."""
    assignment = assignment_for(current_user(request), assignment_id)
    if request.method != "POST":
        return JsonResponse({"pictures": [picture_json(upload.image) for upload in uploads.uploads_of(assignment)]})
    try:
        image = posted_picture(request, assignment, "file", "url", timezone.now())
    except uploads.UploadRefused as refused:
        return JsonResponse({"code": refused.code, "words": refused.message}, status=422)
    return JsonResponse(picture_json(image))


def picture_json(image: Image) -> dict[str, Any]:
    return {"sha": image.sha256, "width": image.width, "height": image.height, "preview": image_url(image, PREVIEW)}


def posted_picture(request: HttpRequest, assignment: Assignment, file: str, url: str, at: datetime) -> Image:
    """The picture in this request, under these names. Raises UploadRefused."""
    content = request.FILES.get(file)
    if content is not None:
        return uploads.store_upload(assignment, content, content.name or "", at)
    if request.POST.get(url, "").strip():
        return uploads.fetch_upload(assignment, request.POST[url], at)
    raise uploads.UploadRefused("nothing", _("Choose a file, or give the address of a picture."))


def upload_with_sheet(request: HttpRequest, assignment: Assignment, at: datetime) -> None:
    """Without a script: keep the whole sheet as a draft, with the picture in its field; say why it did not come."""
    sheet = sheet_of(assignment.campaign.sheet_version)
    raw = sheet.read_form(request.POST)
    asked = next(
        (field for field in sheet.fields if field.spec.takes_uploads and field.key == request.POST["bring"]), None
    )
    words = ""
    if asked is not None:
        try:
            image = posted_picture(request, assignment, f"u-{asked.key}", f"l-{asked.key}", at)
            kind = "file" if f"u-{asked.key}" in request.FILES else "url"
            raw[asked.key] = asked.spec.with_upload(raw.get(asked.key), image.sha256, kind)
        except uploads.UploadRefused as refused:
            words = refused.message
    version = parse_int(request.POST.get("draft_version"))
    try:
        drafts.save(assignment.pk, assignment.rater, raw, version, at)
    except drafts.DraftTooLong:
        words = words or _("This is too long to be kept as a draft. Make it shorter.")
    except (drafts.DraftConflict, AlreadyAnswered, AssignmentStateError):
        words = words or _("This item was changed in another window.")
    if words:
        messages.info(request, words)
