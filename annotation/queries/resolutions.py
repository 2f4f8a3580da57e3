"""Which answers in dispute were settled, and what reads the answer that settled them."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from annotation.models import Resolution
from benchmarks.models import Benchmark, Stage
from benchmarks.rules.derivations import Derivation
from benchmarks.rules.derivations.disagree import disputed_field
from benchmarks.rules.derivations.registry import KINDS


def settles_disputes(stage: Stage) -> bool:
    """Whether answers to its items say what holds where answers of earlier stages disagree."""
    return _is_linked(stage.derivation)


def _is_linked(derivation: Any) -> bool:
    kind = KINDS.get(str((derivation or {}).get("kind")))
    return kind is not None and kind.linked


def resolutions_of_units(units: Collection[int]) -> dict[int, list[Resolution]]:
    """The live resolutions of these units, by unit. One query."""
    by_unit: dict[int, list[Resolution]] = defaultdict(list)
    for resolution in Resolution.objects.filter(unit__in=units, live=True).order_by("pk"):
        by_unit[resolution.unit_id].append(resolution)
    return by_unit


def resolved_answers(benchmark: Benchmark, stage: str, field: str) -> dict[int, Resolution]:
    """The live resolutions of a question of a stage, by item."""
    rows = Resolution.objects.filter(
        unit__item__stage__benchmark=benchmark, unit__item__stage__key=stage, field=field, live=True
    )
    return {row.unit.item_id: row for row in rows.select_related("unit").order_by("pk")}


def reads_resolutions(stage: Stage, derivation: Derivation) -> frozenset[str]:
    """The stages of a derivation whose settled answers it reads in place of all answers.

    A stage whose answers are compared in a dispute, or lead to one, reads the answers as people gave them: else what is
    settled would take away what was in dispute.
    """
    rows = Stage.objects.filter(benchmark=stage.benchmark_id, derivation__isnull=False)
    derivations = dict(rows.values_list("key", "derivation"))
    settled = set()
    for key, other in derivations.items():
        if _is_linked(other) and stage.key not in _earlier(key, derivations):
            settled.add(disputed_field(other.get("params") or {})[0])
    return frozenset(settled & set(derivation.sources))


def _earlier(key: str, derivations: Mapping[str, Any]) -> set[str]:
    """The stage itself and all that it comes from."""
    known, new = {key}, {key}
    while new:
        new = {source for name in new for source in (derivations.get(name) or {}).get("from", ())} - known
        known |= new
    return known
