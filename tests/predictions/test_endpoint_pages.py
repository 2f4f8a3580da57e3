"""The team's page of models: seen by its members, kept by its admins, closed to everybody else."""

from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from jobs.models import Event
from predictions.backends import torch_setup
from predictions.forms.encoders import DetectorForm
from predictions.models import Endpoint
from predictions.queries.endpoints import models_of
from predictions.services.endpoints import endpoints
from tests.annotation.chain.factories import create_open_campaign
from tests.forms import inputs_of
from tests.module_world import built_once
from tests.personas import World
from tests.predictions.model_server import Server
from tests.predictions.plan_set_helpers import form_data

KEY = "sk-a-key-that-nobody-sees"
FORM = {
    "kind": "openai", "name": "Our server", "base_url": "https://models.example.org/v1", "offers": ["images", "schema"],
    "most_in_flight": "4", "per_minute": "", "timeout_seconds": "60", "secret": KEY,
}  # fmt: skip


@built_once
def endpoint(world: World) -> Endpoint:
    fields = {name: FORM[name] for name in ("kind", "name", "base_url", "offers")}
    return endpoints.create(world.team, world.team_admin, timezone.now(), **fields)


def home(world: World) -> str:
    return f"/teams/{world.team.slug}/models/"


def page(world: World, user: Any, path: str) -> str:
    return world.client(user).get(path).content.decode()


def test_an_empty_page_says_what_to_do(world: World) -> None:
    assert "Add one with its address and key" in page(world, world.team_admin, home(world))
    assert "An admin of the team adds one" in page(world, world.mara, home(world))


def test_an_admin_adds_an_endpoint_and_its_key_is_never_shown(world: World) -> None:
    client = world.client(world.team_admin)
    sent = client.post(home(world) + "new/", FORM, follow=True)
    endpoint = Endpoint.objects.get()
    assert (endpoint.name, endpoint.offers, endpoint.most_in_flight) == ("Our server", ["images", "schema"], 4)
    assert endpoint.secret and KEY not in endpoint.secret
    text = sent.content.decode()
    assert "A key is set, since" in text and KEY not in text and endpoint.secret not in text
    assert KEY not in page(world, world.team_admin, home(world))
    assert KEY not in str(list(Event.objects.values_list("data", flat=True)))


def test_a_team_without_an_endpoint_is_offered_the_practice_model_of_this_machine(world: World, settings: Any) -> None:
    assert "practice model" not in page(world, world.team_admin, home(world)), "none answers here"
    settings.PRACTICE_MODEL = "http://127.0.0.1:4321/v1"
    offered = f"{home(world)}new/?practice=1"
    assert offered in page(world, world.team_admin, home(world))
    assert 'value="http://127.0.0.1:4321/v1"' in page(world, world.team_admin, offered)
    assert offered not in page(world, world.mara, home(world)), "an admin adds endpoints"


def test_the_practice_model_is_checked_when_it_is_saved_and_nobody_is_asked_to(
    world: World, settings: Any, scripted_server: Server
) -> None:
    settings.PRACTICE_MODEL = scripted_server.base_url
    form = {"kind": "openai", "shown_kind": "openai", "name": "Practice model", "base_url": scripted_server.base_url,
            "most_in_flight": "4", "timeout_seconds": "30", "offers": ["images"]}  # fmt: skip
    text = world.client(world.team_admin).post(f"{home(world)}new/", form, follow=True).content.decode()
    assert "Endpoint saved." in text and "Connected." in text and "Check the connection now." not in text


def test_a_detector_is_named_as_detectors_are(world: World) -> None:
    """The names of encoders, with hf-hub:, are none of transformers."""
    text = str(DetectorForm(benchmark=world.benchmark)["model"].help_text)
    assert "facebook/detr-resnet-50" in text and "hf-hub:" not in text


