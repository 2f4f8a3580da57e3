"""Linking the images of a benchmark to a knowledge base, and looking at what came of it."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark
from benchmarks.pages.tabs import tabs_for
from jobs.formats.numbers import parse_id
from people.views.request_helpers import current_user
from predictions.access import link_for, linking_for
from predictions.forms.knowledge import LinkFileForm, LinkingForm
from predictions.models import EntityLink, Run
from predictions.queries import knowledge as readers
from predictions.services.knowledge import link_checks, link_import, linking, name_matching
from predictions.services.knowledge.indexes import IndexRefused
from predictions.services.knowledge.linking import FROM_FILE, METHODS, NAMED, REASONS
from predictions.services.runs import result_runs


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """The linking runs of a benchmark; posted, a new one."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    posted = (request.POST,) if request.method == "POST" else ()
    form = LinkingForm(*posted, benchmark=benchmark)
    if posted and form.is_valid():
        try:
            run = linking.open_run(benchmark, current_user(request), **form.cleaned_data)
        except IndexRefused as refused:
            form.add_error(None, str(refused))
        else:
            return redirect("jobs:job", run.options["job"])
    stages = _stages(benchmark)
    context = _context(
        request, benchmark, form=form, runs=[(run, _summary(run, stages)) for run in readers.linkings_of(benchmark)],
        indexes=readers.indexes_of(benchmark.team).exists(), bases=benchmark.team.knowledge_bases.exists(),
    )  # fmt: skip
    return render(request, "predictions/knowledge/linkings.html", context, status=400 if form.errors else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def import_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Links that were found elsewhere."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    posted = (request.POST, request.FILES) if request.method == "POST" else ()
    form = LinkFileForm(*posted, benchmark=benchmark)
    if posted and form.is_valid():
        upload = form.cleaned_data.pop("file")
        file_info = link_import.LinkFileInfo(**form.cleaned_data)
        try:
            run = link_import.start(benchmark, current_user(request), upload, file_info)
        except IndexRefused as refused:
            form.add_error(None, str(refused))
        else:
            return redirect("jobs:job", run.options["job"])
    context = _context(request, benchmark, form=form, bases=benchmark.team.knowledge_bases.exists())
    return render(request, "predictions/knowledge/links_import.html", context, status=400 if form.errors else 200)


@login_required
@require_safe
@never_cache
def run(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    """What a run linked, a page of it."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    linking_run = linking_for(benchmark, run_id)
    only = request.GET.get("show", "")
    only = only if only in REASONS or only == "linked" else ""
    lines, further = readers.links_of(linking_run, parse_id(request.GET.get("after")), only)
    context = _context(
        request, benchmark, run=linking_run, linking=_summary(linking_run),
        lines=[(line, REASONS.get(line.link.reason)) for line in lines],
        further=further, only=only,
        reasons=[(key, REASONS.get(key, key), n) for key, n in sorted(readers.reasons_of(linking_run).items())],
        stage=link_checks.check_stage(linking_run), **_new_items(linking_run),
        frequency=linking_run.options["method"] == "frequency_vt",
    )  # fmt: skip
    return render(request, "predictions/knowledge/links.html", context)


@login_required
@require_safe
@never_cache
def link(request: HttpRequest, slug: str, run_id: int, item_id: int) -> HttpResponse:
    """One image: its neighbours, the ranked entries, the article that a prompt is given."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    linking_run = linking_for(benchmark, run_id)
    link = link_for(linking_run, item_id)
    context = _context(
        request, benchmark, run=linking_run, linking=_summary(linking_run), link=link, item=link.item,
        picture=readers.item_pictures([link.item]).get(link.item_id), seen=readers.link_detail(linking_run, link),
        article=linking.article_for(linking_run, link.item), reason=REASONS.get(link.reason, link.reason),
        longest=linking.LONGEST_ARTICLE, frequency=linking_run.options["method"] == "frequency_vt",
        name=_name(linking_run, link),
    )  # fmt: skip
    return render(request, "predictions/knowledge/link.html", context)


@login_required
@require_POST
def perform_action(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    """Withdraw a run, bring it back, let it link what came later, or have people check its links."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    linking_run = linking_for(benchmark, run_id)
    try:
        messages.info(request, _perform_action(request, linking_run))
    except (IndexRefused, result_runs.FileRunRefused) as refused:
        messages.error(request, str(refused))
    return redirect("predictions:links", benchmark.slug, linking_run.pk)


def _perform_action(request: HttpRequest, linking_run: Run) -> str:
    act = request.POST.get("do")
    if act == "check":
        stage = link_checks.check_stage(linking_run)
        if stage is None:
            raise IndexRefused(_("This benchmark has no stage “link-check”. Add it under Stages, or begin with CAIRE."))
        check_item_counts = link_checks.create_check_items(linking_run, stage, current_user(request))
        text = ngettext(
            "%(n)s item was added to the stage.", "%(n)s items were added to the stage.", check_item_counts.made
        )
        return text % {"n": check_item_counts.made}
    if act == "new":
        n = linking.link_new_items(linking_run, current_user(request))
        return ngettext("%(n)s new item is being linked.", "%(n)s new items are being linked.", n) % {"n": n}
    if act == "back":
        linking.restore(linking_run, current_user(request))
        return _("The run was restored and is counted.")
    result_runs.withdraw(linking_run, current_user(request), timezone.now())
    return _("The run was withdrawn. It is kept but not counted.")


def _new_items(linking_run: Run) -> dict[str, Any]:
    """How many items came since the run ended, which may be linked now; and whether such are being linked."""
    at_work = linking_run.complete and not linking_run.withdrawn_at and linking.is_at_work(linking_run)
    may_link = linking_run.complete and not linking_run.withdrawn_at and not at_work
    n = linking.unlinked_items(linking_run).count() if may_link else 0
    from_file = linking_run.source == FROM_FILE
    return {"new": 0 if from_file else n, "not_in_file": n if from_file else 0, "at_work": at_work}


def _summary(linking_run: Run, stages: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Of a run, in words. `named`: it goes by names, so nothing is near and nothing has a score."""
    method = linking_run.options.get("method", "")
    key, options = linking_run.selection.get("stage", ""), linking_run.options
    names = _stages(linking_run.benchmark) if stages is None else stages
    linked = options["rows"] - options.get("unlinked", 0) if options.get("rows") is not None else None
    of = {"stage": names.get(key, key), "linked": linked, "frequency": method == "frequency_vt"}
    return {"method": METHODS.get(method, method), "named": method == NAMED, **of}


def _stages(benchmark: Benchmark) -> dict[str, str]:
    return dict(benchmark.stages.values_list("key", "name"))


def _name(found: Run, entity_link: EntityLink) -> str:
    """What the model called the image, where the run goes by that."""
    answers = Run.objects.filter(pk=found.options.get("answers")).first()
    return name_matching.names_of(answers, [entity_link.item]).get(entity_link.item_id, "") if answers else ""


def _context(request: HttpRequest, benchmark: Benchmark, **more: Any) -> dict[str, Any]:
    nav = tabs_for(request.user, benchmark, "predictions")
    return {"benchmark": benchmark, "nav": nav, "who_place": benchmark.name, **more}
