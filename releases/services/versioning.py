"""The version of a release: proposed from what changed since the published one before it; never lower than that."""

from django.utils import timezone, translation
from django.utils.translation import gettext as _

from annotation.models import Annotation, Campaign
from annotation.queries.answers import watermark
from benchmarks.models import Benchmark, Item
from releases.contents.tables import RATINGS, release_tables
from releases.models import Release, ReleaseRow, ReleaseSelection
from releases.queries.differences import TableDifference, current_differences, stored_differences
from releases.queries.needed_version import (
    Change,
    VersionNeed,
    raised,
    stored_codebooks,
    version_need,
    version_order,
    version_parts,
)
from releases.rows.frozen import digest_query

MOST_ROWS = 20_000
"""Up to so many rows are compared before a release is created; of more only their number and the watermark."""
FIRST = "1.0.0"


class VersionTooLow(Exception):
    """What changed needs a higher version; `need` says which."""

    def __init__(self, need: VersionNeed, message: str) -> None:
        super().__init__(message)
        self.need = need


def newest_release(benchmark: Benchmark, but: Release | None = None) -> Release | None:
    """The one with the highest version; `but`: of the others."""
    releases = [release for release in benchmark.releases.all() if release != but]
    return max(releases, key=lambda release: version_order(release.version), default=None)


def published_before(benchmark: Benchmark) -> Release | None:
    """The last that was published: what a reader of the new one has. A withdrawn one counts, for people may have it."""
    published = benchmark.releases.filter(published_at__isnull=False)
    return max(published, key=lambda release: version_order(release.version), default=None)


def whole_selection(benchmark: Benchmark) -> ReleaseSelection:
    """All stages with items, as the form proposes it."""
    stages = benchmark.stages.filter(items__isnull=False).distinct().order_by("pk")
    campaigns = Campaign.objects.filter(stage__in=stages).exclude(opened_at=None).order_by("pk")
    return ReleaseSelection(tuple(stages.values_list("pk", flat=True)), tuple(campaigns.values_list("pk", flat=True)))


def proposed_version(benchmark: Benchmark, chosen: ReleaseSelection | None = None) -> str:
    """The lowest that what changed allows, and higher than every version that there is."""
    newest, parent = newest_release(benchmark), published_before(benchmark)
    if newest is None:
        return FIRST
    need = current_need(benchmark, chosen or whole_selection(benchmark), parent) if parent else None
    if need is None:
        return raised(newest.version, Change.MINOR)
    is_free = version_order(need.lowest) > version_order(newest.version)
    return need.lowest if is_free else raised(newest.version, need.change)


def current_need(benchmark: Benchmark, chosen: ReleaseSelection, earlier: Release) -> VersionNeed:
    """What a release of this selection would need now. Of many rows it may be less than what their checksums say: the
    build looks again."""
    draft = Release(benchmark=benchmark, selection=chosen.to_json(), created_at=timezone.now(), parent=earlier)
    tables = release_tables(draft)
    codebooks = {table.stage.key: table.codebook() for table in tables if table.table.key == RATINGS}
    if _is_small(chosen, earlier):
        queries = {table.name: digest_query(table.table.kind, table.scope, table.table.conditions) for table in tables}
        changed = current_differences(queries, earlier)
    else:
        changed = _rough_differences(draft, earlier)
    return version_need(draft, earlier, changed, codebooks)


def _is_small(chosen: ReleaseSelection, earlier: Release) -> bool:
    answers = Annotation.objects.filter(assignment__campaign__in=chosen.campaigns)
    items = Item.objects.filter(stage__in=chosen.stages)
    frozen = ReleaseRow.objects.filter(release=earlier)
    return all(rows[: MOST_ROWS + 1].count() <= MOST_ROWS for rows in (answers, items, frozen))


def _rough_differences(draft: Release, earlier: Release) -> list[TableDifference]:
    """Whether there is any, by numbers that are read at once."""
    changed = []
    for stage in draft.benchmark.stages.filter(pk__in=draft.chosen.stages):
        now = Item.objects.filter(stage=stage).count()
        before = earlier.facts.get("rows", {}).get(f"{stage.key}/items", 0)
        counts = max(now - before, 0), max(before - now, 0)
        changed.append(TableDifference(f"{stage.key}/items", *counts, 0, 0, now, before))
    answers = int(watermark(draft.benchmark) != earlier.watermark)
    return [*changed, TableDifference(f"/{RATINGS}", 0, 0, answers, 0, 0, 0)]


def check_frozen(release: Release) -> None:
    """Once its rows and facts are there, a release remembers what it needs. Raises VersionTooLow."""
    if release.parent is None:
        return
    with translation.override("en"):
        need = version_need(release, release.parent, stored_differences(release), stored_codebooks(release))
    release.facts["need"] = need.to_json()
    refuse_low(release.version, release.parent, need)


def refuse_low(version: str, earlier: Release, need: VersionNeed) -> None:
    """Raises VersionTooLow."""
    if not need.admits(version):
        raise VersionTooLow(need, need.refusal(version, earlier.version))


def check_new(benchmark: Benchmark, version: str, but: Release | None = None) -> str:
    """Why a version cannot be taken; empty if it can. `but`: the release that gets it."""
    parts = version_parts(version)
    if parts is None:
        return _("A version has three numbers, such as 1.0.0.")
    newest = newest_release(benchmark, but)
    if newest and parts <= version_order(newest.version):
        text = _("Version %(version)s exists. Choose a higher one, such as %(proposed)s.")
        return text % {"version": newest.version, "proposed": proposed_version(benchmark)}
    return ""
