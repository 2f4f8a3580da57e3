"""The pictures of a sheet that people keep become items again, as they were before they were put on the sheet. Pure.

params: field (the question of the sheet with the groups).

An item has the key, fields and pictures of the item that its picture came from; where a sheet was imported whole, the
key of the sheet and the name of the picture. Nothing comes of a sheet while it waits for answers, and nothing of a
picture that waits (see `grouping_votes`).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.rules.derivations.contract import (
    DerivationError,
    DerivationSource,
    ItemDraft,
    Result,
    group_by_item,
    shorten_key,
    sources_of,
)
from benchmarks.rules.derivations.grouping_votes import PictureState, count_votes

FIELD = "groups"


def check(params: Mapping[str, Any]) -> None:
    for key in params:
        if key != "field":
            raise DerivationError(f"params.{key}", "is not known")
    if not isinstance(params.get("field", FIELD), str) or not params.get("field", FIELD):
        raise DerivationError("params.field", "must be the key of a question")


def derive(results: Sequence[Result], params: Mapping[str, Any], seed: int) -> list[ItemDraft]:
    drafts = [draft for sheet in group_by_item(results) for draft in _drafts(sheet, params.get("field", FIELD))]
    return sorted(drafts, key=lambda draft: draft.key)


def groupings_of(sheet: Sequence[Result], field: str) -> list[Mapping[str, Any]]:
    """The last grouping of each person; none while the sheet waits for answers."""
    if not all(result.complete for result in sheet):
        return []
    ordered = sorted(sheet, key=lambda result: (result.submitted, result.annotation or 0))
    last = {result.rater: result.answers.get(field) for result in ordered}
    return [grouping for grouping in last.values() if isinstance(grouping, Mapping)]


def _drafts(sheet: Sequence[Result], field: str) -> Iterator[ItemDraft]:
    item = sheet[0].item
    for role, vote in count_votes(groupings_of(sheet, field)).items():
        original = original_item(item, role)
        if vote.state == PictureState.STAYS and original is not None:
            yield ItemDraft(
                key=original.key,
                sources=sources_of(sheet),
                concept=original.concept,
                origin=original.origin,
                condition=original.condition,
                text=original.text,
                context=dict(original.context),
                images=dict(original.images),
                answer_target=original.answer_target,
            )


def original_item(sheet: DerivationSource, role: str) -> DerivationSource | None:
    """The item that a picture of the sheet came from. None where it is withdrawn or dropped by now."""
    if sheet.parts is not None:
        return sheet.parts.get(role)
    if role not in sheet.images:
        return None
    pictures = sheet.context.get("pictures")
    own = pictures.get(role) if isinstance(pictures, Mapping) else None
    return DerivationSource(
        sheet.id, sheet.stage, shorten_key(f"{sheet.key}/{role}"), sheet.concept, sheet.origin, sheet.condition,
        context={name: value for name, value in own.items() if name != "key"} if isinstance(own, Mapping) else {},
        images={"image": sheet.images[role]}, answer_target=sheet.answer_target,
    )  # fmt: skip
