"""Rows by REST: the columns and the rows of the export, to the end, for those who may take it and nobody else."""

import gzip
import io
import json
import zipfile
from typing import Any

import psycopg
import pytest
from django.core.cache import cache
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Annotation, Campaign
from api.models import RequestCount
from api.protocol import streams
from api.protocol.limits import Throttle
from api.tasks import forget_requests
from benchmarks.models import ItemFact, ItemTally
from jobs.models import Event
from people.services.tokens import create_token
from releases.rows.registry import KINDS
from tests.api.clients import pages, program
from tests.evaluation.data import an_open_campaign, give_ratings, of_condition, table
from tests.personas import World

STREAM = {"accept": "application/x-ndjson"}


@pytest.fixture
def campaign(world: World) -> Campaign:
    world.add_items(8)
    campaign = an_open_campaign(world)
    natural = of_condition(world.items, "natural")
    table(campaign, world.egypt, natural, {world.nour: "1234", world.tarek: "12.5"})
    give_ratings(campaign, world.brazil, world.bia, {natural[0]: "5"}, because="surplus")
    return campaign


def address(world: World, rest: str) -> str:
    return f"/api/v1/benchmarks/{world.benchmark.slug}/{rest}"


def exported(world: World, name: str) -> list[Any]:
    """The rows of a file of the export, as JSON Lines."""
    form = {"form": "jsonl", "stage": world.stage.pk}
    reply: Any = world.client(world.mara).post(f"/b/{world.benchmark.slug}/export/", form)
    with zipfile.ZipFile(io.BytesIO(b"".join(reply.streaming_content))) as archive:
        [path] = [path for path in archive.namelist() if path.endswith(f"/{name}.jsonl")]
        return [json.loads(line) for line in archive.read(path).decode().splitlines()]


def streamed(client: Client, url: str, **headers: str) -> Any:
    reply: Any = client.get(url, headers={**STREAM, **headers})
    assert reply.status_code == 200, reply.content
    return reply, b"".join(reply.streaming_content)


@pytest.mark.parametrize(("kind", "file"), [("annotations", "ratings"), ("items", "items")])
def test_pages_and_stream_have_the_rows_of_the_export(world: World, campaign: Campaign, kind: str, file: str) -> None:
    client = program(world.mara, "export")
    url = address(world, f"{kind}/?page_size=3" + ("&counted=all" if kind == "annotations" else ""))
    expected = exported(world, file)
    results = [page["results"] for page in pages(client, url)]
    assert [len(rows) for rows in results] == [3, 3, 2]
    assert [row for rows in results for row in rows] == expected
    _reply, body = streamed(client, url)
    assert [json.loads(line) for line in body.splitlines()] == expected


def test_a_notebook_reads_to_the_end_while_rows_arrive(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "export")
    generated = of_condition(world.items, "generated")
    arriving = [(world.nour, generated[0]), (world.tarek, generated[1]), (world.nour, generated[2])]
    rows: list[Any] = []
    for page in pages(client, address(world, "annotations/?counted=all&page_size=2")):
        rows += page["results"]
        if arriving:
            user, item = arriving.pop()
            give_ratings(campaign, world.egypt, user, {item: "3"})
    assert not arriving and len(rows) == 11
    assert rows == exported(world, "ratings")


def test_a_row_that_is_gone_moves_no_other_row_to_another_page(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "export")
    keys = [row["annotation"] for row in exported(world, "ratings")]
    first, *others = pages_with_loss(client, address(world, "annotations/?counted=all&page_size=3"), keys[1])
    assert first == keys[:3]
    assert [key for page in others for key in page] == keys[3:]


def pages_with_loss(client: Client, url: str, gone: int) -> list[list[int]]:
    keys = []
    for page in pages(client, url):
        keys.append([row["annotation"] for row in page["results"]])
        Annotation.objects.filter(pk=gone).update(live=False, counted=False, uncounted_because="undone")
    return keys


