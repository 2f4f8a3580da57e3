"""A model as a judge: the page, and the same numbers as JSON and CSV."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from benchmarks.access import benchmark_for
from evaluation.catalogue import Catalogue, catalogue_of
from evaluation.reports.beside import beside_filters, extras_of
from evaluation.reports.judge_page import judge_context, to_csv, to_json
from evaluation.reports.judge_report import JudgeReport, combinations_of, judge_report, key_of
from evaluation.selection import SelectionError, refuse_unknown
from evaluation.views.downloads import as_table, download
from evaluation.views.models_page import everybody, place

OWN = ("judge",)


def _report(catalogue: Catalogue, request: HttpRequest) -> JudgeReport:
    selection = everybody(catalogue, request)
    asked = request.GET.get("judge", "")
    report = judge_report(catalogue, selection, asked, timezone.now())
    refuse_unknown("judge", asked, list(_judges(report)))
    return report


def _judges(report: JudgeReport) -> dict[str, str]:
    """Who may judge: each model, and the means of several."""
    names = {str(pk): f"{who.name}, {who.setting}" if who.setting else who.name for pk, who in report.judges}
    several = combinations_of(report.judges, report.selection.level)
    words = {
        key: _("the mean of %(names)s") % {"names": ", ".join(names[pk] for pk in key.split("+"))} for key in several
    }
    return names | words


def _chosen(report: JudgeReport) -> str:
    if report.mean_of:
        return key_of(who.pk for who in report.mean_of)
    return str(report.judge.pk) if report.judge else ""


@login_required
@require_safe
@never_cache
def page(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug)
    catalogue = catalogue_of(benchmark)
    context = place(request, benchmark)
    if not catalogue.stages:
        return render(request, "evaluation/judge.html", context)
    try:
        report = _report(catalogue, request)
    except SelectionError as error:
        return render(request, "evaluation/not_selectable.html", context | {"error": error}, status=400)
    own = [("judge", _judges(report), _chosen(report))]
    language = get_language() or "en"
    query = urlencode(report.selection.to_params() + list(extras_of(request.GET, OWN).items()))
    context |= judge_context(report, language) | beside_filters(catalogue, report.selection, own, language)
    context |= {"query": query, "report": report, "campaign": report.selection.campaigns[-1]}
    return render(request, "evaluation/judge.html", context)


@login_required
@require_safe
@never_cache
def as_json(request: HttpRequest, slug: str) -> HttpResponse:
    return download(request, slug, _report, lambda report: JsonResponse(to_json(report)))


@login_required
@require_safe
@never_cache
def as_csv(request: HttpRequest, slug: str) -> HttpResponse:
    return download(request, slug, _report, lambda report: as_table(to_csv(report), f"{slug}-judge.csv"))
