"""A public page: only after an owner allowed it, with sums and agreement, and no person, key or secret answer."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Campaign
from annotation.services.answers import consent
from benchmarks.models import Benchmark, ItemImage
from evaluation import tasks
from people.models import User
from releases.models import Release, WithheldFile
from tests.api.clients import program
from tests.api.test_protocol import send
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.evaluation.test_board_column import rated  # noqa: F401  (a fixture)
from tests.personas import World, make_benchmark

BENCHMARK = "/api/v1/benchmarks/sea-and-river/"
pytestmark = pytest.mark.django_db


def open_page(world: World) -> str:
    return f"/public/{world.benchmark.slug}/"


def make_public(world: World) -> None:
    Benchmark.objects.filter(pk=world.benchmark.pk).update(is_public=True)


def license_pictures(world: World, licence: str = "CC BY 4.0") -> None:
    ItemImage.objects.filter(item__stage=world.stage).update(licence=licence, alt="A drawn kite")


def test_private_benchmark_has_no_public_page_and_is_not_on_the_front(world: World, rated: Campaign) -> None:  # noqa: F811
    tasks.renew_board(world.benchmark.pk)
    for client in (Client(), world.client(world.mara), world.client(world.stranger)):
        assert client.get(open_page(world)).status_code == 404
    assert world.benchmark.name not in Client().get("/").content.decode()


def test_public_page_shows_agreement_sums_and_one_picture(world: World, rated: Campaign) -> None:  # noqa: F811
    make_public(world)
    license_pictures(world)
    tasks.renew_board(world.benchmark.pk)
    for address in (open_page(world), "/"):
        page = Client().get(address).content.decode()
        assert world.benchmark.name in page and "A drawn kite" in page
        assert "3 people of the cohort Egypt answered" in page
        assert "n = 10 × 3" in page and "No value:" in page, "Brazil has one person"
        people = [*world.annotators, world.mara, world.manager]
        assert not any(text in page for user in people for text in (user.email, user.name))
        assert "item-0000" not in page and "R-" not in page


def test_without_a_licence_or_three_people_no_picture_is_shown(world: World, rated: Campaign) -> None:  # noqa: F811
    make_public(world)
    tasks.renew_board(world.benchmark.pk)
    for licence in ("", "All rights reserved"):
        license_pictures(world, licence)
        page = Client().get(open_page(world)).content.decode()
        assert "<img" not in page and "n = 10 × 3" in page
    license_pictures(world)
    consent.withdraw(world.tarek, world.team, timezone.now())
    assert "<img" not in Client().get(open_page(world)).content.decode(), "two people are left"


def test_two_people_who_answered_twice_are_two_people(world: World, rated: Campaign) -> None:  # noqa: F811
    make_public(world)
    license_pictures(world)
    consent.withdraw(world.tarek, world.team, timezone.now())
    two = [world.nour, User.objects.get(email="egypt-1@example.org")]
    again = an_open_campaign(world, name="Round two")
    table(again, world.egypt, of_condition(world.items, "natural")[:3], dict.fromkeys(two, "555"))
    tasks.renew_board(world.benchmark.pk)
    page = Client().get(open_page(world)).content.decode()
    assert "<img" not in page and "4 people" not in page and "n = " in page


def test_no_answer_is_shown_where_a_release_withholds_some(world: World, rated: Campaign) -> None:  # noqa: F811
    make_public(world)
    license_pictures(world)
    tasks.renew_board(world.benchmark.pk)
    release = Release.objects.create(benchmark=world.benchmark, version="7.8.9", selection={})
    assert "<img" in Client().get(open_page(world)).content.decode()
    WithheldFile.objects.create(release=release, path="test.csv", sha256="0" * 64, bytes=1, media_type="text/csv")
    page = Client().get(open_page(world)).content.decode()
    assert "<img" not in page and "7.8.9" not in page, "and a release that is not published is not listed"


def test_empty_public_page_says_what_is_needed(world: World) -> None:
    make_public(world)
    page = Client().get(open_page(world)).content.decode()
    assert "There is no value yet" in page and "No release has been published yet" in page
    assert world.benchmark.name not in Client().get("/").content.decode(), "the front page shows nothing of it"


def test_page_takes_as_many_queries_for_many_items(world: World, rated: Campaign) -> None:  # noqa: F811
    make_public(world)
    license_pictures(world)
    tasks.renew_board(world.benchmark.pk)
    client = Client()
    client.get("/")
    with CaptureQueriesContext(connection) as few:
        client.get("/")
    table(rated, world.brazil, of_condition(world.items, "generated")[:5], {world.bia: "12345"})
    with CaptureQueriesContext(connection) as many:
        client.get("/")
    assert len(many) == len(few) <= 20


def test_front_page_takes_as_many_queries_for_many_public_benchmarks(world: World, rated: Campaign) -> None:  # noqa: F811
    license_pictures(world)
    others = [make_benchmark(world.team, f"empty-{number}", owner=world.owner) for number in range(4)]
    make_public(world)
    tasks.renew_board(world.benchmark.pk)
    client = Client()
    client.get("/")
    with CaptureQueriesContext(connection) as few:
        client.get("/")
    Benchmark.objects.filter(pk__in=[row.pk for row in others]).update(is_public=True)
    with CaptureQueriesContext(connection) as many:
        page = client.get("/").content.decode()
    assert len(many) == len(few) <= 16
    assert world.benchmark.name in page and "Empty 0" not in page, "only what has a value is shown"


def test_only_an_owner_makes_it_public(world: World) -> None:
    url = f"/b/{world.benchmark.slug}/settings/"
    form = {"name": world.benchmark.name, "is_public": "on"}
    assert world.client(world.mara).post(url, form).status_code == 302
    world.benchmark.refresh_from_db()
    assert not world.benchmark.is_public
    assert world.client(world.owner).post(url, form).status_code == 302
    world.benchmark.refresh_from_db()
    assert world.benchmark.is_public
    world.client(world.mara).post(url, {"name": world.benchmark.name})
    world.benchmark.refresh_from_db()
    assert world.benchmark.is_public, "and a researcher does not change it back"
    patched = send(program(world.mara, "write"), "PATCH", BENCHMARK, {"is_public": False}, if_match="*")
    assert patched.status_code == 404
    patched = send(program(world.owner, "write"), "PATCH", BENCHMARK, {"is_public": False}, if_match="*")
    assert patched.json()["is_public"] is False
