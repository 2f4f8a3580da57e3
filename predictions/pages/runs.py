"""What the pages of a run show: its state in words, counts by state, everything frozen, and calls page by page."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Count
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Left
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.pages.campaigns import sheet_version_text
from benchmarks.models import Benchmark
from predictions.models import Attempt, Call, Reply, Run
from predictions.models.calls import INCOMPLETE
from predictions.pages.variant_names import VariantNames
from predictions.prompts import registry
from predictions.queries.endpoints import OFFERED
from predictions.queries.progress import FROZEN, QUEUED, UNASKED, WAITS, RunProgress, in_states, is_frozen
from predictions.services.runs import repeatable_calls
from predictions.services.runs.asked_about import KINDS
from predictions.templatetags.money import exact_amount
from predictions.texts import call_reasons

PAGE = 100
EXCERPT = 240
State = Call.State
CHIPS = {
    State.PENDING: "hollow",
    State.RUNNING: "wait",
    State.ANSWERED: "ok",
    State.NO_RESPONSE: "back",
    State.REFUSED: "back",
    State.UNPARSEABLE: "back",
    State.OUT_OF_RANGE: "back",
    State.OVER_BUDGET: "back",
    State.FAILED: "no",
}
RUN_CHIPS = {"draft": "hollow", "running": "wait", "paused": "back", "cancelled": "hollow", "done": "ok",
             "failed": "no"}  # fmt: skip
STATES = (*State.values, UNASKED, INCOMPLETE)
NOT_ASKED = gettext_lazy("Not asked: the run was stopped")
STATE_TEXTS = {
    Run.State.DRAFT: gettext_lazy("The run has not begun."),
    Run.State.RUNNING: gettext_lazy("The run is in progress. You can leave this page."),
    Run.State.PAUSED: gettext_lazy("The run is paused. No requests are sent."),
    Run.State.CANCELLED: gettext_lazy("The run was stopped. What was answered stays and counts."),
    Run.State.DONE: gettext_lazy("Every call of the run has ended."),
    Run.State.FAILED: gettext_lazy("The run ended without any answer. Each call below says why."),
}


SILENCES = {
    FROZEN: gettext_lazy(
        "No progress since %(at)s: the worker does not respond. The run continues automatically when a worker is free."
    ),
    QUEUED: gettext_lazy(
        "No progress since %(at)s: no worker is free. The run continues automatically when a worker is free."
    ),
    WAITS: gettext_lazy("The server asked us to wait. The run goes on at %(at)s."),
}


@dataclass(frozen=True)
class StateCount:
    """How many calls are in a state, and whether they can be asked again by a press."""

    state: str
    label: str
    chip: str
    n: int
    retried: bool


def progress_context(run: Run, progress: RunProgress) -> dict[str, Any]:
    """What the part of the page that renews itself takes. `seen` changes with whatever it shows."""
    shares = state_counts(progress.by_state)
    live = run.state == Run.State.RUNNING or bool(progress.in_flight)
    shown = [
        run.state,
        run.stopped_because,
        run.follows,
        str(run.budget),
        str(progress.cost),
        progress.stalled,
        progress.in_flight,
    ]
    shown += [[one.state, one.n] for one in shares] + [[error.pk for error in progress.errors]]
    shown += [
        progress.incomplete,
        progress.silence,
        str(progress.since),
        format_remaining(progress.seconds_left),
        round(progress.rate or 0),
    ]
    return {
        "run": run,
        "progress": progress,
        "shares": shares,
        "live": live,
        "chip": "back" if progress.silence else "hollow" if waits_for_items(run) else RUN_CHIPS[run.state],
        "state": _("Waiting") if progress.silence else _state_label(run),
        "state_text": _state_text(run, progress),
        "percent": min(100.0, 100 * progress.ended / progress.total) if progress.total else 0.0,
        "spent": _spent_percent(run, progress),
        "left": format_remaining(progress.seconds_left),
        "seen": hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16],
    }


def state_counts(by_state: Mapping[str, int]) -> list[StateCount]:
    """States that occur, in the order of a call's life."""
    labels = {str(state): (str(state.label), CHIPS[state]) for state in State} | {UNASKED: (str(NOT_ASKED), "hollow")}
    return [
        StateCount(state, *texts, by_state[state], state in repeatable_calls.STATES)
        for state, texts in labels.items()
        if by_state.get(state)
    ]


