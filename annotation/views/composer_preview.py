"""The sheet as an annotator would have it, made of what stands in the composer's form. Nothing is written."""

from typing import Any

from csp.decorators import csp_replace
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_http_methods

from annotation.composer.actions import fill_keys
from annotation.composer.form_parser import parse_form as content_posted
from annotation.composer.paths import get_value
from annotation.composer.validation import readable_sheet
from annotation.displays import DISPLAYS, Display
from annotation.displays.contract import required
from annotation.models import Assignment, Campaign, CampaignCohort, Draft, Participation, SheetVersion, Unit
from annotation.pages import sheet_view
from annotation.services.queue.next_work import Work
from annotation.services.sheets import stages as services
from annotation.sheets.sheet import localise
from annotation.views.composer import get_stage
from benchmarks.images.image_urls import PLACEHOLDER
from benchmarks.models import Image, Item, ItemImage, Stage
from benchmarks.rules.derivations.pair import NOTHING
from benchmarks.rules.displays import TEXT_ON_SHEET
from jobs.formats.numbers import parse_int
from people.models import Cohort, Rater, User
from people.views.request_helpers import current_user


@login_required
@never_cache
@xframe_options_sameorigin
@csp_replace({"frame-ancestors": ["'self'"]})  # type: ignore[arg-type]
@require_http_methods(["GET", "HEAD", "POST"])
def preview(request: HttpRequest, slug: str, stage_id: int) -> HttpResponse:
    """GET shows the draft, or a version; POST what is in the form now, unsaved, in the language asked for."""
    stage = get_stage(request, slug, stage_id)
    if request.method == "POST":
        content = fill_keys(content_posted(request.POST))
    elif "number" in request.GET:
        content = get_object_or_404(stage.versions, number=parse_int(request.GET["number"])).content
    else:
        draft = services.draft_of(stage)
        content = draft.content if draft else services.content_of(stage)
    spoken = request.POST.get("preview_language", "")
    known = spoken if translation.check_for_language(spoken) else "en"
    with translation.override(known if request.method == "POST" else translation.get_language()):
        return render(request, *_render(stage, content, current_user(request)))


def _render(stage: Stage, content: dict[str, Any], user: User) -> tuple[str, dict[str, Any]]:
    sheet = readable_sheet(content)
    if sheet is None:
        return "annotation/composer/nothing.html", {}
    at, shown = timezone.now(), _unsaved_stage(stage, content)
    version = SheetVersion(pk=0, stage=shown, major=0, minor=0, definition=sheet.to_json())
    campaign = Campaign(pk=0, stage=shown, name=shown.name, sheet_version=version, state=Campaign.State.OPEN)
    place = CampaignCohort(pk=0, campaign=campaign, cohort=_cohort(stage), target_answers=1)
    rater = Rater(user=user)
    unit = Unit(pk=0, item=_item(shown), target=place.cohort.label)
    assignment = Assignment(
        pk=0, campaign=campaign, unit=unit, rater=rater, reserved_at=at, changed_at=at,
        participation=Participation(cohort=place, rater=rater, last_seen_at=at),
    )  # fmt: skip
    assignment.draft = Draft(answers={}, version=0)  # drawn anew: kept drawings are told apart by saved versions
    work_page = sheet_view.build_work_page(user, place, Work(assignment, None, None), at)
    words = localise(content.get("instructions") or {}, sheet_view.language(), place.cohort.name)
    instructions = sheet_view.Instructions(number=1, body=words, language=sheet_view.language()) if words else None
    return "annotation/composer/preview.html", {
        "work_page": work_page, "instructions": instructions, "reasons": _reasons(place), "asked": "",
    }  # fmt: skip


def _unsaved_stage(stage: Stage, content: dict[str, Any]) -> Stage:
    """The stage with what the form says, where it can be used at all."""
    shown = Stage(pk=stage.pk, benchmark=stage.benchmark, key=stage.key)
    for key in services.COLUMNS:
        setattr(shown, key, content.get(key, getattr(stage, key)))
    if shown.display not in {one.key for one in DISPLAYS}:
        shown.display = DISPLAYS[0].key
    shown.name = str(shown.name or "")[:120]
    return shown


def _reasons(place: CampaignCohort) -> Any:
    rows = place.campaign.stage.skip_reasons
    whole = [row for row in rows if isinstance(row, dict) and row.get("code") and isinstance(row.get("label"), dict)]
    place.campaign.stage.skip_reasons = whole
    return sheet_view.reasons_of(place)


def _cohort(stage: Stage) -> Cohort:
    language = (translation.get_language() or "en").split("-")[0]
    cohorts = list(Cohort.objects.filter(team=stage.benchmark.team_id).order_by("pk"))
    own = (one for one in cohorts if language in one.languages)
    return next(own, None) or (cohorts[0] if cohorts else Cohort(label=_("your culture"), team=stage.benchmark.team))


def _item(stage: Stage) -> Item:
    """The first that was not withdrawn; else a drawn one that has all that the display needs."""
    live = Item.objects.filter(stage_id=stage.pk, withdrawn_at=None).prefetch_related("images__image", "facts")
    has_text = get_value(stage.derivation, "params.text") != NOTHING
    display = next(one for one in DISPLAYS if one.key == stage.display)
    return live.order_by("pk").first() or _example_item(display, stage.pictures, has_text)


def _example_item(how: Display, pictures: str, has_text: bool) -> Item:
    parts = required(how, pictures)
    context: dict[str, Any] = {key: _("An example of “%(name)s”") % {"name": key} for key in parts.context}
    item = Item(
        pk=0,
        key="sample",
        text=_("The item's own text appears here.") if has_text and how.key in TEXT_ON_SHEET else "",
        context=context,
    )
    image = Image(pk=0, sha256=PLACEHOLDER, width=960, height=720, format="svg", bytes=0)
    images = [ItemImage(pk=0, item=item, image=image, role=role, alt=_("An example")) for role in parts.roles]
    item._prefetched_objects_cache = {"images": images, "facts": []}  # type: ignore[attr-defined]
    return item
