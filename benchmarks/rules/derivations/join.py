"""What belongs together becomes one item, once all its parts are accepted. Pure.

params: by (what they have in common), parts (what tells the parts apart; else their stage), needs (which parts there
must be; else each stage), least (answers of each part), roles {new role: "<part>.<role>"}, and promote's text, concept,
origin, condition, context, read from the first result; `all.<where>` in context lists the values of all results.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.rules.derivations import promote
from benchmarks.rules.derivations.contract import (
    DerivationError,
    ItemDraft,
    PictureRef,
    Result,
    group_by_value,
    read_path,
    require_path,
    shorten_key,
    sources_of,
    value_text,
)

OWN = frozenset({"by", "parts", "needs", "least"})
ALL = "all."


def check(params: Mapping[str, Any]) -> None:
    require_path(params.get("by"), "params.by")
    if "parts" in params:
        require_path(params["parts"], "params.parts")
    least = params.get("least", 1)
    if not isinstance(least, int) or least < 1:
        raise DerivationError("params.least", "must be a number from 1")
    plain = {name: str(where).removeprefix(ALL) for name, where in params.get("context", {}).items()}
    promote.check({**params, "context": plain}, OWN)


def derive(results: Sequence[Result], params: Mapping[str, Any], seed: int) -> list[ItemDraft]:
    needs = [str(need) for need in params.get("needs", ())] or sorted({result.item.stage for result in results})
    drafts = (
        _draft(value, group, params, needs) for value, group in sorted(group_by_value(results, params["by"]).items())
    )
    return [draft for draft in drafts if draft is not None]


def part_of(result: Result, params: Mapping[str, Any]) -> str:
    return value_text(read_path(params["parts"], result)) if "parts" in params else result.item.stage


def _draft(value: str, group: Sequence[Result], params: Mapping[str, Any], needs: Sequence[str]) -> ItemDraft | None:
    parts: dict[str, list[Result]] = {}
    for result in group:
        parts.setdefault(part_of(result, params), []).append(result)
    if any(len(parts.get(need, ())) < params.get("least", 1) for need in needs):
        return None
    used = [result for need in needs for result in parts[need]]
    first = used[0]
    images: dict[str, PictureRef] = dict(first.item.images)
    if params.get("roles"):
        images = {}
        for role, where in params["roles"].items():
            part, _dot, old = str(where).rpartition(".")
            picture = parts[part][0].item.images.get(old) if part in parts else None
            if picture is None:
                return None
            images[role] = picture
    members: dict[str, Any] = {
        key: value_text(read_path(params.get(key, f"item.{key}"), first)) for key in promote.MEMBERS
    }
    context = {name: _merged_context(where, used) for name, where in params.get("context", {}).items()}
    return ItemDraft(key=shorten_key(value), sources=sources_of(used), context=context, images=images, **members)


def _merged_context(where: str, used: Sequence[Result]) -> Any:
    if not where.startswith(ALL):
        return read_path(where, used[0])
    values = [read_path(where.removeprefix(ALL), result) for result in used]
    return [value for value in values if value is not None]