def retry_shares(run: Run, by_state: Mapping[str, int]) -> tuple[list[StateCount], int]:
    """What can be asked again, by state; and how many calls without a value a retry would not change."""
    shares, same = [], 0
    for share in state_counts(by_state):
        if share.retried:
            n = repeatable_calls.retryable(run, [share.state], repeatable_calls.BATCH).count()
            same += share.n - n
            shares += [replace(share, n=n)] if n else []
    return shares, same


def state_chip(call: Call) -> tuple[str, str]:
    """A call's state in words, and the chip that goes with it."""
    if call.state == State.FAILED and call.reason == "stopped":
        return str(NOT_ASKED), "hollow"
    if call.reason == INCOMPLETE:
        return _("Answered, incomplete"), "back"
    return call.get_state_display(), CHIPS[State(call.state)]


def format_remaining(seconds: float | None) -> str:
    """A time that is left, in the words of a person; empty where nobody knows."""
    if seconds is None:
        return ""
    if seconds < 90:
        return _("about a minute")
    if seconds < 5400:
        return _("about %(n)s minutes") % {"n": round(seconds / 60)}
    return _("about %(n)s hours") % {"n": round(seconds / 3600)}


def _state_text(run: Run, progress: RunProgress) -> str:
    if progress.silence and progress.since:
        return str(SILENCES[progress.silence]) % {"at": _format_moment(progress.since)}
    if waits_for_items(run) and not progress.total:
        return _("No item has come yet. The run asks about each as it comes.")
    if run.state == Run.State.DONE and progress.total:
        return answered_text(progress.by_state.get(State.ANSWERED, 0), progress.total)
    if run.state in (Run.State.PAUSED, Run.State.CANCELLED) and run.stopped_because:
        return f"{STATE_TEXTS[Run.State(run.state)]} {call_reasons.pause_reason_text(run.stopped_because)}"
    return str(STATE_TEXTS[Run.State(run.state)])


def _format_moment(at: datetime) -> str:
    """The time of day; with the date, where that is another day."""
    local = timezone.localtime(at)
    today = local.date() == timezone.localdate()
    return date_format(local, "TIME_FORMAT" if today else "SHORT_DATETIME_FORMAT")


def answered_text(n: int, total: int) -> str:
    """How many calls of a run that has ended gave an answer."""
    text = ngettext("%(n)s of %(total)s call answered.", "%(n)s of %(total)s calls answered.", total)
    return text % {"n": f"{n:,}", "total": f"{total:,}"}


def _spent_percent(run: Run, progress: RunProgress) -> float | None:
    """Percent of the budget; None without one."""
    return min(100.0, float(100 * (progress.cost + progress.unaccounted) / run.budget)) if run.budget else None


def run_summary(run: Run) -> list[tuple[str, str]]:
    """Everything that was frozen when the run began, label and value."""
    chosen = run.selection
    which = [", ".join(chosen[name]) for name in ("conditions", "targets", "concepts") if chosen.get(name)]
    which += [_of_file(run)] if run.pk and not run.endpoint_id else []
    which += (
        [call_reasons.sample_words(chosen) or _("a sample of %(n)s") % {"n": chosen["sample"]}]
        if chosen.get("sample")
        else []
    )
    facts = [
        (_("Model"), run.model),
        (_("Revision"), run.revision),
        (_("Endpoint"), run.endpoint.name if run.endpoint else ""),
        (_("Address"), run.options.get("address", run.endpoint.base_url) if run.endpoint else ""),
        (_("What it offered then"), ", ".join(str(OFFERED.get(one, one)) for one in run.options.get("offers", ()))),
        (_("Campaign"), run.campaign.name if run.campaign else ""),
        (_("Sheet"), sheet_version_text(run.campaign) if run.campaign else ""),
        (_("Prompt"), f"{run.prompt} {run.prompt_version}".strip()),
        (_("Prompt's options"), _pairs(run.prompt_options)),
        (_("Decoding"), _pairs(run.decoding)),
        (_("Longest side of pictures, in pixels"), str(run.options.get("longest", ""))),
        (_("Ignore cached replies"), _("Yes") if run.options.get("fresh") else ""),
        (_("Asked about"), _asked_about_text(run)),
        (_("Items"), "; ".join(which) or _("all of the campaign")),
        (_("Follow new items"), _("Yes") if run.follows else ""),
        (_("Times each is asked"), str(run.repeats) if run.endpoint else ""),
        (_("Seed"), str(run.seed) if run.endpoint else ""),
        (_("Budget"), f"${exact_amount(run.budget)}" if run.budget is not None else ""),
        (_("File"), f"{run.source}, SHA-256 {run.digest}" if run.digest else ""),
        (_("Started by"), str(run.created_by or "")),
    ]
    return [(label, value) for label, value in facts if value]


