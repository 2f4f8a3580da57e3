"""What derivations read and write. Pure."""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.rules.derivations.context_values import context_value

KEY_LENGTH = 190  # of the 200 that an item's key may have: the rest tells apart what has the same key
OF_ITEM = ("text", "key", "concept", "origin", "condition")


class DerivationError(ValueError):
    """A derivation is written wrongly: where, and why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


@dataclass(frozen=True)
class PictureRef:
    image: int
    alt: str = ""
    source: str = ""
    licence: str = ""
    file: str = ""


@dataclass(frozen=True)
class DerivationSource:
    """An item of an earlier stage.

    `answer_target`: the culture that it is about, where it is made of an answer (see cultures.py).
    `made_of`: ids of the items that it comes from, and `parts`: by the name of its picture the item that this came
    from, where a kind asks for them. `parts` is None where it comes from no item.
    """

    id: int
    stage: str
    key: str
    concept: str = ""
    origin: str = ""
    condition: str = ""
    text: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)
    images: Mapping[str, PictureRef] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    answer_target: str = ""
    made_of: frozenset[int] = frozenset()
    parts: "Mapping[str, DerivationSource] | None" = None


@dataclass(frozen=True)
class Result:
    """One accepted answer, or an item as such (`annotation` None).

    `pictures`: those brought with the answer, by field. `culture`: what the answer is about, where the stage asks each
    cohort about its own (see cultures.py). `passes`: its own sheet satisfies the stage's rule; where more
    than one sheet decides, others may not.

    Only kinds that read the answers of all raters use the rest. `kind`: "person" or "model"; `rater_name`, `setting`,
    `run` (0: of a file) and `repeat` (0: the first time) are a model's. `submitted`: seconds since 1970. `complete`:
    the item waits for no further answer of a person. `owns`: its rater made the item, or had a part in it.
    `unanswered`: a model was asked and gave no answer (`annotation` None).
    """

    item: DerivationSource
    target: str = ""
    culture: str = ""
    cohort: str = ""
    rater: str = ""
    annotation: int | None = None
    version: int = 1
    answers: Mapping[str, Any] = field(default_factory=dict)
    pictures: Mapping[str, PictureRef] = field(default_factory=dict)
    score: float | None = None
    passes: bool = True
    kind: str = "person"
    rater_name: str = ""
    setting: str = ""
    run: int = 0
    repeat: int = 0
    submitted: float = 0
    complete: bool = True
    owns: bool = False
    unanswered: bool = False

    @property
    def name(self) -> str:
        """The same for the same person's answer to the same item, whatever its version."""
        return "/".join(part for part in (self.item.key, self.rater) if part)


@dataclass(frozen=True)
class ItemDraft:
    """An item to be. `sources`: items, each with the answer that was used or None.

    `mark` is put behind the key where an item of this key says something else: of a corrected answer its version.
    `former`: the key under which an earlier version of Emic made it, or that it has while no other item would have it.
    `roles`: by source, what it is to the item: "item", "candidate", "reference" or "proposal"; else "".
    `answer_target`: the culture that its answer is about, which is no content (see cultures.py).
    """

    key: str
    sources: tuple[tuple[int, int | None], ...]
    mark: str = ""
    former: str = ""
    concept: str = ""
    origin: str = ""
    condition: str = ""
    text: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)
    images: Mapping[str, PictureRef] = field(default_factory=dict)
    roles: Mapping[tuple[int, int | None], str] = field(default_factory=dict)
    answer_target: str = ""


def read_path(where: str, result: Result) -> Any:
    """`item.text`, `item.context.<name>`, `item.facts.<key>`, `unit.target`, `unit.cohort`, `rule.score`; else a field
    of an answer."""
    head, _dot, rest = where.partition(".")
    if where.startswith("item.context."):
        return context_value(result.item.context, where.removeprefix("item.context."))
    if where.startswith("item.facts."):
        return result.item.facts.get(where.removeprefix("item.facts."))
    if head == "item" and rest in OF_ITEM:
        return getattr(result.item, rest)
    if where in ("unit.target", "unit.cohort"):
        return getattr(result, rest)
    return result.score if where == "rule.score" else result.answers.get(where)


