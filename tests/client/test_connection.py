"""How the client asks: what it repeats and what it does not, and what it makes of each refusal. No site is needed."""

import json
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest

import emic_client
from emic_client.connection import Connection

TOKEN = "emic_secret-of-a-test"


class Script:
    """Answers requests in order, and keeps what was asked and how long the client waited."""

    def __init__(self, *replies: httpx.Response | Exception) -> None:
        self.replies = list(replies)
        self.requests: list[httpx.Request] = []
        self.waits: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def connection(self, **options: Any) -> Connection:
        transport = httpx.MockTransport(self)
        return Connection("https://emic.test", TOKEN, transport=transport, sleep=self.waits.append, **options)


def ok(**data: Any) -> httpx.Response:
    return httpx.Response(200, json=data)


def problem(status: int, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
    content = {"type": "/docs#x", "title": "No", "status": status, "detail": "Why.", "code": "x", "instance": "urn:1"}
    return httpx.Response(status, json=content | more, headers=headers)


def test_it_waits_as_long_as_the_site_asks_and_else_twice_as_long_each_time() -> None:
    script = Script(problem(429, {"Retry-After": "7"}), problem(503), httpx.ConnectError("gone"), ok(a=1))
    assert script.connection().get("/x/") == {"a": 1}
    assert script.waits[0] == 7
    assert 1 <= script.waits[1] <= 2 and 2 <= script.waits[2] <= 4


def test_a_post_is_repeated_with_the_same_key_and_a_patch_is_not() -> None:
    script = Script(problem(502), ok())
    script.connection().post("/x/", {"b": 1})
    keys = [request.headers["Idempotency-Key"] for request in script.requests]
    assert len(keys) == 2 and keys[0] == keys[1]
    script = Script(problem(502))
    with pytest.raises(emic_client.ServerError):
        script.connection().request("PATCH", "/x/", content=b"")
    assert not script.waits


@pytest.mark.parametrize(
    ("replies", "error"),
    [
        ([problem(429)] * 3, emic_client.RateLimited),
        ([httpx.ReadTimeout("")] * 3, emic_client.Unreachable),
        ([problem(429, {"Retry-After": "3600"})], emic_client.RateLimited),
    ],
)
def test_at_some_point_it_gives_up(replies: list[Any], error: type[Exception]) -> None:
    script = Script(*replies)
    with pytest.raises(error):
        script.connection(retries=2).get("/x/")
    assert not script.replies


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, emic_client.InvalidRequest), (401, emic_client.Unauthorised), (403, emic_client.Forbidden),
        (404, emic_client.NotFound), (409, emic_client.Conflict), (412, emic_client.Stale), (422, emic_client.Refused),
        (500, emic_client.ServerError), (418, emic_client.EmicError),
    ],
)  # fmt: skip
def test_a_refusal_is_an_exception_with_what_the_site_wrote(status: int, error: type[emic_client.EmicError]) -> None:
    script = Script(problem(status, errors=[{"pointer": "/key", "code": "missing", "detail": "It is missing."}]))
    with pytest.raises(error) as raised:
        script.connection().get("/x/")
    assert type(raised.value) is error
    assert (raised.value.problem.status, raised.value.problem.code, raised.value.problem.instance) == (
        status, "x", "urn:1",
    )  # fmt: skip
    assert str(raised.value) == "No Why. /key: It is missing. (request urn:1)"


def test_what_is_no_json_is_a_refusal_all_the_same() -> None:
    script = Script(httpx.Response(500, text="<h1>Oh</h1>", headers={"content-type": "text/html"}))
    with pytest.raises(emic_client.ServerError, match=r"^The site answered with 500\.$"):
        script.connection().get("/x/")
    script = Script(httpx.Response(301, headers={"location": "https://emic.test/y/"}))
    with pytest.raises(emic_client.EmicError, match=re.escape("https://emic.test/y/")):
        script.connection().get("/x/")


def test_the_token_is_in_the_header_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(ok(), problem(401))
    connection = script.connection()
    connection.get("/x/", {"a": 1})
    with pytest.raises(emic_client.Unauthorised) as raised:
        connection.get("/x/")
    assert script.requests[0].headers["Authorization"] == f"Bearer {TOKEN}"
    assert TOKEN not in str(script.requests[0].url)
    monkeypatch.setenv("EMIC_TOKEN", TOKEN)
    client = emic_client.Emic("https://emic.test")
    shown = [repr(connection), repr(client), repr(raised.value), repr(client.benchmarks), json.dumps(raised.value.args)]
    assert not [text for text in shown if TOKEN in text]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Connection("https://me:secret@emic.test", TOKEN),
        lambda: Connection("https://emic.test?token=secret", TOKEN),
        lambda: Connection("emic.test", TOKEN),
    ],
)
def test_an_address_with_a_secret_is_refused_and_not_repeated(make: Callable[[], Connection]) -> None:
    with pytest.raises(ValueError) as raised:
        make()
    assert "secret" not in str(raised.value)


def test_without_a_token_it_says_where_to_make_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EMIC_TOKEN", raising=False)
    with pytest.raises(emic_client.Unauthorised, match="Tokens for programs"):
        emic_client.Emic("https://emic.test")
