"""Pictures, members as pseudonyms, second reviews and collections by REST: what is there, and who may have it."""

import hashlib
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Annotation, ItemSource, SecondReviewShare, Upload
from annotation.services.answers import consent
from benchmarks.models import Item, ItemImage, Stage
from benchmarks.services.images import store_image
from people.models import Consent
from predictions.models import Collection
from tests.annotation.chain.factories import a_stage
from tests.api.clients import pages, program
from tests.api.test_imports import media
from tests.api.test_protocol import problem, send
from tests.evaluation.data import an_open_campaign, give_ratings
from tests.personas import SHEET, World
from tests.pictures import png

__all__ = ["media"]
pytestmark = pytest.mark.django_db
B = "/api/v1/benchmarks/sea-and-river/"
T = "/api/v1/teams/nile-lab/"


def give_picture(world: World, number: int, data: bytes) -> str:
    image, _new = store_image(world.team, data, name="camera")
    ItemImage.objects.update_or_create(item=world.items[number], role="image", defaults={"image": image})
    return image.sha256


@pytest.fixture
def pictures(world: World, media: None) -> list[bytes]:
    world.add_items(3)
    ItemImage.objects.all().delete()
    data = [png(60, 40, seed=seed) for seed in (1, 2)]
    for number, one in enumerate(data):
        give_picture(world, number, one)
    store_image(world.team, png(60, 40, seed=3), name="of no item")
    return data


def test_pictures_are_listed_and_come_as_they_were_sent(world: World, pictures: list[bytes]) -> None:
    client = program(world.mara, "export")
    rows = [row for page in pages(client, f"{B}images/?page_size=1") for row in page["results"]]
    sums = [hashlib.sha256(data).hexdigest() for data in pictures]
    assert [row["sha256"] for row in rows] == sums, "one that no item has is not among them"
    assert (rows[0]["width"], rows[0]["height"], rows[0]["format"]) == (60, 40, "PNG")
    reply: Any = client.get(f"{B}images/{sums[0]}/")
    assert b"".join(reply.streaming_content) == pictures[0]
    assert (reply["Content-Type"], reply["ETag"]) == ("image/png", f'"{sums[0]}"')
    part: Any = client.get(f"{B}images/{sums[0]}/", headers={"range": "bytes=1-3"})
    assert (part.status_code, b"".join(part.streaming_content)) == (206, b"PNG")
    assert client.get(f"{B}images/{sums[0]}/", headers={"if-none-match": reply["ETag"]}).status_code == 304
    other = a_stage(world.benchmark, "other", SHEET)
    assert client.get(f"{B}images/?stage={other.key}").json()["results"] == []


def test_bytes_of_pictures_need_the_scope_and_the_benchmark(world: World, pictures: list[bytes]) -> None:
    url = f"{B}images/{hashlib.sha256(pictures[0]).hexdigest()}/"
    assert program(world.mara).get(f"{B}images/").status_code == 200
    assert problem(program(world.mara).get(url), 403, "insufficient-scope")["needs"] == "export"
    for user in (world.stranger, world.rival, world.nour, world.reviewer):
        problem(program(user, "export").get(url), 404, "not-found")
    free = png(60, 40, seed=3)
    problem(program(world.mara, "export").get(f"{B}images/{hashlib.sha256(free).hexdigest()}/"), 404, "not-found")
    assert Client().get(url).status_code == 401


def test_a_picture_of_somebody_who_withdrew_is_gone(world: World, pictures: list[bytes]) -> None:
    give_picture(world, 2, png(60, 40, seed=9))
    campaign = an_open_campaign(world)
    [answer] = give_ratings(campaign, world.egypt, world.nour, {world.items[2]: "3"})
    ItemSource.objects.create(item=world.items[1], source=world.items[2], annotation=answer)
    url = f"{B}images/{hashlib.sha256(pictures[1]).hexdigest()}/"
    client = program(world.mara, "export")
    assert client.get(url).status_code == 200
    Annotation.objects.filter(pk=answer.pk).update(counted=False, uncounted_because="consent_withdrawn")
    world.items[1].withdrawn_at = timezone.now()
    world.items[1].save(update_fields=["withdrawn_at"])
    problem(client.get(url), 404, "not-found")
    assert len(client.get(f"{B}images/").json()["results"]) == 2


def test_a_picture_that_was_sent_after_the_withdrawal_is_read_by_nobody(world: World, pictures: list[bytes]) -> None:
    """As its answer, which is kept and is in no file. One that was sent before there was any consent is read."""
    give_picture(world, 2, png(60, 40, seed=9))
    campaign = an_open_campaign(world)
    [answer] = give_ratings(campaign, world.egypt, world.nour, {world.items[2]: "3"}, because="no_consent")
    Consent.objects.filter(user=world.nour).delete()
    data = png(60, 40, seed=7)
    image, _new = store_image(world.team, data, name="brought")
    Upload.objects.create(assignment=answer.assignment, image=image, at=timezone.now())
    client, url = program(world.mara, "export"), f"{B}images/{image.sha256}/"
    assert client.get(url).status_code == 200
    early = answer.submitted_at - timedelta(days=1)
    values = {"version": world.consent_version, "language": "en", "given_at": early, "withdrawn_at": early}
    Consent.objects.create(user=world.nour, **values)
    problem(client.get(url), 404, "not-found")
    assert image.sha256 not in str(client.get(f"{B}images/").json())
    assert image.sha256 not in str(client.get(f"{B}images/?stage={world.stage.key}").json())


