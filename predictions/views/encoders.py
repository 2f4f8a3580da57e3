"""Models on this machine over a benchmark: collections made from its items, runs of encoders, look-alikes."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.pages.kept_pictures import waiting_pictures
from annotation.queries.results_used import UNGROUP
from benchmarks.access import benchmark_for
from benchmarks.models import Stage
from benchmarks.services.intake.filter_versions import FiltersChanged
from benchmarks.services.intake.judging import version_number
from jobs.formats.numbers import parse_int
from people.views.request_helpers import current_user
from predictions.access import run_for
from predictions.backends import torch_setup
from predictions.forms.encoders import CollectionBuildForm, EncoderRunForm, endpoints
from predictions.models import Collection, Endpoint, Run
from predictions.services.collections import builder
from predictions.services.encoders import encoder_runs, look_alike_filters, near_duplicates
from predictions.services.encoders.look_alike_filters import FilterRefused
from predictions.services.runs.result_runs import FileRunRefused
from predictions.texts import call_reasons
from predictions.views.overview import page_context

SHOWN = 30


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def encode(request: HttpRequest, slug: str) -> HttpResponse:
    """Runs of encoders over collections; posted, a new one."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    posted = (request.POST,) if request.method == "POST" else ()
    form = EncoderRunForm(*posted, benchmark=benchmark)
    if posted and form.is_valid():
        try:
            run = encoder_runs.open_run(form.plan(), current_user(request), timezone.now())
            return redirect("jobs:job", run.job_id)
        except FileRunRefused as refused:
            form.add_error(None, str(refused))
    runs_made_here = Run.objects.filter(benchmark=benchmark, source="here", task__in=encoder_runs.TASKS)
    context = page_context(
        request, benchmark, form=form, missing=torch_setup.missing_packages_text(), models=torch_setup.known_models(),
        runs=runs_made_here.select_related("rater", "collection", "job").order_by("-pk")[:SHOWN],
        collections=Collection.objects.filter(benchmark=benchmark).exists(),
        encoders=endpoints(benchmark, Endpoint.Kind.OPEN_CLIP).exists(),
    )  # fmt: skip
    return render(request, "predictions/encoding/encode.html", context, status=400 if form.errors else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def build_collection(request: HttpRequest, slug: str) -> HttpResponse:
    """A collection out of a stage's items."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    posted = (request.POST,) if request.method == "POST" else ()
    form = CollectionBuildForm(*posted, benchmark=benchmark)
    if posted and form.is_valid():
        try:
            plan = form.plan()
            result = builder.build_collection(plan, current_user(request))
        except FileRunRefused as refused:
            form.add_error(None, str(refused))
        else:
            for sentence in [*build_message(result), *_waiting_text(plan.stage)]:
                messages.info(request, sentence)
            return redirect("predictions:index", benchmark.slug)
    context = page_context(request, benchmark, form=form, groups=form.groups())
    return render(request, "predictions/encoding/build_collection.html", context, status=400 if form.errors else 200)


def build_message(result: builder.BuildResult) -> list[str]:
    """What came, and what each query set lacks, with what to add."""
    sets = ", ".join(f"{name} {n}" for name, n in result.queries.items())
    counts: dict[str, Any] = {"entries": result.entries, "queries": sum(result.queries.values()), "sets": sets}
    sentences = [
        _("The collection has %(entries)s entries and no query. No model can search it.") % counts,
        _("An encoder can make vectors of it. To search it, create it again under another name, with queries."),
    ]
    sentences = (
        [_("The collection has %(entries)s entries and %(queries)s queries: %(sets)s.") % counts] if sets else sentences
    )
    if n := result.labels_differ:
        text = ngettext(
            "People gave different labels to %(n)s picture. The last answer counts.",
            "People gave different labels to %(n)s pictures. The last answer to each counts.",
            n,
        )
        sentences.append(text % {"n": number_format(n, use_l10n=True)})
    for name, why in result.left_out.items():
        reasons = "; ".join(f"{n}: {call_reasons.no_query_text(code)}" for code, n in why.items())
        if reasons:
            told = {"set": name, "n": sum(why.values()), "reasons": reasons}
            sentences.append(_("“%(set)s” has no query for %(n)s pictures. %(reasons)s.") % told)
    return sentences


def _waiting_text(stage: Stage) -> list[str]:
    """Of a stage of pictures that people keep: how many wait for another person, and are not in a collection."""
    sentences = []
    by_stage = waiting_pictures(list(stage.benchmark.stages.all())) if stage.derivation.get("kind") == UNGROUP else {}
    for source in stage.benchmark.stages.filter(pk__in=by_stage, key__in=stage.derivation.get("from", ())):
        text = ngettext(
            "%(n)s picture of “%(stage)s” waits for adjudication and is not in it.",
            "%(n)s pictures of “%(stage)s” wait for adjudication and are not in it.",
            by_stage[source.pk],
        )
        sentences.append(text % {"n": by_stage[source.pk], "stage": source.name})
    return sentences


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def near_duplicates_page(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    """Look-alikes that an embedding run proposes; posted, those at the threshold are dropped by a filter."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    run = run_for(benchmark, run_id)
    if run.collection_id is None:
        raise Http404
    query = request.POST if request.method == "POST" else request.GET
    asked = _number(query.get("threshold", ""))
    threshold = near_duplicates.THRESHOLD if asked is None else max(near_duplicates.LEAST, asked)
    error, stage = "", look_alike_filters.filtered_stage(run)
    if request.method == "POST":
        error = _drop_look_alikes(request, run, threshold)
        if stage is not None and not error:
            return redirect("benchmarks:filters", slug, stage.pk)
    proposals = near_duplicates.search(run, threshold, most=SHOWN * 2)
    sides = [
        ("above", _("Just above the threshold"), proposals.above),
        ("below", _("Just below the threshold"), proposals.below),
    ]
    page: dict[str, Any] = {
        "threshold": f"{threshold:g}",
        "least": f"{near_duplicates.LEAST:g}",
        "most": near_duplicates.MOST_PAIRS,
    }
    page |= {"stage": stage, "number": version_number(stage) if stage else 0, "error": error}
    context = page_context(request, benchmark, run=run, found=proposals, sides=sides, **page)
    return render(request, "predictions/encoding/near_duplicates.html", context, status=400 if error else 200)


def _drop_look_alikes(request: HttpRequest, run: Run, threshold: float) -> str:
    """What keeps it from being done; empty if it was done."""
    number = parse_int(request.POST.get("number"))
    try:
        look_alike_filters.drop_look_alikes(run, threshold, current_user(request), number_seen=number)
    except FilterRefused as refused:
        return str(refused)
    except FiltersChanged:
        return _("Somebody else changed the filters. Look at the pairs again, then drop them.")
    messages.info(
        request,
        _("Look-alikes are dropped from %(limit)s on. The items are judged again.") % {"limit": f"{threshold:g}"},
    )
    return ""


def _number(text: str) -> float | None:
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return None
    return number if -1 <= number <= 1 else None
