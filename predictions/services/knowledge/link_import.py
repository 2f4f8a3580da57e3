"""Links that were found elsewhere, as a linking run: a file with the entries of each item.

A further file of the same run adds the links of items that came since. A link that is there stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.files.base import File
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.imports.rows import clean
from annotation.imports.source import Row
from benchmarks.imports.problems import RowProblem
from benchmarks.models import Benchmark, Item, Stage
from jobs.models import JobRow, record
from jobs.services import lifecycle as jobs
from jobs.services.job_context import JobContext, JobFailed
from jobs.services.kinds import JobKind
from people.models import Team, User
from people.services.raters import models_of
from predictions.imports import links as rows
from predictions.imports.links import ImportedLink
from predictions.models import EntityLink, KnowledgeBase, KnowledgeEntry, KnowledgeIndex, Run
from predictions.services.files import uploads
from predictions.services.files.uploads import Outcome, report_row
from predictions.services.knowledge import link_checks, linking
from predictions.services.knowledge.indexes import IndexRefused
from predictions.services.knowledge.linking import FROM_FILE, NAMED
from predictions.services.knowledge.ranking import NEAREST, Method

KIND = "import_links"
STEP = 500
HEADS = ("item",)


@dataclass(frozen=True)
class LinkFileInfo:
    """What a person says of a file of links. `answers`: the run that gave the names, where links go by names."""

    stage: Stage
    base: KnowledgeBase
    method: Method
    model: str
    nearest: int = NEAREST
    answers: Run | None = None


def start(benchmark: Benchmark, actor: User, upload: File[Any], file_info: LinkFileInfo) -> Run:
    """Queue the import, into the run that links this stage in this way by files. Raises IndexRefused."""
    if file_info.base.team_id != benchmark.team_id or file_info.stage.benchmark_id != benchmark.pk:
        raise IndexRefused(_("There is no such knowledge base or stage."))
    if file_info.method == NAMED:
        linking.check_answers(benchmark, file_info.stage, file_info.answers)
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=benchmark.team_id)
        run = _get_or_create_run(benchmark, actor, file_info)
        params = {"run": run.pk, "file": uploads.store_upload(upload)}
        title = _("Links from %(file)s") % {"file": str(upload.name)[:150]}
        job = jobs.start(KIND, title, scope=benchmark.scope, actor=actor, params=params)
        run.options = {**run.options, "job": job.pk}
        run.save(update_fields=["options"])
    return run


def _get_or_create_run(benchmark: Benchmark, actor: User, file_info: LinkFileInfo) -> Run:
    """Needs the team's lock. Raises IndexRefused."""
    index, _created = KnowledgeIndex.objects.get_or_create(
        base=file_info.base, model=file_info.model, over=linking.indexed_texts(file_info.method),
        defaults={"facts": {FROM_FILE: True}},
    )  # fmt: skip
    run = linking.existing_runs(benchmark, file_info.stage.key, index, file_info.method, file_info.model).first()
    if run is not None:
        if run.source != FROM_FILE:
            raise IndexRefused(_("This stage has been linked in this way. Withdraw that run first."))
        if linking.is_at_work(run):
            raise IndexRefused(_("A file of the same run is coming in now. Wait for it, or stop it."))
        return Run.objects.get(pk=run.pk)
    options: dict[str, Any] = {"method": file_info.method, "nearest": file_info.nearest, "refuse_known": False}
    if file_info.answers is not None:
        options["answers"] = file_info.answers.pk
    model = (file_info.model, str(file_info.method))
    return Run.objects.create(
        benchmark=benchmark, rater=models_of(benchmark.team, [model])[model], task=Run.Task.LINKING,
        knowledge_index=index, model=file_info.model, selection={"stage": file_info.stage.key}, options=options,
        source=FROM_FILE, state=Run.State.RUNNING, score_kind="match" if file_info.method == NAMED else "cosine",
        started_at=timezone.now(), created_by=actor,
    )  # fmt: skip


def run(work: JobContext) -> None:
    run = Run.objects.select_related("benchmark__team", "knowledge_index__base").get(pk=work.params["run"])
    with uploads.job_errors():
        if work.job.total is None:
            with uploads.rows(work, HEADS) as numbered_rows:
                work.expect(sum(1 for _row in work.with_heartbeat(numbered_rows)))
        with uploads.rows(work, HEADS) as numbered_rows:
            _import_rows(work, run, work.with_heartbeat(numbered_rows))
    _finish(work, run)
    uploads.delete_file(work.params["file"])


IMPORT = JobKind(KIND, run, linking.next_link)


