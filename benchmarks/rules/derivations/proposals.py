"""What a model proposes for an item, as people see it preselected on their sheet. Pure.

A derivation's `params.proposals`:
    stage: whose items are made of the same items as those that are derived.
    field: the question that a model answered there; the proposal stands under this name in the context of the item.
    run: the number of the run; without one, the first answer that a model gave.

An item waits until its proposal is there. The answer that was shown is a source of the item, in the role "proposal",
and its model stands in the context as `<field>_proposed_by`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.rules.derivations.contract import DerivationError, ItemDraft, Result

ROLE = "proposal"


@dataclass(frozen=True)
class Proposals:
    stage: str
    field: str
    run: int | None = None

    @classmethod
    def from_json(cls, data: Any, path: str = "params.proposals") -> "Proposals | None":
        """None where nothing is proposed. Raises DerivationError."""
        if not data:
            return None
        if not isinstance(data, Mapping) or set(data) - {"stage", "field", "run"}:
            raise DerivationError(path, "must name a stage and a question")
        for key in ("stage", "field"):
            if not isinstance(data.get(key), str) or not data[key]:
                raise DerivationError(f"{path}.{key}", "is missing")
        run = data.get("run")
        if run is not None and (not isinstance(run, int) or isinstance(run, bool) or run < 1):
            raise DerivationError(f"{path}.run", "must be the number of a run")
        return cls(data["stage"], data["field"], run)

    @property
    def proposed_by(self) -> str:
        return f"{self.field}_proposed_by"


def first_proposals(answers: Iterable[tuple[int, Result]], proposals: Proposals) -> dict[int, Result]:
    """By the item that they propose for, the answer that is shown. `answers`: with the item that each is about."""
    shown: dict[int, Result] = {}
    for item, result in sorted(answers, key=lambda row: (row[1].submitted, row[1].annotation or 0)):
        if result.answers.get(proposals.field) is not None and proposals.run in (None, result.run):
            shown.setdefault(item, result)
    return shown


def with_proposals(drafts: Sequence[ItemDraft], shown: Mapping[int, Result], proposals: Proposals) -> list[ItemDraft]:
    """Drafts of items that have a proposal, with it; of several sources the first one's."""
    proposed = ((draft, next((shown[item] for item, _a in draft.sources if item in shown), None)) for draft in drafts)
    return [_with_proposal(draft, result, proposals) for draft, result in proposed if result is not None]


def _with_proposal(draft: ItemDraft, result: Result, proposals: Proposals) -> ItemDraft:
    link = (result.item.id, result.annotation)
    added = {proposals.field: result.answers[proposals.field], proposals.proposed_by: result.rater_name}
    return replace(
        draft,
        sources=(*draft.sources, link),
        roles={**draft.roles, link: ROLE},
        context={**draft.context, **added},
    )