def test_a_picture_that_was_handed_on_is_gone_with_who_brought_it(world: World, pictures: list[bytes]) -> None:
    """The item that was made of the answer shows it, and so does the one that was made of that item."""
    first, derived, later = world.items
    sha = give_picture(world, 1, png(60, 40, seed=9))
    assert give_picture(world, 2, png(60, 40, seed=9)) == sha
    [answer] = give_ratings(an_open_campaign(world), world.egypt, world.nour, {first: "3"})
    ItemSource.objects.create(item=derived, source=first, annotation=answer)
    ItemSource.objects.create(item=later, source=derived)
    client, url = program(world.mara, "export"), f"{B}images/{sha}/"
    assert client.get(url).status_code == 200
    Annotation.objects.filter(pk=answer.pk).update(counted=False, uncounted_because="consent_withdrawn")
    Item.objects.filter(pk__in=[derived.pk, later.pk]).update(withdrawn_at=timezone.now())
    problem(client.get(url), 404, "not-found")
    assert sha not in str(client.get(f"{B}images/").json())


def test_a_picture_of_an_answer_that_was_undone_is_gone_with_who_brought_it(
    world: World, pictures: list[bytes]
) -> None:
    give_picture(world, 2, png(60, 40, seed=9))
    [answer] = give_ratings(an_open_campaign(world), world.egypt, world.nour, {world.items[2]: "3"})
    image, _new = store_image(world.team, png(60, 40, seed=7), name="brought")
    Upload.objects.create(assignment=answer.assignment, image=image, at=timezone.now())
    Annotation.objects.filter(pk=answer.pk).update(live=False, counted=False, uncounted_because="undone")
    client, url = program(world.mara, "export"), f"{B}images/{image.sha256}/"
    assert client.get(url).status_code == 200
    consent.withdraw(world.nour, world.team, timezone.now())
    problem(client.get(url), 404, "not-found")


def test_members_are_pseudonyms_but_for_who_manages_the_cohort_by_admin(world: World) -> None:
    url = f"{T}cohorts/{world.egypt.pk}/members/"
    named = program(world.manager, "admin").get(url).json()["results"]
    assert [row["name"] for row in named] == ["Nour", "Tarek"] and all(row["email"] for row in named)
    for client in (program(world.manager), program(world.mara, "admin")):
        rows = client.get(url).json()["results"]
        assert [row["pseudonym"] for row in rows] == [row["pseudonym"] for row in named]
        assert {(row["name"], row["email"]) for row in rows} == {(None, None)}
        one = client.get(f"{url}{rows[0]['id']}/")
        assert one.json() == rows[0] and "Nour" not in one.content.decode()
    problem(send(program(world.mara, "admin"), "DELETE", f"{url}{named[0]['id']}/", if_match="*"), 404, "not-found")
    for user in (world.nour, world.rival, world.stranger):
        problem(program(user, "admin").get(url), 404, "not-found")


def test_the_share_of_second_reviews_is_read_and_set(world: World) -> None:
    url = f"{B}stages/relevance/second-reviews/"
    client = program(world.mara, "write", "export")
    first = client.get(url)
    assert first.json() == {"percent": 0.0, "drawn": 0, "decided": 0, "conflicts": 0}
    problem(send(client, "PUT", url, {"percent": 20}, if_match=first["ETag"]), 409, "conflict")
    Stage.objects.filter(benchmark=world.benchmark).update(acceptance=Stage.Acceptance.BY_REVIEW)
    problem(send(client, "PUT", url, {"percent": 20}), 428, "precondition-required")
    done = send(client, "PUT", url, {"percent": 20}, if_match=first["ETag"])
    assert (done.status_code, done.json()["percent"]) == (200, 20.0)
    problem(send(client, "PUT", url, {"percent": 30}, if_match=first["ETag"]), 412, "stale")
    problem(send(client, "PUT", url, {"percent": 101}, if_match=done["ETag"]), 400, "invalid-content")
    assert SecondReviewShare.objects.get().percent == 20
    assert program(world.reviewer, "export").get(url).json()["percent"] == 20.0
    problem(send(program(world.reviewer, "write"), "PUT", url, {"percent": 0}, if_match="*"), 404, "not-found")
    problem(program(world.rival, "export").get(url), 404, "not-found")


def test_a_collection_is_built_out_of_a_stage(world: World, pictures: list[bytes]) -> None:
    client = program(world.mara, "write")
    words = [{"concept": "bread", "country": "Egypt", "language": "ar", "words": "خبز | عيش"}]
    new = {
        "stage": "relevance",
        "name": "Pictures",
        "of": "kept",
        "queries": ["universals"],
        "languages": {"Egypt": "ar"},
    }
    reply = send(client, "POST", f"{B}collections/", {**new, "words": words})
    assert reply.status_code == 201, reply.content
    built = reply.json()
    assert (built["stage"], built["entries"], built["version"]) == (
        "relevance",
        Collection.objects.get().entries.count(),
        "1",
    )
    assert "universals" in built["queries"] or built["left_out"]
    shown = client.get(reply["Location"]).json()
    assert shown == {name: value for name, value in built.items() if name != "left_out"}
    assert client.get(f"{B}collections/").json()["results"][0]["id"] == built["id"]
    problem(send(client, "POST", f"{B}collections/", new), 422, "refused")
    refused = problem(send(client, "POST", f"{B}collections/", {**new, "stage": "none"}), 422, "refused")
    assert refused["errors"][0]["pointer"] == "/stage"
    problem(send(program(world.mara, "export"), "POST", f"{B}collections/", new), 403, "insufficient-scope")
    problem(send(program(world.rival, "write"), "POST", f"{B}collections/", new), 404, "not-found")