def test_from_ask_models_the_practice_model_is_one_form_away_and_leads_back(
    world: World, settings: Any, scripted_server: Server
) -> None:
    world.add_items(1)
    create_open_campaign(world.stage, world.egypt)
    ask = f"/b/{world.benchmark.slug}/predictions/ask/"
    world.benchmark.roles.create(user=world.team_admin, name="researcher")
    add = f'href="{home(world)}new/?practice=1&amp;benchmark={world.benchmark.slug}"'
    assert add not in page(world, world.team_admin, ask), "none answers here"
    settings.PRACTICE_MODEL = scripted_server.base_url
    assert add in page(world, world.team_admin, ask)
    assert "An admin of the team adds one." in page(world, world.mara, ask)
    form = {"kind": "openai", "shown_kind": "openai", "name": "Practice model", "base_url": scripted_server.base_url,
            "most_in_flight": "4", "timeout_seconds": "30", "offers": ["images"]}  # fmt: skip
    path = f"{home(world)}new/?practice=1&benchmark={world.benchmark.slug}"
    reply = world.client(world.team_admin).post(path, form)
    assert reply.status_code == 302 and reply.headers["Location"] == ask
    text = page(world, world.team_admin, ask)
    assert "<datalist" in text and all(f'<option value="{name}">' in text for name in models_of(Endpoint.objects.get()))
    assert models_of(Endpoint.objects.get()), "it was checked at once"
    row = (Endpoint.objects.get(), "practice-heron", ["relevance"])
    look = world.client(world.team_admin).post(ask, form_data(row, asked_about="cohorts", budget="1", do="look"))
    assert "price unknown" not in look.content.decode() and '<bdi dir="ltr">$0</bdi>' in look.content.decode()
    Endpoint.objects.get().prices.all().delete()
    look = world.client(world.team_admin).post(ask, form_data(row, asked_about="cohorts", do="look"))
    assert "price unknown" in look.content.decode(), "what nobody has priced is not free"


@pytest.mark.parametrize(("kind", "end"), [("open_clip", "encoders/"), ("detector", "predictions/ask/")])
def test_a_local_endpoint_leads_back_to_the_page_that_uses_it(world: World, kind: str, end: str) -> None:
    world.benchmark.roles.create(user=world.team_admin, name="researcher")
    form = {"kind": kind, "shown_kind": kind, "name": "On this machine", "most_in_flight": "1", "timeout_seconds": "60"}
    reply = world.client(world.team_admin).post(
        f"{home(world)}new/?benchmark={world.benchmark.slug}", form, follow=True
    )
    assert reply.redirect_chain[-1][0].endswith(f"/b/{world.benchmark.slug}/{end}"), reply.redirect_chain
    assert "Endpoint saved." in reply.text


def test_a_refused_form_keeps_what_was_typed_except_the_key(world: World) -> None:
    reply = world.client(world.team_admin).post(home(world) + "new/", {**FORM, "base_url": "", "name": "Kept words"})
    text = reply.content.decode()
    assert reply.status_code == 400 and "Kept words" in text and KEY not in text
    assert "type it again" in text and not Endpoint.objects.exists()


def test_members_look_and_only_admins_change(world: World, endpoint: Endpoint) -> None:
    address = f"{home(world)}{endpoint.pk}/"
    assert "Only team admins can change this endpoint" in page(world, world.mara, address)
    member, admin = world.client(world.mara), world.client(world.team_admin)
    for path, data in ((address, FORM), (address + "action/", {"do": "retire"}), (address + "prices/", {})):
        assert member.post(path, data).status_code == 404
    assert member.get(home(world) + "new/").status_code == 404
    assert world.client(world.rival).get(address).status_code == 404
    assert world.client(world.nour).get(home(world)).status_code == 404
    admin.post(address, {**FORM, "name": "Renamed"})
    endpoint.refresh_from_db()
    assert endpoint.name == "Renamed" and endpoint.retired_at is None
    admin.post(address + "action/", {"do": "retire"})
    endpoint.refresh_from_db()
    assert endpoint.retired_at is not None and "Retired on" in page(world, world.team_admin, address)


