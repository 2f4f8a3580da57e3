"""Query sets out of what people, and where it is wanted models, write: the trials of a collection, in other words.

A stage in which cohorts write queries gives a set for each of its questions of words, and one for each question and
model that answered it, which bears the model's name. A set has the trials of the plain query set, with the same
candidates, as far as a text of the trial's concept and country is accepted; of models every answer that counts. The
sets follow what is accepted until a run reads them; what a run was asked never changes, and later texts make the next
version.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.utils.text import slugify
from django.utils.translation import gettext as _

from annotation.models import Annotation
from annotation.services.derivation.accepted_results import names_that_stay, results_of
from annotation.sheets.sheet import Field, Sheet
from benchmarks.models import Benchmark, Stage
from benchmarks.queries.availability import is_kept
from benchmarks.rules.derivations.contract import digest
from benchmarks.rules.derivations.renaming import Rename
from jobs.connections.broker import dispatch
from jobs.models import record
from people.models import Rater, User
from predictions.models import Collection, Query, Run
from predictions.services.runs.result_runs import FileRunRefused

PLAIN = "plain"
PARAM = "queries_from"  # of a collection: the key of the stage
BY_MODELS = "queries_by_models"  # of a collection: whether it takes those of models, too
MODEL = "-model-"  # in the name of a set that a model wrote
MOST_NAME = 60
OTHER_SETS = ("", PLAIN, "plain-six", "descriptor", "universals", "native", "sentences", "images")
STEP = 1000
TASK = "predictions.follow_written_queries"
Words = Mapping[tuple[str, str], str]
"""Concept and country to a text."""


@dataclass(frozen=True)
class SetTexts:
    """What a query set is written in. `model`: its name, where one wrote it; empty: people."""

    question: Field
    words: Words
    model: str = ""


@dataclass(frozen=True)
class WrittenSet:
    """A query set as it is stored, and as it would be now. `model`: who wrote it; empty: people. `fixed`: a run has
    read it.

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
    model: str = ""

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
    stays = _names_that_stay(renamed_by)
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


def model_texts(stage: Stage, renamed_by: Stage | None) -> dict[str, SetTexts]:
    """By query set, what a model wrote for a concept in a country: its first answer that counts. A text for the concept
    itself goes before one for a concept that was merged into it."""
    stays = _names_that_stay(renamed_by)
    questions = {question.key: question for question in questions_of(stage)}
    rows = Annotation.objects.filter(
        is_kept("assignment__unit__item__"), live=True, counted=True, rater__kind=Rater.Kind.MODEL,
        assignment__campaign__stage=stage,
    )  # fmt: skip
    texts: dict[str, SetTexts] = {}
    words: dict[str, dict[tuple[str, str], tuple[bool, str]]] = {}
    for annotation in rows.select_related("assignment__unit__item", "rater").order_by("pk"):
        item = annotation.assignment.unit.item
        own = str(item.context.get("concept_as_found") or item.concept)
        place = stays.get(item.concept, item.concept), item.origin
        for key, question in questions.items():
            text = str(annotation.answers.get(key) or "").strip()
            if not text or not all(place):
                continue
            name = _model_set_name(stage, question, annotation.rater)
            texts.setdefault(name, SetTexts(question, {}, annotation.rater.name))
            of_set = words.setdefault(name, {})
            if place not in of_set or (of_set[place][0] and own == place[0]):
                of_set[place] = own != place[0], text
    return {
        name: replace(of_set, words={place: text for place, (_merged, text) in words[name].items()})
        for name, of_set in texts.items()
    }


def _model_set_name(stage: Stage, question: Field, rater: Rater) -> str:
    """The question's set with the model's name, and its setting where that is not the question itself."""
    setting = rater.setting if rater.setting not in ("", question.key) else ""
    model = slugify("-".join(part for part in (rater.name, setting) if part)) or str(rater.pk)
    name = f"{set_name(stage, question)}{MODEL}{model}"
    return name if len(name) <= MOST_NAME else f"{name[: MOST_NAME - 7]}-{digest(name)[:6]}"


def written_texts(stage: Stage, renamed_by: Stage | None, *, by_models: bool = False) -> dict[str, SetTexts]:
    """By query set, in the order of the questions: people's first, then models' by name."""
    of_people = accepted_texts(stage, renamed_by)
    sets = {
        name: SetTexts(question, of_people[name])
        for question in questions_of(stage)
        for name in [set_name(stage, question)]
    }
    return {**sets, **dict(sorted(model_texts(stage, renamed_by).items()))} if by_models else sets


def has_model_texts(benchmark: Benchmark) -> bool:
    """Whether a model has answered in a stage in which cohorts write queries."""
    stages = writing_stages(benchmark)
    rows = Annotation.objects.filter(live=True, counted=True, rater__kind=Rater.Kind.MODEL)
    return rows.filter(assignment__campaign__stage__in=stages).exists()


def _names_that_stay(renamed_by: Stage | None) -> Mapping[str, str]:
    return names_that_stay(renamed_by.benchmark, Rename("concept", renamed_by.key)) if renamed_by is not None else {}


def reworded(plain: Iterable[Query], words: Words) -> list[Query]:
    """The same trials in these words, as far as there are any; not saved."""
    return [
        Query(key=query.key, text=text, relevant=query.relevant, roles=query.roles, about=query.about)
        for query in plain
        if (text := words.get((str(query.about.get("concept") or ""), str(query.about.get("country") or ""))))
    ]