def _import_rows(work: JobContext, run: Run, numbered_rows: Iterator[Row]) -> None:
    done, batch = work.cursor.get("rows", 0), list[tuple[int, ImportedLink | RowProblem]]()
    passed = 0
    for passed, (number, row) in enumerate(numbered_rows, start=1):
        if passed <= done:
            continue
        batch.append((number, _read(row)))
        if len(batch) >= STEP:
            _step(work, run, batch, passed)
            batch = []
    if batch:
        _step(work, run, batch, passed)


def _read(row: Mapping[str, Any] | RowProblem) -> ImportedLink | RowProblem:
    try:
        if isinstance(row, RowProblem):
            raise row
        return rows.read(clean(row))
    except RowProblem as problem:
        return problem


def _step(work: JobContext, run: Run, batch: Sequence[tuple[int, ImportedLink | RowProblem]], passed: int) -> None:
    work.check()
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if locked.withdrawn_at:
            raise JobFailed(_("This run was withdrawn meanwhile. Start a new import."))
        work.step(done=passed, cursor={"rows": passed}, rows=import_batch(run, batch))


def import_batch(run: Run, batch: Sequence[tuple[int, ImportedLink | RowProblem]]) -> list[JobRow]:
    """Needs a transaction that holds the run's row. Five queries, however many rows."""
    assert run.knowledge_index is not None
    read = [row for _number, row in batch if isinstance(row, ImportedLink)]
    items = {item.key: item for item in linking.items_of(run).filter(key__in={row.item for row in read})}
    wanted = {key for row in read for key in row.keys}
    rows_of_base = KnowledgeEntry.objects.filter(base=run.knowledge_index.base_id, key__in=wanted)
    entries = set(rows_of_base.values_list("key", flat=True))
    existing = EntityLink.objects.filter(run=run, item__in=items.values())
    known = {
        item: (tuple(keys), tuple(scores)) for item, keys, scores in existing.values_list("item", "keys", "scores")
    }
    report: list[JobRow] = []
    new: list[EntityLink] = []
    for number, row in batch:
        try:
            if isinstance(row, RowProblem):
                raise row
            item = _check(row, items, entries)
            if item.pk in known:
                report.append(report_row(number, row.item, _same_or_refused(row, known[item.pk])))
                continue
            known[item.pk] = (row.keys, row.scores)
            reason = "" if row.keys else "no_such_name" if run.options["method"] == NAMED else "nothing_near"
            new.append(EntityLink(run=run, item=item, keys=row.keys, scores=row.scores, reason=reason))
            report.append(report_row(number, row.item, Outcome.CREATED))
        except RowProblem as problem:
            name = row.item if isinstance(row, ImportedLink) else ""
            report.append(report_row(number, name, Outcome.ERROR, problem))
    EntityLink.objects.bulk_create(new)
    link_checks.add_check_items(run, new)
    return report


def _check(row: ImportedLink, items: dict[str, Item], entries: set[str]) -> Item:
    """The item of a row. Raises RowProblem."""
    item = items.get(row.item)
    if item is None:
        raise RowProblem("no_item", _("There is no item “%(key)s” in this stage.") % {"key": row.item})
    unknown = next((key for key in row.keys if key not in entries), None)
    if unknown is not None:
        raise RowProblem("no_entry", _("There is no entry “%(key)s” in the knowledge base.") % {"key": unknown})
    return item


def _same_or_refused(row: ImportedLink, known: tuple[tuple[str, ...], tuple[float, ...]]) -> str:
    """Raises RowProblem."""
    if (row.keys, row.scores) != known:
        text = _("“%(key)s” has another link in this run. Withdraw the run to import other links.")
        raise RowProblem("differs", text % {"key": row.item})
    return Outcome.UNCHANGED


def _finish(work: JobContext, run: Run) -> None:
    """A run counts as soon as it has links and every row of a file was taken."""
    errors = work.job.result.get("counts", {}).get(Outcome.ERROR, 0)
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        links = EntityLink.objects.filter(run=locked)
        facts = {"rows": links.count(), "unlinked": links.filter(keys=[]).count()}
        locked.options = {**locked.options, **facts}
        locked.complete = locked.complete or (facts["rows"] > 0 and not errors)
        if locked.complete:
            locked.state, locked.finished_at = Run.State.DONE, timezone.now()
        locked.save(update_fields=["options", "complete", "state", "finished_at"])
        scope, target = run.benchmark.scope, f"run:{run.pk}"
        record(work.job.created_by, "links.imported", scope=scope, target=target, implied=True, **facts)
    if not locked.complete:
        work.note(_("The run is not counted: rows were rejected. Correct them, and import the file again."))
