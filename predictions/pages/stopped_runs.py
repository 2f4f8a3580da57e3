"""Runs of models that failed or stand still: why, and where somebody goes on with them."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmarks.access import is_permitted
from benchmarks.models import Benchmark
from benchmarks.pages.next_actions import NextAction
from jobs.models import Event
from jobs.queries.read_together import read_for_each
from people.models import User
from predictions.models import Call, Run
from predictions.pages.runs import variant_of
from predictions.pages.variant_names import VariantNames
from predictions.queries.unfinished_runs import asking_runs, failed_of
from predictions.services.runs.repeatable_calls import can_ask
from predictions.texts import call_reasons

State = Run.State


@dataclass(frozen=True)
class FailedRun:
    """A run that ended without any answer, and why most of its calls have none. `variant`: how it was asked."""

    run: Run
    reason: str
    variant: str = ""


def failed_runs(runs: Sequence[Run], names: VariantNames | None = None) -> list[FailedRun]:
    """Those that count, each with the commonest reason of its calls. One query where there is one."""
    failed = [run for run in runs if has_failed(run)]
    if not failed:
        return []
    calls = Call.objects.filter(run__in=failed).exclude(reason="").order_by()
    counts = calls.values_list("run", "reason").annotate(n=Count("pk")).order_by("n", "reason")
    reasons = {run: reason for run, reason, _n in counts}
    return [
        FailedRun(
            run, call_reasons.reason_text(reasons.get(run.pk, "")), variant_of(run, names) if names is not None else ""
        )
        for run in failed
    ]


def has_failed(run: Run) -> bool:
    return run.state == State.FAILED and run.withdrawn_at is None


def retry_failed_runs(benchmark: Benchmark, user: User) -> NextAction | None:
    """Runs ended without any answer: where their calls are asked again."""
    failed = read_for_each(benchmark, _failed_of_each) if is_permitted(user, benchmark, "work_on") else ()
    if not failed:
        return None
    text = ngettext("%(n)s run of a model failed.", "%(n)s runs of models failed.", len(failed))
    reason = _commonest([failure.reason for failure in failed])
    return _action(benchmark, text % {"n": len(failed)}, [failure.run for failure in failed], reason, "retry")


def retry_failed_calls(benchmark: Benchmark, user: User) -> NextAction | None:
    """Runs are done, and some of their calls failed, which nobody has asked again yet. What fails once more holds up
    nothing: the export names it."""
    if not is_permitted(user, benchmark, "work_on"):
        return None
    failures = read_for_each(benchmark, _failed_calls_of_each)
    if not failures:
        return None
    runs = [run for run, _reasons in failures]
    texts = [call_reasons.reason_text(reason) for _run, reasons in failures for reason in reasons]
    text = ngettext(
        "Models have answered, but %(n)s call failed. Ask it again with “Retry failed”.",
        "Models have answered, but %(n)s calls failed. Ask them again with “Retry failed”.",
        len(texts),
    )
    return _action(benchmark, text % {"n": number_format(len(texts), use_l10n=True)}, runs, _commonest(texts), "retry")


def _failed_calls_of_each(benchmarks: Sequence[Benchmark]) -> Mapping[int, Sequence[tuple[Run, Sequence[str]]]]:
    """Runs that can ask again and that nobody has retried, each with the reasons of its failed calls. Three queries."""
    reasons: dict[int, list[str]] = defaultdict(list)
    for pk, reason in failed_of(asking_runs(benchmarks).filter(state=State.DONE)).values_list("run", "reason"):
        reasons[pk].append(reason)
    scopes, targets = [benchmark.scope for benchmark in benchmarks], [f"run:{pk}" for pk in reasons]
    retried = Event.objects.filter(scope__in=scopes, verb="run.retried", target__in=targets)
    for target in retried.values_list("target", flat=True) if targets else ():
        reasons.pop(int(target.partition(":")[2]), None)
    failures: dict[int, list[tuple[Run, Sequence[str]]]] = defaultdict(list)
    for run in Run.objects.filter(pk__in=list(reasons)).select_related("endpoint", "campaign").order_by("pk"):
        if can_ask(run):
            failures[run.benchmark_id].append((run, reasons[run.pk]))
    return failures


def resume_runs(benchmark: Benchmark, user: User) -> NextAction | None:
    """Runs are paused, or wait to be started: why, and where they go on."""
    stopped = _stopped_runs(benchmark, user, State.PAUSED, State.DRAFT)
    paused = [run for run in stopped if run.state == State.PAUSED]
    if paused:
        text = ngettext("%(n)s run of a model is paused.", "%(n)s runs of models are paused.", len(paused))
        reasons = [call_reasons.pause_reason_text(run.stopped_because) for run in paused if run.stopped_because]
        return _action(benchmark, text % {"n": len(paused)}, paused, _commonest(reasons))
    if not stopped:
        return None
    text = ngettext("%(n)s run of a model has not begun.", "%(n)s runs of models have not begun.", len(stopped))
    return _action(benchmark, text % {"n": len(stopped)}, stopped, "")


def _stopped_runs(benchmark: Benchmark, user: User, *states: str) -> list[Run]:
    """For those who may go on with them."""
    if not is_permitted(user, benchmark, "work_on"):
        return []
    return [run for run in read_for_each(benchmark, _stopped_of_each) or () if run.state in states]


def _stopped_of_each(benchmarks: Sequence[Benchmark]) -> Mapping[int, Sequence[Run]]:
    """Nothing goes on in them before a person does something."""
    runs: dict[int, list[Run]] = defaultdict(list)
    for run in asking_runs(benchmarks).filter(state__in=(State.FAILED, State.PAUSED, State.DRAFT)).order_by("pk"):
        runs[run.benchmark_id].append(run)
    return runs


def _failed_of_each(benchmarks: Sequence[Benchmark]) -> Mapping[int, Sequence[FailedRun]]:
    failures: dict[int, list[FailedRun]] = defaultdict(list)
    for failure in failed_runs(list(asking_runs(benchmarks).filter(state=State.FAILED).order_by("pk"))):
        failures[failure.run.benchmark_id].append(failure)
    return failures


def _commonest(reasons: Sequence[str]) -> str:
    """The reason of all, or of most, with how many."""
    if not reasons:
        return ""
    [(reason, n)] = Counter(reasons).most_common(1)
    return reason if n == len(reasons) else _("%(n)s of them: %(reason)s") % {"n": n, "reason": reason}


def _action(benchmark: Benchmark, text: str, runs: Sequence[Run], reason: str, anchor: str = "") -> NextAction:
    """Runs that were planned together are shown together. `anchor`: a place on the page."""
    place = f"#{anchor}" if anchor else ""
    plan_sets = {run.plan_set_id for run in runs}
    plan_set = next(iter(plan_sets)) if len(plan_sets) == 1 else None
    if plan_set is not None:
        label, url = _("View plan set"), reverse("predictions:plan_set", args=[benchmark.slug, plan_set]) + place
    elif len(runs) == 1:
        label, url = _("View run"), reverse("predictions:answer_run", args=[benchmark.slug, runs[0].pk]) + place
    else:
        label, url = _("View runs"), reverse("predictions:index", args=[benchmark.slug])
    tables = (_("View the tables"), reverse("evaluation:tables", args=[benchmark.slug]))
    return NextAction(text, label, url, reason, tables)