def _asked_about_text(run: Run) -> str:
    """The cohorts, or the label set with its version and how many of its labels; empty where nothing was chosen."""
    about = run.selection.get("asked_about") or {}
    if not about:
        return ""
    text, reference = str(KINDS.get(str(about.get("kind")), "")), str(about.get("set") or "")
    sets = about.get("sets") or {}
    names = [sets.get(reference, reference)] if reference else sorted(sets.values())
    if about.get("labels"):
        n = len(about["labels"])
        names.append(ngettext("%(n)s label", "%(n)s labels", n) % {"n": n})
    if "others" in about:
        n = about["others"]
        names.append(ngettext("%(n)s other label", "%(n)s other labels", n) % {"n": n})
    return f"{text}: {', '.join(names)}" if names else text


def _of_file(run: Run) -> str:
    n = Call.objects.filter(run=run).count()
    return ngettext("%(n)s item of the file", "%(n)s items of the file", n) % {"n": n}


def _pairs(values: Mapping[str, Any]) -> str:
    present = {key: value for key, value in values.items() if value not in (None, "", [], ())}
    return "; ".join(f"{key}: {_brief_text(value)}" for key, value in present.items())


def _brief_text(value: Any) -> str:
    if isinstance(value, bool):
        return _("Yes") if value else _("No")
    text = ", ".join(map(_value_text, value)) if isinstance(value, list | tuple) else str(value)
    return text if len(text) <= EXCERPT else text[:EXCERPT] + "…"


def _value_text(value: Any) -> str:
    """One of several; a box by where its sides are, in hundredths of the picture."""
    if not isinstance(value, Mapping) or set(value) - {"label"} != {"x0", "y0", "x1", "y1"}:
        return str(value)
    at = {name: f"{100 * float(side):.3g}" for name, side in value.items() if name != "label"}
    where = _("a box from %(x0)s to %(x1)s %% of the width and %(y0)s to %(y1)s %% of the height") % at
    return f"{value['label']}: {where}" if "label" in value else where


@dataclass(frozen=True)
class CallRow:
    """A call in a list: its state in words, why, the answer that counts, and the beginning of what was said, where that
    is something else. `unpriced`: nobody knows what some request of it cost."""

    call: Call
    state: str
    chip: str
    why: str
    answers: Sequence[tuple[str, str]]
    text: str
    unpriced: bool


@dataclass(frozen=True)
class CallPage:
    """`further`: the id after which the next page begins; 0 for none."""

    lines: Sequence[CallRow]
    further: int


def calls_page(run: Run, state: str, after: int) -> CallPage:
    """A hundred calls of a run, in the order they were made. Three queries."""
    rows = Call.objects.filter(run=run, pk__gt=after).select_related("item", "unit", "annotation").order_by("pk")
    calls = list((rows.filter(in_states([state])) if state else rows)[: PAGE + 1])
    further = calls[PAGE - 1].pk if len(calls) > PAGE else 0
    calls = calls[:PAGE]
    texts = reply_excerpts([number for call in calls for number in call.replies[-1:]])
    unpriced = set(Attempt.objects.filter(call__in=calls, cost=None).values_list("call", flat=True))
    file = not run.endpoint_id  # nobody knows what was paid for its answers
    boxes = run.source == "coco"
    lines = [_line(call, texts, file or call.pk in unpriced, boxes=boxes) for call in calls]
    return CallPage(lines, further)


def _line(call: Call, texts: Mapping[int, str], unpriced: bool, *, boxes: bool) -> CallRow:
    """`boxes`: what is kept are all detections of an image, which say less than the one that was chosen."""
    given = call.annotation.answers if call.annotation else {}
    answers = [(key, _brief_text(value)) for key, value in given.items()]
    text = texts.get(call.replies[-1], "") if call.replies else ""
    if (boxes and answers) or (text.strip() in [value for _key, value in answers] and len(answers) == 1):
        text = ""
    return CallRow(call, *state_chip(call), failure_text(call), answers, text, unpriced)


def failure_text(call: Call) -> str:
    """A sentence, for a call without a value, and for one without a readable answer to some question."""
    if call.reason == INCOMPLETE:
        return call_reasons.incomplete(call.notes.get("incomplete"))
    if call.reason == "sheet":
        return call_reasons.unfit(call.notes.get("sheet"))
    tied = _tied_codes(call.notes.get("distribution")) if call.reason == "two_verdicts" else []
    return call_reasons.tie_text(tied) if tied else call_reasons.reason_text(call.reason) if call.reason else ""


