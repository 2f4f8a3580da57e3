"""Which items of a stage say what a draft says: these stay, and only what is new is made."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from django.db.models import Q

from benchmarks.models import Item, Stage
from benchmarks.models.items import RETURNED
from benchmarks.rules.derivations import ItemDraft
from benchmarks.rules.derivations.contract import digest
from benchmarks.rules.derivations.cultures import shared_culture
from benchmarks.rules.revisions import revision_key, revision_number, split_revision

LAID = ("groups", "near")


class NewItem(NamedTuple):
    """A draft that no item says. `replaces`: the earlier revision, which was returned with a comment."""

    key: str
    draft: ItemDraft
    revision: int
    replaces: int | None = None


Matches = tuple[dict[int, ItemDraft], list[NewItem]]
"""Drafts by the id of the item that says the same, and the items that are to be made of the other drafts."""

Content = tuple[str, str, str, str, str, tuple[tuple[str, int], ...]]


def _content(draft: ItemDraft) -> Content:
    """All that makes it another item. The culture that its answer is about does not (see Item.answer_target)."""
    images = tuple(sorted((role, picture.image) for role, picture in draft.images.items()))
    return draft.concept, draft.origin, draft.condition, draft.text, _sorted(draft.context), images


def _content_of(item: Item) -> Content:
    images = tuple(sorted((use.role, use.image_id) for use in item.images.all()))
    return item.concept, item.origin, item.condition, item.text, _sorted(item.context), images


def _sorted(context: Mapping[str, Any]) -> str:
    """How pictures lie on a contact sheet is worked out afterwards, and is no other content."""
    own_values = {key: value for key, value in context.items() if key not in LAID}
    return json.dumps(own_values, sort_keys=True, ensure_ascii=False)


def _candidate_keys(draft: ItemDraft, key: str = "") -> list[str]:
    """Keys in the order in which they are tried: its own, with its mark, with a digest of what it says."""
    key = key or draft.key
    return [key, *([f"{key}.{draft.mark}"] if draft.mark else []), f"{key}.{_digest_of(draft)}"]


def _digest_of(draft: ItemDraft) -> str:
    return digest(*(str(part) for part in _content(draft)))[:8]


def _former_names(draft: ItemDraft) -> list[str]:
    """Keys that an item derived by an earlier version of Emic may have."""
    return _candidate_keys(draft, draft.former) if draft.former and draft.former != draft.key else []


def match_items(stage: Stage, drafts: Sequence[ItemDraft], existing: Collection[int]) -> Matches:
    """The items that say what a draft says, and under which key the others are to be made.

    `existing`: the items of the same sources. Where one of them was returned with a comment, what now says something
    else is its next revision.
    """
    chains = _load_chains(existing)
    matched, new_items = _match_plain(stage, [draft for draft in drafts if draft.key not in chains])
    if chains:
        _match_revisions(chains, merge_drafts(d for d in drafts if d.key in chains), matched, new_items)
    return matched, new_items


class Chain(NamedTuple):
    """Items with one base key, one of which was returned. `newest`: of those in the loop, the last revision."""

    items: list[Item]
    newest: Item


def _load_chains(existing: Collection[int]) -> dict[str, Chain]:
    """By base key, what was returned, its revisions, and others that have the base key. One query where nothing was."""
    in_loop = Q(withdrawn_because=RETURNED) | Q(replaces__isnull=False)
    loop = list(Item.objects.filter(in_loop, pk__in=existing).order_by("revision", "pk"))
    if not loop:
        return {}
    newest = {_base_of(item): item for item in loop}
    mates: dict[str, list[Item]] = {base: [] for base in newest}
    starts = reduce(or_, (Q(key__startswith=base) for base in newest))
    for item in Item.objects.filter(starts, pk__in=existing).order_by("pk").prefetch_related("images"):
        mates.get(_base_of(item), []).append(item)
    return {base: Chain(mates[base], item) for base, item in newest.items()}


def _base_of(item: Item) -> str:
    base, number = split_revision(item.key)
    return item.key if number > 1 and item.revision == 1 else base  # a source's own key may end like a revision's


def _match_revisions(
    chains: Mapping[str, Chain], drafts: Iterable[ItemDraft], matched: dict[int, ItemDraft], new_items: list[NewItem]
) -> None:
    """What an item of the chain said already is that item, returned or not; else it is the next revision."""
    numbers: dict[str, int] = {}
    for draft in drafts:
        items, newest = chains[draft.key]
        content = _content(draft)
        same = next((item for item in items if _content_of(item) == content and item.pk not in matched), None)
        if same is not None:
            matched[same.pk] = draft
            continue
        replaces = None if draft.key in numbers else newest.pk  # a revision is replaced once
        number = numbers.get(draft.key, max(revision_number(item.key, draft.key) for item in items)) + 1
        numbers[draft.key] = number
        new_items.append(NewItem(revision_key(draft.key, number), draft, number, replaces))


def _match_plain(stage: Stage, drafts: Sequence[ItemDraft]) -> Matches:
    wanted = [name for draft in drafts for name in (*_candidate_keys(draft), *_former_names(draft))]
    existing_items = {item.key: item for item in stage.items.filter(key__in=wanted).prefetch_related("images")}
    contents = {key: _content_of(item) for key, item in existing_items.items()}
    existing_drafts: dict[int, ItemDraft] = {}
    new_drafts: dict[str, ItemDraft] = {}
    new = []
    for draft in drafts:
        content = _content(draft)
        former = next((n for n in _former_names(draft) if contents.get(n) == content), "")
        if former:
            known = existing_drafts.get(existing_items[former].pk)
            existing_drafts[existing_items[former].pk] = (
                replace(known, sources=(*known.sources, *draft.sources)) if known else draft
            )
        else:
            new.append(draft)
    for draft in merge_drafts(new):
        content = _content(draft)
        name = next(n for n in _candidate_keys(draft) if n not in new_drafts and contents.get(n, content) == content)
        if name in existing_items:
            existing_drafts[existing_items[name].pk] = draft
        else:
            new_drafts[name] = draft
    return existing_drafts, [NewItem(key, draft, revision_number(key, draft.key)) for key, draft in new_drafts.items()]


def merge_drafts(drafts: Iterable[ItemDraft]) -> list[ItemDraft]:
    """What says the same under the same key is one item with all their sources."""
    drafts_by_content: dict[tuple[str, Content], ItemDraft] = {}
    for draft in drafts:
        content_key = draft.key, _content(draft)
        other = drafts_by_content.get(content_key)
        drafts_by_content[content_key] = _merge(other, draft) if other else draft
    return list(drafts_by_content.values())


def _merge(draft: ItemDraft, other: ItemDraft) -> ItemDraft:
    about = shared_culture((draft.answer_target, other.answer_target))
    return replace(draft, sources=(*draft.sources, *other.sources), answer_target=about)


def match_versions(stage: Stage, drafts: Sequence[ItemDraft], existing: Collection[int]) -> Matches:
    """As `match_items`, for kinds whose items have versions: of the same sources, which are the `existing` items.

    What says something else under a known key is the next version of it (`key.v2`); what says again what an earlier
    version said is that version. Three queries, however many drafts there are.
    """
    versions: dict[str, dict[Content, Item]] = {}
    newest: dict[str, int] = {}
    for item in Item.objects.filter(pk__in=existing).order_by("pk").prefetch_related("images"):
        base, number = split_revision(item.key)
        versions.setdefault(base, {}).setdefault(_content_of(item), item)
        newest[base] = max(newest.get(base, 0), number)
    existing_drafts: dict[int, ItemDraft] = {}
    new: list[tuple[str, ItemDraft]] = []
    for draft in merge_drafts(drafts):
        content = _content(draft)
        known = [versions[key][content] for key in (draft.key, draft.former) if content in versions.get(key, {})]
        same = next((item for item in known if item.pk not in existing_drafts), None)
        if same is not None:
            existing_drafts[same.pk] = draft
            continue
        newest[draft.key] = newest.get(draft.key, 0) + 1
        new.append((revision_key(draft.key, newest[draft.key]), draft))
    taken = set(stage.items.filter(key__in=[key for key, _draft in new]).values_list("key", flat=True))
    named = [(f"{key}.{_digest_of(draft)}" if key in taken else key, draft) for key, draft in new]
    return existing_drafts, [NewItem(key, draft, revision_number(key, draft.key)) for key, draft in named]