def test_the_way_back_has_the_same_pages(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "export")
    forth = list(pages(client, address(world, "annotations/?counted=all&page_size=3")))
    assert forth[0]["previous"] is None and forth[-1]["next"] is None
    back = [forth[-1]]
    while back[-1]["previous"]:
        back.append(client.get(back[-1]["previous"]).json())
    assert [page["results"] for page in reversed(back)] == [page["results"] for page in forth]


def test_the_codes_are_rows_of_their_own(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "export")
    rows = client.get(address(world, "ratings/?field=relevance&code=1&code=2")).json()["results"]
    assert [(row["field"], row["code"], row["value"]) for row in rows] == [
        ("relevance", "1", 1.0), ("relevance", "2", 2.0), ("relevance", "1", 1.0), ("relevance", "2", 2.0),
    ]  # fmt: skip
    assert {row["rater"] for row in rows} == {
        world.benchmark.pseudonym(user.rater.pk) for user in (world.nour, world.tarek)
    }


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("", 7), ("counted=all", 8), ("counted=false", 1), ("cohort=Brazil&counted=all", 1), ("cohort=Egypt", 7),
        ("key=item-00000&counted=all", 3), ("condition=generated", 0), ("rater_kind=model", 0), ("stage=relevance", 7),
        ("stage=other", 0), ("since=2026-03-01&until=2026-03-01", 7), ("until=2026-02-28", 0),
        ("since=2026-03-01T00:00:00Z", 7), ("rater=R-unknown", 0), ("target=Egypt&target=Brazil&counted=all", 8),
    ],
)  # fmt: skip
def test_filters_narrow_rows_and_their_number(world: World, campaign: Campaign, query: str, number: int) -> None:
    client = program(world.mara, "export")
    assert len(client.get(address(world, f"annotations/?{query}")).json()["results"]) == number
    assert client.get(address(world, f"annotations/count/?{query}")).json() == {"count": number}


def test_items_are_found_as_on_their_page(world: World, campaign: Campaign) -> None:
    """By words, facts and disagreement; words also look into texts, which a token to read does not read."""
    first, second, *_rest = world.items
    ItemFact.objects.bulk_create(
        ItemFact(item=first, key="nsfw", value=value, source=source)
        for value, source in ((True, "detector"), (False, "person"))
    )
    for item, disagreement in ((first, 0.6), (second, 0.0)):
        values = {"answers": 2, "people": 2, "disagreement": disagreement, "at": timezone.now()}
        ItemTally.objects.update_or_create(item=item, defaults={"stage": item.stage, **values})
    client, number = program(world.mara, "export"), world.benchmark.stages.get().items.count()
    asked = {
        f"text={first.key}": 1, "text=item+0000": number, "text=tem": 0, "text=...": 0,
        "fact.nsfw=false": 1, "fact.nsfw=true": 0, "fact.nsfw=false&fact.nsfw=true": 1, "fact.none=1": 0,
        "fact.nsfw=%00": 0, "fact.%00=%00": 0, "text=%00": 0, "key=%00": 0,
        "disagreement=some": 1, "disagreement=half": 1, "disagreement=none": 1, "disagreement=unknown": number - 2,
    }  # fmt: skip
    for query, count in asked.items():
        assert client.get(address(world, f"items/count/?{query}")).json() == {"count": count}, query
        assert len(client.get(address(world, f"items/?{query}")).json()["results"]) == count
    wrong = client.get(address(world, "items/?disagreement=much")).json()
    assert (wrong["status"], wrong["parameter"]) == (400, "disagreement")
    assert client.get(address(world, "items/?text=a&text=b")).status_code == 400
    assert client.get(address(world, "items/?fact.=1")).status_code == 400
    reader = program(world.mara, "read")
    assert reader.get(address(world, "items/?text=sea")).json()["needs"] == "export"
    assert reader.get(address(world, "items/?fact.nsfw=false")).status_code == 200


