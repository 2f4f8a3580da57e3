"""Bringing a picture for a sheet: one's own sheet only, within bounds, whatever the file says it is."""

from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from annotation.models import Annotation, Assignment, Draft, SheetVersion, Upload
from annotation.services.answers import submit, uploads
from benchmarks.models import Image
from benchmarks.services.safe_fetch import FetchRefused, FetchResult
from jobs.models import Event
from people.services.raters import rater_of
from tests import pictures
from tests.personas import World
from tests.samples import assign, open_campaign

FOUND: dict[str, Any] = {
    "fields": [
        {"key": "known", "kind": "text", "label": {"en": "What is it called?"}, "required": False},
        {"key": "photo", "kind": "picture", "label": {"en": "Find a picture"}, "config": {"least_side": 80}},
    ]
}


@pytest.fixture
def assignment(world: World, settings: Any, tmp_path: Path) -> Assignment:
    """In Nour's hand: a sheet that asks for a picture."""
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}},
    }
    world.add_items(2)
    opened = open_campaign(world, world.egypt)
    version = SheetVersion.objects.create(stage=world.stage, major=2, minor=0, definition=FOUND)
    opened.campaign.sheet_version = version
    opened.campaign.save()
    return assign(opened, world.nour, opened.slots.order_by("position").first())


def send(client: Client, assignment: Assignment, data: bytes | None = None, name: str = "tea.png", **more: Any) -> Any:
    form = {**({"file": SimpleUploadedFile(name, data)} if data is not None else {}), **more}
    return client.post(f"/assignments/{assignment.pk}/picture", form, headers={"X-Requested-With": "emic"})


def picture_form(sha: str, **more: str) -> dict[str, Any]:
    return {"a-known": "", "a-photo": [sha, "file", "", "own", ""], "client_key": "one", **more}


def test_a_picture_is_brought_looked_at_and_answered_with(world: World, assignment: Assignment) -> None:
    nour = world.client(world.nour)
    reply = send(nour, assignment, pictures.png())
    assert reply.status_code == 200
    picture = reply.json()
    assert (picture["width"], picture["height"]) == (120, 90)
    assert nour.get(picture["preview"]).headers["Content-Type"] == "image/webp"
    kept = Upload.objects.get()
    assert kept.assignment == assignment and kept.image.sha256 == picture["sha"] and kept.fetched_from == ""
    assert Event.objects.get(verb="picture.brought").actor == world.nour
    assert nour.get(f"/assignments/{assignment.pk}/picture").json()["pictures"][0]["sha"] == picture["sha"]
    nour.post(f"/assignments/{assignment.pk}/submit", picture_form(picture["sha"]))
    answer = Annotation.objects.get().answers["photo"]
    assert answer == {"sha": picture["sha"], "kind": "file", "source": "", "licence": "own"}


def test_the_same_picture_twice_is_one(world: World, assignment: Assignment) -> None:
    nour = world.client(world.nour)
    assert send(nour, assignment, pictures.png()).json()["sha"] == send(nour, assignment, pictures.png()).json()["sha"]
    assert Upload.objects.count() == Image.objects.filter(uploads__isnull=False).count() == 1


def test_nobody_brings_or_sees_pictures_of_anothers_sheet(world: World, assignment: Assignment) -> None:
    send(world.client(world.nour), assignment, pictures.png())
    for user in (world.tarek, world.bia, world.mara, world.stranger, world.rival):
        client = world.client(user)
        assert send(client, assignment, pictures.png(seed=2)).status_code == 404
        assert client.get(f"/assignments/{assignment.pk}/picture").status_code == 404
    assert send(Client(), assignment, pictures.png()).status_code == 302
    assert Upload.objects.count() == 1


def test_a_picture_of_another_sheet_is_no_answer_here(world: World, assignment: Assignment) -> None:
    other = assign(assignment.participation.cohort, world.tarek, assignment.slot)
    sha = send(world.client(world.tarek), other, pictures.png()).json()["sha"]
    reply = world.client(world.nour).post(f"/assignments/{assignment.pk}/submit", picture_form(sha))
    assert reply.status_code == 422 and "was not uploaded for this sheet" in reply.content.decode()
    assert not Annotation.objects.exists()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", "markup"),
        (b"<!doctype html><html><body>a page</body></html>", "markup"),
        (b"just words", "text"),
        (b"", "empty"),
        (b"%PDF-1.7 \x00\x01", "unknown"),
        (pictures.png()[:-400], "damaged"),
    ],
)
def test_what_is_no_picture_is_refused_whatever_its_name(
    world: World, assignment: Assignment, data: bytes, code: str
) -> None:
    before = Image.objects.count()
    reply = send(world.client(world.nour), assignment, data, "tea.jpg")
    assert reply.status_code == 422 and reply.json()["code"] == code and reply.json()["words"]
    assert not Upload.objects.exists() and Image.objects.count() == before


