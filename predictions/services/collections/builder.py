"""Collections out of a stage's results: what is searched, and the queries that the papers put to it.

Only what the stage gives goes in: items with an accepted result, or where nobody is asked, items that its filters keep.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.text import slugify
from django.utils.translation import gettext as _

from annotation.services.derivation.accepted_results import results_of
from benchmarks.models import Benchmark, Item, ItemImage, Stage
from benchmarks.queries.availability import is_kept
from benchmarks.rules.derivations.contract import digest
from jobs.models import record
from people.models import Cohort, User
from predictions.models import Collection, Entry, Query
from predictions.queries.look_alikes import waiting_for_comparison
from predictions.retrieval import trials
from predictions.retrieval.trials import TrialPicture, TrialSet
from predictions.services.collections.people_texts import (
    PEOPLE,
    EntryLabels,
    better_texts,
    load_labels,
    native_names,
    with_names_that_stay,
)
from predictions.services.collections.written_queries import BY_MODELS, PLAIN, reworded, written_texts
from predictions.services.runs.result_runs import FileRunRefused
from predictions.texts.call_reasons import no_query_text

UNIVERSALS, NATIVE, THREE, SIX = "universals", "native", "three", "six"
SENTENCES, IMAGES = "sentences", "images"  # of a stage of words, of one of pictures
NATIVE_KEY, LABELS_KEY = "concept_in_native", "labels"
STAGES = ("asked_by", "labels_from", "renamed_by", "names_from", "queries_from")
STEP = 1000
MOST_KEY = 200
ACCEPTED, KEPT = "accepted", "kept"  # items of the stage


@dataclass(frozen=True)
class CollectionPlan:
    """`of`: ACCEPTED or KEPT items; empty: accepted ones, or kept ones in a stage in which nobody is asked.
    `what`: "images" or "texts" of the items. `queries`: of UNIVERSALS, NATIVE, THREE, SIX. `languages`: of
    countries, by their names, where their cohorts do not say it. `words`: a concept in a language, and with a country:
    (concept, country or "", language) to text. `asked_by`: a stage whose pictures are queries (image to text).
    `labels_from`: a stage in which people correct labels; `renamed_by`: one whose accepted pairs merge concepts;
    `names_from`: one in which cohorts say what a concept is called in their language; `queries_from`: one in which they
    write queries, each question a query set with the trials of THREE; `queries_by_models`: those that models wrote
    there, too, each model's a set of its own. Texts that people wrote better in `stage` go before those of items."""

    stage: Stage
    name: str
    version: str = "1"
    licence: str = ""
    of: str = ""
    what: str = "images"
    queries: tuple[str, ...] = ()
    languages: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    asked_by: Stage | None = None
    labels_from: Stage | None = None
    renamed_by: Stage | None = None
    names_from: Stage | None = None
    queries_from: Stage | None = None
    queries_by_models: bool = False
    other_language: bool = False
    seed: int = 0

    @property
    def source(self) -> str:
        """ACCEPTED or KEPT."""
        return self.of or (ACCEPTED if self.stage.target_answers else KEPT)


@dataclass(frozen=True)
class BuildResult:
    """`queries`: how many by query set. `left_out`: pictures without a query, by query set and reason. `labels_differ`:
    items to which several people gave different labels, so that the last answer counts."""

    collection: Collection
    entries: int
    queries: Mapping[str, int]
    left_out: Mapping[str, Mapping[str, int]]
    labels_differ: int = 0


def build_collection(plan: CollectionPlan, actor: User, *, expected: str = "") -> BuildResult:
    """All of it or nothing. `expected`: the digest of the entries that a person saw before (`entries_digest`).

    Raises FileRunRefused, and EntriesChanged where other entries result.
    """
    benchmark, key = plan.stage.benchmark, slugify(plan.name)[:60]
    if plan.queries_from is not None and THREE not in plan.queries:
        raise FileRunRefused(_("Queries that people wrote ask between three candidates. Choose these queries, too."))
    if not key:
        raise FileRunRefused(_("Use some Latin letters or digits, so that the name can be a key."))
    languages = {**_languages_of(benchmark), **plan.languages}
    try:
        with transaction.atomic():
            collection = Collection.objects.create(
                benchmark=benchmark, key=key, version=plan.version, name=plan.name, licence=plan.licence,
                stage=plan.stage, params=params_of(plan), seed=plan.seed,
            )  # fmt: skip
            items = source_items(plan)
            labels = _labels(plan, items)
            entries = _entries(collection, plan, items, languages, labels)
            if expected and entries_digest(entries) != expected:
                raise EntriesChanged
            Entry.objects.bulk_create(entries, batch_size=STEP)
            sets, left_out = _queries(with_native_names(plan, languages), items, entries, languages)
            for name, asked in sets.items():
                for query in asked:
                    query.collection, query.query_set = collection, name
                Query.objects.bulk_create(asked, batch_size=STEP)
            counts = {name: len(asked) for name, asked in sets.items()}
            record(
                actor, "collection.made", scope=benchmark.scope, target=f"collection:{collection.pk}",
                stage=plan.stage.key, of=plan.source, entries=len(entries), queries=counts, seed=plan.seed,
                left_out={name: dict(why) for name, why in left_out.items()},
            )  # fmt: skip
    except IntegrityError as error:
        raise FileRunRefused(
            _("There is a collection of this name and version already. Give it another version.")
        ) from error
    labels_differ = sum(of_item.differ for of_item in labels.values())
    return BuildResult(collection, len(entries), counts, left_out, labels_differ)


