"""The page of Figure 8: questions with their references, every answer, and what the judge and people say of it."""

from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from benchmarks.models import Benchmark
from benchmarks.pages.plugin_pages import PluginPage
from benchmarks.pages.tabs import tabs_for
from evaluation.queries.observations import rater_label
from jobs.formats.numbers import parse_id
from papers.culturalvqa import answer_browser as browser
from papers.culturalvqa.tables.judgements import judges_of

KEY = "judged-answers"
SHOWN = 10  # questions of a page
ONLY = {
    browser.ALL: _("All questions"),
    browser.DIFFER: _("Judge and people differ"),
    browser.WRONG: _("The judge finds an answer wrong"),
    browser.UNREADABLE: _("A reply of the judge is unreadable"),
}
NAMES = ("country", "facet", "judge", "only")


@require_safe
@never_cache
def judged_answers(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    asked = {name: request.GET.get(name, "")[:200].replace("\x00", "") for name in NAMES}
    judges = judges_of(benchmark)
    judge = next((one for one in judges if one.pk == parse_id(asked["judge"])), judges[0] if judges else None)
    every = browser.questions_of(benchmark)
    chosen = browser.questions_of(benchmark, asked["country"], asked["facet"])
    pages = Paginator(browser.only_questions(chosen, benchmark, judge, asked["only"]), SHOWN)
    page = pages.get_page(request.GET.get("page"))
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "nav": tabs_for(request.user, benchmark, KEY),
        "who_place": benchmark.name,
        "page": page,
        "rows": browser.question_rows(benchmark, judge, page),
        "any_question": every.exists(),
        "judge": judge,
        "judges": [(one.pk, rater_label(one)) for one in judges],
        "countries": every.order_by("origin").values_list("origin", flat=True).distinct(),
        "facets": every.order_by("context__facet").values_list("context__facet", flat=True).distinct(),
        "only": ONLY.items(),
        "asked": asked | {"only": asked["only"] if asked["only"] in ONLY else browser.ALL},
        "query": urlencode([(name, value) for name, value in asked.items() if value]),
    }
    return render(request, "papers/judged_answers.html", context)


PAGE = PluginPage(KEY, _("Judged answers"), judged_answers, can="see")
