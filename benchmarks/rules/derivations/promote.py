"""Each accepted answer, or each accepted item, becomes an item. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.rules.derivations.contract import (
    DerivationError,
    ItemDraft,
    PictureRef,
    Result,
    answer_key,
    group_by_item,
    is_answer_path,
    of_unit,
    read_path,
    require_path,
    shorten_key,
    sources_of,
    value_text,
)
from benchmarks.rules.derivations.cultures import shared_culture

MEMBERS = ("text", "concept", "origin", "condition")
OWN_ORIGIN = "item.origin"
PARAMS = frozenset({*MEMBERS, "image", "roles", "context", "per", "picked", "conditions"})


def check(params: Mapping[str, Any], others: frozenset[str] = frozenset()) -> None:
    for key in params:
        if key not in PARAMS | others:
            raise DerivationError(f"params.{key}", "is not known")
    for key in MEMBERS:
        if key in params:
            require_path(params[key], f"params.{key}")
    for key in ("context", "roles", "picked", "conditions"):
        if not isinstance(params.get(key, {}), Mapping):
            raise DerivationError(f"params.{key}", "must be an object")
    for name, where in params.get("context", {}).items():
        if not name:
            raise DerivationError("params.context.", "needs a name")
        require_path(where, f"params.context.{name}")
    for key in ("picked", "conditions"):
        for stage, value in params.get(key, {}).items():
            if not stage or not isinstance(value, str) or not value:
                raise DerivationError(f"params.{key}.{stage}", "must be a text")
    if params.get("per", "item") not in ("item", "answer"):
        raise DerivationError("params.per", "must be item or answer")


def derive(results: Sequence[Result], params: Mapping[str, Any], seed: int) -> list[ItemDraft]:
    """An item for each answer where a field of the answer is used; else one for each item and target.

    `picked`: by stage, the field whose answer names one of the item's pictures: the new item has that one alone.
    `conditions`: by stage, the condition of the items that come of it.
    """
    picked = params.get("picked", {})
    drafts_of_picks = [_draft_of_pick(result, params) for result in results if result.item.stage in picked]
    results = [result for result in results if result.item.stage not in picked]
    return [draft for draft in (*drafts_of_picks, *_drafts(results, params)) if draft is not None]


def _draft_of_pick(result: Result, params: Mapping[str, Any]) -> ItemDraft | None:
    """The picture of the item that the answer names; None where it names none of them."""
    role = str(result.answers.get(params["picked"][result.item.stage]) or "")
    if not result.passes or role not in result.item.images:
        return None
    draft = draft_of([result], params, answer_key(result), result.name)
    own = result.item.context.get("pictures")
    of_role = own.get(role) if isinstance(own, Mapping) else None
    context = {**(of_role if isinstance(of_role, Mapping) else {}), **(draft.context if draft else {})}
    return replace(draft, images={"image": result.item.images[role]}, context=context) if draft else None


def _drafts(results: Sequence[Result], params: Mapping[str, Any]) -> Iterator[ItemDraft | None]:
    drafts: Iterable[ItemDraft | None]
    if is_per_answer(params):
        drafts = (draft_of([result], params, answer_key(result), result.name) for result in results if result.passes)
    elif _needs_unit(params):
        drafts = (draft_of(group, params, _name(group[0])) for group in group_by_item(results))
    else:
        drafts = (draft_of(group, params, group[0].item.key, _name(group[0])) for group in group_by_item(results))
    yield from drafts


def carries_answers(params: Mapping[str, Any]) -> bool:
    """Whether an item says what was answered, or about which culture, and not only what was asked."""
    return is_per_answer(params) or _needs_unit(params)


def is_per_answer(params: Mapping[str, Any]) -> bool:
    """Whether each answer becomes an item of its own."""
    if "per" in params:
        return bool(params["per"] == "answer")
    used = [params[key] for key in (*MEMBERS, "image") if key in params]
    used += [*params.get("context", {}).values(), *params.get("roles", {}).values()]
    return any(is_answer_path(where) for where in used)


def _needs_unit(params: Mapping[str, Any]) -> bool:
    """Whether two targets of an item become two items, since the items say which."""
    return any(of_unit(str(params.get(key, ""))) for key in MEMBERS) or any(
        of_unit(str(where)) for where in params.get("context", {}).values()
    )


def _name(result: Result) -> str:
    return "/".join(part for part in (result.item.key, result.target) if part)


def draft_of(results: Sequence[Result], params: Mapping[str, Any], name: str, former: str = "") -> ItemDraft | None:
    """None where a picture was to come with the answer and did not."""
    first = results[0]
    images = _images(first, params)
    if images is None:
        return None
    members: dict[str, Any] = {key: value_text(read_path(params.get(key, f"item.{key}"), first)) for key in MEMBERS}
    members["condition"] = params.get("conditions", {}).get(first.item.stage, members["condition"])
    context = {key: read_path(where, first) for key, where in params.get("context", {}).items()}
    mark = f"v{first.version}" if len(results) == 1 and first.version > 1 else ""
    return ItemDraft(
        shorten_key(name), sources_of(results), mark, shorten_key(former), context=context, images=images,
        answer_target=_culture(results, params, members["origin"]), **members,
    )  # fmt: skip


def _culture(results: Sequence[Result], params: Mapping[str, Any], origin: str) -> str:
    """An origin that was chosen says it; else the answers, and of an item that holds none what it was made of."""
    if origin and params.get("origin", OWN_ORIGIN) != OWN_ORIGIN:
        return origin
    answers = carries_answers(params) or results[0].item.stage in params.get("picked", {})
    return shared_culture(result.culture if answers else result.item.answer_target for result in results)


def _images(result: Result, params: Mapping[str, Any]) -> Mapping[str, PictureRef] | None:
    """`roles` names each picture of the new item; else it has those of the item, or the one that was brought."""
    if not params.get("roles"):
        image = params.get("image", "item")
        if image == "item":
            return dict(result.item.images)
        return {"image": result.pictures[image]} if image in result.pictures else None
    pictures = {role: _picture(result, where) for role, where in params["roles"].items()}
    return (
        None
        if None in pictures.values()
        else {role: picture for role, picture in pictures.items() if picture is not None}
    )


def _picture(result: Result, where: str) -> PictureRef | None:
    head, _dot, role = where.partition(".")
    return result.item.images.get(role) if head == "item" else result.pictures.get(where)
