"""Actions on many items of the explorer, their undo, and the keys as a file. For those who work on the benchmark."""

from collections.abc import Iterator

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.forms.item_actions import PostedAction, posted_action
from annotation.models import ItemChange
from annotation.services import bulk_actions
from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark, Item
from benchmarks.pages.tabs import tabs_for
from benchmarks.services.number_facts import facts_of_rule
from jobs.formats.csv_safety import escape_formula
from jobs.models import Job
from jobs.services import runner
from people.views.request_helpers import current_user


@login_required
@require_POST
def perform(request: HttpRequest, slug: str) -> HttpResponseBase:
    benchmark = benchmark_for(request.user, slug, can="work_on")
    posted = posted_action(benchmark, request.POST)
    if posted is None:
        raise Http404
    if posted.is_wider:
        text = _("Nothing was changed, since a filter of the page is no longer on offer. Here is what matches now.")
        messages.error(request, text)
        return redirect(_address(benchmark, posted.asked))
    if posted.is_empty:
        messages.error(request, _("Nothing was changed, since no item was selected. Select items first."))
        return redirect(_address(benchmark, posted.asked))
    if posted.action is None:
        return _keys(benchmark, posted)
    if posted.lacks_reason:
        context = {
            "benchmark": benchmark, "posted": posted, "query": request.POST.get("query", ""),
            "was_asked": "reason" in request.POST, "rule_facts": _rule_facts(posted),
            "nav": tabs_for(request.user, benchmark, "items"),
            "who_place": benchmark.name,
        }  # fmt: skip
        return render(request, "annotation/item_action_reason.html", context)
    job = bulk_actions.start(
        benchmark, current_user(request), posted.action, ids=posted.ids, asked=posted.asked, reason=posted.reason
    )
    return _follow(benchmark, job, posted.asked)


@login_required
@require_POST
def undo(request: HttpRequest, slug: str, job_id: int) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug, can="work_on")
    job = Job.objects.filter(pk=job_id, kind=bulk_actions.KIND, scope=benchmark.scope).first()
    if job is None or job.params.get("undo") or job.state in Job.LIVE:
        raise Http404
    undo_job = bulk_actions.start_undo(benchmark, current_user(request), job)
    return _follow(benchmark, undo_job, job.params.get("asked", {}))


def _follow(benchmark: Benchmark, job: Job, asked: dict[str, str]) -> HttpResponse:
    """A few items are changed now; of many the page of the job shows the progress."""
    ids, undone = job.params["ids"], job.params.get("undo")
    n = ItemChange.objects.filter(job=undone, undone_at=None).count() if undone else len(ids or ())
    if (undone or ids is not None) and n <= bulk_actions.AT_ONCE:
        runner.run(job.pk)
        return redirect(_address(benchmark, {**asked, "done": str(job.pk)}))
    return redirect("jobs:job", job.pk)


def _address(benchmark: Benchmark, asked: dict[str, str]) -> str:
    return reverse("benchmarks:items", args=[benchmark.slug], query=asked)


def _rule_facts(posted: PostedAction) -> list[str]:
    """Facts that rules of acceptance of the stages read, where items are kept whatever their filters say."""
    if posted.action is None or posted.action.key != "keep":
        return []
    return sorted(frozenset().union(*(facts_of_rule(stage) for stage in posted.selection.stages)))


def _keys(benchmark: Benchmark, posted: PostedAction) -> StreamingHttpResponse:
    """The keys as CSV, a row each, in constant memory."""
    rows = posted.selection.rows() if posted.ids is None else Item.objects.filter(pk__in=posted.ids)

    def lines() -> Iterator[str]:
        yield "stage,key\r\n"
        for stage, key in rows.order_by("pk").values_list("stage__key", "key").iterator(chunk_size=2000):
            yield ",".join(f'"{escape_formula(text).replace(chr(34), chr(34) * 2)}"' for text in (stage, key)) + "\r\n"

    reply = StreamingHttpResponse(lines(), content_type="text/csv; charset=utf-8")
    reply["Content-Disposition"] = f'attachment; filename="{benchmark.slug}-keys.csv"'
    return reply
