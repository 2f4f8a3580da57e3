"""Freezing a release: which rows it has, their states and checksums, all of one moment."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.db import connection, transaction
from django.db.models import Count
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.queries.answers import watermark
from jobs.services.job_context import JobContext, JobFailed
from jobs.services.lease_keeper import kept_lease
from predictions.models import Run
from releases.contents.agreement_files import agreement_facts
from releases.contents.coco import consensus_questions
from releases.contents.eligibility import eligibility_rows, is_there
from releases.contents.gold import gold_facts
from releases.contents.parts import parts_of, shipped_parts
from releases.contents.site_rows import site_tables
from releases.contents.tables import RATINGS, ReleaseTable, release_tables
from releases.exports.document_files import document_members
from releases.models import Release, ReleaseFile, ReleaseItem, ReleaseRow, WithheldFile
from releases.queries.description_facts import description_facts
from releases.queries.differences import differences
from releases.queries.known_facts import known_facts
from releases.rows.annotations import consents_of
from releases.rows.filters import Condition
from releases.rows.frozen import RowsChanged, digest_query
from releases.rows.kinds import RowKind, RowScope
from releases.rows.snapshot import repeatable_read
from releases.services.splitting import assign_splits
from releases.services.versioning import check_frozen


def lock_for_build(release_id: int, job_id: int) -> Release:
    """The release, locked, if this job builds it. Needs a transaction. Raises JobFailed."""
    release = Release.objects.select_for_update(of=("self",)).select_related("benchmark__team").get(pk=release_id)
    if release.job_id != job_id:
        raise JobFailed(_("Another job builds this release now."))
    if release.state not in (Release.State.DRAFT, Release.State.READY):
        raise JobFailed(_("This release is published. Its files do not change any more."))
    return release


def freeze(work: JobContext, release_id: int) -> Release:
    """Write the rows of the selection into the release, in one transaction that sees one moment.

    A worker that dies in it leaves nothing, and the next one freezes a later moment. Raises JobFailed, and
    VersionTooLow.
    """
    with kept_lease(work), repeatable_read():
        release = lock_for_build(release_id, work.job.pk)
        ReleaseFile.objects.filter(release=release).delete()
        WithheldFile.objects.filter(release=release).delete()
        ReleaseRow.objects.filter(release=release)._raw_delete(using="default")
        assign_splits(release)
        tables = release_tables(release)
        for table in tables:
            _freeze_rows(release, table.name, table.table.kind, table.scope, table.table.conditions)
        site = {
            table.kind.key: _freeze_rows(release, table.name, table.kind, table.scope) for table in site_tables(release)
        }
        release.state, release.built_at, release.manifest_sha256 = Release.State.DRAFT, None, ""
        release.frozen_at = timezone.now()
        release.watermark = watermark(release.benchmark)
        release.facts = {**_parts(release, tables), **_facts(tables), "documents": _documents(release, tables)}
        release.facts["consensus"] = consensus_questions(tables)
        release.facts["site_rows"] = site
        release.facts["gold"] = gold_facts(tables)
        rules = eligibility_rows(release.benchmark, tables)
        release.facts["eligibility"] = rules if is_there(rules) else []
        release.facts["known"] = known_facts(release)
        release.facts["described"] = description_facts(release)
        release.facts["agreement"] = _agreement(release, tables)
        release.facts["prompts"] = _prompts(release)
        if release.parent:
            release.facts["differences"] = [asdict(table) for table in differences(release, release.parent)]
        check_frozen(release)
        release.save()
    release.refresh_from_db(fields=["facts"])
    return release


def thaw(release: Release, facts: dict[str, Any] | None = None) -> None:
    """The next build freezes its rows anew. `facts`: what the page says until then."""
    values: dict[str, Any] = {"frozen_at": None, "state": Release.State.DRAFT}
    with transaction.atomic():
        Release.objects.filter(pk=release.pk, published_at=None).update(
            **values, **({"facts": facts} if facts is not None else {})
        )


def check_surroundings(release: Release, tables: list[ReleaseTable]) -> None:
    """What is put into files beside the rows must be as it was: states of consent, and columns of sheets.

    Raises RowsChanged.
    """
    for table in tables:
        if table.table.key == RATINGS:
            current = {str(rater): state for rater, state in consents_of(table.scope).items()}
            for rater, state in release.facts["consents"][table.stage.key].items():
                if current.get(rater) != state:
                    raise RowsChanged
        if sorted(table.table.cells) != release.facts["columns"][table.name]:
            raise RowsChanged


def _facts(tables: list[ReleaseTable]) -> dict[str, Any]:
    """A codebook is kept as text, so that its members keep their order."""
    ratings = [table for table in tables if table.table.key == RATINGS]
    return {
        "columns": {table.name: sorted(table.table.cells) for table in tables},
        "consents": {table.stage.key: consents_of(table.scope) for table in ratings},
        "codebooks": {table.stage.key: json.dumps(table.codebook(), ensure_ascii=False) for table in ratings},
    }


def _parts(release: Release, tables: list[ReleaseTable]) -> dict[str, Any]:
    """Where each file of rows begins and ends, and how many rows and items that makes."""
    chosen = release.chosen
    every = {
        table.name: parts_of(release, table.name, embedded=chosen.embed and table.table.key == "items")
        for table in tables
    }
    shipped = {name: shipped_parts(chosen, name, parts) for name, parts in every.items()}
    withheld = [part for name, parts in every.items() for part in parts
                if part.split == chosen.withheld and name.endswith(f"/{RATINGS}")]  # fmt: skip
    splits = (
        ReleaseItem.objects.filter(release=release).values_list("item__stage__key", "split").annotate(n=Count("pk"))
    )
    return {
        "rows": {name: sum(part.rows for part in parts) for name, parts in shipped.items()},
        "parts": {name: [part.to_json() for part in parts] for name, parts in shipped.items()},
        "splits": [list(row) for row in splits.order_by("item__stage__position", "split")],
        "withheld_answers": sum(part.rows for part in withheld),
    }


def _agreement(release: Release, tables: list[ReleaseTable]) -> dict[str, Any]:
    """Dated like the release, so that building it again makes the same bytes."""
    stages = [(table.stage.key, table.campaigns) for table in tables if table.table.key == RATINGS]
    return agreement_facts(release.benchmark, stages, release.created_at, withheld=bool(release.chosen.withheld))


def _prompts(release: Release) -> list[dict[str, Any]]:
    """What models were asked with, by run."""
    runs = Run.objects.filter(campaign__in=release.chosen.campaigns, withdrawn_at=None).order_by("pk")
    return [
        {"run": run.pk, "campaign": run.campaign_id, "model": run.model, "revision": run.revision,
         "setting": run.rater.setting, "prompt": run.prompt, "version": run.prompt_version,
         "options": run.prompt_options, "decoding": run.decoding, "seed": run.seed, "repeats": run.repeats}
        for run in runs.select_related("rater")
    ]  # fmt: skip


def _documents(release: Release, tables: list[ReleaseTable]) -> dict[str, str]:
    """Documents of the paper, such as a COCO file, made of the same moment. They are small, and kept as text.

    A document does not know of splits, so there is none where answers are withheld.
    """
    documents: dict[str, str] = {}
    if release.chosen.withheld:
        return documents
    for table in tables:
        if table.table.key == RATINGS:
            campaigns = [campaign.pk for campaign in table.campaigns]
            for member in document_members(release.benchmark, table.stage.key, campaigns):
                content = b"".join(member.lines()).decode()
                documents[f"{table.stage.key}-{member.file.key}"] = content
    return documents


def _freeze_rows(
    release: Release, name: str, kind: RowKind, scope: RowScope, conditions: Sequence[Condition] = ()
) -> int:
    """Return how many there are. A row about no item is in the first split."""
    query, params = digest_query(kind, scope, conditions)
    rows: Any = ReleaseRow._meta.db_table
    sql = (
        f'INSERT INTO {rows} (release_id, "table", place, number, part, state, split, content, digest)'  # noqa: S608
        " SELECT %s, %s, row_number() OVER (ORDER BY x.number, x.part), x.number, x.part, x.state,"
        f" coalesce(s.split, %s), x.content, x.digest FROM ({query}) x"
        " LEFT JOIN releases_releaseitem s ON s.release_id = %s AND s.item_id = x.item"
    )
    first = release.chosen.split_names[0]
    with connection.cursor() as cursor:
        cursor.execute(sql, [release.pk, name, first, *params, release.pk])
        return int(cursor.rowcount)
