"""The rows of models and judges on the board of a benchmark: answers of those asked for, and what was lost."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.db.models import Count
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Annotation
from annotation.queries.kept_counts import keep_until_changed
from benchmarks.pages.board import Cell, Note, Reading, Row, Rows, address, board_number
from jobs.queries.statements import fetch
from people.models import Rater
from predictions.models import Call, Run
from predictions.models.calls import INCOMPLETE
from predictions.pages.variant_names import VariantNames

State = Call.State
# Calls of a run about items that are not withdrawn, the first repeat only: a model has one answer to a unit.
CALLS = """
SELECT k.run_id, CASE WHEN k.reason = 'incomplete' THEN 'incomplete'
    WHEN k.state = 'failed' AND k.attempts_made = 0 THEN 'not_asked' ELSE k.state END, count(*)
FROM predictions_call k WHERE k.run_id = ANY(%s) AND k.repeat = 0
  AND NOT EXISTS (SELECT FROM benchmarks_item i WHERE i.id = k.item_id AND i.withdrawn_at IS NOT NULL)
GROUP BY 1, 2
"""
NOT_ASKED = "not_asked"  # the item lacked something, or was an example of the prompt


@dataclass
class RunCounts:
    """A run with its calls by state."""

    run: Run
    states: Counter[str] = field(default_factory=Counter)


def model_rows(reading: Reading) -> Rows:
    """A row for each model and way of asking it. Five queries."""
    runs = Run.objects.filter(benchmark=reading.benchmark, withdrawn_at=None, task=Run.Task.ANSWERS)
    counts = {run.pk: RunCounts(run) for run in runs.select_related("campaign").order_by("pk")}
    for pk, state, n in fetch(CALLS, [list(counts)]) if counts else ():
        counts[pk].states[state] += n
    cells: dict[int, dict[int, Cell]] = {}
    for (rater, stage), n in _answers_from_files(reading).items():
        cells.setdefault(rater, {})[stage] = Cell(n)
    for of_run in counts.values():
        if of_run.states and of_run.run.campaign is not None:
            cells.setdefault(of_run.run.rater_id, {})[of_run.run.campaign.stage_id] = _cell(reading, of_run)
    raters, names = Rater.objects.in_bulk(cells), VariantNames(reading.benchmark, reading.stages)
    rows = []
    for pk, of_rater in cells.items():
        asked = (stage.key for stage in reading.stages if stage.pk in of_rater)
        rows.append(Row(raters[pk].name, of_rater, names.name_of(raters[pk].setting, *asked)))
    return Rows(sorted(rows, key=lambda row: (row.name, row.note)), _("Models and judges"))


def _answers_from_files(reading: Reading) -> dict[tuple[int, int], int]:
    """Answers of models that were asked elsewhere, by model and stage."""

    def read() -> dict[tuple[int, int], int]:
        rows = Annotation.objects.filter(
            assignment__campaign__stage__in=reading.stages, rater__kind=Rater.Kind.MODEL, live=True, counted=True,
            run=None, assignment__unit__item__withdrawn_at=None, assignment__repeat=0,
        )  # fmt: skip
        grouped = rows.order_by().values_list("rater", "assignment__campaign__stage").annotate(n=Count("pk"))
        return {(rater, stage): n for rater, stage, n in grouped}

    return keep_until_changed(reading.benchmark, "board-files", read)


def _cell(reading: Reading, counts: RunCounts) -> Cell:
    run, states = counts.run, counts.states
    url = address("predictions:answer_run", reading.benchmark, run.pk) if reading.works else ""
    asked = sum(states.values())
    done = states[State.ANSWERED] + states[INCOMPLETE]
    problems = _problems(run, states)
    under_way = [Note(_("Being asked"))] if run.state == Run.State.RUNNING and done < asked else []
    return Cell(done, asked, url, [*problems, *under_way], is_stuck=any(note.kind == "late" for note in problems))


def _problems(run: Run, states: Mapping[str, int]) -> list[Note]:
    """What has no value, and what stands still."""
    unreadable, refused = states[State.UNPARSEABLE] + states[State.OUT_OF_RANGE], states[State.REFUSED]
    unanswered, failed, not_asked = states[State.NO_RESPONSE], states[State.FAILED], states[NOT_ASKED]
    texts = (
        (unreadable, ngettext("%(n)s unreadable", "%(n)s unreadable", unreadable)),
        (refused, ngettext("%(n)s refused", "%(n)s refused", refused)),
        (unanswered, ngettext("%(n)s without answer", "%(n)s without answer", unanswered)),
        (failed, ngettext("%(n)s failed", "%(n)s failed", failed)),
    )
    notes = [Note(text % {"n": board_number(n)}, "", "wait") for n, text in texts if n]
    if not_asked:
        text = ngettext("%(n)s not asked", "%(n)s not asked", not_asked)
        notes.append(Note(text % {"n": board_number(not_asked)}))
    left = states[State.PENDING] + states[State.RUNNING] + states[State.OVER_BUDGET]
    if run.state == Run.State.FAILED:
        notes.append(Note(_("Stuck: no call gave an answer"), "", "late"))
    elif states[State.OVER_BUDGET]:
        notes.append(Note(_("Stuck: budget exhausted"), "", "late"))
    elif run.state in (Run.State.PAUSED, Run.State.CANCELLED, Run.State.DRAFT) and left:
        text = ngettext("Stuck: stopped, %(n)s not asked", "Stuck: stopped, %(n)s not asked", left)
        notes.append(Note(text % {"n": board_number(left)}, "", "late"))
    return notes
