"""Which items a request for a fact is about, and how far it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet, Value
from django.db.models.fields.json import KeyTextTransform

from annotation.queries.opened_stages import opened_stages, running_stages
from benchmarks.models import Benchmark, FilterResult, Item, ItemFact, ItemImage, Stage
from benchmarks.queries.stage_states import by_benchmark, stages_with_items
from benchmarks.rules.filters import FilterError, parse_filters
from benchmarks.rules.filters.contract import HASH
from jobs.queries.read_together import read_for_each
from predictions.models import FactFailure, FactRequest, Run
from predictions.models.facts import BASE_SIMILARITY, KEYS, OBJECTS, TEXT_VECTOR

TEXT = r"\S"


@dataclass(frozen=True)
class FactCounts:
    """Items of a request.

    Attributes:
        computed: those that have the fact.
        missing: those that the next step is about.
        failed: those whose picture cannot be read.
        unsuitable: those without a picture, or without the text that a score needs.
    """

    computed: int
    missing: int
    failed: int
    unsuitable: int


def facts_of_run(run: Run) -> QuerySet[ItemFact]:
    return ItemFact.objects.filter(source=run.model[:120], version=f"run {run.pk}")


def open_items(stage: Stage) -> QuerySet[Item]:
    """Items that are not withdrawn and that no filter drops or still may drop without a fact."""
    items = stage.items.filter(withdrawn_at=None).exclude(intake=Item.Intake.DROPPED)
    if not stage.filters:
        return items
    version = stage.filter_versions.order_by("-number").values("pk")[:1]
    waiting = FilterResult.objects.filter(item=OuterRef("pk"), version=version, state=FilterResult.State.WAITING)
    return items.exclude(intake="").filter(~Exists(waiting.filter(value=HASH)))


def suitable_items(items: QuerySet[Item], kind: str, options: Mapping[str, Any]) -> QuerySet[Item]:
    """Items with a picture, and for a score with a text where the options look for one; for a vector the text alone."""
    pictured = items.filter(Exists(ItemImage.objects.filter(item=OuterRef("pk"))))
    if kind in (OBJECTS, BASE_SIMILARITY):
        return pictured
    head, _dot, rest = str(options.get("words", "")).partition(".")
    texts = {"text": F("text"), "concept": F("concept")}
    text = KeyTextTransform(rest, "context") if head == "context" and rest else texts.get(head, Value(""))
    return (items if kind == TEXT_VECTOR else pictured).alias(words=text).filter(words__regex=TEXT)


def missing_items(request: FactRequest) -> QuerySet[Item]:
    """Items that the request is to find a fact of."""
    facts = facts_of_run(request.run).filter(item=OuterRef("pk"))
    failures = FactFailure.objects.filter(request=request, item=OuterRef("pk"))
    items = suitable_items(open_items(request.stage), request.what, request.options)
    return items.filter(~Exists(facts), ~Exists(failures)).order_by("pk")


def room_of(request: FactRequest) -> int | None:
    """How many items its limit still allows; None without a limit."""
    limit = request.options.get("at_most")
    if not limit:
        return None
    computed = facts_of_run(request.run).order_by().values("item").distinct().count()
    return max(0, int(limit) - computed - request.failures.count())


def count_items(request: FactRequest) -> FactCounts:
    """Four queries."""
    items = open_items(request.stage)
    facts = facts_of_run(request.run).filter(item__stage=request.stage_id, item__withdrawn_at=None)
    failures = request.failures.filter(item__withdrawn_at=None)
    suitable = suitable_items(items, request.what, request.options).count()
    return FactCounts(
        computed=facts.order_by().values("item").distinct().count(),
        missing=missing_items(request).count(),
        failed=failures.count(),
        unsuitable=items.count() - suitable,
    )


def facts_without_request(benchmark: Benchmark) -> list[tuple[Stage, str]]:
    """Stages that were opened, and the kind of fact that a filter of theirs reads and that nothing computes.

    Only stages whose items come from earlier ones that have some, and have no such fact: what is imported may bring its
    facts along.
    """
    stages = [stage for stage in benchmark.stages.all() if stage.filters]
    wanted = [(stage, kind) for stage in stages for kind in _computable(stage)]
    opened = opened_stages(benchmark) if wanted else frozenset()
    return [
        (stage, kind)
        for stage, kind in wanted
        if stage.pk in opened and not _is_known(benchmark, stage, kind) and _has_sources(benchmark, stage)
    ]


def pairs_without_facts(benchmark: Benchmark) -> list[tuple[Stage, Stage, str]]:
    """Open stages whose pairs need a fact that tells how alike two items are, while nothing computes it.

    With each the stage whose items are paired, and the kind of fact.
    """
    stages = {stage.key: stage for stage in benchmark.stages.all()}
    wanted = [
        (stage, stages[source], kind)
        for stage in stages.values()
        if (kind := _similarity_kind(stage))
        for source in stage.derivation.get("from", ())
        if source in stages
    ]
    running = running_stages(benchmark) if wanted else frozenset()
    return [
        (stage, source, kind)
        for stage, source, kind in wanted
        if stage.pk in running and source.pk in stages_with_items(benchmark) and not _is_known(benchmark, source, kind)
    ]


def _similarity_kind(stage: Stage) -> str:
    """The kind of fact that a model here can compute and by which the stage's pairs are chosen; empty where none is."""
    derivation = stage.derivation or {}
    similar = derivation.get("params", {}).get("similar") if derivation.get("kind") == "pair" else None
    name = similar.get("fact") if isinstance(similar, Mapping) else ""
    return next((kind for kind, keys in KEYS.items() if name in keys), "")


def stages_to_detect(benchmark: Benchmark) -> list[Stage]:
    """Stages of derived items, open or not, whose filters read what a detector finds, while nothing computes it."""
    stages = benchmark.stages.exclude(derivation={}).exclude(filters=[]).select_related("benchmark")
    return [stage for stage in stages if OBJECTS in _computable(stage) and not _is_known(benchmark, stage, OBJECTS)]


def _has_sources(benchmark: Benchmark, stage: Stage) -> bool:
    """Whether items can arrive at all: a set that nobody has begun needs no facts yet."""
    keys = (stage.derivation or {}).get("from", [])
    return any(source.key in keys and source.pk in stages_with_items(benchmark) for source in benchmark.stages.all())


def _computable(stage: Stage) -> list[str]:
    """What a model here can compute of all that the stage's filters read."""
    try:
        needs = {rule.needs for rule in parse_filters(stage.filters)}
    except FilterError:
        return []
    return [kind for kind, keys in KEYS.items() if needs.intersection(keys)]


def _is_known(benchmark: Benchmark, stage: Stage, kind: str) -> bool:
    return stage.pk in (read_for_each(benchmark, _stages_with_fact, kind) or ())


def _stages_with_fact(benchmarks: Sequence[Benchmark], kind: str) -> Mapping[int, frozenset[int]]:
    """Stages of which something computes facts of this kind, or an item has one. One query."""
    requests = FactRequest.objects.filter(stage=OuterRef("pk"), what=kind).exclude(state=FactRequest.State.CANCELLED)
    facts = ItemFact.objects.filter(item__stage=OuterRef("pk"), key__in=KEYS[kind])
    stages = Stage.objects.filter(Exists(requests) | Exists(facts), benchmark__in=benchmarks)
    return by_benchmark(stages.order_by().values_list("benchmark", "pk"))
