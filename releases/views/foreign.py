"""Files of another tool: choose them, look at what they hold, then import them."""

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.models import Campaign
from annotation.pages.campaigns import REFUSALS
from annotation.services.campaigns.lifecycle import CampaignRefused
from benchmarks.access import benchmark_for
from benchmarks.imports.problems import SourceProblem
from benchmarks.imports.tables.encodings import ACCEPTED
from benchmarks.models import Benchmark, Stage
from benchmarks.pages.tabs import tabs_for
from jobs.formats.numbers import parse_int
from jobs.queries import job_reports
from people.views.request_helpers import current_user
from releases.foreign.contract import ForeignMapping
from releases.foreign.registry import READERS
from releases.foreign.scan import Scan, proposed_mapping
from releases.forms.foreign import NEW, ForeignFilesForm, ForeignMappingForm, posted_for_stage
from releases.pages.foreign import preview_rows
from releases.services.foreign import foreign_import, foreign_uploads
from releases.services.foreign.foreign_sheet import campaign_of_imports, create_stage, too_long_lists
from releases.services.foreign.foreign_uploads import ForeignUpload, field_keys
from releases.services.foreign.stage_fit import best_stage

COLUMNS, MOST_UPLOADS = "foreign_columns", 5
"""In the session: of the last uploads, what was chosen that their columns are. An address would get too long."""
KEPT = ("tool", "encoding", "rater", "rater_member", "rotated", "empty_is_answer", "cohort")
"""What was chosen before the sheet is made, and holds afterwards."""


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def choose(request: HttpRequest, slug: str) -> HttpResponse:
    """Upload the files. Nothing is imported before the preview was seen."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    form = ForeignFilesForm(*((request.POST, request.FILES) if request.method == "POST" else ()))
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        upload = foreign_uploads.keep_files(data["exports"], data["pictures"], data["raters"])
        return redirect(_preview_address(benchmark, foreign_uploads.sign(benchmark, upload)))
    context = {
        "form": form, "readers": READERS, "jobs": job_reports.recent(benchmark.scope, foreign_import.KIND),
    }  # fmt: skip
    return _render(request, benchmark, "choose", context, status=400 if form.errors else 200)


def _preview_address(benchmark: Benchmark, signed: str, stage: Stage | None = None, **kept: str) -> str:
    query = {"files": signed} | ({"stage": str(stage.pk)} if stage else {})
    query |= {name: text for name, text in kept.items() if text}
    return reverse("releases:foreign_preview", args=[benchmark.slug], query=query)


def _render(
    request: HttpRequest, benchmark: Benchmark, name: str, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    context |= {
        "benchmark": benchmark,
        "nav": tabs_for(request.user, benchmark, "foreign"),
        "who_place": benchmark.name,
    }
    return render(request, f"releases/foreign/{name}.html", context, status=status)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """What the files hold and what would be made of it; with a POST look again, make a sheet, or import."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    signed = request.GET.get("files", "")
    stages = benchmark.stages.filter(derivation={})
    number = parse_int(request.POST.get("stage") or request.GET.get("stage"), default=None)
    stage = stages.filter(pk=number).first() if number else None
    try:
        upload = foreign_uploads.unsign(benchmark, signed)
        files = upload.stored.open_files()
        base = _chosen_reading(request, upload.mapping().with_columns(_chosen_columns(request)))
        scan, mapping = foreign_uploads.look_into(files, base, stage)
        if stage is None:
            stage = best_stage(scan, stages)
            mapping = proposed_mapping(scan, base, field_keys(stage))
        form = _form(request, benchmark, stage, scan, mapping)
        if request.method == "POST" and form.is_valid():
            return _act(request, benchmark, stage, upload, form, scan)
    except (SourceProblem, signing.BadSignature, FileNotFoundError) as problem:
        gone = _("The files are no longer there. Choose them again.")
        messages.error(request, str(problem) if isinstance(problem, SourceProblem) else gone)
        return redirect("releases:foreign", slug)
    return _show(request, benchmark, stage, form, scan)


def _stage_before(request: HttpRequest, benchmark: Benchmark, stage: Stage | None) -> Stage | None:
    """The stage of the preview from which something was posted, if another was chosen there; else None."""
    number = parse_int(request.POST.get("shown_stage"), default=None)
    if stage is None or number is None or number == stage.pk:
        return None
    return benchmark.stages.filter(pk=number).first()


def _chosen_reading(request: HttpRequest, mapping: ForeignMapping) -> ForeignMapping:
    known = {reader.key for reader in READERS}
    tool, encoding = (request.POST.get(name) or request.GET.get(name, "") for name in ("tool", "encoding"))
    chosen = {"tool": tool if tool in known else "", "encoding": encoding if encoding in ACCEPTED else ""}
    return ForeignMapping(**{**vars(mapping), **chosen})


