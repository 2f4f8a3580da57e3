"""The pages *Survey* and *Import a survey* of ValueGround's benchmarks."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from benchmarks.models import Benchmark
from benchmarks.pages.plugin_pages import PluginPage
from benchmarks.pages.tabs import tabs_for
from jobs.queries import job_reports
from papers.valueground.recipe_options import STAGE as OPTIONS
from papers.valueground.survey.forms import SurveyForm, read_change
from papers.valueground.survey.models import OptionPair, Survey, SurveyQuestion
from papers.valueground.survey.pages import survey_list
from papers.valueground.survey.queries import count_table, current_survey
from papers.valueground.survey.samples import SAMPLES
from papers.valueground.survey.services import decisions, survey_import
from papers.valueground.survey.services.decisions import DecisionRefused
from people.models import User
from people.views.request_helpers import current_user

KEY, IMPORT_KEY = "survey", "import"
LISTED, COUNTED = 50, 40  # questions of a page


def _context(request: HttpRequest, benchmark: Benchmark, **more: Any) -> dict[str, Any]:
    nav = tabs_for(request.user, benchmark, KEY)
    return {"benchmark": benchmark, "nav": nav, "who_place": benchmark.name, **more}


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def survey_page(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """The questions with their proposed pairs; `view=counts` shows how many answers each has in each country."""
    survey = current_survey(benchmark)
    if survey is None:
        if request.method == "POST":
            raise Http404
        return render(request, "papers/valueground/survey.html", _context(request, benchmark, survey=None))
    if request.method == "POST":
        return _decide(request, benchmark, survey)
    if request.GET.get("view") == "counts":
        return _counts(request, benchmark, survey)
    return _list(request, benchmark, survey)


def _list(
    request: HttpRequest, benchmark: Benchmark, survey: Survey, key: str = "", fault: str = "",
    posted: dict[str, str] | None = None,
) -> HttpResponse:  # fmt: skip
    """`fault`: why what was posted about the question `key` is refused; its form keeps what was typed."""
    rows = survey_list.survey_rows(survey)
    asked = {name: request.GET.get(name, "")[:60].replace("\x00", "") for name in ("state", "flag", "q", "act")}
    asked["q"] = key or asked["q"]
    chosen = survey_list.filter_rows(rows, asked["state"], asked["flag"])
    row = survey_list.find_row(rows if asked["q"] else chosen, asked["q"])
    pages = Paginator(chosen, LISTED)
    at = chosen.index(row) if row in chosen else 0
    number = request.GET.get("page") or (at // LISTED + 1)
    states, flags = survey_list.filter_choices(rows, asked["state"])
    left, looked, least = survey_list.looked_counts(rows)
    context = _context(
        request, benchmark, survey=survey, page=pages.get_page(number), row=row, asked=asked, states=states,
        flags=flags, n_questions=len(rows), unflagged=left, looked=looked, least=least, fault=fault, posted=posted,
        view=survey_list.question_view(row, posted) if row else None,
        previous=chosen[at - 1].question.key if row in chosen and at else "",
        reasons=SurveyQuestion.Reason.choices, undo=_undo_text(survey, asked["act"]),
        query=urlencode([(name, asked[name]) for name in ("state", "flag") if asked[name]]),
    )  # fmt: skip
    return render(request, "papers/valueground/survey.html", context, status=400 if fault else 200)


def _undo_text(survey: Survey, act: str) -> str:
    """What the last press did, while it can be undone."""
    try:
        pairs = OptionPair.objects.filter(question__survey=survey, act=uuid.UUID(act), current=True)
    except ValueError:
        return ""
    n, pair = pairs.count(), pairs.select_related("question").first()
    if pair is None:
        return ""
    if n == 1:
        return f"{pair.question.key}: {pair.get_state_display()}"
    return ngettext("%(n)s question confirmed.", "%(n)s questions confirmed.", n) % {"n": n}


def _counts(request: HttpRequest, benchmark: Benchmark, survey: Survey) -> HttpResponse:
    page = Paginator(survey.questions.order_by("position"), COUNTED).get_page(request.GET.get("page"))
    labels, table = count_table(survey, page.object_list)
    rows = [(question, [table.get(question.pk, {}).get(label.pk) for label in labels]) for question in page]
    context = _context(request, benchmark, survey=survey, labels=labels, rows=rows, page=page)
    return render(request, "papers/valueground/survey_counts.html", context)


Action = Callable[[HttpRequest, SurveyQuestion, User], uuid.UUID | None]


def _change(request: HttpRequest, question: SurveyQuestion, user: User) -> uuid.UUID:
    row = next(row for row in survey_list.survey_rows(question.survey) if row.question.pk == question.pk)
    change = read_change(request.POST, [line.code for line in survey_list.question_view(row).scale])
    return decisions.change(question, change.a, change.b, change.places, user)


ACTIONS: dict[str, Action] = {
    "confirm": lambda request, question, user: decisions.confirm(question, user),
    "change": _change,
    "exclude": lambda request, question, user: decisions.exclude(
        question, request.POST.get("reason", ""), request.POST.get("note", "").replace("\x00", ""), user
    ),
    "include": lambda request, question, user: decisions.include(question, user),
    "look": lambda request, question, user: decisions.look(question, user),
}


def _decide(request: HttpRequest, benchmark: Benchmark, survey: Survey) -> HttpResponse:
    """One press: a decision about a question, about all without a flag, or the undoing of one."""
    user, action = current_user(request), request.POST.get("action", "")
    if action in ("confirm_unflagged", "undo"):
        return _decide_many(request, survey, action, user)
    question = survey.questions.filter(key=request.POST.get("question", "").replace("\x00", "")).first()
    if question is None or action not in ACTIONS:
        raise Http404
    rows = survey_list.survey_rows(survey)
    chosen = survey_list.filter_rows(rows, request.GET.get("state", ""), request.GET.get("flag", ""))
    try:
        act = ACTIONS[action](request, question, user)
    except DecisionRefused as refusal:
        posted = {name: str(value) for name, value in request.POST.items()}
        return _list(request, benchmark, survey, question.key, str(refusal), posted)
    return _back(request, q=survey_list.key_after(chosen, question), act=str(act or ""))


def _decide_many(request: HttpRequest, survey: Survey, action: str, user: User) -> HttpResponse:
    try:
        if action == "undo":
            n = decisions.undo(survey, uuid.UUID(request.POST.get("act", "")), user)
            messages.info(request, ngettext("%(n)s decision undone.", "%(n)s decisions undone.", n) % {"n": n})
            return _back(request, q=request.POST.get("question", ""))
        act, _n = decisions.confirm_unflagged(survey, user)
    except ValueError:
        raise Http404 from None
    except DecisionRefused as refusal:
        messages.error(request, str(refusal))
        return _back(request, q=request.POST.get("question", ""))
    return _back(request, act=str(act))


def _back(request: HttpRequest, **values: str) -> HttpResponse:
    """The same page with its filters."""
    kept = {name: request.GET[name] for name in ("state", "flag") if request.GET.get(name)}
    query = urlencode([(name, value) for name, value in {**kept, **values}.items() if value])
    return HttpResponseRedirect(f"{request.path}?{query}" if query else request.path)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def import_page(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Upload the files of a survey. The work itself is a job; its page follows it."""
    if (sample := request.GET.get("sample", "")) in SAMPLES and request.method != "POST":
        response = HttpResponse(SAMPLES[sample], content_type="text/csv; charset=utf-8")
        response.headers["Content-Disposition"] = f'attachment; filename="{sample}.csv"'
        return response
    survey = current_survey(benchmark)
    form = SurveyForm(request.POST or None, request.FILES or None, benchmark=benchmark, survey=survey)
    if request.method == "POST" and form.is_valid():
        job = survey_import.start(benchmark, current_user(request), form.uploads, form.survey_settings)
        return redirect("jobs:job", job.pk)
    context = _context(
        request, benchmark, form=form, survey=survey, jobs=job_reports.recent(benchmark.scope, survey_import.KIND),
        survey_url=reverse("benchmarks:plugin_page", args=[benchmark.slug, KEY]),
    )  # fmt: skip
    return render(request, "papers/valueground/survey_import.html", context, status=400 if form.errors else 200)


PAGES = (
    PluginPage(KEY, gettext_lazy("Survey"), survey_page, fills=OPTIONS),
    PluginPage(IMPORT_KEY, gettext_lazy("Import a survey"), import_page, imports=True),
)