def _tied_codes(shares: Any) -> list[str]:
    """Codes that are the likeliest together; none where one is, or where it is not known."""
    if not isinstance(shares, Mapping) or not shares:
        return []
    found = [str(code) for code, share in shares.items() if share == max(shares.values())]
    return found if len(found) > 1 else []


def reply_excerpts(numbers: Sequence[int]) -> dict[int, str]:
    """The beginning of what replies say, by their id."""
    text, refusal = (Left(KeyTextTransform(name, "body"), EXCERPT) for name in ("text", "refusal"))
    rows = Reply.objects.filter(pk__in=numbers).annotate(reply_text=text, declined=refusal)
    return {pk: reply or declined or "" for pk, reply, declined in rows.values_list("pk", "reply_text", "declined")}


def kept_replies(call: Call) -> list[Reply]:
    """In the order of the call's requests."""
    rows = {row.pk: row for row in Reply.objects.filter(pk__in=call.replies)}
    return [rows[number] for number in call.replies if number in rows]


def replacing_run(run: Run) -> Run | None:
    """Of a withdrawn run: the one that stands now, so that it cannot be brought back before that is withdrawn."""
    rows = Run.objects.filter(campaign=run.campaign, rater=run.rater, task=run.task, withdrawn_at=None)
    return rows.select_related("rater", "created_by").order_by("-pk").first() if run.withdrawn_at else None


@dataclass(frozen=True)
class RunRow:
    """A run in the list of predictions. `variant`, `prompt`: how the model was asked, in words."""

    run: Run
    state: str
    chip: str
    answered: int
    total: int
    variant: str = ""
    prompt: str = ""


def run_rows(benchmark: Benchmark, before: int = 0) -> tuple[list[RunRow], int]:
    """The newest hundred, and the id before which the next hundred begins; 0 for none. Six queries."""
    rows = Run.objects.filter(benchmark=benchmark, task=Run.Task.ANSWERS).order_by("-pk")
    rows = rows.select_related("rater", "campaign__stage", "endpoint", "created_by", "job")
    runs = list((rows.filter(pk__lt=before) if before else rows)[: PAGE + 1])
    further = runs[PAGE - 1].pk if len(runs) > PAGE else 0
    return rows_of_runs(runs[:PAGE], VariantNames(benchmark)), further


def rows_of_runs(runs: Sequence[Run], names: VariantNames | None = None) -> list[RunRow]:
    """These runs, with how many of their calls have an answer; without `names` not how they were asked. One query."""
    counts = Call.objects.filter(run__in=runs).order_by().values_list("run", "state").annotate(n=Count("pk"))
    totals: dict[int, int] = {}
    answered: dict[int, int] = {}
    for run, state, n in counts:
        totals[run] = totals.get(run, 0) + n
        answered[run] = answered.get(run, 0) + (n if state == State.ANSWERED else 0)
    return [
        RunRow(
            run, *_state_and_chip(run), answered.get(run.pk, 0), totals.get(run.pk, 0),
            *((variant_of(run, names), prompt_name(run)) if names is not None else ()),
        )
        for run in runs
    ]  # fmt: skip


def variant_of(run: Run, names: VariantNames) -> str:
    """How the model was asked, as people call it; empty where it is asked as usual."""
    return names.name_of(run.rater.setting, *([run.campaign.stage.key] if run.campaign else []))


def prompt_name(run: Run) -> str:
    """The prompt and its version, as pages name them; by its key where this site does not know it any more."""
    name = next((_(prompt.name) for prompt in registry.PROMPTS if prompt.key == run.prompt), run.prompt)
    return _("%(prompt)s, version %(version)s") % {"prompt": name, "version": run.prompt_version} if name else ""


def _state_and_chip(run: Run) -> tuple[str, str]:
    """A run's state in words, and its chip. One whose worker hangs does not run; one that follows waits for items."""
    if waits_for_items(run):
        return _state_label(run), "hollow"
    if run.state == Run.State.RUNNING and run.job is not None and is_frozen(run.job, timezone.now()):
        return _("Waiting"), "back"
    return run.get_state_display(), RUN_CHIPS[run.state]


def waits_for_items(run: Run) -> bool:
    """Whether everything is asked, and what comes later will be."""
    return run.follows and run.state == Run.State.DONE and run.withdrawn_at is None


def _state_label(run: Run) -> str:
    return _("Waiting for items") if waits_for_items(run) else run.get_state_display()
