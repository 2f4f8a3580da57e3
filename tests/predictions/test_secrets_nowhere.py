"""The secret of an endpoint is in the request's header, and nowhere else."""

import json
import logging
import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib import admin
from django.core import serializers
from django.db import connection
from django.test import RequestFactory
from django.urls import reverse
from django.utils import timezone
from django.views.debug import ExceptionReporter

from jobs.models import Event
from predictions.backends import connections
from predictions.backends.contract import CallError, Decoding
from predictions.models import Endpoint
from predictions.prompts.contract import Message, Request, TextPart
from predictions.services.endpoints import endpoints
from tests.personas import World
from tests.predictions.model_server import Act, Rule, Server

SECRET = "sk-hidden-98765432109876543210"
ASKED = Request(messages=(Message("user", (TextPart("Is anybody there?"),)),))


@pytest.fixture
def endpoint(world: World, scripted_server: Server) -> Endpoint:
    new_endpoint = endpoints.create(
        world.team, world.team_admin, timezone.now(), name="Ours", base_url=scripted_server.base_url, timeout_seconds=5
    )
    endpoints.set_secret(new_endpoint, SECRET, world.team_admin, timezone.now())
    return new_endpoint


def test_not_in_logs_events_and_errors(
    endpoint: Endpoint, world: World, scripted_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for status in (200, 401, 500):
        act = Act(status=status, error=f"your key {SECRET} and header Bearer {SECRET}")
        scripted_server.rules(Rule(act))
        checked = endpoints.check(endpoint, world.team_admin, timezone.now(), model="m")
        assert SECRET not in f"{checked!r}"
        backend = endpoints.backend_for(endpoint)
        texts = f"{backend!r} {vars(backend)!r} {vars(backend.wire)['client'].headers!r}"  # type: ignore[attr-defined]
        try:
            backend.answer(ASKED, "m", Decoding(), lambda sha: b"")
        except CallError as error:
            texts += f"{error!r} {error.words} {vars(error)!r} {error.__cause__!r} {error.__context__!r}"
        backend.close()
        assert SECRET not in texts
    assert scripted_server.asked[-1].headers["authorization"] == f"Bearer {SECRET}", "but it was sent"
    endpoints.retire(endpoint, world.team_admin, timezone.now())
    events = json.dumps([[event.verb, event.target, event.data] for event in Event.objects.all()])
    assert "endpoint.checked" in events and SECRET not in events
    assert SECRET not in caplog.text


def test_not_in_the_database_and_not_in_what_is_written_of_it(endpoint: Endpoint) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT row_to_json(e)::text FROM predictions_endpoint e")
        assert SECRET not in str(cursor.fetchall())
    assert SECRET not in f"{endpoint!r} {endpoint} {vars(endpoint)}"
    assert SECRET not in serializers.serialize("json", [endpoint])


def test_nobody_finds_it_in_the_administration(world: World, endpoint: Endpoint) -> None:
    """Not even encrypted: what no page needs, no page has."""
    for model, page in admin.site._registry.items():
        if model is Endpoint:
            request = RequestFactory().get("/")
            request.user = world.site_admin
            assert not {"secret"} & set(page.get_fields(request, endpoint))
    client = world.client(world.site_admin)
    assert client.get(reverse("admin:index")).status_code == 200


def test_not_in_a_report_of_a_fault_of_ours(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Error pages and mails show the variables of every frame; those that hold the secret are kept out."""

    def break_down(*_args: Any, **_kwargs: Any) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(connections.Transport, "__init__", break_down)
    uses: list[Callable[[Endpoint], Any]] = [endpoints.backend_for, endpoints.image_maker_for]
    for use in uses:
        report = ""
        try:
            use(endpoint)
        except RuntimeError:
            reporter = ExceptionReporter(RequestFactory().get("/"), *sys.exc_info())
            report = reporter.get_traceback_html() + reporter.get_traceback_text()
        assert "a fault of ours" in report and "predictions/backends/openai.py" in report
        assert SECRET not in report


@pytest.mark.parametrize("who", ["team_admin", "mara", "owner", "site_admin"])
def test_no_page_of_the_team_shows_it(world: World, endpoint: Endpoint, who: str) -> None:
    client = world.client(getattr(world, who))
    for name, arguments in (("endpoints", [world.team.slug]), ("endpoint", [world.team.slug, endpoint.pk])):
        page = client.get(reverse(f"predictions:{name}", args=arguments))
        assert SECRET not in page.content.decode() and endpoint.secret not in page.content.decode()
