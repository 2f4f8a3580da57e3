"""Whether the items that a stage pairs can share what they must, as far as that is known before the first answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import CharField, Count, F, QuerySet, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce

from benchmarks.models import Item, Stage
from benchmarks.rules.derivations import Derivation, DerivationError, promote
from benchmarks.rules.derivations.contract import grouping_fields, is_item_field
from benchmarks.rules.derivations.pair import NOTHING

CONTEXT = "item.context."
KEPT = ("concept", "origin", "condition", "text")  # what verdicts and disputes take from the item that was answered


def fields_without_values(stages: Mapping[str, Stage], derivation: Derivation) -> list[str]:
    """What both sides must share and no source will have a value for. `stages`: those of the benchmark, by key."""
    shared = grouping_fields(derivation.params)
    return [where for where in shared if _will_have(stages, derivation.sources, where) is False]


def _will_have(stages: Mapping[str, Stage], sources: Sequence[str], where: str) -> bool | None:
    """Whether an item of these stages has, or will have, a value there; None where answers or an import decide it."""
    known = [_stage_will_have(stages, key, where) for key in sources]
    if any(known):
        return True
    return None if None in known else False


def _stage_will_have(stages: Mapping[str, Stage], key: str, where: str) -> bool | None:
    stage = stages.get(key)
    if stage is None or not is_item_field(where):
        return None
    items = stage.items.filter(withdrawn_at=None)
    if _with_values(items, [where]).exists():
        return True
    if not stage.derivation:
        return False if items.exists() else None
    try:
        derivation = Derivation.from_json(stage.derivation)
    except DerivationError:
        return None
    taken = _taken_from(derivation, where) if derivation is not None and derivation.rename is None else None
    if derivation is None or taken is None:
        return None
    earlier = {other: row for other, row in stages.items() if row.position < stage.position}
    return _will_have(earlier, derivation.sources, taken) if taken else False


def _taken_from(derivation: Derivation, where: str) -> str | None:
    """The path of the earlier stage that is read there; empty: none is; None: it is not said by a path."""
    params, name = derivation.params, where.removeprefix(CONTEXT)
    is_context = where.startswith(CONTEXT)
    if derivation.kind in ("verdicts", "disagree"):
        kept = name in params.get("carry", ()) if is_context else where.partition(".")[2] in KEPT
        return where if kept else None
    if derivation.kind not in ("promote", "sample", "pair") or params.get("picked") or params.get("conditions"):
        return None
    context, member = params.get("context", {}), where.partition(".")[2]
    if not is_context and member not in promote.MEMBERS:
        return None
    usual = f"item.{member}" if derivation.kind != "pair" else f"a.item.{member}"
    path = str(context.get(name, "") if is_context else params.get(member, usual))
    if path == NOTHING:
        return ""
    return path.partition(".")[2] if derivation.kind == "pair" and path else path


def are_all_different(stages: Mapping[str, Stage], derivation: Derivation) -> bool:
    """Whether no two of the imported items have the same values in all that both must share. False where the items are
    made of answers, several of which may be given to one item, and where two answers to one item may be a pair."""
    shared, differs = grouping_fields(derivation.params), str(derivation.params.get("sides") or "")
    sources = [stages[key] for key in derivation.sources if key in stages]
    if not shared or not all(map(is_item_field, shared)) or any(stage.derivation for stage in sources):
        return False
    if derivation.params.get("per") == "answer" and differs:
        return False
    items = Item.objects.filter(stage__in=sources, withdrawn_at=None)
    if len(sources) < len(derivation.sources) or not all(stage.items.exists() for stage in sources):
        return False
    with_values = _with_values(items, shared)
    names = [f"value_{number}" for number in range(len(shared))]
    grouped = with_values.order_by().values(*names)
    if is_item_field(differs):
        grouped = grouped.annotate(n=Count(_value(differs), distinct=True))
    else:
        grouped = grouped.annotate(n=Count("pk"))
    return with_values.exists() and not grouped.filter(n__gte=2).exists()


def _with_values(items: QuerySet[Item], fields: Sequence[str]) -> QuerySet[Item]:
    """The items that have all these values, which are annotated as value_0 and so on."""
    values: dict[str, Any] = {f"value_{number}": _value(where) for number, where in enumerate(fields)}
    items = items.annotate(**values)
    for name in values:
        items = items.exclude(**{name: ""})
    return items


def _value(where: str) -> Any:
    if where.startswith(CONTEXT):
        read: Any = KeyTextTransform(where.removeprefix(CONTEXT), "context")
    else:
        read = F(where.partition(".")[2])
    return Coalesce(Cast(read, CharField()), Value(""))
