"""Names that people merged: of words that mean the same one stays, and items take its name. Pure.

A derivation's `params.rename`:
    field: what is renamed: "concept", "text" or "context.<name>".
    by: the stage of pairs whose accepted answers are merges.
    names: the names of both words in its context ("first" and "second").
    stays: the question that says which word stays ("name"); its codes are those names.

Being the same passes on: a with b and b with c are one group. The word stays that most answers of the group name; of
equal ones the first by key, which is the order of the alphabet. The name as it was found stays in the context of the
item, as `concept_as_found`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.rules.derivations.contract import DerivationError, DerivationSource, ItemDraft, Result

FIELDS = ("concept", "text")
CONTEXT = "context."
NAMES = ("first", "second")
STAYS = "name"


@dataclass(frozen=True)
class Rename:
    field: str
    by: str
    names: tuple[str, str] = NAMES
    stays: str = STAYS

    @classmethod
    def from_json(cls, data: Any, path: str = "params.rename") -> "Rename | None":
        """None where nothing is renamed. Raises DerivationError."""
        if not data:
            return None
        if not isinstance(data, Mapping) or set(data) - {"field", "by", "names", "stays"}:
            raise DerivationError(path, "must name a field and the stage that merges its names")
        field, names = data.get("field", "concept"), data.get("names", list(NAMES))
        if field not in FIELDS and not (isinstance(field, str) and len(field) > len(CONTEXT) and CONTEXT in field[:8]):
            raise DerivationError(f"{path}.field", "must be concept, text or context.<name>")
        if not isinstance(data.get("by"), str) or not data["by"]:
            raise DerivationError(f"{path}.by", "must be the key of a stage")
        if not isinstance(names, list | tuple) or len(names) != 2 or len(set(map(str, names))) != 2:
            raise DerivationError(f"{path}.names", "must be two names")
        stays = data.get("stays", STAYS)
        if not isinstance(stays, str) or not stays:
            raise DerivationError(f"{path}.stays", "must be the key of a question")
        return cls(field, data["by"], (str(names[0]), str(names[1])), stays)

    @property
    def as_found(self) -> str:
        """The name of the context column that keeps what was found."""
        return f"{self.field.removeprefix(CONTEXT)}_as_found"

    def value_of(self, item: DerivationSource) -> str:
        if self.field.startswith(CONTEXT):
            return str(item.context.get(self.field.removeprefix(CONTEXT)) or "")
        return str(getattr(item, self.field))


Names = Mapping[str, str]
"""The name that stays, by each other name of its group."""


def merged_names(results: Iterable[Result], rename: Rename) -> Names:
    """From the accepted results of the stage of pairs; an answer that its rule does not accept has no vote."""
    votes: Counter[str] = Counter()
    above: dict[str, str] = {}

    def root(name: str) -> str:
        while above.setdefault(name, name) != name:
            name = above[name]
        return name

    for result in results:
        words = {name: str(result.item.context.get(name) or "") for name in rename.names}
        if not all(words.values()):
            continue
        first, second = sorted(root(word) for word in words.values())
        above[second] = first
        if result.passes and result.answers.get(rename.stays) in words:
            votes[words[str(result.answers[rename.stays])]] += 1
    groups: dict[str, list[str]] = defaultdict(list)
    for name in above:
        groups[root(name)].append(name)
    stays = {group: min(members, key=lambda name: (-votes[name], name)) for group, members in groups.items()}
    return {name: stays[root(name)] for name in above if stays[root(name)] != name}


def rename_items(results: Sequence[Result], rename: Rename, names: Names) -> list[Result]:
    """The results with items, and the items that pictures came from, under the name that stays."""
    return [replace(result, item=_renamed(result.item, rename, names)) for result in results] if names else [*results]


def _renamed(item: DerivationSource, rename: Rename, names: Names) -> DerivationSource:
    if item.parts is not None:
        item = replace(item, parts={role: _renamed(part, rename, names) for role, part in item.parts.items()})
    found_as = rename.value_of(item)
    if found_as not in names:
        return item
    context = {**item.context, rename.as_found: item.context.get(rename.as_found) or found_as}
    if rename.field.startswith(CONTEXT):
        return replace(item, context={**context, rename.field.removeprefix(CONTEXT): names[found_as]})
    item = replace(item, context=context)
    return replace(item, text=names[found_as]) if rename.field == "text" else replace(item, concept=names[found_as])


def with_found_names(drafts: Sequence[ItemDraft], results: Iterable[Result], rename: Rename) -> list[ItemDraft]:
    """Drafts that keep the name as it was found; of several sources with several names all of them, as a list.

    A picture of a sheet has its own name, whatever the others of the sheet were found by.
    """
    results = list(results)
    whole = [result.item for result in results if result.item.parts is None]
    found_as = {item.id: item.context.get(rename.as_found) for item in whole}
    own = {result.item.id: rename.value_of(result.item) for result in results}
    if not any(found_as.values()):
        return [*drafts]
    return [_with_found(draft, rename, found_as, own) for draft in drafts]


def _names(found_as: Any) -> list[str]:
    return [str(name) for name in found_as] if isinstance(found_as, list | tuple) else [str(found_as)]


def _with_found(draft: ItemDraft, rename: Rename, found_as: Mapping[int, Any], own: Mapping[int, str]) -> ItemDraft:
    items = {item for item, _annotation in draft.sources}
    if rename.as_found in draft.context or not any(found_as.get(item) for item in items):
        return draft
    names = sorted({name for item in items for name in _names(found_as.get(item) or own.get(item, ""))})
    return replace(draft, context={**draft.context, rename.as_found: names[0] if len(names) == 1 else names})
