"""Behind a proxy as the how-to page describes it, nobody can lock out anybody else: finding M1."""

import re
import subprocess
import sys
from typing import Any

import pytest
from django.conf import settings as real
from django.test import RequestFactory

from config import checks, proxies
from people.services.limits import login_throttle_keys
from tests.people.test_signing_in import SIGN_IN, try_password
from tests.personas import World
from tests.start.helpers import ROOT, own_environment

PAGE = (ROOT / "docs" / "how-to" / "deploy.md").read_text()
RECIPES = re.findall(r"^(?:Environment=)?((?:EMIC_[A-Z]+=\S+ )*EMIC_HTTPS=1(?: EMIC_[A-Z]+=\S+)*)", PAGE, re.MULTILINE)


def run_check(**environment: str) -> str:
    """What `manage.py check` says in this environment; empty where it passes."""
    env = own_environment(ROOT / "data", EMIC_SECRET_KEY="x" * 60, EMIC_DB_POOL="0", **environment)
    command = [sys.executable, "manage.py", "check", "--fail-level", "ERROR"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def test_every_recipe_of_the_page_passes_the_checks_and_fails_without_its_proxy() -> None:
    assert len(RECIPES) == 2, "the command and the service of systemd"
    environments: list[dict[str, str]] = []  # each once: a process takes seconds, and both recipes may set the same
    for recipe in RECIPES:
        environment = dict(setting.split("=", 1) for setting in recipe.split())
        environment.pop("EMIC_DATA", None)
        assert environment.pop("EMIC_PROXY") == "1"
        environments += [environment] if environment not in environments else []
    for environment in environments:
        output = run_check(**environment)
        assert "emic.E005" in output and "EMIC_HTTPS is set, and EMIC_PROXY is not." in output
        assert run_check(**environment, EMIC_PROXY="1") == ""


@pytest.mark.parametrize(
    ("https", "text", "ids"),
    [
        (True, "", ["emic.E005"]),
        (True, "0", []),
        (True, "1", []),
        (True, "2", []),
        (False, "", []),
        (False, "many", ["emic.E005"]),
        (True, "-1", ["emic.E005"]),
    ],
)
def test_https_needs_a_word_about_the_proxy(settings: Any, https: bool, text: str, ids: list[str]) -> None:
    settings.HTTPS, settings.PROXY_TEXT = https, text
    assert [found.id for found in checks.check_proxy(None)] == ids


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("0", 0), ("off", 0), ("1", 1), ("True", 1), ("yes", 1), ("2", 2), ("x", None)]
)
def test_the_setting_is_a_count_and_yes_is_one(text: str, count: int | None) -> None:
    assert proxies.count(text) == count


@pytest.mark.parametrize(
    ("count", "header", "address"),
    [
        (2, "203.0.113.7, 198.51.100.1, 10.0.0.1", "198.51.100.1"),
        (2, "198.51.100.1, 10.0.0.1", "198.51.100.1"),
        (2, "198.51.100.1", "198.51.100.1"),
        (1, "203.0.113.7, 198.51.100.1", "198.51.100.1"),
        (0, "203.0.113.7", "127.0.0.1"),
    ],
)
def test_behind_two_proxies_the_second_entry_from_the_right_counts(
    settings: Any, count: int, header: str, address: str
) -> None:
    settings.PROXY = count
    assert (
        login_throttle_keys.client_address(RequestFactory().post(SIGN_IN, headers={"x-forwarded-for": header}))
        == address
    )


@pytest.mark.parametrize("count", [1, 2])
def test_wrong_passwords_with_forged_headers_lock_out_no_other_address(world: World, settings: Any, count: int) -> None:
    settings.PROXY = count
    inner = ", 10.0.0.1" if count == 2 else ""
    for number in range(real.AXES_FAILURE_LIMIT):
        guesser = world.client(headers={"x-forwarded-for": f"192.0.2.{number}, 198.51.100.7{inner}"})
        try_password(guesser, "nour@example.org", "wrong")
    assert try_password(guesser, "nour@example.org").status_code == 429
    nour = world.client(headers={"x-forwarded-for": f"192.0.2.1{inner}"})
    assert try_password(nour, "nour@example.org").status_code == 302
