"""The build of a release: killed and resumed, with data that changes between, and with names that mean harm."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone

from annotation.models import Annotation, Campaign
from annotation.services.answers import consent
from benchmarks.models import Benchmark, Item, ItemImage
from benchmarks.services import storage
from jobs.models import Job
from jobs.services import runner
from people.models import Consent
from releases.models import Release, ReleaseFile
from releases.services import building
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.module_world import built_once
from tests.personas import World
from tests.releases.release_steps import act, address, build, built, create, files_of, json_rows


class Killed(BaseException):
    """What a kill leaves behind: the transaction is rolled back, and nothing else is done."""


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(8)
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, of_condition(world.items, "natural"), {world.nour: "1234", world.tarek: "12.5"})
    return campaign


@pytest.fixture
def kill_at(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int, bool], list[str]]]:
    """Die at the n-th file from now, before it is stored or after; returns the names that are stored from now on."""
    replace = storage.replace

    def arm(number: int, after: bool) -> list[str]:
        names: list[str] = []

        def replacing(name: str, pieces: Any) -> int:
            if len(names) == number and not after:
                raise Killed
            size = replace(name, pieces)
            names.append(name)
            if len(names) > number:
                raise Killed
            return size

        monkeypatch.setattr(building.storage, "replace", replacing)
        return names

    yield arm
    monkeypatch.undo()


def die(release: Release) -> None:
    """Build until the kill, then free the job, as the lease does when it is over."""
    with pytest.raises(Killed):
        build(release)
    Job.objects.filter(pk=release.job_id).update(state="queued", lease_until=None)


def test_killed_twice_it_repeats_only_the_unfinished_file(
    world: World, campaign: Campaign, kill_at: Callable[[int, bool], list[str]]
) -> None:
    release = create(world)
    first = kill_at(2, False)
    die(release)
    second = kill_at(1, True)
    die(release)
    frozen_at = Release.objects.get().frozen_at
    third = kill_at(10**6, False)
    release = build(release)
    assert (release.job.state, release.state, release.frozen_at) == ("done", "ready", frozen_at)
    assert (release.job.done, release.job.total) == (release.job.total, release.job.total)
    assert [len(first), len(second)] == [2, 2]
    assert second[1] == third[0], "the file that was stored but not committed is written again"
    assert len({*first, *second, *third}) == len(first) + len(second) + len(third) - 1
    pieced = files_of(world, release)
    act(world, release, "build")
    assert files_of(world, build(release)) == pieced, "as if nobody had killed it"


@pytest.mark.parametrize("change", ["changed", "withdrawn", "consent", "item"])
def test_data_that_changes_between_two_kills_fails_the_build(
    world: World, campaign: Campaign, kill_at: Callable[[int, bool], list[str]], change: str
) -> None:
    release = create(world)
    kill_at(1, False)
    die(release)
    annotation = Annotation.objects.order_by("pk")[0]
    if change == "changed":
        annotation.ratings.update(code="5")
    elif change == "withdrawn":
        Annotation.objects.filter(pk=annotation.pk).update(live=False, counted=False, uncounted_because="withdrawn")
    elif change == "consent":
        consent.withdraw(annotation.rater.user, world.team, timezone.now())
    else:
        Item.objects.filter(pk=world.items[0].pk).update(withdrawn_at=timezone.now())
    kill_at(10**6, False)
    release = build(release)
    assert (release.job.state, release.state) == ("failed", "draft")
    assert "The data changed" in release.job.error
    page = world.client(world.mara).get(address(release)).content.decode()
    assert "Build failed" in page and "Build again" in page
    world.client(world.mara).post(f"/jobs/{release.job_id}/resume/")
    assert build(release).state == "ready", "the next attempt freezes the rows as they are now"


def test_new_answers_are_not_in_a_release_that_is_frozen(
    world: World, campaign: Campaign, kill_at: Callable[[int, bool], list[str]]
) -> None:
    release = create(world)
    kill_at(1, False)
    die(release)
    table(campaign, world.brazil, of_condition(world.items, "natural"), {world.bia: "1234"})
    kill_at(10**6, False)
    release = build(release)
    assert release.state == "ready", release.job.error
    assert len(json_rows(files_of(world, release)["jsonl/relevance/ratings.jsonl"])) == 7


def test_a_stopped_build_goes_on_where_it_was(world: World, campaign: Campaign) -> None:
    release = create(world)
    world.client(world.mara).post(f"/jobs/{release.job_id}/cancel/")
    assert build(release).job.state == "cancelled"
    page = world.client(world.mara).get(address(release)).content.decode()
    assert "Build stopped" in page and "Resume" in page
    assert world.client(world.mara).get(address(release, "archive/")).status_code == 410
    world.client(world.mara).post(f"/jobs/{release.job_id}/resume/")
    assert build(release).state == "ready"


def test_an_older_build_does_not_write_into_a_newer_one(world: World, campaign: Campaign) -> None:
    release = create(world)
    world.client(world.mara).post(f"/jobs/{release.job_id}/cancel/")
    older = release.job_id
    act(world, release, "build")
    world.client(world.mara).post(f"/jobs/{older}/resume/")
    runner.run(older)
    job = Job.objects.get(pk=older)
    assert (job.state, job.error) == ("failed", "Another job builds this release now.")
    assert not ReleaseFile.objects.exists()


def test_who_withdrew_is_in_no_file_and_the_page_of_an_older_release_says_so(world: World, campaign: Campaign) -> None:
    Benchmark.objects.filter(pk=world.benchmark.pk).update(licence="CC-BY-4.0")
    first = built(world)
    later = built(world, version="1.1.0")
    act(world, first, "publish", sure="1")
    consent.withdraw(world.nour, world.team, timezone.now())
    page = act(world, later, "publish", sure="1")
    assert "1 person, 4 answers" in page and "Build the release again" in page
    assert Release.objects.get(pk=later.pk).state == "ready"
    assert "1 person, 4 answers" in world.client(world.mara).get(address(first)).content.decode()
    act(world, later, "build")
    files = files_of(world, build(later))
    name = world.benchmark.pseudonym(Annotation.objects.filter(rater__user=world.nour)[0].rater_id)
    assert not [path for path, data in files.items() if name.encode() in data]
    assert json.loads(files["codebook/relevance.json"])["left_out"]["answers"] == 4
    assert "published" in act(world, later, "publish", sure="1").lower()
    assert Consent.objects.filter(withdrawn_at__isnull=False).exists()


def test_hostile_names_stay_inside_their_cells(world: World, campaign: Campaign) -> None:
    hostile = "../../etc/=cmd|'/c calc'!A1\n\u202e\"<script>"
    Item.objects.filter(pk=world.items[0].pk).update(key=hostile, concept=hostile[:120])
    ItemImage.objects.filter(item=world.items[0]).update(file_name=f"/root/{hostile}")
    release = built(world)
    files = files_of(world, release)
    [item] = [row for row in json_rows(files["jsonl/relevance/items.jsonl"]) if row["id"] == world.items[0].pk]
    assert (item["key"], item["pictures"][0]["file"]) == (hostile, f"/root/{hostile}"), "names are kept as imported"
    assert not [path for path in files if ".." in path or path.startswith("/")]
    folder = default_storage.path(release.folder)
    assert all(default_storage.path(file.stored_name).startswith(folder) for file in release.files.all())
    assert (
        "<script>"
        not in world.client(world.mara).get(address(release)).content.decode().split("<main")[1].split("</main>")[0]
    )