def test_bombs_and_files_too_large_are_refused(world: World, assignment: Assignment, settings: Any) -> None:
    nour = world.client(world.nour)
    settings.IMAGE_MAX_PIXELS = 10_000
    assert send(nour, assignment, pictures.png(200, 100)).json()["code"] == "too_many_pixels"
    settings.UPLOAD_MAX_BYTES = 500
    assert send(nour, assignment, pictures.png()).json()["code"] == "too_large"
    settings.BODY_MAX_BYTES = 100
    assert send(nour, assignment, pictures.png()).status_code == 413
    assert not Upload.objects.exists()


def test_a_sheet_takes_so_many_pictures_and_no_more(
    world: World, assignment: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_PICTURES", 2)
    nour = world.client(world.nour)
    replies = [send(nour, assignment, pictures.png(seed=seed)).status_code for seed in (1, 2, 3)]
    assert replies == [200, 200, 422] and Upload.objects.count() == 2
    monkeypatch.setattr(uploads, "MOST_PICTURES", 9)
    monkeypatch.setattr(uploads, "MOST_BYTES", 10)
    assert send(nour, assignment, pictures.png(seed=4)).json()["code"] == "enough"


@pytest.mark.parametrize("condition", ["answered", "no picture asked", "left", "excluded team"])
def test_a_sheet_that_takes_no_answer_takes_no_picture(world: World, assignment: Assignment, condition: str) -> None:
    nour = world.client(world.nour)
    if condition == "answered":
        nour.post(
            f"/assignments/{assignment.pk}/submit", picture_form(send(nour, assignment, pictures.png()).json()["sha"])
        )
    elif condition == "no picture asked":
        assignment.campaign.sheet_version = SheetVersion.objects.get(major=1)
        assignment.campaign.save()
    elif condition == "left":
        world.nour.cohort_memberships.update(left_at=timezone.now())
    else:
        world.nour.consents.update(withdrawn_at=timezone.now())
    before = Upload.objects.count()
    assert send(nour, assignment, pictures.png(seed=7)).status_code == 422
    assert Upload.objects.count() == before


def test_a_sheet_that_may_be_answered_again_takes_a_picture(world: World, assignment: Assignment) -> None:
    nour = world.client(world.nour)
    sha = send(nour, assignment, pictures.png()).json()["sha"]
    nour.post(f"/assignments/{assignment.pk}/submit", picture_form(sha))
    submit.reopen(assignment.pk, rater_of(world.nour), timezone.now())
    assert send(nour, assignment, pictures.png(seed=7)).status_code == 200, "its answer is opened for a change"
    other = Assignment.objects.get(rater__user=world.nour, state="reserved")
    reason = assignment.campaign.stage.skip_reasons[0]["code"]
    submit.skip(other.pk, rater_of(world.nour), reason, "", timezone.now())
    assert send(nour, other, pictures.png(seed=8)).status_code == 200, "a skip is no answer"


def test_a_long_name_of_a_file_is_cut_in_the_error(world: World, assignment: Assignment) -> None:
    reply = send(world.client(world.nour), assignment, b"just words", "n" * 90 + ".png")
    assert f"“{'n' * 76}.png”" in reply.json()["words"]


def test_an_address_is_fetched_by_the_server(
    world: World, assignment: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def fetch(url: str, most: int) -> FetchResult:
        asked.append(url)
        if "inside" in url:
            raise FetchRefused("private")
        return FetchResult(pictures.png(), "https://cdn.example.org/tea.png")

    monkeypatch.setattr(uploads, "_ask", fetch)
    nour = world.client(world.nour)
    assert send(nour, assignment, url=" https://example.org/tea.png ").status_code == 200
    assert asked == ["https://example.org/tea.png"]
    assert Upload.objects.get().fetched_from == "https://cdn.example.org/tea.png"
    refused = send(nour, assignment, url="http://inside.example/")
    assert refused.status_code == 422 and "private network" in refused.json()["words"]
    assert send(nour, assignment).json()["code"] == "nothing"


def test_nothing_private_is_fetched_for_anybody(world: World, assignment: Assignment, live_server: Any) -> None:
    reply = send(world.client(world.nour), assignment, url=f"{live_server.url}/healthz")
    assert reply.status_code == 422 and reply.json()["code"] in ("port", "private")


def test_without_a_script_the_sheet_comes_back_with_picture_and_text(world: World, assignment: Assignment) -> None:
    nour = world.client(world.nour)
    form = {"bring": "photo", "a-known": "Mint tea", "a-photo": ["", "", "https://example.org/", "own", ""]}
    reply = nour.post(
        f"/assignments/{assignment.pk}/submit", {**form, "u-photo": SimpleUploadedFile("a.png", pictures.png())}
    )
    assert reply.status_code == 302
    page = nour.get(reply.url).content.decode()
    sha = Upload.objects.get().image.sha256
    assert "Mint tea" in page and f'value="{sha}"' in page and "120 × 90" in page and "https://example.org/" in page
    assert Draft.objects.get().answers == {
        "known": "Mint tea", "photo": [sha, "file", "https://example.org/", "own", ""]
    }  # fmt: skip
    svg = SimpleUploadedFile("a.png", b"<svg/>")
    reply = nour.post(
        f"/assignments/{assignment.pk}/submit", {**form, "a-known": "Tea", "draft_version": "1", "u-photo": svg}
    )
    page = nour.get(reply.url).content.decode()
    assert "not a photo file" in page and "Tea" in page


def test_the_picture_and_where_it_is_from_are_in_the_history(world: World, assignment: Assignment) -> None:
    nour = world.client(world.nour)
    sha = send(nour, assignment, pictures.png()).json()["sha"]
    source = ["https://example.org/<b>", "other", "GFDL <i>"]
    nour.post(f"/assignments/{assignment.pk}/submit", picture_form(sha) | {"a-photo": [sha, "url", *source]})
    assert Annotation.objects.exists()
    page = nour.get("/work/history/").content.decode()
    assert 'href="https://example.org/&lt;b&gt;"' in page and "GFDL &lt;i&gt;" in page and 'width="64"' in page


def test_picture_source_is_not_taken_from_the_page(
    world: World, assignment: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was fetched is nobody's own until a page says where it is from; one that was sent needs none."""
    monkeypatch.setattr(uploads, "_ask", lambda url, most: FetchResult(pictures.png(), url))
    nour = world.client(world.nour)
    sha = send(nour, assignment, url="https://example.org/tea.png").json()["sha"]
    reply = nour.post(f"/assignments/{assignment.pk}/submit", picture_form(sha))
    assert reply.status_code == 422 and "The source page is missing" in reply.content.decode()
    own = send(nour, assignment, pictures.png(seed=2)).json()["sha"]
    fields = picture_form(sha) | {"a-photo": [sha, "file", "https://example.org/", "own", ""]}
    assert nour.post(f"/assignments/{assignment.pk}/submit", fields).status_code == 302
    assert Annotation.objects.get().answers["photo"]["kind"] == "url"
    other = assign(assignment.participation.cohort, world.tarek, assignment.slot)
    tarek = world.client(world.tarek)
    assert send(tarek, other, pictures.png(seed=2)).json()["sha"] == own
    assert tarek.post(f"/assignments/{other.pk}/submit", picture_form(own)).status_code == 302


def test_what_a_sheet_has_no_room_for_is_not_stored(
    world: World, assignment: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    nour = world.client(world.nour)
    sha = send(nour, assignment, pictures.png()).json()["sha"]
    monkeypatch.setattr(uploads, "MOST_BYTES", len(pictures.png()) + 10)
    before = Image.objects.count()
    assert send(nour, assignment, pictures.png(seed=2)).json()["code"] == "enough"
    assert Image.objects.count() == before
    assert send(nour, assignment, pictures.png()).json()["sha"] == sha  # it is there already


def test_so_many_addresses_are_tried_and_no_more(
    world: World, assignment: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def fetch(url: str, most: int) -> FetchResult:
        asked.append(url)
        raise FetchRefused("too_slow")

    monkeypatch.setattr(uploads, "_ask", fetch)
    monkeypatch.setattr(uploads, "MOST_FETCHES", 2)
    monkeypatch.setattr(uploads, "MOST_ASKED", 3)
    cache.clear()
    nour = world.client(world.nour)
    codes = [send(nour, assignment, url="https://slow.example/").json()["code"] for _time in range(3)]
    assert codes == ["too_slow", "too_slow", "too_often"] and len(asked) == 2
    assert send(nour, assignment, pictures.png()).status_code == 200  # a file comes all the same
    Assignment.objects.filter(pk=assignment.pk).update(
        in_hand=False, state="skipped", lease_until=None, skip_reason="other"
    )
    place = assignment.participation.cohort
    after = assign(place, world.nour, place.slots.order_by("position").last())
    codes = [send(nour, after, url="https://slow.example/").json()["code"] for _time in range(2)]
    assert codes == ["too_slow", "too_often"]  # a person's next sheet does not begin anew
    other = assign(place, world.tarek, assignment.slot)
    assert send(world.client(world.tarek), other, url="https://slow.example/").json()["code"] == "too_slow"
