"""The review queue of a benchmark: as a list, and one answer at a time, the longest waiting first."""

from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import answer_for_review, review_for
from annotation.models import Annotation, Review
from annotation.pages.decisions import decision_view
from annotation.pages.review_list import ListRow, list_of, row_of
from annotation.pages.review_reasons import REFUSED, REFUSED_IN_LIST
from annotation.pages.review_turns import Reader, turns_of
from annotation.pages.reviewer_pace import pace_of
from annotation.pages.reviews import decision_to_undo, queue_of, sheet_for
from annotation.pages.sheet_view import language
from annotation.pages.status_text import time_zone_for
from annotation.queries import review_queue
from annotation.services.review import reviews, second_reviews
from annotation.services.review.reviews import ReviewRefused
from annotation.sheets.sheet import strip_nul
from benchmarks.access import benchmark_for, is_permitted
from benchmarks.models import Benchmark
from benchmarks.pages.tabs import tabs_for
from jobs.formats.numbers import parse_id
from jobs.queries.read_once import rows_read_once
from people.models import User
from people.views.request_helpers import current_user

UNDO = "undo"  # of a person's own second decision
DECISIONS = (*Review.Decision.values, UNDO)


def _context(request: HttpRequest, benchmark: Benchmark, user: User, **more: Any) -> dict[str, Any]:
    return {
        "benchmark": benchmark,
        "nav": tabs_for(user, benchmark, "review"),
        "who_place": benchmark.name,
        "done": _latest_decision(request, benchmark, user),
        **more,
    }


def _latest_decision(request: HttpRequest, benchmark: Benchmark, user: User) -> Any:
    """The decision just made, named in the address while its reviewer may take it back."""
    rows = Review.objects.filter(
        pk=parse_id(request.GET.get("done")),
        reviewer=user,
        undone_at=None,
        annotation__assignment__campaign__stage__benchmark=benchmark,
    )
    review = rows.select_related("annotation__assignment__campaign__stage", "reviewer").first()
    if review is None:
        return None
    return decision_view(review, review.annotation.assignment.campaign.stage, time_zone_for(user), language())


