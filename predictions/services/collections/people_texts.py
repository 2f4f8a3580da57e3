"""What people said about the items of a collection: corrected labels and texts, names that stay, names in languages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.models import ItemSource
from annotation.services.derivation.accepted_results import names_that_stay, results_of
from benchmarks.models import Item, Stage
from benchmarks.rules.derivations.proposals import ROLE
from benchmarks.rules.derivations.renaming import Rename

LABELS, OTHERS, NATIVE_NAME, BETTER = "labels", "others", "native_name", "better"
"""Keys of questions: labels that are chosen, further ones as words with commas, a name in a language, and how the text
of an item should read."""
PEOPLE, MODEL, IMPORT = "people", "model", "import"
SEPARATORS = re.compile(r"[|,\n]")
Words = Mapping[tuple[str, str, str], str]


@dataclass(frozen=True)
class EntryLabels:
    """`source`: PEOPLE, MODEL or IMPORT. `differ`: whether several people gave it different labels. The order of
    labels does not count."""

    labels: tuple[str, ...]
    source: str
    differ: bool = False


def split_labels(value: Any) -> tuple[str, ...]:
    """Labels of a list, or of a text that separates them."""
    rows = SEPARATORS.split(value) if isinstance(value, str) else value if isinstance(value, list | tuple) else ()
    return tuple(dict.fromkeys(text for row in rows if (text := str(row).strip())))


def load_labels(stage: Stage, items: Sequence[Item]) -> dict[int, EntryLabels]:
    """By item: labels of an accepted answer in this stage, else what a model proposed there, else those of its column.
    Of several accepted answers the last counts.

    Items of the stage are made of these items, or are these themselves.
    """
    base = {item.pk: item for item in items}
    links = ItemSource.objects.filter(item__stage=stage, item__withdrawn_at=None, source__in=base).exclude(role=ROLE)
    made_of = dict(links.values_list("item", "source")) | {
        pk: pk for pk, item in base.items() if item.stage_id == stage.pk
    }
    labels_by_item = {pk: EntryLabels(split_labels(item.context.get(LABELS)), IMPORT) for pk, item in base.items()}
    for item in Item.objects.filter(pk__in=made_of, stage=stage).order_by("pk"):
        if f"{LABELS}_proposed_by" in item.context:
            labels_by_item[made_of[item.pk]] = EntryLabels(split_labels(item.context.get(LABELS)), MODEL)
    of_people: dict[int, set[frozenset[str]]] = defaultdict(set)
    for result in results_of(stage, items=made_of.keys()):
        labels = (*split_labels(result.answers.get(LABELS)), *split_labels(result.answers.get(OTHERS)))
        pk = made_of[result.item.id]
        of_people[pk].add(frozenset(labels))
        labels_by_item[pk] = EntryLabels(tuple(dict.fromkeys(labels)), PEOPLE, differ=len(of_people[pk]) > 1)
    return {pk: entry_labels for pk, entry_labels in labels_by_item.items() if entry_labels.labels}


def better_texts(stage: Stage, items: Sequence[Item]) -> dict[int, str]:
    """By item, the text that people wrote in place of its own, in accepted answers of this stage. Most people's; an
    answer without one is for the item's own text, which wins a tie, and of others the first by alphabet."""
    if BETTER not in {field.get("key") for field in stage.sheet.get("fields", ())}:
        return {}
    own = {item.pk: item.text for item in items}
    votes: dict[int, Counter[str]] = defaultdict(Counter)
    for result in results_of(stage, items=own.keys()):
        votes[result.item.id][str(result.answers.get(BETTER) or "").strip() or own[result.item.id]] += 1
    chosen = {pk: min(texts, key=lambda text: (-texts[text], text != own[pk], text)) for pk, texts in votes.items()}
    return {pk: text for pk, text in chosen.items() if text != own[pk]}


def with_names_that_stay(items: Sequence[Item], merges: Stage) -> list[Item]:
    """The items under the names that stay, not saved; the name as it was found stays in their context."""
    rename = Rename("concept", merges.key)
    names = names_that_stay(merges.benchmark, rename)
    for item in items:
        if item.concept in names:
            item.context = {**item.context, rename.as_found: item.context.get(rename.as_found) or item.concept}
            item.concept = names[item.concept]
    return list(items)


def native_names(stage: Stage, languages: Mapping[str, str], merges: Stage | None) -> Words:
    """What people of a cohort call a concept in its language, by (concept, "", language). Most people's name; of equal
    ones the first by alphabet. A name of the concept itself goes before that of one that was merged into it."""
    stays = names_that_stay(merges.benchmark, Rename("concept", merges.key)) if merges is not None else {}
    votes: dict[tuple[str, str, str], Counter[tuple[int, str]]] = defaultdict(Counter)
    for result in results_of(stage):
        name, language = str(result.answers.get(NATIVE_NAME) or "").strip(), languages.get(result.cohort, "")
        own = result.item.concept or result.item.text
        if name and language:
            votes[stays.get(own, own), "", language][int(own in stays), name] += 1
    return {key: min(names, key=lambda row: (row[0], -names[row], row[1]))[1] for key, names in votes.items()}
