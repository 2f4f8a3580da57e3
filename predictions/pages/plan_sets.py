"""The pages of plan sets: what a plan will ask and cost before it starts, and how far its runs are."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, Sum
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from benchmarks.models import Benchmark
from benchmarks.queries.model_conditions import is_judging
from predictions.models import Attempt, Call, PlanSet, Run
from predictions.pages.runs import RunRow, rows_of_runs, waits_for_items
from predictions.pages.stopped_runs import FailedRun, failed_runs, has_failed
from predictions.pages.variant_names import VariantNames
from predictions.queries.endpoints import models_of
from predictions.queries.model_conditions import OfferedCondition
from predictions.queries.model_details import without_detail
from predictions.queries.unfinished_runs import failed_of
from predictions.services.runs import plan_sets
from predictions.services.runs.plan_sets import RunOutlook
from predictions.services.runs.repeatable_calls import can_ask
from predictions.texts import call_reasons
from predictions.texts.conditions import need_text

SHOWN = 20
STATE_TEXTS = {
    "running": gettext_lazy("Models are being asked. You can leave this page."),
    "paused": gettext_lazy("The plan set is paused. No requests are sent."),
    "cancelled": gettext_lazy("The plan set was stopped. What was answered stays and counts."),
    "budget": gettext_lazy("The budget is spent. Raise it to ask the rest."),
    "waiting": gettext_lazy("Every item is asked. Runs that follow new items wait for them."),
    "attention": gettext_lazy("Some runs are paused. Their pages say why."),
    "done": gettext_lazy("Every run has ended."),
}
CHIPS = {"running": "wait", "paused": "back", "cancelled": "hollow", "budget": "back", "waiting": "hollow",
         "attention": "back", "done": "ok"}  # fmt: skip
LABELS = {
    "running": gettext_lazy("Running"),
    "paused": gettext_lazy("Paused"),
    "cancelled": gettext_lazy("Stopped"),
    "budget": gettext_lazy("Budget spent"),
    "waiting": gettext_lazy("Waiting for items"),
    "attention": gettext_lazy("Paused"),
    "done": gettext_lazy("Done"),
}


@dataclass(frozen=True)
class ConditionRow:
    """A condition as the form explains it. `problem`: why it cannot be chosen now; empty where it can."""

    offer: OfferedCondition
    needs: str
    problem: str


@dataclass(frozen=True)
class OutlookRow:
    """A model under a condition before the start. `missing`: reasons, and how many items have each. `unlisted`: the
    endpoint named its models when its connection was checked, and this is none of them."""

    outlook: RunOutlook
    offer: OfferedCondition
    missing: Sequence[tuple[str, int]]
    unlisted: bool = False


@dataclass(frozen=True)
class PlanOutlook:
    """All rows with their sums. `seen` changes with whatever would start; `dollars` is None where a price is unknown.

    Attributes:
        new: runs that would start; `existing`: those that there are already.
        requests: requests that would be sent.
        missing: items that cannot be asked, over all runs.
    """

    rows: Sequence[OutlookRow]
    new: int
    existing: int
    requests: int
    missing: int
    dollars: tuple[Decimal, Decimal] | None
    seen: str


def condition_rows(offers: Sequence[OfferedCondition]) -> list[ConditionRow]:
    return [
        ConditionRow(offer, ", ".join(map(need_text, offer.condition.needs)), _condition_problem(offer))
        for offer in offers
    ]


def _condition_problem(offer: OfferedCondition) -> str:
    if offer.prompt is None:
        return _("This site has no prompt “%(key)s”.") % {"key": offer.condition.prompt}
    return "" if offer.campaign else _("The stage is not open.")


def plan_outlook(outlooks: Sequence[RunOutlook], offers: Sequence[OfferedCondition]) -> PlanOutlook:
    by_key = {offer.condition.key: offer for offer in offers}
    listed = {outlook.planned.plan.endpoint.pk: outlook.planned.plan.endpoint for outlook in outlooks}
    models = {pk: set(models_of(endpoint)) for pk, endpoint in listed.items()}
    rows = []
    for outlook in outlooks:
        missing = outlook.estimate.missing_input if outlook.estimate else {}
        reasons = [(call_reasons.reason_text(code), n) for code, n in missing.items()]
        plan = outlook.planned.plan
        is_unlisted = bool(models[plan.endpoint.pk]) and plan.model not in models[plan.endpoint.pk]
        rows.append(OutlookRow(outlook, by_key[outlook.planned.condition], reasons, is_unlisted))
    estimates = [outlook.estimate for outlook in outlooks if outlook.estimate]
    prices = [each.dollars for each in estimates]
    known = [each for each in prices if each is not None]
    dollars = (sum((low for low, _high in known), Decimal(0)), sum((high for _low, high in known), Decimal(0)))
    return PlanOutlook(
        rows,
        new=len(estimates),
        existing=sum(outlook.existing is not None for outlook in outlooks),
        requests=sum(each.to_ask for each in estimates),
        missing=sum(outlook.missing for outlook in outlooks),
        dollars=dollars if known and len(known) == len(prices) else None,
        seen=_fingerprint(outlooks),
    )


def start_problem(look: PlanOutlook, confirmed: int) -> str:
    """Why the runs do not start now; empty where they do, or where all of them exist."""
    if not look.new:
        return "" if look.existing else _("None of these runs can start. Each row says why.")
    if look.missing and confirmed != look.missing:
        return _("Some items cannot be asked. Confirm their number to ask the others.")
    return ""


def _fingerprint(outlooks: Sequence[RunOutlook]) -> str:
    parts = []
    for outlook in outlooks:
        plan = outlook.planned.plan
        state = outlook.missing if outlook.estimate else "exists" if outlook.existing else "refused"
        parts.append(f"{plan.campaign.pk}|{plan.endpoint.pk}|{plan.model}|{outlook.planned.condition}|{state}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class SetRunRow(RunRow):
    """A run of a set with its cost in US dollars, as far as it is known."""

    cost: Decimal = Decimal(0)


def failed_text(n: int) -> str:
    """How many runs failed; empty for none."""
    return ngettext("%(n)s run failed", "%(n)s runs failed", n) % {"n": n} if n else ""


def failed_calls_text(n: int) -> str:
    """How many calls failed in runs that gave answers; empty for none."""
    text = ngettext("%(n)s call failed", "%(n)s calls failed", n)
    return text % {"n": number_format(n, use_l10n=True)} if n else ""


@dataclass(frozen=True)
class PlanSetProgress:
    """How far a set is. `failed`: named before what the others do. `failed_calls`: of these others, what *Retry failed*
    asks again. `ended`: calls that ended, with or without an
    answer. `cost`: US dollars as far as they are known; `unaccounted`: what requests of unknown cost may have cost at
    most. `unpriced`: whether there are some. `spent`: percent of the budget; None without one."""

    rows: Sequence[SetRunRow]
    failed: Sequence[FailedRun]
    answered: int
    total: int
    ended: int
    cost: Decimal
    unaccounted: Decimal
    unpriced: bool
    spent: float | None
    state: str
    live: bool
    seen: str
    failed_calls: int = 0

    @property
    def label(self) -> str:
        return str(LABELS[self.state])

    @property
    def chip(self) -> str:
        return CHIPS[self.state]

    @property
    def text(self) -> str:
        text = str(STATE_TEXTS[self.state])
        is_over = self.state in ("done", "waiting")
        return text + " " + _("“Retry failed” asks again what failed.") if self.failed_calls and is_over else text

    @property
    def failed_calls_label(self) -> str:
        return failed_calls_text(self.failed_calls)

    @property
    def failed_label(self) -> str:
        return failed_text(len(self.failed))

    @property
    def percent(self) -> float:
        """Of all calls those that were answered, as the sentence above the bar says."""
        return 100 * self.answered / self.total if self.total else 0.0

    @property
    def unanswered(self) -> int:
        """Calls that ended without an answer."""
        return self.ended - self.answered


def plan_set_progress(plan_set: PlanSet) -> PlanSetProgress:
    """Eleven queries, however many runs there are; one more where a run failed."""
    names = VariantNames(plan_set.benchmark)
    runs = Run.objects.filter(plan_set=plan_set).order_by("pk")
    runs = runs.select_related("rater", "campaign__stage", "endpoint", "created_by", "job")
    calls = Call.objects.filter(run__plan_set=plan_set)
    sums = calls.order_by().values("run").annotate(dollars=Sum("cost"))
    costs: dict[int, Decimal] = {row["run"]: row["dollars"] for row in sums}
    rows = [SetRunRow(**vars(row), cost=costs.get(row.run.pk, Decimal(0))) for row in rows_of_runs(list(runs), names)]
    cost = sum(costs.values(), Decimal(0))
    unaccounted = sum((row.run.unaccounted for row in rows), Decimal(0))
    waits = calls.filter(state__in=("pending", "running", "over_budget")).count()
    total = sum(row.total for row in rows)
    spent = min(100.0, float(100 * (cost + unaccounted) / plan_set.budget)) if plan_set.budget else None
    state = _state_of(plan_set, [row.run for row in rows])
    failed = failed_runs([row.run for row in rows], names)
    shown: list[Any] = [plan_set.state, plan_set.budget, cost, unaccounted, waits]
    shown += [(row.run.pk, row.state, row.answered, row.total) for row in rows]
    return PlanSetProgress(
        rows, failed, sum(row.answered for row in rows), total, total - waits, cost, unaccounted,
        unpriced=Attempt.objects.filter(call__run__plan_set=plan_set, cost=None).exists(), spent=spent, state=state,
        live=state == "running", seen=hashlib.sha256(repr(shown).encode()).hexdigest()[:16],
        failed_calls=_retryable_calls([row.run for row in rows if not has_failed(row.run)]),
    )  # fmt: skip


def _state_of(plan_set: PlanSet, runs: Sequence[Run]) -> str:
    """What the set is doing: what somebody wanted of it, else what its runs do."""
    standing = [run for run in runs if run.withdrawn_at is None]
    states = {run.state for run in standing}
    if Run.State.RUNNING in states:
        return "running"
    if plan_set.state != PlanSet.State.RUNNING:
        return plan_set.state
    if any(run.state == Run.State.PAUSED and run.stopped_because == "budget" for run in standing):
        return "budget"
    if Run.State.PAUSED in states:
        return "attention"
    return "waiting" if any(map(waits_for_items, standing)) else "done"


@dataclass(frozen=True)
class PlanSetRow:
    """A plan set in the list of predictions."""

    plan_set: PlanSet
    runs: int
    answered: int
    total: int
    failed: int
    failed_calls: int = 0

    @property
    def failed_label(self) -> str:
        return failed_text(self.failed)

    @property
    def failed_calls_label(self) -> str:
        return failed_calls_text(self.failed_calls)


def plan_set_rows(benchmark: Benchmark) -> list[PlanSetRow]:
    """The newest. Four queries."""
    sets = list(PlanSet.objects.filter(benchmark=benchmark).select_related("created_by").order_by("-pk")[:SHOWN])
    runs = rows_of_runs(list(Run.objects.filter(plan_set__in=sets).select_related("job"))) if sets else []
    answering = [row.run for row in runs if row.run.withdrawn_at is None and not has_failed(row.run)]
    calls = failed_of(answering).values_list("run__plan_set").annotate(n=Count("pk")) if answering else ()
    lost = dict(calls)
    rows = []
    for plan_set in sets:
        own = [row for row in runs if row.run.plan_set_id == plan_set.pk]
        answered, total = sum(row.answered for row in own), sum(row.total for row in own)
        failed = sum(has_failed(row.run) for row in own)
        rows.append(PlanSetRow(plan_set, len(own), answered, total, failed, lost.get(plan_set.pk, 0)))
    return rows


def action_context(plan_set: PlanSet, progress: PlanSetProgress) -> dict[str, Any]:
    """Which buttons the page has."""
    runs = [row.run for row in progress.rows if row.run.withdrawn_at is None]
    active = any(run.state in (Run.State.RUNNING, Run.State.PAUSED) or run.follows for run in runs)
    over = plan_set.state == PlanSet.State.CANCELLED
    is_paused = plan_set.state == PlanSet.State.PAUSED
    resumable = any(run.state == Run.State.PAUSED and run.stopped_because != "budget" for run in runs)
    return {
        "may_pause": plan_set.state == PlanSet.State.RUNNING and active,
        "may_resume": not over and (is_paused or resumable),
        "may_stop": not over and active,
        "may_raise": not over and plan_set.budget is not None,
        "may_retry": not over and not is_paused and _retryable_calls(runs),
    }


def _retryable_calls(runs: Sequence[Run]) -> int:
    """Calls of these runs that *Retry failed* would ask again: what lacks an input is left to the page of its run."""
    asked = [run for run in runs if plan_sets.is_retried(run) and can_ask(run)]
    return failed_of(asked).count() if asked else 0


def undescribed_models(benchmark: Benchmark, progress: PlanSetProgress) -> list[str]:
    """Models of the set whose release date nobody has said, or whether they are open. Judges are in no such figure."""
    names = {row.run.rater.name for row in progress.rows if row.run.campaign and not is_judging(row.run.campaign.stage)}
    missing = (without_detail(benchmark.team, names, key) for key in ("released", "open"))
    return sorted({name for some in missing for name in some})


def done_text(text_of: str, n: int) -> str:
    """What an action did, in a sentence."""
    texts = {
        "pause": ngettext(
            "%(n)s run is pausing. Open requests finish.", "%(n)s runs are pausing. Open requests finish.", n
        ),
        "resume": ngettext("%(n)s run goes on.", "%(n)s runs go on.", n),
        "retry": ngettext("%(n)s call is asked again.", "%(n)s calls are asked again.", n),
        "stop": ngettext("%(n)s run was stopped.", "%(n)s runs were stopped.", n),
        "budget": ngettext("The budget was raised. %(n)s run goes on.", "The budget was raised. %(n)s runs go on.", n),
    }
    return texts[text_of] % {"n": n}