class EntriesChanged(Exception):
    """Other entries result than those that a person saw."""


def with_native_names(plan: CollectionPlan, languages: Mapping[str, str]) -> CollectionPlan:
    """With the words that people said in `names_from`; what was typed goes before them."""
    if plan.names_from is None:
        return plan
    return replace(plan, words={**native_names(plan.names_from, languages, plan.renamed_by), **plan.words})


def source_items(plan: CollectionPlan) -> list[Item]:
    """What the stage gives, by key; with what waits to be compared, for a run over the collection compares it. Raises
    FileRunRefused where that is nothing."""
    waiting = Q(withdrawn_at=None) & waiting_for_comparison(plan.stage)
    items = Item.objects.filter(is_kept() if plan.source == ACCEPTED else is_kept() | waiting, stage=plan.stage)
    if plan.source == ACCEPTED:
        items = items.filter(pk__in={result.item.id for result in results_of(plan.stage)})
    rows = list(items.order_by("key"))
    if not rows and plan.source == ACCEPTED:
        text = _(
            "Nothing is accepted in the stage “%(stage)s” yet. Wait for answers, or take all items that filters keep."
        )
        raise FileRunRefused(text % {"stage": plan.stage.name})
    return with_names_that_stay(rows, plan.renamed_by) if plan.renamed_by is not None else rows


def planned_entries(plan: CollectionPlan) -> list[Entry]:
    """The entries that result now. Nothing is written. Raises FileRunRefused."""
    languages = {**_languages_of(plan.stage.benchmark), **plan.languages}
    items = source_items(plan)
    return _entries(Collection(benchmark=plan.stage.benchmark), plan, items, languages, _labels(plan, items))


def planned_trials(plan: CollectionPlan, entries: Sequence[Entry]) -> list[Query]:
    """The queries with candidates that result now of these entries. Nothing is written."""
    languages = {**_languages_of(plan.stage.benchmark), **plan.languages}
    try:
        sets, _left_out = _queries(with_native_names(plan, languages), [], entries, languages)
    except FileRunRefused:
        return []
    for name, queries in sets.items():
        for query in queries:
            query.query_set = name
    return [query for queries in sets.values() for query in queries if query.roles]


def entries_digest(entries: Iterable[Entry]) -> str:
    """Of what they are and say, in whatever order they come."""
    return digest(*sorted(f"{entry.key} {json.dumps(entry_content(entry), sort_keys=True)}" for entry in entries))


def entry_content(entry: Entry) -> list[Any]:
    return [entry.image_id, entry.text, entry.about]


def params_of(plan: CollectionPlan) -> dict[str, Any]:
    """As a collection stores them: with them and the seed the next version is made alike."""
    return {
        "of": plan.source,
        "what": plan.what,
        "queries": list(plan.queries),
        "languages": dict(plan.languages),
        "words": [[*key, text] for key, text in plan.words.items()],
        **{name: stage.key if (stage := getattr(plan, name)) else "" for name in STAGES},
        BY_MODELS: plan.queries_by_models,
        "other_language": plan.other_language,
    }


def plan_from(collection: Collection, version: str) -> CollectionPlan:
    """How this collection was made, for another version of it. Raises FileRunRefused for one of a file."""
    params, stage = collection.params, collection.stage
    if stage is None:
        raise FileRunRefused(_("This collection came from a file. Import the next version as a file."))
    return CollectionPlan(
        stage=stage, name=collection.name, version=version, licence=collection.licence, of=params["of"],
        what=params["what"], queries=tuple(params["queries"]), languages=params["languages"],
        words={(concept, country, language): text for concept, country, language, text in params["words"]},
        **{name: stage.benchmark.stages.filter(key=params.get(name, "")).first() for name in STAGES},
        queries_by_models=bool(params.get(BY_MODELS)), other_language=params["other_language"], seed=collection.seed,
    )  # fmt: skip


