"""What a model found, out of a file, joined by key to what it was asked. A run counts when all of it is in."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.imports.rows import clean
from annotation.imports.source import Row
from annotation.imports.staging import group_by_key
from benchmarks.imports.problems import RowProblem
from jobs.models import Job, JobRow, record
from jobs.services.job_context import JobContext, JobFailed
from jobs.services.kinds import JobKind, NextLink
from people.services.raters import add_model_info
from predictions.imports import results
from predictions.imports.results import Found
from predictions.models import Embedding, Entry, Query, Ranking, Run
from predictions.services.files import uploads
from predictions.services.files.uploads import Outcome, report_row
from predictions.services.runs.result_runs import KIND

STEP = 100
MOST_ROWS = 10_000
HEADS = ("key", "query")
Rows = list[Row]
"""What is one result: a row, or those of one query."""


def run(work: JobContext) -> None:
    run = Run.objects.select_related("benchmark__team", "collection").get(pk=work.params["run"])
    with uploads.job_errors():
        if work.job.total is None:
            with uploads.rows(work, HEADS) as rows:
                work.expect(sum(1 for _row in work.with_heartbeat(rows)))
        with uploads.rows(work, HEADS) as rows:
            long = run.task != Run.Task.EMBEDDING and _is_long(rows)
        with uploads.rows(work, HEADS) as rows:
            _import_rows(
                work,
                run,
                group_by_key(rows, _query, results.MOST_FOUND + 1, work.beat) if long else _iterate_rows(work, rows),
            )
    _finish(work, run)
    uploads.delete_file(work.params["file"])


def next_link(job: Job) -> NextLink | None:
    run = Run.objects.select_related("benchmark").filter(pk=job.params.get("run")).first()
    if run is None:
        return None
    return NextLink(_("View predictions"), reverse("predictions:index", args=[run.benchmark.slug]))


IMPORT = JobKind(KIND, run, next_link)


def _is_long(rows: Iterator[Row]) -> bool:
    first = next((row for _number, row in rows if isinstance(row, Mapping)), {})
    return results.is_long_format(first)


def _query(row: Mapping[str, Any]) -> list[Any]:
    return [row.get("query") or ""]


def _iterate_rows(work: JobContext, rows: Iterator[Row]) -> Iterator[Rows]:
    for number, row in work.with_heartbeat(rows):
        try:
            yield [(number, row if isinstance(row, RowProblem) else dict(clean(row)))]
        except RowProblem as problem:
            yield [(number, problem)]


def _import_rows(work: JobContext, run: Run, parts: Iterator[Rows]) -> None:
    done, passed, batch, size = work.cursor.get("rows", 0), 0, list[Rows](), 0
    for rows in parts:
        passed += len(rows)
        if passed <= done:
            continue
        batch.append(rows)
        size += len(rows)
        if len(batch) >= STEP or size >= MOST_ROWS:
            _step(work, run, batch, passed)
            batch, size = [], 0
    if batch:
        _step(work, run, batch, passed)


def _step(work: JobContext, run: Run, batch: Sequence[Rows], done: int) -> None:
    work.check()
    with transaction.atomic():
        locked_run = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if locked_run.complete or locked_run.withdrawn_at:
            raise JobFailed(_("This run was withdrawn meanwhile. Start a new import."))
        take = vectors if run.task == Run.Task.EMBEDDING else rankings
        work.step(done=done, cursor={"rows": done}, rows=take(run, batch))


def rankings(run: Run, batch: Sequence[Rows]) -> list[JobRow]:
    """What queries found. Needs a transaction that holds the run's row."""
    read = [(rows, _ranking(rows)) for rows in batch]
    good = [one for _rows, one in read if not isinstance(one, RowProblem)]
    asked = Query.objects.filter(
        collection=run.collection, query_set=run.query_set, key__in={query for query, _keys, _scores in good}
    )
    queries = {query.key: query for query in asked}
    wanted = {key for _query, keys, _scores in good for key in keys}
    entries = set(Entry.objects.filter(collection=run.collection, key__in=wanted).values_list("key", flat=True))
    taken = set(Ranking.objects.filter(run=run, query__in=queries.values()).values_list("query_id", flat=True))
    report, new_rankings = [], []
    for rows, parsed_row in read:
        try:
            if isinstance(parsed_row, RowProblem):
                raise parsed_row
            query = _join_by_key(run, parsed_row, queries, entries)
            if query.pk in taken:
                raise RowProblem("twice", _("“%(key)s” is there twice.") % {"key": query.key})
            taken.add(query.pk)
            new_rankings.append(Ranking(run=run, query=query, keys=parsed_row[1], scores=parsed_row[2]))
            report += [report_row(number, query.key, Outcome.CREATED) for number, _row in rows]
        except RowProblem as problem:
            name = "" if isinstance(parsed_row, RowProblem) else parsed_row[0]
            report += [report_row(number, name, Outcome.ERROR, problem) for number, _row in rows]
    Ranking.objects.bulk_create(new_rankings)
    return report


def _ranking(rows: Rows) -> Found | RowProblem:
    try:
        [(_number, row), *others] = rows
        if others or (isinstance(row, Mapping) and results.is_long_format(row)):
            return results.merge_rows(rows)
        if isinstance(row, RowProblem):
            raise row
        return results.ranking(row)
    except RowProblem as problem:
        return problem


