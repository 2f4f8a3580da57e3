"""Stages and sheets made in the browser. Only for those who work on the benchmark."""

from typing import Any

from csp.decorators import csp_update
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.composer.actions import DROPPED, UnknownAction, apply_action, fill_keys, follow_display
from annotation.composer.culture_settings import follow_culture
from annotation.composer.form_parser import parse_form as content_posted
from annotation.composer.pair_settings import follow_side
from annotation.models import StageVersion
from annotation.pages.composer import conflict_text, stage_form, stage_rows, template_choices, template_content
from annotation.pages.publishing import published_text
from annotation.queries.results_used import results_used
from annotation.services.derivation.outside_items import outside_items
from annotation.services.sheets import sheet_versions
from annotation.services.sheets import stages as services
from annotation.services.sheets.recipe_additions import AdditionsChanged, add_from_recipe
from annotation.services.sheets.stage_warnings import stage_warnings
from annotation.views.answers import is_script_request
from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark, Stage
from benchmarks.pages.tabs import tabs_for
from benchmarks.queries.recipe_additions import recipe_additions
from jobs.formats.numbers import parse_id, parse_int
from people.views.request_helpers import current_user

PLAIN = ("save", "draft", "keep", "publish", "redraw")
SECOND_LANGUAGE = "composer_beside"


def get_stage(request: HttpRequest, slug: str, stage_id: int) -> Stage:
    """A stage of a benchmark that this person works on."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    stage = get_object_or_404(benchmark.stages, pk=stage_id)
    stage.benchmark = benchmark
    return stage


def _context(request: HttpRequest, benchmark: Benchmark, **more: Any) -> dict[str, Any]:
    return {
        "benchmark": benchmark, "nav": tabs_for(request.user, benchmark, "stages"), "who_place": benchmark.name, **more,
    }  # fmt: skip


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def stages(request: HttpRequest, slug: str) -> HttpResponse:
    """The benchmark's stages in order; a new one, blank or like another."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    name, like = request.POST.get("name", "").replace("\x00", "").strip()[:120], request.POST.get("like", "")
    if "remove" in request.POST:
        return _remove(request, benchmark, request.POST["remove"])
    if "additions" in request.POST:
        return _add_from_recipe(request, benchmark, request.POST["additions"])
    if request.method == "POST" and name:
        user = current_user(request)
        made = services.create(benchmark, name, user, template_content(benchmark, like, user))
        return redirect("annotation:compose", slug, made.pk)
    context = _context(
        request,
        benchmark,
        lines=stage_rows(benchmark),
        additions=recipe_additions(benchmark),
        likes=template_choices(benchmark, current_user(request)),
        name=name,
        like=like,
    )
    context["missing"] = request.method == "POST"
    return render(request, "annotation/composer/stages.html", context, status=400 if context["missing"] else 200)