def test_one_rater_is_chosen_by_pseudonym(world: World, campaign: Campaign) -> None:
    name = world.benchmark.pseudonym(world.tarek.rater.pk)
    rows = program(world.mara, "export").get(address(world, f"annotations/?rater={name}")).json()["results"]
    assert [row["rater"] for row in rows] == [name] * 3


@pytest.mark.parametrize(
    ("query", "parameter", "detail"),
    [
        ("colour=red", "colour", "There are: stage, campaign"),
        ("counted=maybe", "counted", "true, false or all"),
        ("campaign=x", "campaign", "not a number"),
        ("campaign=99999999999999999999999", "campaign", "not a number"),
        ("since=yesterday", "since", "2026-03-01"),
        ("since=2026-03-01T12:00:00", "since", "2026-03-01T12:00:00Z"),
        ("page_size=0", "page_size", "1 to 1000"),
        ("page_size=1001", "page_size", "1 to 1000"),
        ("cursor=guess", "cursor", "not valid"),
    ],
)
def test_what_cannot_be_asked_is_named(
    world: World, campaign: Campaign, query: str, parameter: str, detail: str
) -> None:  # fmt: skip
    reply = program(world.mara, "export").get(address(world, f"annotations/?{query}"))
    assert (reply.status_code, reply["Content-Type"]) == (400, "application/problem+json")
    assert reply.json()["parameter"] == parameter
    assert detail in reply.json()["detail"]
    assert reply.json()["instance"] == reply["X-Request-Id"]


def test_a_cursor_fits_only_the_rows_it_was_made_for(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "export")
    cursor = client.get(address(world, "annotations/?page_size=2")).json()["next"].partition("cursor=")[2]
    for other in ("annotations/?counted=all&", "ratings/?"):
        reply = client.get(address(world, f"{other}cursor={cursor}"))
        assert (reply.status_code, reply.json()["parameter"]) == (400, "cursor"), other
    assert client.get(address(world, f"annotations/?page_size=5&cursor={cursor}")).status_code == 200


@pytest.mark.parametrize("kind", [kind.key for kind in KINDS])
def test_only_those_who_may_export_read_rows(world: World, campaign: Campaign, kind: str) -> None:
    for user in (world.mara, world.owner):
        assert program(user, "export").get(address(world, f"{kind}/")).status_code == 200, user
        assert world.client(user).get(address(world, f"{kind}/")).status_code == 200, user
    for user in (world.reviewer, world.team_admin, world.site_admin, world.nour, world.stranger, world.rival):
        for headers in ({}, STREAM):
            reply = program(user, "export").get(address(world, f"{kind}/"), headers=headers)
            assert reply.status_code == 404, user
            assert world.benchmark.name not in reply.content.decode()
    assert Client().get(address(world, f"{kind}/")).status_code == 401


def test_a_token_to_read_has_no_answers_and_of_items_their_structure_alone(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "read")
    reply = client.get(address(world, "annotations/"))
    assert (reply.status_code, reply.json()["code"], reply.json()["needs"]) == (403, "insufficient-scope", "export")
    row = client.get(address(world, "items/")).json()["results"][0]
    assert row["key"] == "item-00000" and not {"text", "context", "pictures", "derived_from"} & {*row}
    assert "text" in program(world.mara, "export").get(address(world, "items/")).json()["results"][0]


def test_nobody_is_named_and_reading_is_written_down_once(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "export")
    for kind in KINDS:
        body = client.get(address(world, f"{kind.key}/")).content + streamed(client, address(world, f"{kind.key}/"))[1]
        for user in world.annotators:
            assert user.name not in body.decode() and user.email not in body.decode()
    events = Event.objects.filter(verb="rows.read", scope=world.benchmark.scope, actor=world.mara)
    assert sorted(events.values_list("target", flat=True)) == sorted(kind.key for kind in KINDS)


