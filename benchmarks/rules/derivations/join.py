"""What belongs together becomes one item, or one for each part, once its parts are accepted. Pure.

params: by (what they have in common), parts (what tells the parts apart; else their stage), needs (which parts there
must be: a list of them, "all" that there are, which is the default, or "any"), each ("part": one item for each part),
least (answers of each part), roles {new role: "<part>.<role>"}, and promote's text, concept, origin, condition,
context, read from the first result; `all.<where>` in context lists the values of all results.

Which parts there are, the items say, accepted or not: whoever calls `derive` puts them in place of "all".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
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
from benchmarks.rules.derivations.cultures import shared_culture

OWN = frozenset({"by", "parts", "needs", "least", "each"})
ALL = "all."
EVERY, ANY = "all", "any"


def check(params: Mapping[str, Any]) -> None:
    require_path(params.get("by"), "params.by")
    if "parts" in params:
        require_path(params["parts"], "params.parts")
    least = params.get("least", 1)
    if not isinstance(least, int) or least < 1:
        raise DerivationError("params.least", "must be a number from 1")
    if params.get("each", "") not in ("", "part"):
        raise DerivationError("params.each", "must be part, or left out")
    needs = params.get("needs", ())
    if needs not in (EVERY, ANY) and not isinstance(needs, list | tuple):
        raise DerivationError("params.needs", "must be all, any, or a list of parts")
    plain = {name: str(where).removeprefix(ALL) for name, where in params.get("context", {}).items()}
    promote.check({**params, "context": plain}, OWN)


def needed(params: Mapping[str, Any]) -> tuple[str, ...]:
    """The parts that there must be; (EVERY,) or (ANY,) where they are not named."""
    needs = params.get("needs") or EVERY
    return (needs,) if isinstance(needs, str) else tuple(map(str, needs))


def needs_every_part(params: Mapping[str, Any]) -> bool:
    """Whether all parts that there are must be there, so that another part changes what comes of all items."""
    return needed(params) == (EVERY,)


def derive(results: Sequence[Result], params: Mapping[str, Any], seed: int) -> list[ItemDraft]:
    needs = needed(params)
    if needs == (EVERY,):
        needs = tuple(sorted({part_of(result, params) for result in results}))
    groups = sorted(group_by_value(results, params["by"]).items())
    return [draft for value, group in groups for draft in _drafts(value, group, params, needs)]


def part_of(result: Result, params: Mapping[str, Any]) -> str:
    return value_text(read_path(params["parts"], result)) if "parts" in params else result.item.stage


def _drafts(
    value: str, group: Sequence[Result], params: Mapping[str, Any], needs: Sequence[str]
) -> Iterator[ItemDraft]:
    least, parts = params.get("least", 1), dict[str, list[Result]]()
    for result in group:
        parts.setdefault(part_of(result, params), []).append(result)
    is_any = tuple(needs) == (ANY,)
    if is_any:
        needs = [part for part in sorted(parts) if part and len(parts[part]) >= least]
    if not needs or any(len(parts.get(need, ())) < least for need in needs):
        return
    together = [result for need in needs for result in parts[need]]
    if params.get("each") != "part":
        draft = _draft(value, together, parts, params)
        if draft is not None:
            yield draft
        return
    for part in needs:
        draft = _draft(f"{value}/{part}", parts[part], parts, params)
        if draft is not None:
            yield draft if is_any else replace(draft, sources=sources_of(together))


def _draft(
    key: str, used: Sequence[Result], parts: Mapping[str, Sequence[Result]], params: Mapping[str, Any]
) -> ItemDraft | None:
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
        name: value_text(read_path(params.get(name, f"item.{name}"), first)) for name in promote.MEMBERS
    }
    context = {name: _merged_context(where, used) for name, where in params.get("context", {}).items()}
    if params.get("each") == "part":
        context = {name: value for name, value in context.items() if value is not None}
    return ItemDraft(
        key=shorten_key(key), sources=sources_of(used), context=context, images=images,
        answer_target=shared_culture(result.item.answer_target for result in used), **members,
    )  # fmt: skip


def _merged_context(where: str, used: Sequence[Result]) -> Any:
    if not where.startswith(ALL):
        return read_path(where, used[0])
    values = [read_path(where.removeprefix(ALL), result) for result in used]
    return [value for value in values if value is not None]
