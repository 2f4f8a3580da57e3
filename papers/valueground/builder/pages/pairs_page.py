"""The page *Pairs* of ValueGround's benchmarks, and in it the page *Pair* of one build."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.services.revisions.makers import maker_of
from benchmarks.access import is_permitted
from benchmarks.models import Benchmark
from benchmarks.models.revisions import BY_IMPORT
from benchmarks.pages.plugin_pages import PluginPage
from benchmarks.pages.tabs import tabs_for
from papers.valueground.builder.models import Build
from papers.valueground.builder.pages.pair_log import PairLog, pair_log
from papers.valueground.builder.pages.pair_matrix import STATE_GROUPS, newest_builds, pair_matrix
from papers.valueground.survey.models import SurveyQuestion
from papers.valueground.survey.queries import current_survey

KEY = "pairs"
LISTED = 25  # questions of a page
LONGEST = 60  # characters of a filter


def _text(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "")[:LONGEST].replace("\x00", "")


def _context(request: HttpRequest, benchmark: Benchmark, **more: Any) -> dict[str, Any]:
    return {"benchmark": benchmark, "nav": tabs_for(request.user, benchmark, KEY), "who_place": benchmark.name, **more}


@require_safe
@never_cache
def pairs_page(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """All pairs; with `pair`, the id of a build, that one alone."""
    if "pair" in request.GET:
        return _pair(request, benchmark)
    asked = {name: _text(request, name) for name in ("state", "source", "q")}
    matrix = pair_matrix(benchmark, state=asked["state"], source=asked["source"], text=asked["q"])
    survey = current_survey(benchmark)
    confirmed = survey.questions.filter(state=SurveyQuestion.State.CONFIRMED).count() if survey else 0
    context = _context(
        request, benchmark, matrix=matrix, page=Paginator(matrix.rows, LISTED).get_page(_text(request, "page")),
        asked=asked, groups=[(key, GROUP_TEXTS[key]) for key in STATE_GROUPS], survey=survey, confirmed=confirmed,
        query=urlencode([(name, value) for name, value in asked.items() if value]),
        all_sources=sorted({build.source.key for build in newest_builds(benchmark)}) if asked["source"] else
        matrix.sources,
    )  # fmt: skip
    return render(request, "papers/valueground/pairs.html", context)


GROUP_TEXTS = {"working": gettext_lazy("In progress"), "interrupted": gettext_lazy("Can be resumed")}


def _pair(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    number = _text(request, "pair")
    rows = Build.objects.filter(plan__benchmark=benchmark).select_related("question", "source", "plan", "item")
    build = rows.filter(pk=int(number)).first() if number.isascii() and number.isdigit() and len(number) < 16 else None
    if build is None:
        raise Http404
    log = pair_log(build, _text(request, "left"), _text(request, "right"))
    context = _context(
        request, benchmark, log=log, build=build, can_return=_can_return(request, benchmark, build),
        **_neighbours(benchmark, log),
    )  # fmt: skip
    return render(request, "papers/valueground/pair.html", context)


def _can_return(request: HttpRequest, benchmark: Benchmark, build: Build) -> bool:
    """Whether this person may send the pair back to the builder with a comment."""
    item = build.item
    if item is None or item.withdrawn_at is not None or not is_permitted(request.user, benchmark, "review"):
        return False
    maker = maker_of(item)
    return maker is not None and maker.key != BY_IMPORT


def _neighbours(benchmark: Benchmark, log: PairLog) -> dict[str, int | None]:
    """The pairs before and after this one, as the matrix has them."""
    builds = sorted(newest_builds(benchmark), key=lambda build: (build.question.position, build.source.key))
    places = [(build.question.key, build.source.key) for build in builds]
    own = log.build.question.key, log.build.source.key
    at = places.index(own) if own in places else -1
    before = builds[at - 1].pk if at > 0 else None
    return {"before": before, "after": builds[at + 1].pk if 0 <= at < len(builds) - 1 else None}


PAGES = (PluginPage(KEY, gettext_lazy("Pairs"), pairs_page),)