def test_a_stream_has_its_number_first_and_is_packed_if_asked(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "export")
    reply, body = streamed(client, address(world, "annotations/"))
    assert (reply["X-Emic-Rows"], reply["Content-Type"]) == ("7", "application/x-ndjson")
    assert int(reply["X-Emic-Watermark"]) >= 0
    packed, data = streamed(client, address(world, "annotations/"), **{"accept-encoding": "gzip"})
    assert packed["Content-Encoding"] == "gzip" and gzip.decompress(data) == body
    wrong = client.get(address(world, "annotations/?counted=maybe"), headers=STREAM)
    assert (wrong.status_code, wrong["Content-Type"]) == (400, "application/problem+json")
    assert json.loads(wrong.content)["parameter"] == "counted"


def test_a_person_reads_two_streams_at_once(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "export")
    open_streams = [client.get(address(world, "annotations/"), headers=STREAM) for _ in range(streams.PER_PERSON)]
    refused = client.get(address(world, "annotations/"), headers=STREAM)
    assert (refused.status_code, refused["Retry-After"]) == (429, "5")
    for reply in open_streams:
        assert b"".join(reply.streaming_content).count(b"\n") == 7  # type: ignore[attr-defined]
    assert streamed(client, address(world, "annotations/"))[1].count(b"\n") == 7


@pytest.mark.django_db(transaction=True)
def test_streams_of_other_processes_count(world: World) -> None:
    client = program(world.mara, "export")
    with psycopg.connect(**connection.get_connection_params()) as other:
        for number in range(streams.PER_PERSON):
            other.execute(streams.PLACE, [world.mara.pk, number])
        refused = client.get(address(world, "annotations/"), headers=STREAM)
        assert (refused.status_code, refused["Retry-After"]) == (429, "5")
        assert not connection.in_atomic_block and not streams.SLOTS.is_open(world.mara.pk)
        assert streamed(program(world.owner, "export"), address(world, "annotations/"))[0].status_code == 200
    assert streamed(client, address(world, "annotations/"))[0].status_code == 200, "their streams have ended"


def idle_time(line: Any) -> str:
    """After how long PostgreSQL ends a transaction that does nothing."""
    with line.cursor() as cursor:
        cursor.execute("SHOW idle_in_transaction_session_timeout")
        return str(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_a_transaction_that_is_forgotten_ends_after_a_minute(settings: Any) -> None:
    """It would hold back the feed of events."""
    with psycopg.connect(**connection.get_connection_params() | {"options": settings.DB_OPTIONS}) as line:
        assert idle_time(line) == "1min"


@pytest.mark.django_db(transaction=True)
def test_a_stream_is_of_one_moment_and_leaves_the_connection_usable(world: World) -> None:
    world.add_items(8)
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, world.items[:4], {world.nour: "1234"})
    client = program(world.mara, "export")
    reply: Any = client.get(address(world, "annotations/"), headers=STREAM)
    pieces = iter(reply.streaming_content)
    assert next(pieces).count(b"\n") == int(reply["X-Emic-Rows"]) == 4
    reply.close()
    assert not connection.in_atomic_block
    give_ratings(campaign, world.egypt, world.nour, {world.items[4]: "3"})
    unread: Any = client.get(address(world, "annotations/"), headers=STREAM)
    assert connection.in_atomic_block and idle_time(connection) == "10min", "a slow reader is waited for"
    unread.close()
    assert idle_time(connection) == "0", "as it was: a test may think for long"
    assert not connection.in_atomic_block and not streams.SLOTS.is_open(world.mara.pk), "a broken stream makes room"
    assert client.get(address(world, "annotations/count/")).json() == {"count": 5}


def test_one_row_has_a_tag_and_is_not_sent_twice(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "export")
    expected = exported(world, "ratings")[0]
    url = address(world, f"annotations/{expected['annotation']}/")
    reply = client.get(url)
    assert reply.json() == expected
    same = client.get(url, headers={"if-none-match": reply["ETag"]})
    assert (same.status_code, same.content, same["ETag"]) == (304, b"", reply["ETag"])
    Annotation.objects.filter(pk=expected["annotation"]).update(counted=False, uncounted_because="excluded")
    changed = client.get(url, headers={"if-none-match": reply["ETag"]})
    assert changed.status_code == 200 and changed["ETag"] != reply["ETag"]
    assert client.get(address(world, "annotations/99999999/")).status_code == 404
    foreign = f"/api/v1/benchmarks/{world.other_benchmark.slug}/annotations/{expected['annotation']}/"
    assert program(world.rival, "export").get(foreign).status_code == 404


