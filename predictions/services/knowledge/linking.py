"""Linking runs: which entries of a knowledge base the images of a stage show; and the article a prompt is given."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models.functions import Substr
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmarks.models import Benchmark, Image, Item, ItemImage, Stage
from benchmarks.queries.availability import is_kept
from benchmarks.services import storage
from jobs.models import Job, record
from jobs.services import lifecycle as jobs
from jobs.services.job_context import JobCancelled, JobContext, JobFailed, TimeSlice
from jobs.services.kinds import JobKind, NextLink
from people.models import Team, User
from people.services.raters import models_of
from predictions.backends.contract import Encoder
from predictions.models import Call, EntityLink, KnowledgeEntry, KnowledgeImage, KnowledgeIndex, Run
from predictions.services.knowledge import indexes, link_checks
from predictions.services.knowledge.faiss_index import FaissMissing
from predictions.services.knowledge.indexes import IndexRefused, Over
from predictions.services.knowledge.name_matching import NameLinker
from predictions.services.knowledge.ranking import NEAREST, Method
from predictions.services.knowledge.search import Searcher, SearchResult

KIND = "linking_run"
BATCH = 16
LONGEST_ARTICLE = 15_000  # characters, as in the authors' code
MOST_RANKED = 200
NAMED: Method = "named"
FROM_FILE = "file"  # the source of a run whose links were found elsewhere; and a fact of an index without vectors
METHODS: dict[Method, Any] = {
    NAMED: gettext_lazy("Named by a model"),
    "lemma_vt": gettext_lazy("Nearest pictures, entries by their names"),
    "gloss_vt": gettext_lazy("Nearest pictures, entries by their glosses"),
    "frequency_vt": gettext_lazy("Nearest pictures, entries by how many have them"),
    "lemma_t": gettext_lazy("Nearest names"),
    "gloss_t": gettext_lazy("Nearest glosses"),
    "article_t": gettext_lazy("Nearest articles"),
}
REASONS: dict[str, Any] = {
    "in_knowledge_base": gettext_lazy("The picture itself is in the knowledge base"),
    "no_image": gettext_lazy("The item has no picture"),
    "unreadable_image": gettext_lazy("The picture cannot be read"),
    "nothing_near": gettext_lazy("No entry with such a text is near"),
    "no_name": gettext_lazy("The model gave it no name"),
    "no_such_name": gettext_lazy("No entry has the name that the model gave"),
}
SEARCHED: dict[Method, str] = {"lemma_t": Over.LEMMAS, "gloss_t": Over.GLOSSES, "article_t": Over.ARTICLES}


def indexed_texts(method: Method) -> str:
    """Over what the index is that a way of linking goes by."""
    return SEARCHED.get(method, Over.IMAGES)


@dataclass(frozen=True)
class LinkResult:
    """What an image was linked to. `article` is empty where the entry has none, and cut where it was longer than asked
    for; `titles` are of the first entries, the best first."""

    key: str
    entity: str
    title: str
    gloss: str
    article: str
    cut: bool
    titles: tuple[str, ...]
    score: float


def article_for(
    run: Run, item: Item, *, longest: int = LONGEST_ARTICLE, most_titles: int = NEAREST
) -> LinkResult | None:
    """The article of the entry that stands first; None where the item has no link in this run."""
    return articles_for(run, [item], longest=longest, most_titles=most_titles).get(item.pk)


def articles_for(
    run: Run, items: Collection[Item], *, longest: int = LONGEST_ARTICLE, most_titles: int = NEAREST
) -> dict[int, LinkResult]:
    """By the id of each of these items that has a link in this run: the article of the entry that stands first. Three
    queries, whatever the number of items."""
    index = run.knowledge_index
    links = [link for link in EntityLink.objects.filter(run=run, item__in=items) if link.keys] if index else []
    if index is None or not links:
        return {}
    in_base = KnowledgeEntry.objects.filter(base=index.base_id)
    keys = {key for link in links for key in link.keys[:most_titles]}
    entries = {entry.key: entry for entry in in_base.filter(key__in=keys).defer("text")}
    of_first = in_base.filter(key__in={link.keys[0] for link in links})
    texts = dict(of_first.values_list("key", Substr("text", 1, longest + 1)))
    results: dict[int, LinkResult] = {}
    for link in links:
        if link.keys[0] in entries:
            first, text = entries[link.keys[0]], texts[link.keys[0]]
            shown = [entries[key] for key in link.keys[:most_titles] if key in entries]
            titles = tuple(entry.title or entry.lemmas[0] for entry in shown)
            results[link.item_id] = LinkResult(
                first.key, first.lemmas[0], first.title, first.gloss, text[:longest], len(text) > longest, titles,
                link.scores[0],
            )  # fmt: skip
    return results


def open_run(
    benchmark: Benchmark, actor: User, *, stage: Stage, index: KnowledgeIndex, method: Method,
    nearest: int = NEAREST, refuse_known: bool = True, answers: Run | None = None,
) -> Run:  # fmt: skip
    """Start linking a stage's items; one stands for each stage, base, method and model. `answers`: the run whose names
    are looked up in the base, where that is the method. Raises IndexRefused."""
    _check(benchmark, stage, index, method, answers)
    options: dict[str, Any] = {"method": method, "nearest": nearest, "refuse_known": refuse_known}
    model, endpoint, kind = index.model, index.endpoint, "count" if method == "frequency_vt" else "cosine"
    if answers is not None:
        options["answers"] = answers.pk
        model, endpoint, kind = answers.rater.name, answers.endpoint, "match"
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=benchmark.team_id)
        if existing_runs(benchmark, stage.key, index, method, model).exists():
            raise IndexRefused(_("This stage has been linked in this way. Withdraw that run first."))
        rater = models_of(benchmark.team, [(model, method)])[model, method]
        run = Run.objects.create(
            benchmark=benchmark, rater=rater, task=Run.Task.LINKING,
            knowledge_index=index, endpoint=endpoint, model=model, selection={"stage": stage.key},
            options=options, score_kind=kind, source="linking",
            state=Run.State.RUNNING, started_at=timezone.now(), created_by=actor,
        )  # fmt: skip
        record(actor, "linking.started", scope=benchmark.scope, target=f"run:{run.pk}", **options)
        _start_job(run, actor)
    run.refresh_from_db()
    return run


def existing_runs(benchmark: Benchmark, stage: str, index: KnowledgeIndex, method: str, model: str) -> Any:
    """Runs that linked this stage in this way and were not withdrawn: at most one."""
    rows = Run.objects.filter(benchmark=benchmark, task=Run.Task.LINKING, withdrawn_at=None, model=model)
    rows = rows.filter(knowledge_index__base=index.base_id)
    return rows.filter(selection__stage=stage, options__method=method)


def restore(run: Run, actor: User) -> None:
    """Raises IndexRefused where another has taken its place."""
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=run.benchmark.team_id)
        index = run.knowledge_index
        assert index is not None
        if existing_runs(run.benchmark, run.selection["stage"], index, run.options["method"], run.model).exists():
            raise IndexRefused(_("A newer run has replaced it. Withdraw that run first."))
        if Run.objects.filter(pk=run.pk).exclude(withdrawn_at=None).update(withdrawn_at=None):
            record(actor, "run.brought_back", scope=run.benchmark.scope, target=f"run:{run.pk}")


def _check(
    benchmark: Benchmark, stage: Stage, index: KnowledgeIndex, method: Method, answers: Run | None
) -> None:  # fmt: skip
    if index.base.team_id != benchmark.team_id:
        raise IndexRefused(_("There is no such index."))
    if method == NAMED:
        check_answers(benchmark, stage, answers)
    else:
        _check_index(index, method)
    if method != NAMED and not ItemImage.objects.filter(item__stage=stage, item__withdrawn_at=None).exists():
        text = _("“%(stage)s” has no images to link. Import images there, or choose another stage.")
        raise IndexRefused(text % {"stage": stage.name})


def _check_index(index: KnowledgeIndex, method: Method) -> None:
    wanted = indexed_texts(method)
    if index.built_at is None:
        raise IndexRefused(_("This index is not built yet. Wait for it, or go on with its work."))
    if index.over != wanted:
        text = _("This way of linking searches an index over %(what)s. Choose one, or build it first.")
        raise IndexRefused(text % {"what": Over(wanted).label})
    if index.endpoint is None:
        raise IndexRefused(
            _("This index names no encoder, so images cannot be compared with it. Import it again with an encoder.")
        )


def check_answers(benchmark: Benchmark, stage: Stage, answers: Run | None) -> None:
    """Whether a run named what the items of this stage show. Raises IndexRefused."""
    if answers is None or answers.campaign is None or answers.benchmark_id != benchmark.pk:
        raise IndexRefused(_("Say which run gave the names."))
    if answers.campaign.stage_id != stage.pk:
        text = _("This run named the images of “%(stage)s”. Choose that stage.")
        raise IndexRefused(text % {"stage": answers.campaign.stage.name})


def run(work: JobContext) -> None:
    run = Run.objects.select_related("benchmark__team", "knowledge_index__base", "knowledge_index__endpoint").get(
        pk=work.params["run"]
    )
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING, stopped_because="")
    try:
        index = run.knowledge_index
        assert index is not None
        if run.options["method"] == NAMED:
            named = NameLinker(Run.objects.get(pk=run.options["answers"]), index.base_id, work.check)
            _link_all(work, run, lambda batch: _links_by_name(run, batch, named))
        else:
            encoder = indexes.encoder_of(index)
            searcher = Searcher(index, run.options["method"], encoder)
            _link_all(work, run, lambda batch: _links(run, batch, searcher, encoder))
    except JobCancelled:
        Run.objects.filter(pk=run.pk).update(state=Run.State.CANCELLED, stopped_because="person")
        raise
    except (FaissMissing, IndexRefused) as problem:
        raise JobFailed(str(problem)) from problem
    except FileNotFoundError as problem:
        raise JobFailed(_("The files of the index are not there. Build it again.")) from problem
    _finish(work, run)


def next_link(job: Job) -> NextLink | None:
    run = Run.objects.select_related("benchmark").filter(pk=job.params.get("run")).first()
    if run is None:
        return None
    return NextLink(_("View links"), reverse("predictions:links", args=[run.benchmark.slug, run.pk]))


LINK = JobKind(KIND, run, next_link)


def items_of(found: Run) -> Any:
    """The items a linking run is over: those that filters keep."""
    items = Item.objects.filter(stage__benchmark=found.benchmark, stage__key=found.selection.get("stage"))
    return items.filter(is_kept())


def unlinked_items(run: Run) -> Any:
    """Those that have no link yet. After the first end of a run by names, one that nobody has named waits for that."""
    items = items_of(run).exclude(pk__in=EntityLink.objects.filter(run=run).values("item"))
    if run.complete and run.options["method"] == NAMED:
        calls = Call.objects.filter(run=run.options["answers"], state=Call.State.ANSWERED)
        items = items.filter(pk__in=calls.values("item"))
    return items


def link_new_items(run: Run, actor: User) -> int:
    """Link what came to the stage since the run ended; return how many items. What is linked stays and is counted.
    Raises IndexRefused."""
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if locked.withdrawn_at is not None:
            raise IndexRefused(_("This run was withdrawn. Restore it first."))
        if not locked.complete:
            raise IndexRefused(_("This run has not linked all its images yet. Go on with its work first."))
        if locked.source == FROM_FILE:
            raise IndexRefused(_("These links came in a file. Import another file with those of the new items."))
        if is_at_work(locked):
            raise IndexRefused(_("The new items are being linked already."))
        n: int = unlinked_items(locked).count()
        if not n:
            raise IndexRefused(_("Every item has been linked. Nothing is new."))
        _start_job(locked, actor)
        scope, target = run.benchmark.scope, f"run:{run.pk}"
        record(actor, "linking.continued", scope=scope, target=target, items=n)
    run.refresh_from_db(fields=["options", "state"])
    return n


def is_at_work(run: Run) -> bool:
    """Whether its job waits or runs."""
    return Job.objects.filter(pk=run.options.get("job"), state__in=Job.LIVE).exists()


def _start_job(run: Run, actor: User) -> None:
    """Needs a transaction."""
    assert run.knowledge_index is not None
    stage = Stage.objects.get(benchmark=run.benchmark_id, key=run.selection["stage"])
    title = _("Linking of “%(stage)s” to %(base)s") % {"stage": stage.name, "base": run.knowledge_index.base}
    job = jobs.start(KIND, title, scope=run.benchmark.scope, actor=actor, params={"run": run.pk})
    options = {**run.options, "job": job.pk}
    Run.objects.filter(pk=run.pk).update(options=options, state=Run.State.RUNNING, stopped_because="")


def _link_all(work: JobContext, run: Run, links: Callable[[Sequence[Item]], list[EntityLink]]) -> None:
    items = unlinked_items(run)
    work.expect(work.job.done + items.count())
    turn = TimeSlice(work)
    while True:
        turn.is_over()
        batch = list(items.order_by("pk")[:BATCH])
        if not batch:
            return
        work.check()
        new_links = links(batch)
        with transaction.atomic():
            if Run.objects.select_for_update(no_key=True).get(pk=run.pk).withdrawn_at is not None:
                raise JobFailed(_("This run was withdrawn meanwhile. Start a new one."))
            EntityLink.objects.bulk_create(new_links, ignore_conflicts=True)
            written = EntityLink.objects.filter(run=run, item__in=batch).select_related("item")
            link_checks.add_check_items(run, list(written.order_by("pk")))
            work.step(done=work.job.done + len(new_links), cursor={"last": batch[-1].pk})


def _links(run: Run, batch: Sequence[Item], searcher: Searcher, encoder: Encoder) -> list[EntityLink]:
    images = _pictures(batch)
    known = _known_pictures(run, [image.sha256 for image in images.values()])
    bytes_of = {item.pk: _bytes(images[item.pk]) for item in batch if item.pk in images}
    readable = [item for item in batch if bytes_of.get(item.pk)]
    vectors = indexes.images_of(encoder, [bytes_of[item.pk] or b"" for item in readable])
    seen = np.asarray(vectors.any(axis=1))
    results = searcher.find(vectors[seen], run.options["nearest"]) if seen.any() else []
    by_item = dict(zip((item.pk for item, good in zip(readable, seen, strict=True) if good), results, strict=True))
    new_links = []
    for item in batch:
        image, one = images.get(item.pk), by_item.get(item.pk)
        itself = bool(image and image.sha256 in known)
        new_links.append(_link(run, item, one, "no_image" if image is None else "unreadable_image", itself))
    return new_links


def _links_by_name(run: Run, batch: Sequence[Item], named: NameLinker) -> list[EntityLink]:
    """A name has no score: each of its entries gets 1. What is refused for its picture is so here, too: the rows of a
    table are over the same images."""
    images = _pictures(batch)
    known = _known_pictures(run, [image.sha256 for image in images.values()]) if run.options["refuse_known"] else set()
    new_links = []
    for item in batch:
        keys, reason = named.of(item)
        if item.pk in images and images[item.pk].sha256 in known:
            keys, reason = [], "in_knowledge_base"
        keys = keys[:MOST_RANKED]
        new_links.append(EntityLink(run=run, item=item, keys=list(keys), scores=[1.0] * len(keys), reason=reason))
    return new_links


def _pictures(batch: Sequence[Item]) -> dict[int, Image]:
    """The picture of each item: the one that is called so, else its first."""
    rows = ItemImage.objects.filter(item__in=batch).select_related("image").order_by("-pk")
    return {one.item_id: one.image for one in sorted(rows, key=lambda one: one.role == "image")}


def _link(run: Run, item: Item, result: SearchResult | None, lacking: str, itself: bool) -> EntityLink:
    if result is None:
        return EntityLink(run=run, item=item, keys=[], scores=[], reason=lacking)
    near = [[row.name, key, round(row.score, 6)] for row in result.near for key in row.keys]
    if itself and run.options["refuse_known"]:
        return EntityLink(run=run, item=item, keys=[], scores=[], neighbours=near, reason="in_knowledge_base")
    ranked = result.ranked[:MOST_RANKED]
    keys, scores = [key for key, _score in ranked], [score for _key, score in ranked]
    return EntityLink(
        run=run, item=item, keys=keys, scores=scores, neighbours=near, reason="" if keys else "nothing_near"
    )


def _known_pictures(run: Run, shas: Sequence[str]) -> set[str]:
    """Those of them that are pictures of the base."""
    assert run.knowledge_index is not None
    rows = KnowledgeImage.objects.filter(entry__base=run.knowledge_index.base_id, sha256__in=shas)
    return set(rows.values_list("sha256", flat=True))


def _bytes(image: Image) -> bytes | None:
    try:
        with storage.open_binary(image.original_name) as file:
            return file.read()
    except FileNotFoundError:
        return None


def _finish(work: JobContext, run: Run) -> None:
    with transaction.atomic():
        rows = EntityLink.objects.filter(run=run)
        facts = {"rows": rows.count(), "unlinked": rows.filter(keys=[]).count()}
        locked_run = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        locked_run.options, locked_run.complete, locked_run.state = (
            {**locked_run.options, **facts},
            True,
            Run.State.DONE,
        )
        locked_run.finished_at = timezone.now()
        locked_run.save(update_fields=["options", "complete", "state", "finished_at"])
        scope, target = run.benchmark.scope, f"run:{run.pk}"
        record(work.job.created_by, "linking.done", scope=scope, target=target, implied=True, **facts)