def test_an_endpoint_of_another_team_is_not_found_under_ones_own(world: World, endpoint: Endpoint) -> None:
    assert world.client(world.rival).get(f"/teams/{world.other_team.slug}/models/{endpoint.pk}/").status_code == 404


def test_a_price_list_is_a_new_version_and_a_mistake_keeps_what_was_typed(world: World, endpoint: Endpoint) -> None:
    client, path = world.client(world.team_admin), f"{home(world)}{endpoint.pk}/prices/"
    rows = {"price-TOTAL_FORMS": "2", "price-INITIAL_FORMS": "0", "price-0-model": "big", "price-0-price_in": "2.50"}
    client.post(path, rows | {"price-0-price_out": "10", "price-1-model": "*", "price-1-request": "0.001"})
    assert endpoint.prices.get().table == {"big": {"in": "2.5", "out": "10"}, "*": {"request": "0.001"}}
    wrong = client.post(path, rows | {"price-0-model": "", "price-0-price_in": "3"})
    assert wrong.status_code == 400 and "Say which model costs this" in wrong.content.decode()
    assert endpoint.prices.count() == 1


def test_the_check_says_what_works(world: World, scripted_server: Server) -> None:
    scripted_server.script.models = ["tiny-vlm", "larger"]
    endpoint = endpoints.create(
        world.team, world.team_admin, timezone.now(), kind="openai", name="Here", base_url=scripted_server.base_url
    )
    address = f"{home(world)}{endpoint.pk}/"
    assert "never checked" in page(world, world.team_admin, address)
    text = world.client(world.team_admin).post(address + "action/", {"do": "check"}, follow=True).content.decode()
    assert "Connected." in text and "tiny-vlm" in text
    assert "Answers" in page(world, world.mara, home(world))


def test_members_see_what_it_offers_and_what_it_costs(world: World, endpoint: Endpoint) -> None:
    endpoints.set_prices(endpoint, {"big": {"in": "2.5", "out": "11"}}, world.team_admin, timezone.now())
    text = page(world, world.mara, f"{home(world)}{endpoint.pk}/")
    assert "Pictures, JSON schema" in text and "images, schema" not in text
    assert ">big<" in text and ">2.5<" in text and ">11<" in text


def test_what_runs_here_is_asked_for_no_address(world: World) -> None:
    endpoint = endpoints.create(world.team, world.team_admin, timezone.now(), kind="open_clip", name="Encoder")
    address = f"{home(world)}{endpoint.pk}/"
    text = page(world, world.team_admin, address)
    assert 'name="base_url"' not in text and 'name="offers"' not in text and "tiny questions" not in text
    sent = {"name": "Renamed", "most_in_flight": "2", "timeout_seconds": "60"}
    assert world.client(world.team_admin).post(address, sent).status_code == 302
    endpoint.refresh_from_db()
    assert (endpoint.name, endpoint.most_in_flight, endpoint.base_url) == ("Renamed", 2, "")


def test_the_check_of_this_machine_lists_its_models_or_says_how_to_get_one(
    world: World, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch_setup, "installed", lambda: True)
    settings.MODELS_ROOT, settings.HUB_MODELS = tmp_path, []
    endpoint = endpoints.create(world.team, world.team_admin, timezone.now(), kind="open_clip", name="Encoder")
    address = f"{home(world)}{endpoint.pk}/"
    assert "There is no model yet. The operator puts folders into EMIC_MODELS" in check_connection(world, address)
    (tmp_path / "tiny").mkdir()
    settings.HUB_MODELS = ["ViT-B-32/laion2b_s34b_b79k"]
    text = check_connection(world, address)
    assert "There is no model yet" not in text and ">local-dir:tiny<" in text and ">ViT-B-32/laion2b_s34b_b79k<" in text


