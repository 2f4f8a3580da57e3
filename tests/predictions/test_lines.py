"""Where endpoints may be: the open internet, and private networks only where the operator says so."""

from collections.abc import Sequence

import httpcore
import pytest
from django.conf import LazySettings

from config import endpoints
from predictions.backends import connections
from predictions.backends.contract import CallError, Decoding
from predictions.backends.openai import OpenAI
from predictions.prompts.contract import Message, Request, TextPart
from tests.predictions.model_server import Server

ASKED = Request(messages=(Message("user", (TextPart("Is anybody there?"),)),))
INSIDE = ["127.0.0.1", "::1", "10.1.2.3", "192.168.0.9", "172.31.0.1", "100.64.0.7", "fd00::1", "::ffff:10.0.0.1"]
NEVER = ["169.254.169.254", "fe80::1", "0.0.0.0", "224.0.0.1", "168.63.129.16", "64:ff9b::a00:1", "255.255.255.255"]
METADATA = [
    "169.254.169.254", "fe80::a9fe:a9fe", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254",
    "fd20:ce::254", "::ffff:100.100.100.200",
]  # fmt: skip


def names(*numbers: str) -> connections.Resolve:
    def resolve(host: str) -> Sequence[str]:
        return numbers

    return resolve


@pytest.mark.parametrize("number", INSIDE)
def test_a_private_address_is_asked_only_where_the_operator_lets_it(settings: LazySettings, number: str) -> None:
    settings.PRIVATE_ENDPOINTS = endpoints.LAN
    assert connections.allowed_addresses("models", in_clear=False, resolve=names(number)) == (number,)
    settings.PRIVATE_ENDPOINTS = []
    with pytest.raises(connections.AddressRefused, match="private"):
        connections.allowed_addresses("models", in_clear=False, resolve=names(number))


@pytest.mark.parametrize("number", NEVER)
def test_some_addresses_are_asked_by_nobody(settings: LazySettings, number: str) -> None:
    settings.PRIVATE_ENDPOINTS = endpoints.LAN
    with pytest.raises(connections.AddressRefused):
        connections.allowed_addresses("models", in_clear=False, resolve=names(number))


@pytest.mark.parametrize("number", METADATA)
def test_no_setting_opens_the_metadata_of_a_cloud(settings: LazySettings, number: str) -> None:
    """As a literal, as a name, among good addresses."""
    settings.PRIVATE_ENDPOINTS = settings.FETCH_ALLOW = [*endpoints.LAN, "169.254.0.0/16", "fe80::/10", "192.0.0.0/24"]
    assert not connections.is_private(number)
    for numbers in ([number], ["93.184.216.34", number], ["10.0.0.1", number]):
        with pytest.raises(connections.AddressRefused, match="private"):
            connections.allowed_addresses("models", in_clear=False, resolve=names(*numbers))
    literal = f"[{number}]" if ":" in number else number
    assert refused(OpenAI(f"http://{literal}/v1", "")).trouble == "not_allowed"


def test_one_network_may_be_let_without_the_others(settings: LazySettings) -> None:
    settings.PRIVATE_ENDPOINTS = ["10.20.0.0/16"]
    assert connections.is_private("10.20.3.4") and not connections.is_private("10.21.3.4")
    with pytest.raises(connections.AddressRefused):
        connections.allowed_addresses("models", in_clear=False, resolve=names("127.0.0.1"))


def test_a_name_with_one_bad_address_among_good_ones_is_not_asked(settings: LazySettings) -> None:
    settings.PRIVATE_ENDPOINTS = []
    with pytest.raises(connections.AddressRefused):
        connections.allowed_addresses("models", in_clear=False, resolve=names("93.184.216.34", "10.0.0.1"))


def test_a_secret_goes_unencrypted_into_private_networks_only(settings: LazySettings) -> None:
    settings.PRIVATE_ENDPOINTS = endpoints.LAN
    assert connections.allowed_addresses("models", in_clear=True, resolve=names("10.0.0.1"))
    assert connections.allowed_addresses("models", in_clear=False, resolve=names("93.184.216.34"))
    with pytest.raises(connections.AddressRefused, match="in_clear"):
        connections.allowed_addresses("models", in_clear=True, resolve=names("93.184.216.34"))


@pytest.mark.parametrize(
    ("told", "hosts", "found"),
    [
        ("", ["localhost", "127.0.0.1"], endpoints.LAN),
        ("", ["emic.example.org", "localhost"], []),
        ("1", ["emic.example.org"], endpoints.LAN),
        ("0", ["localhost"], []),
        ("10.20.0.0/16, fd00::/8", ["emic.example.org"], ["10.20.0.0/16", "fd00::/8"]),
    ],
)
def test_a_public_site_asks_no_private_network_unless_told(told: str, hosts: list[str], found: list[str]) -> None:
    assert endpoints.networks(told, hosts) == found


def refused(backend: OpenAI) -> CallError:
    with pytest.raises(CallError) as failed:
        backend.answer(ASKED, "m", Decoding(), lambda sha: b"")
    backend.close()
    return failed.value


def test_the_refusal_reaches_the_researcher_in_words(scripted_server: Server, settings: LazySettings) -> None:
    settings.PRIVATE_ENDPOINTS = []
    failed = refused(OpenAI(scripted_server.base_url, "sk-x"))
    assert failed.trouble == "not_allowed" and "private network" in failed.words
    settings.PRIVATE_ENDPOINTS = endpoints.LAN
    failed = refused(OpenAI("http://models.example.org/v1", "sk-x", resolve=names("93.184.216.34")))
    assert failed.trouble == "not_allowed" and "https" in failed.words
    assert scripted_server.counts()["total"] == 0


def test_the_connection_goes_to_the_number_that_was_checked(scripted_server: Server, settings: LazySettings) -> None:
    """A name that changes its mind after the check leads nowhere else: it is looked up once for a connection."""
    looked: list[str] = []

    def changing(host: str) -> Sequence[str]:
        looked.append(host)
        return ["127.0.0.1"] if len(looked) == 1 else ["169.254.169.254"]

    port = scripted_server.port
    backend = OpenAI(f"http://models.example.org:{port}/v1", resolve=changing)
    for _ in range(3):
        assert backend.answer(ASKED, "m", Decoding(), lambda sha: b"").reply.text == "3"
    backend.close()
    assert looked == ["models.example.org"], "and one line was used for all three"


def test_the_next_address_is_tried_when_one_is_silent(scripted_server: Server) -> None:
    port = scripted_server.port
    backend = OpenAI(f"http://models.test:{port}/v1", resolve=names("127.0.0.2", "127.0.0.1"))
    assert backend.answer(ASKED, "m", Decoding(), lambda sha: b"").reply.text == "3"
    backend.close()


def test_environment_proxies_are_not_believed(scripted_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    backend = OpenAI(scripted_server.base_url)
    assert backend.answer(ASKED, "m", Decoding(), lambda sha: b"").reply.text == "3"
    backend.close()


def test_what_is_left_of_the_time_bounds_every_read() -> None:
    with connections.deadline(-1.0), pytest.raises(httpcore.ReadTimeout):
        connections._time_left(5.0)
    assert connections._time_left(5.0) == 5.0
