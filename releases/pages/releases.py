"""What the pages of releases show."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Campaign
from benchmarks.access import is_permitted
from benchmarks.models import Benchmark, Stage
from benchmarks.pages.tabs import tabs_for
from jobs.access import JobScope
from jobs.models import Job
from jobs.pages.progress import progress_context
from people.models import User
from releases.access import visible_releases
from releases.contents.site_rows import FOLDER
from releases.descriptions.citation import bibtex, doi_of
from releases.models import Release, ReleaseFile
from releases.queries.differences import stored_differences
from releases.queries.main_numbers import main_numbers
from releases.queries.needed_version import stored_need, version_order
from releases.queries.publication import publication_errors, publication_warnings
from releases.queries.withdrawals import withdrawn_since
from releases.services import downloads

CHIPS = {
    Release.State.DRAFT: "hollow",
    Release.State.READY: "back",
    Release.State.PUBLISHED: "ok",
    Release.State.WITHDRAWN: "no",
}

PICTURES = {
    "names": gettext_lazy("Names and checksums only"),
    "licensed": gettext_lazy("Files of pictures that have a licence"),
    "all": gettext_lazy("Files of all pictures"),
    "licensed_originals": gettext_lazy("Files as they came, of pictures that have a licence"),
    "originals": gettext_lazy("Files as they came, of all pictures"),
    "none": gettext_lazy("Nothing"),
}


@dataclass(frozen=True)
class ReleaseEntry:
    """A release in a list: its state in words, with how its chip looks."""

    release: Release
    chip: str
    words: str


def release_entry(release: Release) -> ReleaseEntry:
    """A draft is what its job is: being built, stopped or failed."""
    job = release.job
    if release.state == Release.State.DRAFT and job:
        if job.state in Job.LIVE:
            return ReleaseEntry(release, "wait", _("Being built"))
        if job.state == Job.State.FAILED:
            return ReleaseEntry(release, "no", _("Build failed"))
        return ReleaseEntry(release, "hollow", _("Build stopped"))
    state = Release.State(release.state)
    return ReleaseEntry(release, CHIPS[state], str(state.label))


def sorted_entries(user: User, benchmark: Benchmark) -> list[ReleaseEntry]:
    """The highest version first."""
    releases = visible_releases(user, benchmark).select_related("job", "created_by").defer("facts")
    newest = sorted(releases, key=lambda release: version_order(release.version), reverse=True)
    return [release_entry(release) for release in newest]


def base_context(user: User, benchmark: Benchmark) -> dict[str, Any]:
    return {
        "benchmark": benchmark,
        "nav": tabs_for(user, benchmark, "releases"),
        "who_place": benchmark.name,
        "works": is_permitted(user, benchmark, "work_on"),
    }


@dataclass(frozen=True)
class FileGroup:
    """The files of one stage, those that an import reads, or those that describe the whole."""

    name: str
    files: list[ReleaseFile]


def file_groups(release: Release) -> Iterator[FileGroup]:
    """By stage in its order, then those for an import, then the others."""
    names = dict(
        Stage.objects.filter(pk__in=release.chosen.stages).order_by("position", "pk").values_list("key", "name")
    )
    files: dict[str, list[ReleaseFile]] = {key: [] for key in names}
    others: list[ReleaseFile] = []
    site: list[ReleaseFile] = []
    for file in release.files.order_by("path"):
        _folder, _slash, rest = file.path.partition("/")
        stage = rest.partition("/")[0].removesuffix(".json")
        if file.path.startswith(f"{FOLDER}/"):
            site.append(file)
        else:
            (files[stage] if rest and stage in files else others).append(file)
    yield from (FileGroup(name, files[key]) for key, name in names.items())
    yield FileGroup(_("Rows for an import"), site)
    yield FileGroup(_("The whole release"), others)


def release_context(user: User, release: Release) -> dict[str, Any]:
    """What `releases/release.html` takes."""
    benchmark, is_ready = release.benchmark, release.state == Release.State.READY
    context, owns = base_context(user, benchmark), is_permitted(user, benchmark, "own")
    files = list(release.files.all())
    return context | build_context(user, release) | {
        "entry": release_entry(release),
        "owns": owns,
        "withheld": list(release.withheld_files.order_by("path")) if owns and downloads.is_available(release) else [],
        "groups": [group for group in file_groups(release) if group.files],
        "bytes": sum(file.bytes for file in files),
        "can_download": release.state in (Release.State.READY, Release.State.PUBLISHED),
        "errors": publication_errors(release) if is_ready else [],
        "warnings": publication_warnings(release) if is_ready else [],
        "differences": stored_differences(release),
        "need": stored_need(release),
        "citation": bibtex(release) if "described" in release.facts else "",
        "doi": doi_of(release) if "described" in release.facts else "",
        "numbers": main_numbers(release, release.parent) if release.built_at and release.parent else [],
        "pictures": PICTURES[release.chosen.pictures],
        "since": withdrawn_since(release) if release.published_at else None,
        "entries": sorted_entries(user, benchmark),
        "stages": Stage.objects.filter(pk__in=release.chosen.stages).order_by("position", "pk"),
        "campaigns": Campaign.objects.filter(pk__in=release.chosen.campaigns).count(),
    }  # fmt: skip


def build_context(user: User, release: Release) -> dict[str, Any]:
    """The progress of its build while it has none of its files, or not all."""
    if release.state != Release.State.DRAFT or release.job is None:
        return {}
    benchmark = release.benchmark
    place = JobScope(benchmark.name, "", [], is_permitted(user, benchmark, "work_on"))
    return progress_context(release.job, place)
