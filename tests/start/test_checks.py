"""Deployment mistakes stop the start; the same setting where it is harmless does not."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django.fixtures import Settings

from config import checks
from tests.start.helpers import ROOT, own_environment

KEY = "dGhpcyBrZXkgaXMgZm9yIHRlc3RzIGFuZCBub3RoaW4="
PUBLIC, LOCAL = ["emic.example.org", "localhost"], ["localhost", "127.0.0.1", "[::1]"]


def ids(messages: list[checks.CheckMessage]) -> list[str | None]:
    return [message.id for message in messages]


def test_the_default_key_is_for_this_machine_only(settings: Settings) -> None:
    settings.SECRET_KEY = settings.DEFAULT_KEY
    settings.ALLOWED_HOSTS = PUBLIC
    assert ids(checks.check_secret_key(None)) == ["emic.E001"]
    settings.ALLOWED_HOSTS = ["*"]
    assert ids(checks.check_secret_key(None)) == ["emic.E001"]
    settings.ALLOWED_HOSTS = LOCAL
    assert ids(checks.check_secret_key(None)) == []
    settings.ALLOWED_HOSTS, settings.SECRET_KEY = PUBLIC, "x" * 60
    assert ids(checks.check_secret_key(None)) == []


def test_debug_is_for_this_machine_only(settings: Settings) -> None:
    settings.DEBUG = True
    settings.ALLOWED_HOSTS = PUBLIC
    assert ids(checks.check_debug(None)) == ["emic.E002"]
    settings.ALLOWED_HOSTS = LOCAL
    assert ids(checks.check_debug(None)) == []
    settings.DEBUG, settings.ALLOWED_HOSTS = False, PUBLIC
    assert ids(checks.check_debug(None)) == []


def test_a_key_for_secrets_is_a_key_or_missing(settings: Settings) -> None:
    for keys, found in (([], []), (["a word"], ["emic.E003"]), ([KEY, "x"], ["emic.E003"])):
        settings.SECRETS_KEYS = keys
        assert ids(checks.check_secrets_key(None)) == found
    settings.SECRETS_KEYS = [KEY]
    assert ids(checks.check_secrets_key(None)) == []


def test_private_networks_are_networks(settings: Settings) -> None:
    for networks, found in ((["10.20.0.0/16"], []), (["10.20.0.1/16"], ["emic.E004"]), (["office"], ["emic.E004"])):
        settings.PRIVATE_ENDPOINTS = networks
        assert ids(checks.private_networks(None)) == found


def test_networks_that_pictures_are_fetched_from_are_networks(settings: Settings) -> None:
    for networks, wanted in ((["10.20.0.0/16"], []), (["10.20.0.1/16"], ["emic.E008"]), (["office"], ["emic.E008"])):
        settings.FETCH_ALLOW = networks
        assert ids(checks.fetch_networks(None)) == wanted
    with pytest.raises(ImproperlyConfigured, match="EMIC_FETCH_ALLOW"):
        checks.run_checks_or_exit()


def test_a_space_after_the_comma_between_networks_is_no_mistake(tmp_path: Path) -> None:
    env = own_environment(tmp_path, EMIC_FETCH_ALLOW="10.20.0.0/16, 192.168.0.0/16")
    command = [sys.executable, "-c", "from config import settings; print(settings.FETCH_ALLOW)"]
    printed = subprocess.run(command, capture_output=True, text=True, env=env, cwd=ROOT, check=True)
    assert printed.stdout.strip() == "['10.20.0.0/16', '192.168.0.0/16']"


def test_links_of_the_foot_are_labels_and_addresses(settings: Settings) -> None:
    for text in ("", "Privacy <https://example.org/privacy>", "A <mailto:a@example.org>, B <http://b.org>"):
        settings.FOOTER_LINKS = text
        assert ids(checks.check_footer_links(None)) == []
    for text in ("Privacy", "<https://example.org>", "X <javascript:alert(1)>", "A <https://a.org> B <https://b.org>"):
        settings.FOOTER_LINKS = text
        assert ids(checks.check_footer_links(None)) == ["emic.E007"]


@pytest.mark.parametrize("name", ["console", "dummy", "filebased", "locmem", "smtp"])
def test_a_public_site_is_warned_that_no_mail_can_leave(settings: Settings, name: str) -> None:
    settings.EMAIL_BACKEND = f"django.core.mail.backends.{name}.EmailBackend"
    settings.ALLOWED_HOSTS = PUBLIC
    assert ids(checks.mail_server(None)) == ([] if name == "smtp" else ["emic.W001"])
    settings.ALLOWED_HOSTS = LOCAL
    assert ids(checks.mail_server(None)) == []


def test_a_public_site_is_warned_that_passwords_travel_in_the_clear(settings: Settings) -> None:
    settings.ALLOWED_HOSTS, settings.HTTPS = PUBLIC, False
    assert ids(checks.https(None)) == ["emic.W002"]
    settings.HTTPS = True
    assert ids(checks.https(None)) == []
    settings.ALLOWED_HOSTS, settings.HTTPS = LOCAL, False
    assert ids(checks.https(None)) == []


def test_the_rate_of_the_api_is_a_number_and_a_time(settings: Settings) -> None:
    for rate, wanted in (
        ("120/min", []),
        ("5/s", []),
        ("120", ["emic.E006"]),
        ("0/min", ["emic.E006"]),
        ("", ["emic.E006"]),
    ):
        settings.API_RATE, settings.API_TEAM_RATE = rate, "600/min"
        assert ids(checks.check_api_rate(None)) == wanted, rate
        settings.API_RATE, settings.API_TEAM_RATE = "120/min", rate
        assert ids(checks.check_api_rate(None)) == wanted, rate


def test_a_web_server_without_our_command_refuses_the_same_mistakes(settings: Settings) -> None:
    settings.SECRET_KEY, settings.ALLOWED_HOSTS = settings.DEFAULT_KEY, PUBLIC
    with pytest.raises(ImproperlyConfigured, match="EMIC_SECRET_KEY is not set"):
        checks.run_checks_or_exit()
    settings.ALLOWED_HOSTS = LOCAL
    checks.run_checks_or_exit()
