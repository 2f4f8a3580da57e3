"""A team's endpoints: who changes what is on record, secrets stay where they belong, prices keep their versions."""

from collections.abc import Callable
from decimal import Decimal
from io import StringIO
from threading import BoundedSemaphore
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.utils import timezone

from jobs.models import Event
from people.models import Rater
from predictions.backends.contract import Decoding
from predictions.backends.openai import OpenAI
from predictions.models import Endpoint, Run
from predictions.prompts.contract import Message, Request, TextPart
from predictions.services.endpoints import endpoints, secrets
from predictions.services.endpoints.endpoints import EndpointRefused
from tests.personas import World
from tests.predictions import model_server
from tests.predictions.model_server import OFFERS, Act, ReceivedRequest, Rule, Server

SECRET = "sk-nile-0123456789abcdefghijk"
ASKED = Request(messages=(Message("user", (TextPart("Is anybody there?"),)),))
Make = Callable[..., Endpoint]


@pytest.fixture
def make(world: World, scripted_server: Server) -> Make:
    def build(**fields: Any) -> Endpoint:
        told = {"name": "Our vLLM", "base_url": scripted_server.base_url, "timeout_seconds": 5, **fields}
        return endpoints.create(world.team, world.team_admin, timezone.now(), **told)

    return build


def last_event() -> Event:
    return Event.objects.order_by("-pk")[0]


def test_an_endpoint_is_made_and_changed_on_record(world: World, make: Make) -> None:
    endpoint = make(name="  Our   vLLM ", offers=["logprobs", "images", "magic"])
    assert endpoint.name == "Our vLLM" and endpoint.offers == ["images", "logprobs"]
    event = last_event()
    assert (event.verb, event.actor, event.scope) == ("endpoint.created", world.team_admin, f"team:{world.team.pk}")
    changed = endpoints.change(endpoint, world.team_admin, timezone.now(), most_in_flight=32, name="Our vLLM")
    assert changed.most_in_flight == 32
    assert last_event().verb == "endpoint.changed" and last_event().data == {"most_in_flight": [8, 32]}
    before = Event.objects.count()
    endpoints.change(endpoint, world.team_admin, timezone.now(), most_in_flight=32)
    assert Event.objects.count() == before, "nothing changed, so nothing is said"


