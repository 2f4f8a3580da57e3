"""Query sets out of what people write: the trials of a collection, asked in other words.

A stage in which cohorts write queries gives a set for each of its questions of words. It has the trials of the plain
query set, with the same candidates, as far as a text of the trial's concept and country is accepted. The sets follow
what is accepted until a run reads them; what a run was asked never changes, and later texts make the next version.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.services.derivation.accepted_results import names_that_stay, results_of
from annotation.sheets.sheet import Field, Sheet
from benchmarks.models import Stage
from benchmarks.rules.derivations.renaming import Rename
from jobs.models import record
from people.models import User
from predictions.models import Collection, Query, Run
from predictions.services.runs.result_runs import FileRunRefused

PLAIN = "plain"
PARAM = "queries_from"  # of a collection: the key of the stage
OTHER_SETS = ("", PLAIN, "plain-six", "descriptor", "universals", "native", "sentences", "images")
STEP = 1000
TASK = "predictions.follow_written_queries"
Words = Mapping[tuple[str, str], str]
"""Concept and country to a text."""


@dataclass(frozen=True)
class WrittenSet:
    """A query set as it is stored, and as it would be now. `fixed`: a run has read it.

    `new`, `changed` and `leaving` count its queries that differ; `without`: trials for which no text is accepted.
    """

    name: str
    question: Mapping[str, str]
    stored: int
    without: int
    new: int
    changed: int
    leaving: int
    fixed: bool

    @property
    def differs(self) -> int:
        return self.new + self.changed + self.leaving


def questions_of(stage: Stage) -> list[Field]:
    """The questions that ask for words, in the order of the sheet."""
    fields = Sheet.from_json(stage.sheet, stored=True).fields
    return [field for field in fields if field.spec.agreement_level(field.config) == "text"]


def set_name(stage: Stage, question: Field) -> str:
    """The question's key; with the stage's where a collection has a set of that name in any case."""
    return f"{stage.key}-{question.key}"[:60] if question.key in OTHER_SETS else question.key[:60]


def accepted_texts(stage: Stage, renamed_by: Stage | None) -> dict[str, Words]:
    """By query set, what is accepted for a concept in a country. Most people's text; of equal ones the first by
    alphabet. A text for the concept itself goes before one for a concept that was merged into it."""
    stays = names_that_stay(renamed_by.benchmark, Rename("concept", renamed_by.key)) if renamed_by is not None else {}
    names = {question.key: set_name(stage, question) for question in questions_of(stage)}
    votes: dict[str, dict[tuple[str, str], Counter[tuple[int, str]]]] = {name: {} for name in names.values()}
    for result in results_of(stage):
        own = str(result.item.context.get("concept_as_found") or result.item.concept)
        place = stays.get(result.item.concept, result.item.concept), result.cohort
        for key, name in names.items():
            text = str(result.answers.get(key) or "").strip()
            if text and all(place):
                votes[name].setdefault(place, Counter())[int(own != place[0]), text] += 1
    return {
        name: {place: min(texts, key=lambda row: (row[0], -texts[row], row[1]))[1] for place, texts in of_set.items()}
        for name, of_set in votes.items()
    }


def reworded(plain: Iterable[Query], words: Words) -> list[Query]:
    """The same trials in these words, as far as there are any; not saved."""
    return [
        Query(key=query.key, text=text, relevant=query.relevant, roles=query.roles, about=query.about)
        for query in plain
        if (text := words.get((str(query.about.get("concept") or ""), str(query.about.get("country") or ""))))
    ]


def writing_stages(collection: Collection) -> list[Stage]:
    """Stages whose people write words about words, which queries can come from."""
    stages = collection.benchmark.stages.filter(own_items_only=True).order_by("position", "pk")
    return [stage for stage in stages if questions_of(stage)]


def stage_read(collection: Collection) -> Stage | None:
    """The stage whose queries the collection takes, if it takes any."""
    key = collection.params.get(PARAM) if collection.stage_id else ""
    return collection.benchmark.stages.filter(key=key).first() if key else None


def has_trials(collection: Collection) -> bool:
    return bool(collection.stage_id) and collection.queries.filter(query_set=PLAIN).exclude(roles={}).exists()


def sets_of(collection: Collection, stage: Stage) -> list[WrittenSet]:
    """As they are, and what would differ now. Nothing is written."""
    plain = _plain(collection)
    texts = accepted_texts(stage, _merges(collection))
    fixed = _fixed(collection)
    return [
        _compare(collection, plain, set_name(stage, question), question, texts, fixed)
        for question in questions_of(stage)
    ]


def _compare(
    collection: Collection, plain: Sequence[Query], name: str, question: Field, texts: Mapping[str, Words],
    fixed: set[str],
) -> WrittenSet:  # fmt: skip
    before = dict(collection.queries.filter(query_set=name).values_list("key", "text"))
    now = {query.key: query.text for query in reworded(plain, texts[name])}
    changed = sum(before[key] != text for key, text in now.items() if key in before)
    new, leaving = len(now.keys() - before.keys()), len(before.keys() - now.keys())
    return WrittenSet(name, question.label, len(before), len(plain) - len(now), new, changed, leaving, name in fixed)


def take_queries(collection: Collection, stage: Stage, actor: User) -> int:
    """Let the collection take the queries of this stage; return how many there are now. Raises FileRunRefused."""
    if stage not in writing_stages(collection) or not has_trials(collection):
        raise FileRunRefused(
            _("Queries that people wrote need a forced choice between three, and a stage that asks for words.")
        )
    with transaction.atomic():
        locked = lock(collection)
        earlier = stage_read(locked)
        if earlier is not None and earlier != stage:
            raise FileRunRefused(_("This collection takes the queries of another stage. Remove these first."))
        locked.params = {**locked.params, PARAM: stage.key}
        locked.save(update_fields=["params"])
        _refresh(locked, stage)
        names = [set_name(stage, question) for question in questions_of(stage)]
        count = locked.queries.filter(query_set__in=names).count()
        if earlier is None:
            _record(locked, actor, "collection.queries_taken", stage, count)
    return count


def remove_queries(collection: Collection, actor: User) -> None:
    """Take none any more. Raises FileRunRefused once a run has read them."""
    with transaction.atomic():
        locked = lock(collection)
        stage = stage_read(locked)
        if stage is None:
            return
        names = [set_name(stage, question) for question in questions_of(stage)]
        if _fixed(locked) & set(names):
            raise FileRunRefused(_("A run was asked these queries, so they stay."))
        count, _by_model = locked.queries.filter(query_set__in=names).delete()
        locked.params = {**locked.params, PARAM: ""}
        locked.save(update_fields=["params"])
        _record(locked, actor, "collection.queries_removed", stage, count)


def follow_written_queries() -> int:
    """Let every collection that takes queries follow what is accepted; return how many queries differ now."""
    rows = Collection.objects.filter(params__has_key=PARAM, stage__isnull=False).exclude(**{f"params__{PARAM}": ""})
    return sum(refresh(collection) for collection in rows.select_related("benchmark").order_by("pk"))


def refresh(collection: Collection) -> int:
    """Let one collection follow; return how many queries came, changed or left. Runs that begin call it, too."""
    stage = stage_read(collection)
    if stage is None or not _differing(collection, stage):
        return 0
    with transaction.atomic():
        return _refresh(lock(collection), stage)


def _differing(collection: Collection, stage: Stage) -> bool:
    """Whether a set that no run has read differs: looked at without a lock, for nothing has changed as a rule."""
    fixed = _fixed(collection)
    if fixed >= {set_name(stage, question) for question in questions_of(stage)}:
        return False
    return any(written.differs for written in sets_of(collection, stage) if not written.fixed)


def _refresh(collection: Collection, stage: Stage) -> int:
    """Needs the lock of the collection."""
    plain, fixed = _plain(collection), _fixed(collection)
    texts = accepted_texts(stage, _merges(collection))
    return sum(_store(collection, name, reworded(plain, words)) for name, words in texts.items() if name not in fixed)


def _store(collection: Collection, name: str, wanted: Sequence[Query]) -> int:
    before = {query.key: query for query in collection.queries.filter(query_set=name)}
    now = {query.key: query for query in wanted}
    new = [query for key, query in now.items() if key not in before]
    for query in new:
        query.collection, query.query_set = collection, name
    changed = [before[key] for key, query in now.items() if key in before and before[key].text != query.text]
    for query in changed:
        query.text = now[query.key].text
    leaving = [query.pk for key, query in before.items() if key not in now]
    Query.objects.filter(pk__in=leaving).delete()
    Query.objects.bulk_update(changed, ["text"], batch_size=STEP)
    Query.objects.bulk_create(new, batch_size=STEP)
    return len(new) + len(changed) + len(leaving)


def lock(collection: Collection) -> Collection:
    """Runs that begin need it, too: from then on their query set stays as it is."""
    return Collection.objects.select_for_update(of=("self",)).select_related("benchmark").get(pk=collection.pk)


def _plain(collection: Collection) -> list[Query]:
    return list(collection.queries.filter(query_set=PLAIN).exclude(roles={}).order_by("key"))


def _fixed(collection: Collection) -> set[str]:
    """Query sets that a run reads or has read, be it withdrawn: its results name the queries."""
    return set(Run.objects.filter(collection=collection).values_list("query_set", flat=True))


def _merges(collection: Collection) -> Stage | None:
    return collection.benchmark.stages.filter(key=collection.params.get("renamed_by") or "").first()


def _record(collection: Collection, actor: User, verb: str, stage: Stage, count: int) -> None:
    scope, target = collection.benchmark.scope, f"collection:{collection.pk}"
    record(actor, verb, scope=scope, target=target, stage=stage.key, queries=count)
