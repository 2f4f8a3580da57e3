"""A download is compared with its release by checksums, and a release is deposited by the steps of a page."""

import hashlib
import json
import re

import pytest
from django.core.files.base import ContentFile

from annotation.models import Campaign
from benchmarks.models import Benchmark
from releases.formats.checksums import Checksum, compare, read_checksums
from releases.models import Release
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.module_world import built_once
from tests.personas import World
from tests.releases.release_steps import act, address, built, files_of

A, B = "a" * 64, "b" * 64


@built_once
def release(world: World) -> Release:
    world.add_items(4)
    campaign: Campaign = an_open_campaign(world)
    table(campaign, world.egypt, of_condition(world.items, "natural"), {world.nour: "12", world.tarek: "15"})
    return built(world)


@pytest.mark.parametrize(
    ("line", "path"),
    [
        (f"{A}  csv/items.csv", "csv/items.csv"),
        (f"{A.upper()} *caire-1.0.0/csv/items.csv", "caire-1.0.0/csv/items.csv"),
        (f"SHA256 (./csv/items.csv) = {A}", "csv/items.csv"), (f"SHA2-256(csv/items.csv)= {A}", "csv/items.csv"),
        (f"{A.upper()}  C:\\caire\\csv\\items.csv", "C:/caire/csv/items.csv"), (A, ""),
    ],
)  # fmt: skip
def test_checksums_are_read_as_programs_print_them(line: str, path: str) -> None:
    assert list(read_checksums(f"Algorithm Hash\n{line}\n\n{A[:63]}\n{A}0\n")) == [Checksum(A, path)]


def test_checksums_are_compared_by_path_and_by_checksum() -> None:
    known = {"csv/items.csv": A, "README.md": B}
    given = [Checksum(A, "x/csv/items.csv"), Checksum(A, "README.md"), Checksum(B, ""), Checksum(B, "old name.md"),
             Checksum("c" * 64, "other.txt"), Checksum(A, "x/csv/items.csv")]  # fmt: skip
    assert [(row.path, row.state) for row in compare(given, known)] == [
        ("csv/items.csv", "same"), ("README.md", "differs"), ("README.md", "same"), ("other.txt", "unknown"),
    ]  # fmt: skip


def test_a_download_is_checked_by_pasting_and_by_sending_a_file(world: World, release: Release) -> None:
    files, client = files_of(world, release), world.client(world.mara)
    page = client.get(address(release, "check/")).content.decode()
    assert "sha256sum -c SHA256SUMS" in page and "shasum -a 256 -c SHA256SUMS" in page
    whole = client.post(address(release, "check/"), {"file": ContentFile(files["SHA256SUMS"], "SHA256SUMS")})
    assert f"{len(files)} files are as in the release." in whole.content.decode()
    assert "was not compared" not in whole.content.decode()
    damaged = files["SHA256SUMS"].decode().replace("0", "1", 1)
    told = client.post(address(release, "check/"), {"sums": damaged}).content.decode()
    assert "1 file is not as in the release." in told and "Differs" in told
    one = client.post(address(release, "check/"), {"file": ContentFile(files["README.md"], "my copy")})
    assert "1 file is as in the release." in one.content.decode()
    other = client.post(address(release, "check/"), {"file": ContentFile(b"something", "x.txt")})
    assert "No checksum is of a file of this release." in other.content.decode()
    assert hashlib.sha256(b"something").hexdigest() in other.content.decode()
    empty = client.post(address(release, "check/"), {"sums": "<script>alert(1)</script>"})
    assert empty.status_code == 400 and "There is no checksum in it." in empty.content.decode()
    assert "<script>alert" not in empty.content.decode()


def test_only_who_sees_a_release_checks_and_only_who_works_on_it_deposits(world: World, release: Release) -> None:
    for user in (world.stranger, world.rival, world.nour):
        assert world.client(user).get(address(release, "check/")).status_code == 404
        assert world.client(user).get(address(release, "deposit/")).status_code == 404
    act(world, release, "publish", sure="on")
    assert world.client(world.reviewer).get(address(release, "deposit/")).status_code == 404
    assert world.client(world.mara).get(address(release, "deposit/")).status_code == 200


def test_steps_of_a_deposit_have_what_the_archive_asks_for(world: World, release: Release) -> None:
    jane = {"family": "Doe", "given": "Jane", "orcid": "https://orcid.org/0000-0002-1825-0097"}
    Benchmark.objects.filter(pk=world.benchmark.pk).update(
        licence="CC BY 4.0", purpose="To compare <b>cultures</b>.", authors=[jane], card={"doi": "10.5281/zenodo.1"}
    )
    again = built(world, version="1.0.1")
    page = world.client(world.mara).get(address(again, "deposit/")).content.decode()
    shown = re.search(r'id="zenodo-json"[^>]*>(.*?)</pre>', page, re.DOTALL)
    assert shown is not None
    from html import unescape

    metadata = json.loads(unescape(shown[1]))["metadata"]
    assert metadata["creators"] == [{"name": "Doe, Jane", "orcid": "0000-0002-1825-0097"}]
    assert (metadata["license"], metadata["version"], metadata["upload_type"]) == ("cc-by-4.0", "1.0.1", "dataset")
    assert "notes" not in metadata and "choose there what fits it" not in page
    Benchmark.objects.filter(pk=world.benchmark.pk).update(licence="Ours, of 2026")
    own = built(world, version="1.0.2")
    old = world.client(world.mara).get(address(own, "deposit/")).content.decode()
    assert "&quot;notes&quot;: &quot;Licence: Ours, of 2026&quot;" in old and "&quot;license&quot;" not in old
    assert "choose there what fits it" in old
    assert f"hf upload YOUR-NAME/{world.benchmark.slug} {world.benchmark.slug}-1.0.1 . --repo-type dataset" in page
    assert "10.5281/zenodo.1" in page and "<b>cultures</b>" not in page
    detail = world.client(world.mara).get(address(again)).content.decode()
    assert "10.5281/zenodo.1" in detail and "Deposit it" in detail
    assert "none yet" in world.client(world.mara).get(address(release)).content.decode()
