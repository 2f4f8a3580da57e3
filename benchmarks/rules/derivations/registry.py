"""The derivations there are. Pure.

{"kind": "promote" | "join" | "pair" | "cluster" | "ungroup" | "sample" | "verdicts" | "disagree",
 "from": [stage keys], "of": "results" | "items" | "kept", "without": filter key, "params": {...}, "seed": number}

Each kind has params of its own; any may have `rename` and `proposals`, see there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.rules.derivations import cluster, disagree, join, pair, promote, sample, ungroup, verdicts
from benchmarks.rules.derivations.contract import (
    DerivationError,
    ItemDraft,
    Result,
    grouping_fields,
    is_item_field,
)
from benchmarks.rules.derivations.proposals import Proposals, with_proposals
from benchmarks.rules.derivations.renaming import Rename, with_found_names

READ_WHOLE = 5_000  # all items are read in any case: the fewer steps, the better


@dataclass(frozen=True)
class DerivationKind:
    """How items of one kind are derived.

    `whole`: what comes of one item depends on all the others, so all are looked at again; with `grouped` only on those
    of its group, which have the same values in the fields of `by`. `all_raters`: it reads the answers of models too.
    `versions`: an item whose content changes is replaced by its next version (`key.v2`). `batch`: how many items of
    earlier stages one step reads. `parts`: it reads which item each picture of a sheet came from. `answers`: it makes
    items of answers alone, so `of` is always "results".
    """

    derive: Callable[[Sequence[Result], Mapping[str, Any], int], list[ItemDraft]]
    check: Callable[[Mapping[str, Any]], None]
    whole: bool
    grouped: bool = False
    all_raters: bool = False
    versions: bool = False
    batch: int = 500
    linked: bool = False
    parts: bool = False
    answers: bool = False
    stages: Callable[[Mapping[str, Any]], tuple[str, ...]] | None = None


KINDS = {
    "promote": DerivationKind(promote.derive, promote.check, whole=False),
    "join": DerivationKind(join.derive, join.check, whole=False),
    "pair": DerivationKind(pair.derive, pair.check, whole=True, batch=READ_WHOLE),
    "cluster": DerivationKind(cluster.derive, cluster.check, whole=True, batch=READ_WHOLE),
    "ungroup": DerivationKind(ungroup.derive, ungroup.check, whole=False, parts=True, answers=True),
    "sample": DerivationKind(sample.derive, sample.check, whole=True, grouped=True, batch=READ_WHOLE),
    "verdicts": DerivationKind(
        verdicts.derive, verdicts.check, whole=False, all_raters=True, versions=True, batch=100, answers=True
    ),
    "disagree": DerivationKind(
        disagree.derive,
        disagree.check,
        whole=False,
        versions=True,
        batch=100,
        linked=True,
        answers=True,
        stages=disagree.stages_of,
    ),
}


def register_derivation(key: str, kind: DerivationKind) -> None:
    """Make a kind of derivation available to stages. Raises ValueError if the key is taken: stages store it."""
    if key in KINDS:
        raise ValueError(f"the derivation {key!r} is taken")
    KINDS[key] = kind


@dataclass(frozen=True)
class Derivation:
    """How the items of a stage come from those of earlier ones.

    `of`: "results" (accepted answers), "items" (whatever was answered) or "kept" (items that the filters of their stage
    keep). Items that a filter drops, or that wait for a fact, are never among them. `without`: the filter that is left
    out when "kept" is decided. `rename`: names that people merged, which whoever reads the results applies first.
    `proposals`: what a model proposes for the items.
    """

    kind: str
    sources: tuple[str, ...]
    of: str = "results"
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    without: str = ""
    rename: Rename | None = None
    proposals: Proposals | None = None

    @classmethod
    def from_json(cls, data: Any) -> "Derivation | None":
        """None where items are imported. Raises DerivationError."""
        if not data:
            return None
        if not isinstance(data, Mapping):
            raise DerivationError("derivation", "must be an object")
        for key in data:
            if key not in ("kind", "from", "of", "without", "params", "seed"):
                raise DerivationError(key, "is not known")
        kind, sources, params = data.get("kind"), data.get("from"), data.get("params", {})
        if kind not in KINDS:
            raise DerivationError("kind", f"must be one of {', '.join(KINDS)}, not {kind!r}")
        if (
            not isinstance(sources, list | tuple)
            or not sources
            or not all(isinstance(source, str) for source in sources)
        ):
            raise DerivationError("from", "needs the key of at least one stage")
        of, without = data.get("of", "results"), data.get("without", "")
        if of not in ("results", "items", "kept"):
            raise DerivationError("of", "must be results, items or kept")
        if KINDS[kind].answers:
            of = "results"
        if not isinstance(without, str) or (without and (of != "kept" or not KINDS[kind].whole)):
            raise DerivationError("without", "must be the key of a filter; only with of: kept, and not with this kind")
        if not isinstance(params, Mapping):
            raise DerivationError("params", "must be an object")
        if not isinstance(data.get("seed", 0), int):
            raise DerivationError("seed", "must be a whole number")
        rename = Rename.from_json(params.get("rename"))
        proposals = Proposals.from_json(params.get("proposals"))
        params = {key: value for key, value in params.items() if key not in ("rename", "proposals")}
        KINDS[kind].check(params)
        named = KINDS[kind].stages
        if named is not None and set(named(params)) != set(sources):
            raise DerivationError("from", f"must be the stages of params: {', '.join(named(params))}")
        return cls(kind, tuple(sources), of, dict(params), data.get("seed", 0), without, rename, proposals)

    @property
    def rules(self) -> DerivationKind:
        return KINDS[self.kind]

    @property
    def whole(self) -> bool:
        return self.rules.whole

    @property
    def needs_every_part(self) -> bool:
        """Whether each item needs all parts that there are, told apart by a value that items have."""
        return self.kind == "join" and "parts" in self.params and join.needs_every_part(self.params)

    def with_parts(self, parts: Sequence[str]) -> "Derivation":
        """With these as the parts that there are. No part at all is needed by nothing, so nothing comes of it."""
        return replace(self, params={**self.params, "needs": list(parts) or [""]})

    @property
    def group_fields(self) -> tuple[str, ...] | None:
        """The fields of items that are derived together. Empty: each item by itself; None: all items together."""
        fields = grouping_fields(self.params)
        if fields and self.rename is not None:
            return None  # items are in other groups than their rows say
        if self.needs_every_part:
            return None  # another part is one that all groups need
        if self.whole and (not self.rules.grouped or not fields or self.without):
            return None  # what a filter that is left out drops may change without any change of an item
        return fields if all(map(is_item_field, fields)) else None

    def derive(self, results: Sequence[Result], proposed: Mapping[int, Result] | None = None) -> list[ItemDraft]:
        """The same results give the same drafts, in whatever order they come. `proposed`: by item what is proposed."""
        drafts = KINDS[self.kind].derive(results, self.params, self.seed)
        if self.rename is not None:
            drafts = with_found_names(drafts, results, self.rename)
        return with_proposals(drafts, proposed or {}, self.proposals) if self.proposals is not None else drafts