def _add_from_recipe(request: HttpRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    try:
        added = add_from_recipe(benchmark, version, current_user(request), timezone.now())
    except AdditionsChanged:
        messages.error(request, _("Nothing was added: the recipe has changed since. Look at the list again."))
    else:
        n = len(added)
        text = ngettext("%(n)s stage was added.", "%(n)s stages were added.", n) % {"n": n}
        messages.success(request, text if n else _("The benchmark has everything already. Nothing was added."))
    return redirect("annotation:stages", benchmark.slug)


def _remove(request: HttpRequest, benchmark: Benchmark, stage_id: str) -> HttpResponse:
    stage = get_object_or_404(benchmark.stages, pk=parse_id(stage_id))
    if services.remove(stage, current_user(request)):
        messages.success(request, _("“%(name)s” is removed.") % {"name": stage.name})
    else:
        messages.error(
            request,
            _("“%(name)s” was not removed. It has items, campaigns or dependent stages.") % {"name": stage.name},
        )
    return redirect("annotation:stages", benchmark.slug)


@login_required
@never_cache
@csp_update({"frame-src": ["'self'"]})  # type: ignore[arg-type]
@require_http_methods(["GET", "HEAD", "POST"])
def edit_stage(request: HttpRequest, slug: str, stage_id: int) -> HttpResponse:
    """The form of a stage. Every button posts all of it; what is not a button of the form is saved as the draft."""
    stage = get_stage(request, slug, stage_id)
    if request.method != "POST":
        opened = request.GET.get("at", "")
        return _redisplay(request, stage, _restorable(request, stage), checked="checked" in request.GET, opened=opened)
    action, base_version = request.POST.get("act", "save"), request.POST.get("seen", "")
    if "beside" in request.POST:
        request.session[SECOND_LANGUAGE] = request.POST["beside"][:12]
    before = _restorable(request, stage)
    content = follow_display(fill_keys(content_posted(request.POST)), before, services.earlier_pictures(stage))
    content = follow_culture(follow_side(content, before), before, services.own_culture_stages(stage))
    try:
        opened = "" if action in PLAIN else apply_action(content, action)
    except UnknownAction:
        raise Http404 from None
    try:
        services.save_draft(
            stage,
            content,
            request.POST.get("newest", base_version) if action == "keep" else base_version,
            current_user(request),
            timezone.now(),
        )
    except services.DraftOutdated as conflict:
        return _conflict(request, stage, content, conflict, base_version)
    if action == "publish":
        return _published(request, stage, content)
    return _respond_to_save(request, stage, content, action, opened)


def _restorable(request: HttpRequest, stage: Stage) -> dict[str, Any]:
    """Who comes back to it has long decided about what was deleted."""
    draft = services.draft_of(stage)
    content = draft.content if draft else services.content_of(stage)
    return {key: value for key, value in content.items() if key != DROPPED or "at" in request.GET}


COMPOSER_PARTS = {
    "state": "annotation/composer/state.html",
    "mend": "annotation/composer/problem_list.html",
    "derived": "annotation/composer/derived.html",
}


def _respond_to_save(
    request: HttpRequest, stage: Stage, content: dict[str, Any], action: str, opened: str
) -> HttpResponse:
    if is_script_request(request) and action == "draft":
        page = _page(request, stage, content)
        lines = next(section.lines for section in page.sections if section.key == "items")
        html_parts = {
            part: render_to_string(template, {"page": page, "lines": lines}, request)
            for part, template in COMPOSER_PARTS.items()
        }
        wrong = [[one.path, one.words] for one in page.problems]
        return JsonResponse({"seen": page.seen, "saved": page.saved, "wrong": wrong, **html_parts})
    if is_script_request(request):
        return _redisplay(request, stage, content, opened=opened)
    where = f"?at={opened}#at-{opened}" if opened else ""
    return redirect(reverse("annotation:compose", args=[stage.benchmark.slug, stage.pk]) + where)


def _page(request: HttpRequest, stage: Stage, content: dict[str, Any], **more: Any) -> Any:
    draft = services.draft_of(stage)
    return stage_form(
        stage, content, draft, current_user(request), second_language=request.session.get(SECOND_LANGUAGE, ""), **more
    )


def _redisplay(
    request: HttpRequest, stage: Stage, content: dict[str, Any], *, opened: str = "", status: int = 200, **more: Any
) -> HttpResponse:
    page = _page(request, stage, content, **more)
    outside = outside_items(stage).count()
    context = _context(request, stage.benchmark, stage=stage, page=page, opened=opened, outside=outside)
    context["results_used"] = results_used(stage)
    template = "annotation/composer/form.html" if is_script_request(request) else "annotation/composer/stage.html"
    return render(request, template, context, status=status)


def _conflict(
    request: HttpRequest, stage: Stage, content: dict[str, Any], conflict: services.DraftOutdated, base_version: str
) -> HttpResponse:
    """Nothing is overwritten: what was posted is shown again, and the person chooses."""
    stage.refresh_from_db(fields=["version"])
    words = conflict_text(conflict.draft, current_user(request))
    if is_script_request(request) and request.POST.get("act") == "draft":
        newest = services.revision(stage, conflict.draft)
        html = render_to_string("annotation/composer/conflict.html", {"conflict": words, "newest": newest}, request)
        return JsonResponse({"conflict": html}, status=409)
    return _redisplay(request, stage, content, conflict=words, revision=base_version, status=409)


def _published(request: HttpRequest, stage: Stage, content: dict[str, Any]) -> HttpResponse:
    user, at = current_user(request), timezone.now()
    before = services.content_of(stage)
    try:
        version = services.publish(stage, services.revision(stage, services.draft_of(stage)), user, at)
    except services.NotPublishable:
        return _redisplay(request, stage, content, checked=True, status=422)
    messages.success(request, published_text(stage, version.number, before, version.content))
    stage.refresh_from_db()
    for warning in stage_warnings(stage, content):
        messages.warning(request, str(warning))
    chosen = [parse_id(number) for number in request.POST.getlist("roll") if parse_id(number)]
    moved = sheet_versions.update_running_campaigns(stage, chosen, user) if chosen else 0
    if moved:
        message = ngettext("%(n)s campaign has the new texts.", "%(n)s campaigns have the new texts.", moved)
        messages.success(request, message % {"n": moved})
    where = reverse("annotation:compose", args=[stage.benchmark.slug, stage.pk])
    return JsonResponse({"go": where}) if is_script_request(request) else redirect(where)


@login_required
@never_cache
@csp_update({"frame-src": ["'self'"]})  # type: ignore[arg-type]
@require_http_methods(["GET", "HEAD", "POST"])
def stage_versions(request: HttpRequest, slug: str, stage_id: int) -> HttpResponse:
    """What was published, to look at and to bring back as the draft."""
    stage = get_stage(request, slug, stage_id)
    if "discard" in request.POST:
        services.discard(stage, current_user(request))
        messages.info(request, _("The draft is discarded."))
        return redirect("annotation:compose", slug, stage.pk)
    if request.method == "POST":
        version = get_object_or_404(stage.versions, number=parse_int(request.POST.get("number")))
        services.restore_version(stage, version.number, current_user(request), timezone.now())
        messages.info(
            request, _("Version %(n)s is the draft now. Publish it to use it in new campaigns.") % {"n": version.number}
        )
        return redirect("annotation:compose", slug, stage.pk)
    versions = list(StageVersion.objects.filter(stage=stage).select_related("published_by").order_by("-number"))
    chosen = next(
        (one for one in versions if str(one.number) == request.GET.get("number")), versions[0] if versions else None
    )
    context = _context(request, stage.benchmark, stage=stage, versions=versions, chosen=chosen)
    context["draft"] = services.draft_of(stage)
    return render(request, "annotation/composer/versions.html", context)