@pytest.mark.parametrize(
    "fields",
    [
        {"base_url": "models.example.org"},
        {"base_url": "ftp://models.example.org"},
        {"base_url": "https://me:secret@models.example.org/v1"},
        {"base_url": "https://models.example.org/v1?key=sk-1"},
        {"base_url": "https://models.example.org:port/v1"},
        {"base_url": "https://models example.org/v1"},
        {"base_url": ""},
        {"most_in_flight": 0},
        {"most_in_flight": 5000},
        {"timeout_seconds": 0},
        {"per_minute": 0},
        {"name": ""},
        {"kind": "gopher"},
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_refused_in_words(make: Make, fields: dict[str, Any]) -> None:
    with pytest.raises(EndpointRefused) as refused:
        make(**fields)
    assert refused.value.words
    assert not Endpoint.objects.exists()


def test_names_are_once_in_a_team(world: World, make: Make) -> None:
    make()
    with pytest.raises(EndpointRefused, match="already"):
        make()
    endpoints.create(world.other_team, world.rival, timezone.now(), name="Our vLLM", base_url="https://x.org/v1")


def test_the_secret_is_encrypted_used_and_never_shown(make: Make, scripted_server: Server, world: World) -> None:
    endpoint = make()
    scripted_server.set(secret=SECRET)
    assert not endpoints.check(endpoint, world.team_admin, timezone.now()).works
    endpoints.set_secret(endpoint, f" {SECRET}\n", world.team_admin, timezone.now())
    endpoint.refresh_from_db()
    assert SECRET not in endpoint.secret and endpoint.secret_set_at is not None
    assert last_event().verb == "endpoint.secret_set" and last_event().data == {}
    assert endpoints.check(endpoint, world.team_admin, timezone.now()).works
    backend = endpoints.backend_for(endpoint)
    assert backend.answer(ASKED, "m", Decoding(), lambda sha: b"").reply.text == "3"
    backend.close()
    endpoints.set_secret(endpoint, "", world.team_admin, timezone.now())
    endpoint.refresh_from_db()
    assert endpoint.secret == "" and endpoint.secret_set_at is None
    assert last_event().verb == "endpoint.secret_removed"


@pytest.mark.parametrize("secret", ["two\nlines", "ключ", "x" * 5000, "bell\a"])
def test_what_is_no_secret_is_refused(make: Make, world: World, secret: str) -> None:
    endpoint = make()
    with pytest.raises(EndpointRefused):
        endpoints.set_secret(endpoint, secret, world.team_admin, timezone.now())
    endpoint.refresh_from_db()
    assert endpoint.secret == ""


@pytest.mark.parametrize(
    ("address", "is_kept"),
    [
        ("https://models.example.org/ours/v1/", True),
        ("https://models.example.org/ours", True),
        ("https://models.example.org:443/ours/v1", True),
        ("https://models.example.org/v1", False),
        ("https://models.example.org/theirs/v1", False),
        ("https://models.example.org/ours/v2", False),
        ("https://models.example.org/ours/v1/v1", False),
        ("https://models.example.org/OURS/v1", False),
        ("https://thief.example.net/ours/v1", False),
        ("http://models.example.org/ours/v1", False),
        ("https://models.example.org:8443/ours/v1", False),
    ],
)
def test_a_secret_does_not_follow_to_another_address(make: Make, world: World, address: str, is_kept: bool) -> None:
    """Whoever may change the address could otherwise have a secret sent to themselves that they cannot see."""
    endpoint = make(base_url="https://models.example.org/ours/v1")
    endpoints.set_secret(endpoint, SECRET, world.team_admin, timezone.now())
    changed = endpoints.change(endpoint, world.team_admin, timezone.now(), base_url=address)
    assert bool(changed.secret) is is_kept
    assert ("has_secret" in last_event().data) is not is_kept


def test_a_run_is_asked_of_one_server_from_first_to_last(make: Make, world: World) -> None:
    endpoint, rater = make(), Rater.objects.create(kind=Rater.Kind.MODEL, team=world.team, name="qwen")
    facts = {"benchmark": world.benchmark, "rater": rater, "endpoint": endpoint, "task": Run.Task.FACTS}
    run = Run.objects.create(state=Run.State.PAUSED, **facts)
    with pytest.raises(EndpointRefused, match="not over"):
        endpoints.change(endpoint, world.team_admin, timezone.now(), base_url="https://other.example.org/v1")
    endpoints.change(endpoint, world.team_admin, timezone.now(), base_url=endpoint.base_url, most_in_flight=3)
    Run.objects.filter(pk=run.pk).update(state=Run.State.CANCELLED)
    changed = endpoints.change(endpoint, world.team_admin, timezone.now(), base_url="https://other.example.org/v1")
    assert changed.base_url == "https://other.example.org/v1"


def test_what_is_wrong_is_named(make: Make) -> None:
    with pytest.raises(EndpointRefused, match="name: "):
        make(name="")


def test_an_endpoint_stays_of_its_kind(make: Make, world: World) -> None:
    with pytest.raises(EndpointRefused):
        endpoints.change(make(), world.team_admin, timezone.now(), kind="open_clip")


def test_a_retired_endpoint_is_asked_no_more_and_has_no_secret(make: Make, world: World) -> None:
    endpoint = make()
    endpoints.set_secret(endpoint, SECRET, world.team_admin, timezone.now())
    endpoints.retire(endpoint, world.team_admin, timezone.now())
    endpoints.retire(endpoint, world.team_admin, timezone.now())
    assert Event.objects.filter(verb="endpoint.retired").count() == 1
    stored = Endpoint.objects.get(pk=endpoint.pk)
    assert stored.retired_at and stored.secret == ""
    for use in (
        lambda: endpoints.backend_for(stored),
        lambda: endpoints.check(stored, world.team_admin, timezone.now()),
        lambda: endpoints.set_secret(stored, SECRET, world.team_admin, timezone.now()),
        lambda: endpoints.change(stored, world.team_admin, timezone.now(), name="Again"),
    ):
        with pytest.raises(EndpointRefused, match="retired"):
            use()


def test_rotation_encrypts_again_and_the_old_key_can_be_removed(
    make: Make, world: World, settings: LazySettings, scripted_server: Server
) -> None:
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    settings.SECRETS_KEYS = [old]
    with_secret, without = make(), make(name="No secret")
    endpoints.set_secret(with_secret, SECRET, world.team_admin, timezone.now())
    settings.SECRETS_KEYS = [new, old]
    assert secrets.decrypt(with_secret.secret) == SECRET, "both are tried"
    output = StringIO()
    call_command("rotate_secrets", stdout=output)
    assert output.getvalue().startswith("1 secrets")
    settings.SECRETS_KEYS = [new]
    with_secret.refresh_from_db()
    assert secrets.decrypt(with_secret.secret) == SECRET
    without.refresh_from_db()
    assert without.secret == ""
    settings.SECRETS_KEYS = [old]
    with pytest.raises(EndpointRefused, match="Type it in again"):
        endpoints.backend_for(with_secret)
    with pytest.raises(CommandError, match=str(with_secret.pk)):
        call_command("rotate_secrets", stdout=output)
    with_secret.refresh_from_db()
    settings.SECRETS_KEYS = [new]
    assert secrets.decrypt(with_secret.secret) == SECRET, "what no key opened was left as it is"


def test_a_site_without_a_key_keeps_no_secret(make: Make, world: World, settings: LazySettings) -> None:
    endpoint = make()
    for keys in ([], ["short"], ["?" * 44]):
        settings.SECRETS_KEYS = keys
        with pytest.raises(EndpointRefused, match="EMIC_SECRETS_KEY"):
            endpoints.set_secret(endpoint, SECRET, world.team_admin, timezone.now())
        assert bool(secrets.key_problem()) is bool(keys)


def test_either_alphabet_of_base_64_is_a_key(settings: LazySettings) -> None:
    settings.SECRETS_KEYS = ["-_" * 21 + "8="]
    kept = secrets.encrypt("x")
    settings.SECRETS_KEYS = ["+/" * 21 + "8="]
    assert secrets.decrypt(kept) == "x"


def test_prices_have_versions_and_no_rounding(make: Make, world: World) -> None:
    endpoint, early = make(), timezone.now()
    assert endpoints.price_of(endpoint, "qwen", early) == (None, {})
    table = {"qwen": {"in": "0.10", "out": "2.50", "image": ""}, "*": {"request": "0.002"}, "free": {}}
    first = endpoints.set_prices(endpoint, table, world.team_admin, timezone.now())
    assert first.table == {"qwen": {"in": "0.1", "out": "2.5"}, "*": {"request": "0.002"}}
    again = endpoints.set_prices(
        endpoint, {**table, "qwen": {"in": "0.1", "out": 2.5}}, world.team_admin, timezone.now()
    )
    assert again.pk == first.pk, "the same prices are no new version"
    between = timezone.now()
    second = endpoints.set_prices(endpoint, {"*": {"in": "1", "out": "0"}}, world.team_admin, timezone.now())
    assert second.number == 2
    now = timezone.now()
    assert endpoints.price_of(endpoint, "qwen", between) == (first, {"in": Decimal("0.1"), "out": Decimal("2.5")})
    assert endpoints.price_of(endpoint, "other", between) == (first, {"request": Decimal("0.002")})
    assert endpoints.price_of(endpoint, "qwen", now) == (second, {"in": Decimal("1"), "out": Decimal(0)})
    assert last_event().verb == "endpoint.priced" and last_event().data["number"] == 2


def test_a_model_without_a_price_costs_nobody_knows_what(make: Make, world: World) -> None:
    endpoint = make()
    prices = endpoints.set_prices(endpoint, {"qwen": {"in": "1", "out": "1"}}, world.team_admin, timezone.now())
    assert endpoints.price_of(endpoint, "llama", timezone.now()) == (prices, {})


@pytest.mark.parametrize(
    "table",
    [
        {"m": {"in": "-1", "out": "1"}}, {"m": {"in": "a lot", "out": "1"}}, {"m": {"in": "NaN", "out": "1"}},
        {"m": {"tax": "1"}}, {"": {"in": "1", "out": "1"}},
        {"m": {"in": "1"}}, {"m": {"out": "1", "request": "1"}},
    ],
)  # fmt: skip
def test_what_is_no_price_is_refused(make: Make, world: World, table: dict[str, dict[str, str]]) -> None:
    with pytest.raises(EndpointRefused):
        endpoints.set_prices(make(), table, world.team_admin, timezone.now())


def test_a_check_names_the_models(make: Make, world: World, scripted_server: Server) -> None:
    scripted_server.set(models=["qwen-vl", "llama"])
    checked = endpoints.check(make(), world.team_admin, timezone.now())
    assert checked.works and checked.models == ("llama", "qwen-vl") and checked.offers is None
    assert last_event().verb == "endpoint.checked" and last_event().data["models"] == ["llama", "qwen-vl"]
    assert scripted_server.counts()["total"] == 0, "nothing was asked that costs anything"


def test_a_check_of_nobody_says_so(make: Make, world: World) -> None:
    checked = endpoints.check(make(base_url="http://127.0.0.1:9/v1"), world.team_admin, timezone.now())
    assert not checked.works and "connection" in checked.words


@pytest.mark.parametrize("offered", [OFFERS, ("schema", "images"), ()])
def test_trying_a_model_finds_what_it_keeps_to(
    make: Make, world: World, scripted_server: Server, offered: tuple[str, ...]
) -> None:
    def without_images(asked: ReceivedRequest) -> Act | None:
        if asked.images and "images" not in offered:
            return Act(status=400, error="this model is not multimodal")
        if "seed" in asked.body and "seed" not in offered:
            return Act(status=400, error="unknown parameter")
        return None

    scripted_server.set(offers=offered)
    scripted_server.answer_by(without_images)
    checked = endpoints.check(make(), world.team_admin, timezone.now(), model="scripted")
    assert checked.works and set(checked.offers or ()) == set(offered)


def test_what_a_server_only_takes_in_silence_is_not_offered(make: Make, world: World, scripted_server: Server) -> None:
    """It answers 200 to everything, and keeps to nothing."""
    scripted_server.set(default=Act(raw='{"choices": [{"message": {"content": "Four."}}]}'))
    checked = endpoints.check(make(), world.team_admin, timezone.now(), model="scripted")
    assert set(checked.offers or ()) <= {"images", "seed"}, "which nobody can tell"


def test_a_model_that_does_not_answer_does_not_work(make: Make, world: World, scripted_server: Server) -> None:
    scripted_server.rules(Rule(model_server.STUMBLES))
    checked = endpoints.check(make(), world.team_admin, timezone.now(), model="scripted")
    assert not checked.works and checked.models == ()


def test_a_slow_server_does_not_hold_the_site(
    make: Make, world: World, scripted_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "TRY_SECONDS", 0.3)
    scripted_server.set(default=Act(delay=0.2))
    checked = endpoints.check(make(), world.team_admin, timezone.now(), model="scripted")
    assert not checked.works and "slowly" in checked.words
    assert scripted_server.counts()["total"] < 5
    monkeypatch.setattr(endpoints, "_SEATS", BoundedSemaphore(1))
    with endpoints._SEATS, pytest.raises(EndpointRefused, match="Others are checking"):
        endpoints.check(make(name="Other"), world.team_admin, timezone.now())


def test_the_back_end_is_of_the_endpoint(make: Make) -> None:
    backend = endpoints.backend_for(make(offers=["schema"], timeout_seconds=7))
    assert isinstance(backend, OpenAI) and backend.offers == ("schema",) and backend.wire.seconds == 7
    backend.close()
    with pytest.raises(EndpointRefused, match="no vectors"):
        endpoints.encoder_for(make(name="Other"), "ViT-B-32")
