"""What people answered to items in dispute settles the disputed question: one live resolution, and its history.

Written in the transaction of the answer, and once more by the worker, which also sees answers that stop counting and
items that are withdrawn. Everything here can be done twice; of two transactions at once the worker's comes last.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, Max

from annotation.models import Annotation, Assignment, ItemSource, Resolution, Unit
from annotation.services.derivation import outbox
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.models import Item, Stage
from benchmarks.rules.derivations.disagree import ANOTHER, DECISION, REASON, UNDECIDED, disputed_field
from people.models import Rater

HOLDS = (Assignment.State.SUBMITTED, Assignment.State.ACCEPTED)


@dataclass(frozen=True)
class _Decision:
    """What an answer to an item in dispute says. `answer` is None where it cannot be decided."""

    annotation: Annotation
    unit: int
    field: str
    code: str
    answer: Any
    chosen: int | None
    reason: str


def settle(stage: Stage, items: Collection[int], at: datetime) -> None:
    """Bring the resolutions that come of these items of a stage in line with the answers to them."""
    before = list(Resolution.objects.filter(annotation__assignment__unit__item__in=items, live=True))
    decisions = list(_decisions(stage, items))  # after these: what another transaction wrote meanwhile is not undone
    wanted = {decision.annotation.pk for decision in decisions}
    places = {(decision.unit, decision.field) for decision in decisions}
    replaced = Resolution.objects.filter(live=True, unit__in={unit for unit, _field in places})
    rows = [*before, *(row for row in replaced if (row.unit_id, row.field) in places)]
    over = {row.pk: row for row in rows if row.annotation_id not in wanted}
    Resolution.objects.filter(pk__in=over, live=True).order_by().update(live=False, ended_at=at)
    known = {row.annotation_id for row in rows} - {row.annotation_id for row in over.values()}
    numbers = _last_versions({unit for unit, _field in places})
    new = [
        _resolution(decision, numbers.get((decision.unit, decision.field), 0) + 1, at)
        for decision in decisions
        if decision.annotation.pk not in known
    ]
    Resolution.objects.bulk_create(new, ignore_conflicts=True)
    changed = {row.unit_id for row in (*over.values(), *new)}
    if changed:  # later stages read what is settled
        outbox.mark_items_due(Unit.objects.filter(pk__in=changed).order_by("item").values_list("item", flat=True))


def note_settled(stage: Stage) -> None:
    """Numbers of the stage in dispute are to be read again. For the worker: an answer waits for no lock of a stage."""
    disputed, _field = disputed_field((stage.derivation or {})["params"])
    rows = Stage.objects.filter(benchmark=stage.benchmark_id, key=disputed)
    rows.update(changes=F("changes") + 1)


def _last_versions(units: Collection[int]) -> dict[tuple[int, str], int]:
    rows = Resolution.objects.filter(unit__in=units).order_by().values("unit", "field").annotate(last=Max("version"))
    return {(row["unit"], row["field"]): row["last"] for row in rows}


def _resolution(decision: _Decision, version: int, at: datetime) -> Resolution:
    return Resolution(
        unit_id=decision.unit,
        field=decision.field,
        code=decision.code,
        answer=decision.answer,
        chosen_annotation_id=decision.chosen,
        annotation=decision.annotation,
        reason=decision.reason,
        by_id=decision.annotation.rater_id,
        at=at,
        version=version,
    )


def _decisions(stage: Stage, items: Collection[int]) -> Iterable[_Decision]:
    """The newest answer to each item that counts and that nobody returned; none to items that are withdrawn."""
    states = (Assignment.State.ACCEPTED,) if stage.acceptance == Stage.Acceptance.BY_REVIEW else HOLDS
    rows = Annotation.objects.filter(
        live=True,
        counted=True,
        rater__kind=Rater.Kind.PERSON,
        assignment__campaign__stage=stage,
        assignment__state__in=states,
        assignment__unit__item__in=items,
        assignment__unit__item__withdrawn_at=None,
    )
    joined = rows.select_related("assignment__unit__item", "sheet_version").order_by("submitted_at", "pk")
    newest = {answer.assignment.unit.item_id: answer for answer in joined}
    sources: dict[int, list[ItemSource]] = {}
    linked = ItemSource.objects.filter(item__in=newest, annotation__isnull=False)
    for source in linked.select_related("source__stage", "annotation__assignment").order_by("annotation"):
        sources.setdefault(source.item_id, []).append(source)
    for item, answer in sorted(newest.items()):
        decision = _decision(stage, answer, answer.assignment.unit.item, sources.get(item, []))
        if decision is not None:
            yield decision


def _decision(stage: Stage, answer: Annotation, item: Item, sources: list[ItemSource]) -> _Decision | None:
    """None where the sheet did not ask what settles, or nothing is in dispute any more."""
    params = (stage.derivation or {}).get("params") or {}
    fields = {row["stage"]: row["field"] for row in params["between"]}
    first, field = disputed_field(params)
    units = [s.annotation.assignment.unit_id for s in sources if s.annotation and s.source.stage.key == first]
    decision = answer.answers.get(DECISION)
    if not units or not decision:
        return None
    value, chosen = None, None
    if decision == ANOTHER:
        value = answer.answers.get(field)
    elif decision in item.context["numbers"]:
        value = item.context["answers"][item.context["numbers"].index(decision)]
        chosen = next((s.annotation_id for s in sources if _answer_of(s, fields) == value), None)
    if value is None and decision != UNDECIDED:
        return None
    reason = str(answer.answers.get(REASON) or "")
    return _Decision(answer, units[0], field, _code(answer, field, value), value, chosen, reason)


def _answer_of(source: ItemSource, fields: Mapping[str, str]) -> Any:
    return source.annotation and source.annotation.answers.get(fields.get(source.source.stage.key, ""))


def _code(answer: Annotation, field: str, value: Any) -> str:
    """As measures compare it; empty where answers of this kind have no code."""
    if value is None:
        return ""
    asked = sheet_of(answer.sheet_version).field(field)
    coded = asked.spec.code(value, asked.config)
    return coded.code if coded is not None else ""