def is_answer_path(where: str) -> bool:
    """Whether it names a field of an answer."""
    return "." not in where and where != "item"


def is_item_field(where: str) -> bool:
    """Whether it is stored with the item itself: its facts come later and from elsewhere."""
    return where.startswith("item.") and not where.startswith("item.facts.")


def of_unit(where: str) -> bool:
    """Whether it says something of the target or the cohort that an item was asked about."""
    return where.startswith("unit.")


def answer_key(result: Result) -> str:
    """The key of what an answer becomes: it tells answers to one item apart, and names nobody."""
    return f"{result.item.key}~{digest(result.item.key, result.rater)[:6]}" if result.rater else result.item.key


def require_path(where: Any, path: str) -> str:
    head, _dot, rest = where.partition(".") if isinstance(where, str) else ("", "", "")
    known = (
        where in ("unit.target", "unit.cohort", "rule.score")
        or (
            head == "item"
            and (
                rest in OF_ITEM
                or (rest.startswith("context.") and len(rest) > 8)
                or (rest.startswith("facts.") and len(rest) > 6)
            )
        )
        or (bool(head) and not rest and head != "item")
    )
    if not known:
        raise DerivationError(path, f"{where!r} names nothing that can be read")
    return str(where)


def value_text(value: Any) -> str:
    return "" if value is None else str(value)


def read_number(value: Any) -> float | None:
    """A finite number, also one that an import left as text; None if it is none."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number else None


def first_picture(item: DerivationSource) -> PictureRef | None:
    return item.images[min(item.images)] if item.images else None


def shorten_key(key: str) -> str:
    """A key that fits, told apart by its digest where it had to be cut."""
    return key if len(key) <= KEY_LENGTH else f"{key[: KEY_LENGTH - 13]}~{digest(key)}"


def digest(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:12]


def seeded_random(seed: int, name: str) -> float:
    """A number in (0, 1) that belongs to this name under this seed, whatever else there is."""
    drawn = int.from_bytes(hashlib.sha256(f"{seed}/{name}".encode()).digest()[:8], "big")
    return (drawn + 1) / (2**64 + 2)


def sources_of(results: Iterable[Result]) -> tuple[tuple[int, int | None], ...]:
    sources = {(result.item.id, result.annotation) for result in results}
    return tuple(sorted(sources, key=lambda source: (source[0], source[1] or 0)))


def group_by_value(results: Iterable[Result], by: str) -> dict[str, list[Result]]:
    """By a value that is there; in the order of their names."""
    groups: dict[str, list[Result]] = {}
    for result in sorted(results, key=_order):
        value = value_text(read_path(by, result)) if by else "all"
        if value:
            groups.setdefault(value, []).append(result)
    return groups


def grouping_fields(params: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields of `by`, which is one path or a list of paths; empty where there is none."""
    by = params.get("by") or ()
    return (by,) if isinstance(by, str) else tuple(map(str, by))


def check_groups(by: Any) -> None:
    """`by` is a path or a list of paths. Raises DerivationError."""
    if not isinstance(by, str | list | tuple):
        raise DerivationError("params.by", "must be a field or a list of fields")
    for where in [by] if isinstance(by, str) else by:
        require_path(where, "params.by")


def group_by_values(results: Iterable[Result], fields: Sequence[str]) -> dict[tuple[str, ...], list[Result]]:
    """By all these values together; what lacks one of them is left out. In the order of their names."""
    groups: dict[tuple[str, ...], list[Result]] = {}
    for result in sorted(results, key=_order):
        values = tuple(value_text(read_path(where, result)) for where in fields)
        if all(values):
            groups.setdefault(values, []).append(result)
    return groups


def group_by_item(results: Iterable[Result]) -> list[list[Result]]:
    """The results of each item and target together, in the order of their keys. Items of two stages may share a key and
    are two items all the same."""
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for result in sorted(results, key=_order):
        groups.setdefault((result.item.key, result.target, result.item.stage), []).append(result)
    return [groups[key] for key in sorted(groups)]


def _order(result: Result) -> tuple[str, str]:
    return result.name, result.item.stage
