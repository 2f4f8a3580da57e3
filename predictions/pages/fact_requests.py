"""What pages say of requests for facts: how far each is, and why items of a stage wait for a fact."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.queries.waiting_outcomes import items_with_waiting_outcome, outcome_waits
from benchmarks.models import Benchmark, Item, Stage
from benchmarks.pages.panels import Panel
from benchmarks.queries.filter_counts import count_waiting, items_waiting_for
from benchmarks.rules.filters.contract import HASH, PICTURE
from benchmarks.services.intake import judge_job
from jobs.models import Job
from predictions.models import FactFailure, FactRequest
from predictions.models.facts import KEYS, OBJECTS, SCORE
from predictions.queries.fact_requests import FactCounts, count_items, missing_items

State = FactRequest.State
SHOWN = 5  # failures that are listed of a request
REASONS: Mapping[str, Any] = {
    "model": gettext_lazy("detector not reachable"),
    "person": gettext_lazy("paused by a user"),
    "retired": gettext_lazy("endpoint retired"),
    "fault": gettext_lazy("the job failed"),
    "limit": gettext_lazy("its limit is reached"),
}


@dataclass(frozen=True)
class FactRequestRow:
    """A request on the page of facts. `failures`: the first ones."""

    request: FactRequest
    counts: FactCounts
    reason: str
    failures: list[FactFailure]
    is_working: bool


@dataclass(frozen=True)
class FactWait:
    """Items of a stage that wait for one fact.

    Attributes:
        n: how many.
        text: a sentence with their number, the fact and why it is not there.
        detail: what else there is to know.
        label: of the one thing that a person can do about it; empty where nothing is to be done.
        url: where that is done; empty where `request` is resumed.
        request: the request that is paused or has failures.
    """

    stage: Stage
    n: int
    text: str
    detail: str = ""
    label: str = ""
    url: str = ""
    request: FactRequest | None = None


def reason_text(request: FactRequest) -> str:
    """Why a request is paused; empty where it is not."""
    if request.state != State.PAUSED:
        return ""
    if request.reason == "model" and request.what != OBJECTS:
        return _("encoder not reachable")
    return str(REASONS.get(request.reason) or request.reason)


def request_rows(benchmark: Benchmark) -> list[FactRequestRow]:
    """Requests that are not cancelled, the newest first; six queries for each."""
    requests = FactRequest.objects.filter(stage__benchmark=benchmark, run__withdrawn_at=None)
    current = requests.exclude(state=State.CANCELLED).select_related("stage__benchmark", "run__job", "run__rater")
    return [_row(request) for request in current.order_by("-pk")]


def _row(request: FactRequest) -> FactRequestRow:
    failures = request.failures.filter(item__withdrawn_at=None).select_related("item").order_by("item")
    job = request.run.job
    is_working = request.state == State.ACTIVE and job is not None and job.state in Job.LIVE
    return FactRequestRow(request, count_items(request), reason_text(request), list(failures[:SHOWN]), is_working)


def fact_waits(stage: Stage) -> list[FactWait]:
    """Why items of the stage, or the acceptance of their answers, wait: one row for each fact."""
    requests = FactRequest.objects.filter(stage=stage, run__withdrawn_at=None).exclude(state=State.CANCELLED)
    by_key = {key: request for request in requests.select_related("run") for key in KEYS.get(request.what, ())}
    names = {*count_waiting([stage]).get(stage.pk, {}), *outcome_waits([stage]).get(stage.pk, ())}
    waits = ((name, _waiting_items(stage, name).count()) for name in sorted(names))
    return [_wait(stage, name, n, by_key.get(name)) for name, n in waits if n]


def _waiting_items(stage: Stage, name: str) -> QuerySet[Item]:
    """Items that a filter, or the acceptance of whose answers a rule, holds back for this fact."""
    of_filters, of_rules = items_waiting_for(stage, name), items_with_waiting_outcome(stage, name)
    return stage.items.filter(Q(pk__in=of_filters.values("pk")) | Q(pk__in=of_rules.values("pk")))


def _wait(stage: Stage, name: str, n: int, request: FactRequest | None) -> FactWait:
    if name in (HASH, PICTURE):
        return _picture_wait(stage, name, n)
    if request is None:
        return _unrequested(stage, name, n)
    request.stage = stage
    numbers = {"n": n, "fact": name}
    if request.state == State.PAUSED:
        text = ngettext("%(n)s item waits for %(fact)s: %(why)s.", "%(n)s items wait for %(fact)s: %(why)s.", n)
        text %= {**numbers, "why": reason_text(request)}
        if request.reason in ("retired", "limit"):
            return FactWait(stage, n, text, "", _("View facts"), facts_page(stage))
        label = _("Resume") if request.reason == "person" else _("Retry")
        return FactWait(stage, n, text, request.message, label, "", request)
    waiting = _waiting_items(stage, name).values("pk")
    missing = missing_items(request).filter(pk__in=waiting).count()
    failed = request.failures.filter(item__in=waiting).count()
    detail = _left_out(failed, n - missing - failed, request)
    if missing:
        text = ngettext(
            "%(n)s item waits for %(fact)s. It is being computed.",
            "%(n)s items wait for %(fact)s. It is being computed.",
            n,
        )
        return FactWait(stage, n, text % numbers, detail)
    text = ngettext("%(n)s item waits for %(fact)s.", "%(n)s items wait for %(fact)s.", n) % numbers
    return FactWait(stage, n, text, detail, _("View facts"), facts_page(stage))


def _left_out(failed: int, unsuitable: int, request: FactRequest) -> str:
    """Why a request cannot find the fact of some items; empty if it can of all."""
    parts = []
    if failed:
        parts.append(
            ngettext("%(n)s picture cannot be read.", "%(n)s pictures cannot be read.", failed) % {"n": failed}
        )
    if unsuitable > 0 and request.what == SCORE:
        text = ngettext(
            "%(n)s item has no picture, or no text in %(column)s.",
            "%(n)s items have no picture, or no text in %(column)s.",
            unsuitable,
        )
        parts.append(text % {"n": unsuitable, "column": request.options.get("words", "")})
    elif unsuitable > 0:
        parts.append(
            ngettext("%(n)s item has no picture.", "%(n)s items have no picture.", unsuitable) % {"n": unsuitable}
        )
    return " ".join(parts)


def _picture_wait(stage: Stage, name: str, n: int) -> FactWait:
    """Items without a picture, or pictures that were not compared yet."""
    url = f"{reverse('benchmarks:filters', args=[stage.benchmark.slug, stage.pk])}?show=waiting#items"
    if name == PICTURE:
        text = ngettext("%(n)s item waits for a picture.", "%(n)s items wait for a picture.", n)
        return FactWait(stage, n, text % {"n": n}, "", _("View the items"), url)
    text = ngettext(
        "The picture of %(n)s item was not compared yet.", "The pictures of %(n)s items were not compared yet.", n
    )
    job = judge_job.latest_unfinished(stage)
    is_running = job is not None and job.state in Job.LIVE
    return FactWait(stage, n, text % {"n": n}, "", "" if is_running else _("View the items"), "" if is_running else url)


DecisionPage = Callable[[Stage, int], FactWait]
_DECISION_PAGES: dict[str, DecisionPage] = {}


def register_decision(fact: str, page: DecisionPage) -> None:
    """A fact that people decide on a page of their own. `page(stage, n)`: what `n` items that wait for it are told."""
    _DECISION_PAGES[fact] = page


def _unrequested(stage: Stage, name: str, n: int) -> FactWait:
    """Nobody computes the fact: a model here can, or an import brings it."""
    if name in _DECISION_PAGES:
        return _DECISION_PAGES[name](stage, n)
    numbers = {"n": n, "fact": name}
    text = ngettext("%(n)s item waits for %(fact)s.", "%(n)s items wait for %(fact)s.", n) % numbers
    kind = next((kind for kind, keys in KEYS.items() if name in keys), "")
    if kind:
        detail = _("Nothing computes it yet.")
        return FactWait(stage, n, text, detail, _("Compute facts"), facts_page(stage, kind))
    url = f"{reverse('benchmarks:import', args=[stage.benchmark.slug])}?{urlencode({'stage': stage.key})}"
    detail = _("Import it as the column fact.%(fact)s.") % numbers
    return FactWait(stage, n, text, detail, _("Import facts"), url)


def facts_page(stage: Stage, kind: str = "") -> str:
    """The page where facts are asked for; with `kind` at its form."""
    url = reverse("predictions:facts", args=[stage.benchmark.slug])
    return f"{url}?{urlencode({'stage': stage.pk, 'what': kind})}#new" if kind else url


def waits_of_stage(stage: Stage) -> list[FactWait] | None:
    """For the page “Filters”."""
    return (fact_waits(stage) or None) if stage.filters else None


PANEL = Panel("predictions/encoding/fact_waits.html", waits_of_stage)