def _languages_of(benchmark: Benchmark) -> dict[str, str]:
    cohorts = Cohort.objects.filter(team=benchmark.team_id)
    return {cohort.label: str(cohort.languages[0]) for cohort in cohorts if cohort.languages}


def _entry_about(item: Item) -> dict[str, Any]:
    """What numbers are cut by. A picture has no language: tables tell texts from pictures by it."""
    values = {"concept": item.concept, "country": item.origin, "condition": item.condition}
    own = {
        name: value
        for name, value in item.context.items()
        if isinstance(value, str | int | float) or name == LABELS_KEY
    }
    return {"item": item.key, **{name: value for name, value in values.items() if value}, **own}


def _credits(use: ItemImage) -> dict[str, str]:
    """Where a picture comes from and what its licence allows: each keeps that of its source."""
    return {name: value for name, value in (("source", use.source), ("licence", use.licence)) if value}


def _text_language(item: Item, languages: Mapping[str, str]) -> dict[str, str]:
    """The language of a text: what the item says, else that of its country."""
    language = str(item.context.get("language") or "") or languages.get(item.origin, "")
    return {"language": language} if language else {}


def _labels(plan: CollectionPlan, items: Sequence[Item]) -> dict[int, EntryLabels]:
    """By item; none where texts are searched."""
    return load_labels(plan.labels_from, items) if plan.labels_from is not None and plan.what != "texts" else {}


def _entries(
    collection: Collection, plan: CollectionPlan, items: Sequence[Item], languages: Mapping[str, str],
    labels: Mapping[int, EntryLabels],
) -> list[Entry]:  # fmt: skip
    if plan.what == "texts":
        better = better_texts(plan.stage, items)
        text_entries = [
            _text_entry(collection, item, better.get(item.pk, ""), languages) for item in items if item.text
        ]
        if not text_entries:
            raise FileRunRefused(_("No item of this stage has a text."))
        return text_entries
    uses = ItemImage.objects.filter(item__in=items).select_related("image").order_by("item__key", "role")
    by_item: dict[int, list[ItemImage]] = {}
    for use in uses:
        by_item.setdefault(use.item_id, []).append(use)
    picture_entries = []
    for item in items:
        mine = by_item.get(item.pk, [])
        for use in mine:
            key = item.key if len(mine) == 1 else f"{item.key}/{use.role}"
            about = {**_credits(use), **_entry_about(item), **({"text": item.text} if item.text else {})}
            about.pop("language", None)
            if item.pk in labels:
                about |= {LABELS_KEY: list(labels[item.pk].labels), "labels_from": labels[item.pk].source}
            picture_entries.append(Entry(collection=collection, key=key[:MOST_KEY], image=use.image, about=about))
    if not picture_entries:
        raise FileRunRefused(_("No item of this stage has a picture."))
    return picture_entries


def _text_entry(collection: Collection, item: Item, better: str, languages: Mapping[str, str]) -> Entry:
    """`better`: what people wrote in place of its text, which stays beside that; empty where nobody did."""
    about = {**_text_language(item, languages), **_entry_about(item), "text": better or item.text}
    if better:
        about |= {"text_as_found": item.text, "text_from": PEOPLE}
    return Entry(collection=collection, key=item.key[:MOST_KEY], text=better or item.text, about=about)


Sets = dict[str, list[Query]]