def check_connection(world: World, address: str, **fields: str) -> str:
    reply = world.client(world.team_admin).post(address + "action/", {"do": "check", **fields}, follow=True)
    return str(reply.content.decode())


def test_a_forgotten_v1_is_answered_and_named(world: World, scripted_server: Server) -> None:
    base = scripted_server.base_url.removesuffix("/v1")
    endpoint = endpoints.create(world.team, world.team_admin, timezone.now(), kind="openai", name="Bare", base_url=base)
    text = check_connection(world, f"{home(world)}{endpoint.pk}/", model="scripted")
    assert "The address does not end in /v1" in text and "It did not answer" not in text
    assert "Unexpected response" in text
    endpoints.change(endpoint, world.team_admin, timezone.now(), base_url=scripted_server.base_url)
    text = page(world, world.team_admin, f"{home(world)}{endpoint.pk}/")
    assert "The address has changed since the last check" in text and "Not checked" in page(
        world, world.mara, home(world)
    )
    text = check_connection(world, f"{home(world)}{endpoint.pk}/", model="scripted")
    assert "changed since the last check" not in text and "does not end in /v1" not in text


def test_unresponsive_endpoint_is_reported(world: World) -> None:
    endpoint = endpoints.create(
        world.team, world.team_admin, timezone.now(), kind="openai", name="Gone", base_url="http://127.0.0.1:9/v1"
    )
    assert "It did not answer" in check_connection(world, f"{home(world)}{endpoint.pk}/")


def test_what_worked_is_ticked_by_one_press(world: World, scripted_server: Server) -> None:
    scripted_server.set(offers=["schema", "seed"])
    endpoint = endpoints.create(
        world.team, world.team_admin, timezone.now(), kind="openai", name="Here", base_url=scripted_server.base_url
    )
    address = f"{home(world)}{endpoint.pk}/"
    assert "Use these capabilities" in check_connection(world, address, model="scripted")
    assert world.client(world.mara).post(address + "action/", {"do": "offer"}).status_code == 404
    reply = world.client(world.team_admin).post(address + "action/", {"do": "offer"}, follow=True)
    endpoint.refresh_from_db()
    assert "schema" in endpoint.offers and "Use these capabilities" not in reply.content.decode()


def test_the_list_asks_the_same_however_many_there_are(
    world: World, endpoint: Endpoint, django_assert_num_queries: Any, django_assert_max_num_queries: Any
) -> None:
    client = world.client(world.team_admin)
    client.get(home(world))
    with django_assert_max_num_queries(20) as first:
        client.get(home(world))
    for number in range(5):
        fields = {"kind": "openai", "name": f"Server {number}", "base_url": "https://models.example.org/v1"}
        endpoints.create(world.team, world.team_admin, timezone.now(), **fields)
    with django_assert_num_queries(len(first)):
        client.get(home(world))


def test_a_new_encoder_is_asked_only_for_what_it_has(world: World) -> None:
    client, address = world.client(world.team_admin), f"/teams/{world.team.slug}/models/new/"
    server = client.get(address).content.decode()
    assert all(f'name="{name}"' in server for name in ("base_url", "offers", "most_in_flight", "secret"))
    data = {"kind": "open_clip", "shown_kind": "openai", "name": "Tiny encoder", "base_url": ""}
    shown = client.post(address, data)
    page = shown.content.decode()
    assert shown.status_code == 200 and not Endpoint.objects.filter(name="Tiny encoder").exists(), "only the fields"
    for name in ("base_url", "offers", "per_minute", "timeout_seconds", "secret"):
        assert f'name="{name}"' not in page, name
    sent = dict(inputs_of(page))
    assert sent["name"] == "Tiny encoder" and sent["kind"] == sent["shown_kind"] == "open_clip"
    assert client.post(address, sent).status_code == 302
    assert Endpoint.objects.get(name="Tiny encoder").kind == "open_clip"