def _join_by_key(run: Run, one: Found, queries: Mapping[str, Query], entries: set[str]) -> Query:
    """By key, never by position. Raises RowProblem."""
    key, keys, _scores = one
    query = queries.get(key)
    if query is None:
        text = _("There is no query “%(key)s” in the query set “%(set)s” of this collection.")
        raise RowProblem("no_query", text % {"key": key, "set": run.query_set})
    unknown = next((one for one in keys if one not in entries), None)
    if unknown is not None:
        text = _("There is no entry “%(key)s” in this collection.")
        raise RowProblem("no_entry", text % {"key": unknown})
    if run.task == Run.Task.FORCED_CHOICE and set(keys) != set(query.roles.values()):
        text = _("The candidates of “%(key)s” are %(known)s; each needs a score, and no other entry.")
        raise RowProblem("candidates", text % {"key": key, "known": ", ".join(sorted(query.roles.values())) or "-"})
    return query


def vectors(run: Run, batch: Sequence[Rows]) -> list[JobRow]:
    """Embeddings of entries, all of one length. Needs a transaction that holds the run's row."""
    read = [(number, _vector(row)) for [(number, row)] in batch]
    keys = {one[0] for _number, one in read if not isinstance(one, RowProblem)}
    entries = {entry.key: entry for entry in Entry.objects.filter(collection=run.collection, key__in=keys)}
    taken = set(Embedding.objects.filter(run=run, entry__in=entries.values()).values_list("entry_id", flat=True))
    first = Embedding.objects.filter(run=run).order_by("pk").first()
    size = len(bytes(first.vector)) if first else 0
    report, new_embeddings = [], []
    for number, parsed_row in read:
        try:
            if isinstance(parsed_row, RowProblem):
                raise parsed_row
            entry = entries.get(parsed_row[0])
            if entry is None:
                raise RowProblem(
                    "no_entry", _("There is no entry “%(key)s” in this collection.") % {"key": parsed_row[0]}
                )
            if entry.pk in taken:
                raise RowProblem("twice", _("“%(key)s” is there twice.") % {"key": entry.key})
            size = size or len(parsed_row[1])
            if len(parsed_row[1]) != size:
                text = _("This vector has %(n)s numbers; the first has %(most)s.")
                raise RowProblem("lengths", text % {"n": len(parsed_row[1]) // 4, "most": size // 4})
            taken.add(entry.pk)
            new_embeddings.append(Embedding(run=run, entry=entry, vector=parsed_row[1]))
            report.append(report_row(number, entry.key, Outcome.CREATED))
        except RowProblem as problem:
            report.append(
                report_row(number, "" if isinstance(parsed_row, RowProblem) else parsed_row[0], Outcome.ERROR, problem)
            )
    Embedding.objects.bulk_create(new_embeddings)
    return report


def _vector(row: Mapping[str, Any] | RowProblem) -> tuple[str, bytes] | RowProblem:
    try:
        if isinstance(row, RowProblem):
            raise row
        return results.vector(row)
    except RowProblem as problem:
        return problem


def _finish(work: JobContext, run: Run) -> None:
    """All or nothing: a run with a row that was not taken, or without a query of its set, is not counted."""
    counts = work.job.result.get("counts", {})
    with transaction.atomic():
        locked_run = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        facts = _facts(locked_run)
        errors = counts.get(Outcome.ERROR, 0)
        lacks = facts["missing"] and not locked_run.options.get("some_missing")
        complete = facts["rows"] > 0 and not errors and not lacks and not locked_run.withdrawn_at
        locked_run.options, locked_run.complete = {**locked_run.options, **facts}, complete
        locked_run.save(update_fields=["options", "complete"])
        if complete:
            add_model_info(
                locked_run.rater, locked_run.options.get("about", {}), work.job.created_by, locked_run.benchmark.scope
            )
        record(
            work.job.created_by, "run.imported", scope=locked_run.benchmark.scope, target=f"run:{locked_run.pk}",
            implied=True, counts=counts, complete=complete, at=timezone.now().isoformat(),
        )  # fmt: skip
    if errors or not facts["rows"]:
        work.note(_("The run is not counted: rows were rejected. Correct them, and import the file again."))
    elif lacks:
        text = ngettext(
            "The run is not counted: %(n)s query of its set is missing, such as “%(key)s”.",
            "The run is not counted: %(n)s queries of its set are missing, such as “%(key)s”.",
            facts["missing"],
        )
        work.note(text % {"n": facts["missing"], "key": _missing_queries(locked_run).first()})


def _missing_queries(run: Run) -> Any:
    """Keys of queries of the set that the run does not answer."""
    asked = Query.objects.filter(collection=run.collection, query_set=run.query_set)
    answered = Ranking.objects.filter(run=run).values("query")
    return asked.exclude(pk__in=answered).order_by("key").values_list("key", flat=True)


def _facts(run: Run) -> dict[str, int]:
    if run.task != Run.Task.EMBEDDING:
        return {"rows": run.rankings.count(), "missing": _missing_queries(run).count()}
    first = Embedding.objects.filter(run=run).first()
    return {
        "rows": run.embeddings.count(), "missing": 0, "numbers": len(bytes(first.vector)) // 4 if first else 0,
    }  # fmt: skip