def _queries(
    plan: CollectionPlan, items: Sequence[Item], entries: Sequence[Entry], languages: Mapping[str, str]
) -> tuple[Sets, dict[str, Mapping[str, int]]]:
    sets: Sets = {}
    left_out: dict[str, Mapping[str, int]] = {}
    of_concept: dict[str, list[str]] = {}
    for entry in entries:
        of_concept.setdefault(str(entry.about.get("concept") or ""), []).append(entry.key)
    if UNIVERSALS in plan.queries:
        sets[UNIVERSALS] = [
            Query(key=concept[:MOST_KEY], text=plan.words.get((concept, "", "en"), concept), relevant=keys,
                  about={"concept": concept, "universal": concept})
            for concept, keys in sorted(of_concept.items()) if concept
        ]  # fmt: skip
    pictured = [_trial_picture(entry, plan, languages) for entry in entries]
    spoken = {picture.key: {"language": picture.language} if picture.language else {} for picture in pictured}
    about = {entry.key: {**entry.about, **spoken[entry.key]} for entry in entries}
    if NATIVE in plan.queries:
        sets[NATIVE] = [
            Query(key=item.key, text=item.native, relevant=of_concept[item.concept], about=about[item.key])
            for item in pictured if item.native and item.concept
        ]  # fmt: skip
        if without := len(pictured) - len(sets[NATIVE]):
            left_out[NATIVE] = {"no_words": without}
    if THREE in plan.queries:
        drawn = trials.draw_three(pictured, plan.seed, other_language=plan.other_language)
        sets[PLAIN], left_out[PLAIN] = _trial_queries(drawn, about, described=False), drawn.left_out
    if SIX in plan.queries:
        drawn = trials.draw_six(pictured, plan.words, plan.seed, other_language=plan.other_language)
        left_out["descriptor"] = drawn.left_out
        sets["plain-six"], sets["descriptor"] = (
            _trial_queries(drawn, about, described=False),
            _trial_queries(drawn, about, described=True),
        )
    if plan.queries_from is not None:
        written = written_texts(plan.queries_from, plan.renamed_by, by_models=plan.queries_by_models)
        for name, texts in written.items():
            sets[name] = reworded(sets.get(PLAIN, []), texts.words)
            left_out[name] = {"no_query": without} if (without := len(sets.get(PLAIN, [])) - len(sets[name])) else {}
    if plan.asked_by is not None:
        words = plan.asked_by.pictures == Stage.Pictures.NONE
        asking = (_sentence_queries if words else _picture_queries)(plan.asked_by, entries)
        if not words and any(query.relevant for query in asking):
            pictures, asking = len(asking), [query for query in asking if query.relevant]
            left_out[IMAGES] = {"no_caption": pictures - len(asking)} if len(asking) < pictures else {}
        sets[SENTENCES if words else IMAGES] = asking
    if plan.queries and not any(sets.values()):
        raise FileRunRefused(_no_query_problem(left_out))
    return {name: asked for name, asked in sets.items() if asked}, left_out


def _no_query_problem(left_out: Mapping[str, Mapping[str, int]]) -> str:
    """What most pictures lack. Without any reason the items have neither a concept nor a country."""
    counts = Counter({code: n for reasons in left_out.values() for code, n in reasons.items()})
    if not counts:
        return _("No query could be made: the items say too little. They need a concept, and a country.")
    [(code, _n)] = counts.most_common(1)
    return _("No query could be made: %(reason)s.") % {"reason": no_query_text(code)}


def _trial_picture(entry: Entry, plan: CollectionPlan, languages: Mapping[str, str]) -> TrialPicture:
    about = entry.about
    concept, country = str(about.get("concept") or ""), str(about.get("country") or "")
    language = str(about.get("language") or "") or languages.get(country, "")
    native = str(about.get(NATIVE_KEY) or "") or plan.words.get((concept, "", language), "")
    labels = about.get(LABELS_KEY) or ()
    listed = [label.strip() for label in labels.split("|")] if isinstance(labels, str) else labels
    return TrialPicture(entry.key, concept, country, language, native, frozenset(str(one) for one in listed))


def _trial_queries(drawn: TrialSet, about: Mapping[str, Mapping[str, Any]], *, described: bool) -> list[Query]:
    return [
        Query(
            key=trial.seed.key, text=trial.described if described else trial.seed.native,
            relevant=[trial.roles["correct"]], roles=dict(trial.roles),
            about={**about[trial.seed.key], **({"descriptor": trial.descriptor} if described else {})},
        )
        for trial in drawn.trials
    ]  # fmt: skip


def _picture_queries(stage: Stage, entries: Iterable[Entry]) -> list[Query]:
    """Each picture asks for the texts that belong to it: those of entries that name its item, or have its key. Where
    some have texts, the others do not ask."""
    right: dict[str, list[str]] = {}
    for entry in entries:
        for name in {str(entry.about.get("image_id") or ""), str(entry.about.get("item") or "")} - {""}:
            right.setdefault(name, []).append(entry.key)
    uses = ItemImage.objects.filter(is_kept("item__"), item__stage=stage).select_related("item", "image")
    return [
        Query(key=use.item.key, image=use.image, relevant=right.get(use.item.key, []), about=_entry_about(use.item))
        for use in uses.order_by("item__key", "role").distinct("item__key")
    ]


def _sentence_queries(stage: Stage, entries: Iterable[Entry]) -> list[Query]:
    """Each sentence asks for pictures; right are those of its concept and culture, where entries say both."""
    right: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        right.setdefault((str(entry.about.get("concept") or ""), str(entry.about.get("country") or "")), []).append(
            entry.key
        )
    items = Item.objects.filter(is_kept(), stage=stage).exclude(text="").order_by("key")
    return [
        Query(
            key=item.key, text=item.text, about=_entry_about(item),
            relevant=right.get((item.concept, item.origin), []) if item.concept and item.origin else [],
        )
        for item in items
    ]  # fmt: skip