@pytest.mark.parametrize("kind", [kind.key for kind in KINDS])
def test_a_page_takes_the_same_number_of_queries_however_many_rows(world: World, campaign: Campaign, kind: str) -> None:
    client = program(world.mara, "export")

    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            assert client.get(address(world, f"{kind}/")).status_code == 200
        return len(seen)

    queries()
    before = queries()
    for user in world.add_annotators(world.egypt, 3):
        give_ratings(campaign, world.egypt, user, dict.fromkeys(of_condition(world.items, "natural"), "3"))
    assert queries() == before


def test_what_is_left_of_the_limit_stands_in_the_headers(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "export")
    first = client.get(address(world, "annotations/"))
    second = client.get(address(world, "annotations/"))
    assert first["RateLimit-Policy"] == '"person";q=120;w=60, "team";q=600;w=60'
    assert [left_of(reply) for reply in (first, second)] == [{"person": 119, "team": 599}, {"person": 118, "team": 598}]


def left_of(reply: Any) -> dict[str, int]:
    """What is left of each limit, by its name."""
    parts = [part.split(";") for part in reply["RateLimit"].split(", ")]
    return {name.strip('"'): int(left.removeprefix("r=")) for name, left, _time in parts}


def test_a_team_and_a_token_have_limits_of_their_own(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Throttle, "THROTTLE_RATES", {"person": "50/min", "team": "4/min"})
    items = address(world, "items/")
    _token, text = create_token(world.mara, "slow", timezone.now(), scopes=("export",), rate=2)
    slow = Client(headers={"authorization": f"Bearer {text}"})
    assert [slow.get(items).status_code for _ in range(3)] == [200, 200, 429]
    cache.clear()  # as the memory of another process of the site
    refused = slow.get(items)
    assert 0 < int(refused["Retry-After"]) <= 60 and '"token";q=2;w=60' in refused["RateLimit-Policy"]
    assert left_of(refused) == {"person": 48, "token": 0, "team": 2}, "what was refused is counted for nobody"
    owner, stranger = program(world.owner, "export"), program(world.rival, "export")
    assert [stranger.get(items).status_code for _ in range(6)] == [404] * 6, "nobody else uses up a team's limit"
    assert [owner.get(items).status_code for _ in range(3)] == [200, 200, 429]
    assert owner.get("/api/v1/me/").status_code == 200, "what is about no team is not counted for it"
    told = owner.get("/api/v1/me/token/").json()["token"]
    assert (told["requests_left"], told["rate"]) == (46, None)
    RequestCount.objects.filter(key=f"person:{world.owner.pk}").update(span=F("span") - 60)
    assert left_of(owner.get("/api/v1/me/"))["person"] == 49, "a minute later"


def test_an_address_that_guesses_tokens_has_to_wait(world: World) -> None:
    guess = Client(headers={"authorization": "Bearer emic_guess"})
    assert {guess.get("/api/v1/benchmarks/").status_code for _ in range(20)} == {401}
    cache.clear()  # as the memory of another process of the site
    assert guess.get("/api/v1/benchmarks/").status_code == 429
    assert program(world.mara).get("/api/v1/benchmarks/").status_code == 200, "a valid token from there still works"
    RequestCount.objects.update(until=1)
    forget_requests()
    assert not RequestCount.objects.exists() and guess.get("/api/v1/benchmarks/").status_code == 401


def test_the_page_lists_every_operation_for_those_who_are_signed_in(world: World) -> None:
    assert world.client().get("/api/docs/").status_code == 302
    page = world.client(world.stranger).get("/api/docs/").content.decode()
    for kind in KINDS:
        assert f"/api/v1/benchmarks/{{slug}}/{kind.key}/" in page