@never_cache
@login_required
@require_safe
@rows_read_once()
def queue(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark, user = benchmark_for(request.user, slug, can="review"), current_user(request)
    if "after" in request.GET:
        return _next(benchmark, user, request.GET["after"])
    reader = _reader(benchmark, user)
    params = {name: str(strip_nul(value)) for name, value in request.GET.items()}
    page = queue_of(benchmark, user, reader.at, reader.zone, reader.language)
    pace = pace_of(reader) if is_permitted(user, benchmark, "work_on") else None
    context = _context(request, benchmark, user, queue=page, list=list_of(reader, params), pace=pace)
    return render(request, "annotation/reviews/queue.html", context)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def review(request: HttpRequest, slug: str, annotation_id: int) -> HttpResponse:
    benchmark, user = benchmark_for(request.user, slug, can="review"), current_user(request)
    answer = answer_for_review(user, benchmark, annotation_id)
    posted = {name: str(strip_nul(request.POST.get(name, ""))) for name in ("decision", "reason", "comment")}
    refused = ""
    if request.method == "POST" and posted["decision"] in DECISIONS:
        try:
            done = _decide(request, answer, user, posted)
            return _next(benchmark, user, str(answer.pk), done=done) if done else _next_turn(request, benchmark)
        except ReviewRefused as error:
            if error.reason not in ("no_reason", "closed"):
                messages.info(request, str(REFUSED[_reason(error, answer, user)]))
                return _next(benchmark, user, str(answer.pk))
            refused = str(REFUSED[error.reason])
    reader = _reader(benchmark, user)
    turn = turns_of(reader, [answer.pk]).get(answer.pk)
    sheet = sheet_for(answer, benchmark, reader.at, reader.zone, reader.language, turn)
    batch = review_queue.review_counts([answer.assignment.campaign.stage]).get(answer.assignment.campaign.stage_id)
    runs = is_permitted(user, benchmark, "work_on")
    decision = decision_to_undo(answer, user, reader.zone, reader.language, runs=runs, turn=turn)
    context = _context(
        request, benchmark, user, sheet=sheet, batch=batch, refused=refused, typed=posted, decision_to_undo=decision
    )
    return render(request, "annotation/reviews/sheet.html", context, status=422 if refused else 200)


@never_cache
@login_required
@require_POST
def decide(request: HttpRequest, slug: str, annotation_id: int) -> HttpResponse:
    """A decision from the list: its row comes back, or the whole page where there is no script."""
    benchmark, user = benchmark_for(request.user, slug, can="review"), current_user(request)
    answer = answer_for_review(user, benchmark, annotation_id)
    posted = {name: str(strip_nul(request.POST.get(name, ""))) for name in ("decision", "reason", "comment")}
    if posted["decision"] not in DECISIONS:
        raise Http404
    refused = ""
    try:
        _decide(request, answer, user, posted)
    except ReviewRefused as error:
        reason = _reason(error, answer, user)
        refused = str(REFUSED_IN_LIST.get(reason) or REFUSED[reason])
    return _list_reply(request, benchmark, user, answer, refused)


@never_cache
@login_required
@require_POST
def undo(request: HttpRequest, slug: str, review_id: int) -> HttpResponse:
    benchmark, user = benchmark_for(request.user, slug, can="review"), current_user(request)
    old_review = review_for(user, benchmark, review_id)
    refused = ""
    try:
        reviews.undo(old_review.pk, user, timezone.now(), runs=is_permitted(user, benchmark, "work_on"))
    except ReviewRefused as error:
        refused = str(REFUSED_IN_LIST.get(error.reason) or REFUSED[error.reason])
    if "list" in request.POST:
        return _list_reply(request, benchmark, user, old_review.annotation, refused)
    if refused:
        messages.info(request, refused)
        return redirect("annotation:review_queue", slug)
    return redirect("annotation:review", slug, old_review.annotation_id)


def _decide(request: HttpRequest, answer: Annotation, user: User, posted: dict[str, str]) -> int:
    """The decision that the page offered; the id of the review, 0 for a second or third decision or its undoing."""
    turn, at = request.POST.get("turn", ""), timezone.now()
    if posted["decision"] == UNDO:
        benchmark = answer.assignment.campaign.stage.benchmark
        second_reviews.undo_second(answer.pk, user, at, runs=is_permitted(user, benchmark, "work_on"))
        return 0
    if turn not in ("second", "third"):
        return reviews.decide(answer.pk, user, at=at, **posted).pk
    second_reviews.decide_round(answer.pk, turn, user, at=at, **posted)
    return 0


def _reason(error: ReviewRefused, answer: Annotation, user: User) -> str:
    """Why nothing was decided. A person's own decision, as in another window, is not called somebody else's."""
    if error.reason != "decided":
        return error.reason
    firsts = Review.objects.filter(annotation=answer, undone_at=None)
    is_own = firsts.filter(Q(reviewer=user) | Q(second__reviewer=user)).exists()
    return "yours" if is_own else "decided"


def _next_turn(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Back to the list of second reviews or conflicts, where the next one is."""
    messages.success(request, _("Your decision was saved."))
    state = "second" if request.POST.get("turn") == "second" else "conflict"
    return redirect(f"{reverse('annotation:review_queue', args=[benchmark.slug])}?state={state}#answers")


def _reader(benchmark: Benchmark, user: User) -> Reader:
    return Reader(benchmark, user, timezone.now(), time_zone_for(user), language())


def _list_reply(
    request: HttpRequest, benchmark: Benchmark, user: User, answer: Annotation, refused: str
) -> HttpResponse:
    """The row of an answer as it is now, for a script; else back to the page of the list that the form names."""
    query = urlencode(parse_qsl(str(strip_nul(request.POST.get("list", "")))))
    if request.headers.get("X-Requested-With") == "emic":
        row: ListRow = row_of(answer, _reader(benchmark, user))
        context = {"row": row, "benchmark": benchmark, "refused": refused, "query": query}
        return render(request, "annotation/reviews/row.html", context, status=422 if refused else 200)
    if refused:
        messages.error(request, refused)
    return redirect(f"{reverse('annotation:review_queue', args=[benchmark.slug])}?{query}#answers")


def _next(benchmark: Benchmark, user: User, answer_id: str, *, done: int = 0) -> HttpResponse:
    """The next that waits after the one named, else the first; with none left, the queue."""
    next_id = review_queue.next_after(benchmark, user, parse_id(answer_id))
    to = reverse("annotation:review_queue", args=[benchmark.slug])
    if next_id is not None:
        to = reverse("annotation:review", args=[benchmark.slug, next_id])
    return redirect(f"{to}?done={done}" if done else to)
