"""What became of the answers that a stage judges: items made, judged and unreadable, by the run of each answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count

from annotation.models import Campaign
from benchmarks.models import Stage
from jobs.queries.statements import fetch
from predictions.models import Call, Run

State = Call.State
WITHOUT_ANSWER = (
    State.NO_RESPONSE, State.REFUSED, State.UNPARSEABLE, State.OUT_OF_RANGE, State.OVER_BUDGET, State.FAILED,
)  # fmt: skip
UNREADABLE = (State.NO_RESPONSE, State.REFUSED, State.UNPARSEABLE, State.OUT_OF_RANGE)
PEOPLE = (0, 0)
"""Instead of a model and its run: all people together."""

OF = "CASE WHEN r.kind = 'model' THEN r.id ELSE 0 END, CASE WHEN r.kind = 'model' THEN coalesce(an.run, 0) ELSE 0 END"
JUDGED = """EXISTS (SELECT FROM annotation_unit u JOIN annotation_assignment a ON a.unit_id = u.id
  JOIN annotation_annotation judgement ON judgement.assignment_id = a.id AND judgement.live AND judgement.counted
  WHERE u.item_id = i.id)"""
ITEMS = f"""
SELECT rater, run, count(*), count(*) FILTER (WHERE judged), count(*) FILTER (WHERE NOT judged AND EXISTS (
    SELECT FROM predictions_call c JOIN predictions_run n ON n.id = c.run_id AND n.withdrawn_at IS NULL
    WHERE c.item_id = input.item AND c.state = ANY(%(unreadable)s))),
  count(*) FILTER (WHERE NOT judged AND input.key ~ '\\.v[0-9]+$')
FROM (
  SELECT i.id, i.key, {JUDGED}, {OF} FROM benchmarks_item i
    JOIN annotation_itemsource s ON s.item_id = i.id AND s.role = 'candidate'
    JOIN annotation_annotation an ON an.id = s.annotation_id JOIN people_rater r ON r.id = an.rater_id
  WHERE i.stage_id = %(stage)s AND i.withdrawn_at IS NULL
  UNION ALL SELECT i.id, i.key, {JUDGED}, n.rater_id, n.id FROM benchmarks_item i
    JOIN predictions_run n ON n.id::text = i.context ->> 'run'
  WHERE i.stage_id = %(stage)s AND i.withdrawn_at IS NULL AND i.context -> 'candidate' = 'null'::jsonb
) input (item, key, judged, rater, run) GROUP BY rater, run
"""  # noqa: S608  (constants)
ANSWERS = f"""
SELECT {OF}, count(*), count(*) FILTER (WHERE NOT EXISTS (
    SELECT FROM annotation_itemsource s JOIN benchmarks_item i ON i.id = s.item_id
    WHERE s.annotation_id = an.id AND s.role = 'candidate' AND i.stage_id = %(stage)s AND i.withdrawn_at IS NULL))
FROM annotation_campaign c JOIN annotation_assignment a ON a.campaign_id = c.id
  JOIN annotation_annotation an ON an.assignment_id = a.id AND an.live
  JOIN annotation_unit u ON u.id = a.unit_id JOIN benchmarks_item q ON q.id = u.item_id AND q.withdrawn_at IS NULL
  JOIN people_rater r ON r.id = an.rater_id
WHERE c.stage_id = ANY(%(earlier)s)
  AND (an.counted OR (%(repeats)s AND an.uncounted_because = 'repeat'))
GROUP BY 1, 2
"""  # noqa: S608  (constants)


@dataclass
class InputCounts:
    """`answers`: those that count; `waiting`: those of them without an item. `items`: those of the stage; of them
    `judged`, `unreadable` (the judge's reply had no value) and `renewed` (another version was judged).
    `without_answer`: calls that ended without one; None where the answers are of no run."""

    answers: int = 0
    waiting: int = 0
    items: int = 0
    judged: int = 0
    unreadable: int = 0
    renewed: int = 0
    without_answer: int | None = None


@dataclass(frozen=True)
class JudgedItems:
    """By model rater and run; PEOPLE for all people together. `runs`: those that there are, by id."""

    counts: dict[tuple[int, int], InputCounts] = field(default_factory=dict)
    runs: dict[int, Run] = field(default_factory=dict)


def judged_items(stage: Stage, earlier: Sequence[Stage], *, repeats: bool) -> JudgedItems:
    """Of a stage that judges the answers of `earlier` ones. Five queries. `repeats`: repeats are judged, too."""
    campaigns = Campaign.objects.filter(stage__in=earlier)
    runs = {
        run.pk: run
        for run in Run.objects.filter(campaign__in=campaigns, task=Run.Task.ANSWERS).select_related("rater", "campaign")
    }
    counted = JudgedItems(runs=runs)
    params: dict[str, Any] = {
        "stage": stage.pk, "earlier": [one.pk for one in earlier], "repeats": repeats, "unreadable": list(UNREADABLE),
    }  # fmt: skip
    for rater, run, answers, waiting in fetch(ANSWERS, params):
        counts = counted.counts.setdefault((rater, run), InputCounts())
        counts.answers, counts.waiting = answers, waiting
    for rater, run, *numbers in fetch(ITEMS, params):
        counts = counted.counts.setdefault((rater, run), InputCounts())
        counts.items, counts.judged, counts.unreadable, counts.renewed = numbers
    for run in runs.values():
        if run.withdrawn_at is None:
            counted.counts.setdefault((run.rater_id, run.pk), InputCounts()).without_answer = 0
    ended = Call.objects.filter(run__in=runs, state__in=WITHOUT_ANSWER, item__withdrawn_at=None).order_by()
    ended = ended if repeats else ended.filter(repeat=0)
    for pk, n in ended.values_list("run").annotate(n=Count("pk")):
        if (of_run := counted.counts.get((runs[pk].rater_id, pk))) is not None:
            of_run.without_answer = n
    return counted
