"""Many pictures on one contact sheet. Pure.

params: by (one sheet for each value; several paths: for each of their values together; the concept if not said), most
(pictures on a sheet), title and rank (what stands under a picture), near ({key: [[key, similarity], ...]}), groups
([[key, ...], ...], look-alikes nearest together).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.rules.derivations.contract import (
    DerivationError,
    ItemDraft,
    Result,
    check_groups,
    first_picture,
    group_by_values,
    grouping_fields,
    read_path,
    require_path,
    shorten_key,
    sources_of,
)
from benchmarks.rules.derivations.cultures import shared_culture

KNOWN = ("by", "most", "title", "rank", "near", "groups")
MOST = 200


def check(params: Mapping[str, Any]) -> None:
    for key in params:
        if key not in KNOWN:
            raise DerivationError(f"params.{key}", "is not known")
    for key in ("title", "rank"):
        if key in params:
            require_path(params[key], f"params.{key}")
    check_groups(params.get("by", ()))
    if not isinstance(params.get("most", 1), int) or not 1 <= params.get("most", 1) <= 999:
        raise DerivationError("params.most", "must be a number from 1 to 999")


def derive(results: Sequence[Result], params: Mapping[str, Any], seed: int) -> list[ItemDraft]:
    """What looks alike stays on one sheet, unless a group alone is larger than a sheet may be."""
    drafts = []
    fields = grouping_fields(params) or ("item.concept",)
    for values, members in sorted(group_by_values(results, fields).items()):
        value = "/".join(values)
        shown = _shown(members)
        sheets = _sheets(_sorted_groups(shown, params.get("groups", ())), params.get("most", MOST))
        for number, groups in enumerate(sheets, start=1):
            name = value if len(sheets) == 1 else f"{value}/{number}"
            drafts.append(_draft(name, groups, shown, params))
    return drafts


def _shown(members: Iterable[Result]) -> dict[str, Result]:
    """Those with a picture by the key of their item; where items of several stages share it, by key and stage from the
    second stage on."""
    shown: dict[str, Result] = {}
    for result in members:
        key, stage = result.item.key, result.item.stage
        if result.item.images:
            is_taken = key in shown and shown[key].item.stage != stage
            shown[f"{key} ({stage})" if is_taken else key] = result
    return shown


def _sorted_groups(shown: Mapping[str, Result], groups: Iterable[Sequence[str]]) -> list[list[str]]:
    """Groups in their order; what is in none stands alone behind them."""
    left = dict.fromkeys(sorted(shown))
    ordered_groups = []
    for group in groups:
        remaining = [key for key in group if left.pop(key, 0) is None]
        if remaining:
            ordered_groups.append(remaining)
    return ordered_groups + [[key] for key in left]


def _sheets(groups: Iterable[list[str]], most: int) -> list[list[list[str]]]:
    sheets: list[list[list[str]]] = []
    count = most
    for group in groups:
        for start in range(0, len(group), most):
            part = group[start : start + most]
            if count + len(part) > most:
                sheets.append([])
                count = 0
            sheets[-1].append(part)
            count += len(part)
    return sheets


def _draft(
    name: str, groups: Sequence[Sequence[str]], shown: Mapping[str, Result], params: Mapping[str, Any]
) -> ItemDraft:
    keys = [key for group in groups for key in group]
    roles = {key: f"p{number:03}" for number, key in enumerate(keys, start=1)}
    pictures = {}
    for key, role in roles.items():
        values = {part: read_path(params[part], shown[key]) for part in ("title", "rank") if part in params}
        pictures[role] = {"key": shown[key].item.key} | {
            part: value for part, value in values.items() if value is not None
        }
    first = shown[keys[0]].item
    return ItemDraft(
        key=shorten_key(name),
        sources=sources_of(shown[key] for key in keys),
        concept=first.concept,
        origin=first.origin if len({shown[key].item.origin for key in keys}) == 1 else "",
        condition=first.condition if len({shown[key].item.condition for key in keys}) == 1 else "",
        context={"pictures": pictures, **_layout(groups, roles, params)},
        images={
            role: picture for key, role in roles.items() if (picture := first_picture(shown[key].item)) is not None
        },
        answer_target=shared_culture(shown[key].item.answer_target for key in keys),
    )


def _layout(groups: Sequence[Sequence[str]], roles: Mapping[str, str], params: Mapping[str, Any]) -> dict[str, Any]:
    """How the pictures lie, where that is given; else whoever stores the item lays them out."""
    if "groups" not in params and "near" not in params:
        return {}
    near = {
        role: [[roles[other], alike] for other, alike in params.get("near", {}).get(key, ()) if other in roles]
        for key, role in roles.items()
    }
    return {
        "groups": [[roles[key] for key in group] for group in groups if len(group) > 1],
        "near": {role: others for role, others in near.items() if others},
    }
