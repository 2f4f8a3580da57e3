"""Benchmarks that a release became earlier, and over which of them another version of it may go."""

from dataclasses import dataclass

from benchmarks.access import benchmarks_to_work_on
from benchmarks.models import Benchmark
from people.models import User
from releases.models import ReleaseImport
from releases.queries.needed_version import version_order


@dataclass(frozen=True)
class NewerImport:
    """A benchmark that a later version of the release became."""

    benchmark: Benchmark
    version: str


@dataclass(frozen=True)
class ImportedVersions:
    """`earlier`: benchmarks of an earlier version, or of the same one: this version may go over them. `newer`: those
    of a later one, which it may not."""

    earlier: tuple[Benchmark, ...] = ()
    newer: tuple[NewerImport, ...] = ()


def last_import(benchmark: Benchmark) -> ReleaseImport | None:
    """The newest that was finished."""
    return benchmark.release_imports.exclude(finished_at=None).order_by("-pk").first()


def is_earlier(version: str, known: ReleaseImport) -> bool:
    """Whether a version is earlier than the one that was imported."""
    return version_order(version) < version_order(known.version)


def imported_versions(user: User, slug: str, version: str) -> ImportedVersions:
    """Of the release of a benchmark at its address; those that the person may change."""
    rows = benchmarks_to_work_on(user).filter(release_imports__source=slug)
    earlier, newer = [], []
    for benchmark in rows.exclude(release_imports__finished_at=None).distinct().order_by("name"):
        known = last_import(benchmark)
        if known is None or known.source != slug:
            continue
        if is_earlier(version, known):
            newer.append(NewerImport(benchmark, known.version))
        else:
            earlier.append(benchmark)
    return ImportedVersions(tuple(earlier), tuple(newer))
