"""Steps of the tests of re-imports: send the archive of a release, run the job, compare what the tables say."""

import csv
import io
from collections.abc import Mapping
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from django.core.files.base import ContentFile
from django.http import QueryDict

from annotation.models import Campaign
from benchmarks.models import Benchmark
from evaluation.rendering.csv_file import to_csv
from evaluation.reports.report_files import REPORTS
from evaluation.selections.catalogue import catalogue_of
from evaluation.selections.selection import SelectionError
from evaluation.tables.registry import tables_of
from evaluation.tables.table import MissingData
from evaluation.tables.table_builder import build_table
from evaluation.tables.table_formats import to_json
from evaluation.tables.table_report import table_report
from jobs.models import Job
from jobs.services import runner
from people.models import Team, TeamMember, User
from releases.models import Release, ReleaseSelection
from releases.services import downloads, imports
from releases.services import releases as services
from tests.personas import World
from tests.releases.release_steps import build

FAST = "globalrg-retrieval"
"""The paper that is always tried; the others are slow. The composed benchmark is tried by tests/chains."""
NOON = datetime(2027, 1, 1, 12, tzinfo=UTC)


def other_team(name: str = "Elsewhere") -> tuple[Team, User]:
    """An empty team with its admin."""
    user = User.objects.create_user("elsewhere@example.org", name)
    team = Team.objects.create(name=name, slug="elsewhere")
    TeamMember.objects.create(team=team, user=user, role=TeamMember.Role.ADMIN)
    return team, user


def archive_of(release: Release, actor: User) -> bytes:
    return b"".join(downloads.open_archive(release, actor)[1])


def start(data: bytes, team: Team, actor: User, *, slug: str, name: str) -> Job:
    stored = imports.keep(ContentFile(data, "release.zip"))
    return imports.start(team, actor, stored, name=name, slug=slug)


def start_later(benchmark: Benchmark, actor: User, data: bytes) -> Job:
    return imports.start_later(benchmark, actor, imports.keep(ContentFile(data, "release.zip")))


def release_of(
    world: World, benchmark_id: int, version: str = "1.0.0", pictures: str = "all", versions: bool = False
) -> Release:
    """Of everything in a benchmark, with vectors."""
    benchmark = Benchmark.objects.get(pk=benchmark_id)
    campaigns = Campaign.objects.filter(stage__benchmark=benchmark).exclude(opened_at=None)
    selection = ReleaseSelection(
        stages=tuple(benchmark.stages.order_by("pk").values_list("pk", flat=True)),
        campaigns=tuple(campaigns.order_by("pk").values_list("pk", flat=True)),
        formats=("jsonl",),
        pictures=pictures,
        vectors=True,
        versions=versions,
    )
    release = build(services.create(benchmark, world.owner, version=version, notes="", selection=selection))
    assert release.job is not None and release.job.state == "done", release.job and release.job.error
    return release


def run(job: Job) -> Job:
    runner.run(job.pk)
    job.refresh_from_db()
    return job


def reimported(release: Release, team: Team, actor: User) -> tuple[Benchmark, Job]:
    """The benchmark that a release becomes in another team, under its own address, which the old one gives up."""
    old = release.benchmark
    slug, name = old.slug, old.name
    Benchmark.objects.filter(pk=old.pk).update(slug=f"{slug}-old")
    job = run(start(archive_of(release, actor), team, actor, slug=slug, name=name))
    assert job.state == "done", job.error
    return Benchmark.objects.get(slug=slug), job


def table_files(benchmark: Benchmark) -> dict[str, str]:
    """Every table of a benchmark as CSV, by key; why there is none, where there is none."""
    catalogue, files = catalogue_of(benchmark), {}
    for spec in tables_of(benchmark):
        try:
            table = build_table(benchmark, spec, QueryDict(""), NOON, catalogue)
            files[spec.key] = "".join(to_csv(table_report(to_json(table, catalogue))))
        except MissingData as missing:
            files[spec.key] = f"missing: {missing}"
    return files


def report_files(benchmark: Benchmark) -> dict[str, str]:
    """Every report of a benchmark as CSV, by key and stage, without when it was computed and its watermark; why there
    is none, where there is none."""
    catalogue, files = catalogue_of(benchmark), {}
    for kind in REPORTS:
        stages = [f"stage={stage.key}" for stage in catalogue.stages] if kind.names else [""]
        for query in ("", *stages) if kind.names else stages:
            params = QueryDict(query)
            try:
                text = kind.forms["csv"](kind.build(catalogue, params, ZoneInfo("UTC"), NOON), params, "en")
                files[f"{kind.key} {query}"] = _without_moments(text)
            except SelectionError as refused:
                files[f"{kind.key} {query}"] = f"missing: {refused}"
    return files


def _without_moments(text: str) -> str:
    """Tables of a CSV file, each with a head of its own, without the columns that say when."""
    lines, columns = [], []
    for row in csv.reader(io.StringIO(text)):
        if {"watermark", "computed_at"} & set(row):
            columns = [place for place, name in enumerate(row) if name not in ("watermark", "computed_at")]
        lines.append("\t".join(row[place] for place in columns if place < len(row)) if columns else "\t".join(row))
    return "\n".join(lines)


def differing(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """The tables that do not say the same, or that only one of two benchmarks has."""
    keys = before.keys() | after.keys()
    pairs = {key: (before.get(key, "no table"), after.get(key, "no table")) for key in keys}
    return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}