def _chosen_columns(request: HttpRequest) -> dict[str, str]:
    kept: dict[str, dict[str, str]] = request.session.get(COLUMNS, {})
    return kept.get(request.GET.get("files", ""), {})


def _keep_columns(request: HttpRequest, chosen: dict[str, str]) -> None:
    others = {files: columns for files, columns in request.session.get(COLUMNS, {}).items()
              if files != request.GET.get("files", "")}  # fmt: skip
    newest = list(others.items())[-MOST_UPLOADS + 1 :]
    request.session[COLUMNS] = {**dict(newest), request.GET.get("files", ""): chosen}


def _form(
    request: HttpRequest, benchmark: Benchmark, stage: Stage | None, scan: Scan, mapping: ForeignMapping
) -> ForeignMappingForm:
    asked, do = any(name.startswith(("column_", "question_")) for name in request.POST), request.POST.get("do")
    is_bound = request.method == "POST" and do != "tool" and (asked or do != "look")
    before = _stage_before(request, benchmark, stage)
    data = posted_for_stage(request.POST, scan, before, stage, mapping) if before else request.POST
    posted = (data,) if is_bound else ()
    kept = {name: request.GET[name] for name in KEPT if name in request.GET}
    return ForeignMappingForm(
        *posted, initial=kept, benchmark=benchmark, stage=stage, scan=scan, mapping=mapping,
        columns=_chosen_columns(request),
    )  # fmt: skip


def _act(
    request: HttpRequest, benchmark: Benchmark, stage: Stage | None, upload: ForeignUpload, form: ForeignMappingForm,
    scan: Scan,
) -> HttpResponse:  # fmt: skip
    """Raises SourceProblem."""
    if request.POST.get("do") == "sheet":
        _keep_columns(request, form.chosen_columns())
        mapping = replace(form.mapping(), answers=None)  # a sheet takes every question
        scan, _mapping = foreign_uploads.look_into(upload.stored.open_files(), mapping, None)
        return _create_sheet(request, benchmark, scan)
    changed = _stage_before(request, benchmark, stage) is not None
    if request.POST.get("do") != "import" or stage is None or changed:
        if request.POST.get("do") == "import":
            messages.info(request, _("Another stage was chosen. Check where the answers go, then press Import."))
        scan, _mapping = foreign_uploads.look_into(upload.stored.open_files(), form.mapping(), stage)
        return _show(request, benchmark, stage, form, scan)
    try:
        campaign = _campaign(request, stage, form)
    except CampaignRefused as refused:
        form.add_error("campaign", " ".join(str(REFUSALS.get(reason, reason)) for reason in refused.reasons))
        return _show(request, benchmark, stage, form, scan)
    cohort = form.cleaned_data["cohort"]
    actor, label = current_user(request), cohort.label if cohort else ""
    job = foreign_import.start(stage, campaign, actor, upload.stored, form.mapping(), label)
    return redirect("jobs:job", job.pk)


def _create_sheet(request: HttpRequest, benchmark: Benchmark, scan: Scan) -> HttpResponse:
    stage = create_stage(benchmark, _("From %(tool)s") % {"tool": scan.reader.name}, current_user(request), scan)
    n = len(stage.sheet["fields"])
    text = ngettext("The stage “%(name)s” was created with %(n)s question.",
                    "The stage “%(name)s” was created with %(n)s questions.", n)  # fmt: skip
    messages.success(request, text % {"name": stage.name, "n": n})
    if lists := too_long_lists(scan):
        text = _("These have too many or too long options for a list, and became free text: %(names)s.")
        messages.info(request, text % {"names": ", ".join(lists)})
    kept = {name: request.POST.get(name, "") for name in KEPT}
    return redirect(_preview_address(benchmark, request.GET.get("files", ""), stage, **kept))


def _campaign(request: HttpRequest, stage: Stage, form: ForeignMappingForm) -> Campaign | None:
    """Raises CampaignRefused."""
    chosen = form.cleaned_data["campaign"]
    if chosen == NEW:
        return campaign_of_imports(stage, form.cleaned_data["cohort"], current_user(request), timezone.now())
    return next((campaign for campaign in form.campaigns if str(campaign.pk) == chosen), None)


def _show(
    request: HttpRequest, benchmark: Benchmark, stage: Stage | None, form: ForeignMappingForm, scan: Scan
) -> HttpResponse:
    context = {
        "form": form, "scan": scan, "stage": stage, "rows": preview_rows(scan), "without_rater": scan.raters.get(""),
        "left_out": sorted(scan.left_out.items()), "raters": sorted(scan.raters.items()),
        "models": sorted(scan.models.items()), "has_cohorts": form.fields["cohort"].queryset.exists(),  # type: ignore[attr-defined]
    }  # fmt: skip
    return _render(request, benchmark, "preview", context, status=400 if form.errors else 200)
