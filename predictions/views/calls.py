"""One call with everything that is known of it, and all calls of a run as a file."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.fields.bound_field import AnswerView, answer_views
from annotation.pages.sheet_view import localiser_for
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.access import benchmark_for
from predictions.access import answer_run_for, call_for
from predictions.models import Call
from predictions.pages.reply_notes import note_rows
from predictions.pages.requests import exchanges_of_call
from predictions.pages.runs import failure_text, kept_replies, state_chip
from predictions.queries.exports import call_lines
from predictions.queries.progress import attempts_of
from predictions.texts import call_reasons
from predictions.views.overview import page_context


@login_required
@require_safe
@never_cache
def call(request: HttpRequest, slug: str, run_id: int, call_id: int) -> HttpResponse:
    """What was sent, what came, how it was read, and every attempt."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    run = answer_run_for(benchmark, run_id)
    call = call_for(run, call_id)
    replies = kept_replies(call)
    state, chip = state_chip(call)
    context = {
        "run": run,
        "call": call,
        "state": state,
        "chip": chip,
        "why": failure_text(call),
        "way": call_reasons.method_label(replies[0].request.get("kind", "") if replies else "", call.how),
        "exchanges": exchanges_of_call(replies, benchmark.team),
        "attempts": attempts_of(call),
        "noted": note_rows(call.notes),
        "answers": _answers(call),
    }
    return render(request, "predictions/call.html", page_context(request, benchmark, **context))


def _answers(call: Call) -> list[AnswerView]:
    """As those of people are shown. A question that the sheet has not is left out."""
    annotation = call.annotation
    if annotation is None:
        return []
    speech = localiser_for(None, call.unit.target if call.unit else "")
    return answer_views(sheet_of(annotation.sheet_version).fields, speech, annotation.answers)


@login_required
@require_safe
@never_cache
def calls_file(request: HttpRequest, slug: str, run_id: int) -> StreamingHttpResponse:
    """JSON Lines, one call in each."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    run = answer_run_for(benchmark, run_id)
    headers = {"Content-Disposition": f'attachment; filename="{benchmark.slug}-run-{run.pk}-calls.jsonl"'}
    return StreamingHttpResponse(call_lines(run), content_type="application/x-ndjson", headers=headers)