def writing_stages(benchmark: Benchmark) -> list[Stage]:
    """Stages whose people write words about words, which queries can come from."""
    stages = benchmark.stages.filter(own_items_only=True).order_by("position", "pk")
    return [stage for stage in stages if questions_of(stage)]


def stage_read(collection: Collection) -> Stage | None:
    """The stage whose queries the collection takes, if it takes any."""
    key = collection.params.get(PARAM) if collection.stage_id else ""
    return collection.benchmark.stages.filter(key=key).first() if key else None


def has_trials(collection: Collection) -> bool:
    return bool(collection.stage_id) and collection.queries.filter(query_set=PLAIN).exclude(roles={}).exists()


def texts_of(collection: Collection, stage: Stage) -> dict[str, SetTexts]:
    """What is written now for each set that the collection takes or has. A model's set whose answers are gone is
    without words."""
    by_models = bool(collection.params.get(BY_MODELS))
    texts = written_texts(stage, _merges(collection), by_models=by_models)
    own = {f"{set_name(stage, question)}{MODEL}": question for question in questions_of(stage)}
    stored = collection.queries.filter(query_set__contains=MODEL).values_list("query_set", flat=True).distinct()
    for name in sorted(set(stored) - texts.keys()):
        question = next((question for start, question in own.items() if name.startswith(start)), None)
        if question is not None:
            texts[name] = SetTexts(question, {}, name.partition(MODEL)[2])
    return texts


def sets_of(collection: Collection, stage: Stage) -> list[WrittenSet]:
    """As they are, and what would differ now. Nothing is written."""
    plain, fixed = _plain(collection), _fixed(collection)
    return [_compare(collection, plain, name, texts, fixed) for name, texts in texts_of(collection, stage).items()]


def _compare(collection: Collection, plain: Sequence[Query], name: str, texts: SetTexts, fixed: set[str]) -> WrittenSet:
    before = dict(collection.queries.filter(query_set=name).values_list("key", "text"))
    now = {query.key: query.text for query in reworded(plain, texts.words)}
    changed = sum(before[key] != text for key, text in now.items() if key in before)
    new, leaving = len(now.keys() - before.keys()), len(before.keys() - now.keys())
    without = len(plain) - len(now)
    return WrittenSet(
        name, texts.question.label, len(before), without, new, changed, leaving, name in fixed, texts.model
    )


def take_queries(collection: Collection, stage: Stage, actor: User, *, by_models: bool = False) -> int:
    """Let the collection take the queries of this stage, `by_models` those of models, too; return how many there are
    now. Raises FileRunRefused."""
    if stage not in writing_stages(collection.benchmark) or not has_trials(collection):
        raise FileRunRefused(
            _("Queries that people wrote need a forced choice between three, and a stage that asks for words.")
        )
    with transaction.atomic():
        locked = lock(collection)
        earlier = stage_read(locked)
        if earlier is not None and earlier != stage:
            raise FileRunRefused(_("This collection takes the queries of another stage. Remove these first."))
        locked.params = {**locked.params, PARAM: stage.key, BY_MODELS: by_models}
        locked.save(update_fields=["params"])
        _refresh(locked, stage)
        count = locked.queries.filter(query_set__in=list(texts_of(locked, stage))).count()
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
        names = list(texts_of(locked, stage))
        if _fixed(locked) & set(names):
            raise FileRunRefused(_("A run was asked these queries, so they stay."))
        count, _by_model = locked.queries.filter(query_set__in=names).delete()
        locked.params = {**locked.params, PARAM: "", BY_MODELS: False}
        locked.save(update_fields=["params"])
        _record(locked, actor, "collection.queries_removed", stage, count)


def follow_decision(stage_id: int) -> None:
    """Listen to decisions of reviewers: send the worker to the collections that take queries of this stage, when this
    transaction commits."""
    if _collections_of(stage_id).exists():
        transaction.on_commit(partial(_send, stage_id), robust=True)


def _send(stage_id: int) -> None:
    """Without a broker, the scheduler comes round."""
    dispatch(TASK, stage_id)


def _collections_of(stage_id: int) -> QuerySet[Collection]:
    taken = Collection.objects.filter(stage__isnull=False).annotate(taken_from=KeyTextTransform(PARAM, "params"))
    return taken.filter(benchmark__stages__pk=stage_id, benchmark__stages__key=F("taken_from"))


def follow_written_queries(stage_id: int | None = None) -> int:
    """Let every collection that takes queries, or those that take them of this stage, follow what is accepted; return
    how many queries differ now."""
    rows = Collection.objects.filter(params__has_key=PARAM, stage__isnull=False).exclude(**{f"params__{PARAM}": ""})
    if stage_id is not None:
        rows = _collections_of(stage_id)
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
    by_models = bool(collection.params.get(BY_MODELS))
    if not by_models and _fixed(collection) >= {set_name(stage, question) for question in questions_of(stage)}:
        return False
    return any(written.differs for written in sets_of(collection, stage) if not written.fixed)


def _refresh(collection: Collection, stage: Stage) -> int:
    """Needs the lock of the collection."""
    plain, fixed = _plain(collection), _fixed(collection)
    return sum(
        _store(collection, name, reworded(plain, texts.words))
        for name, texts in texts_of(collection, stage).items()
        if name not in fixed
    )


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
