"""The container form, as far as no engine is needed: it parses, hides its secrets, refuses a default key."""

import os
import re
import subprocess
from typing import Any

import pytest
import yaml
from django.conf import settings

from tests.start.helpers import ROOT, own_environment

COMPOSE = (ROOT / "docker-compose.yml").read_text()
SECRETS = ("EMIC_SECRET_KEY", "EMIC_SECRETS_KEY", "POSTGRES_PASSWORD", "EMIC_DOMAIN", "EMAIL_URL")


@pytest.fixture
def compose() -> dict[str, Any]:
    return dict(yaml.safe_load(COMPOSE))


def test_the_services_are_the_ones_of_the_design(compose: dict[str, Any]) -> None:
    assert set(compose["services"]) == {"caddy", "web", "worker", "beat", "postgres", "valkey"}


def test_only_caddy_is_reachable_from_outside(compose: dict[str, Any]) -> None:
    assert [name for name, service in compose["services"].items() if "ports" in service] == ["caddy"]
    assert compose["networks"]["inside"] == {"internal": True}
    for name in ("postgres", "valkey"):
        assert compose["services"][name]["networks"] == ["inside"]


def test_every_service_is_restarted_and_says_whether_it_is_well(compose: dict[str, Any]) -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    for name, service in compose["services"].items():
        assert service["restart"] == "unless-stopped", name
        assert "healthcheck" in service or (name == "web" and "HEALTHCHECK" in dockerfile), name


def test_every_volume_and_network_that_is_used_is_declared(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        named = [volume.split(":")[0] for volume in service.get("volumes", [])]
        assert {name for name in named if not name.startswith(".")} <= set(compose["volumes"])
        assert set(service["networks"]) <= set(compose["networks"])
        assert set(service.get("depends_on", {})) <= set(compose["services"])


@pytest.mark.parametrize("name", SECRETS)
def test_secrets_come_from_the_environment_and_have_no_default(name: str) -> None:
    assert re.search(rf"\$\{{{name}:\?[^}}]+\}}", COMPOSE), f"{name} must stop the start when it is missing"
    assert f"${{{name}:-" not in COMPOSE


def test_the_image_runs_as_an_account_of_its_own_in_two_stages() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert sum(line.startswith("FROM ") for line in lines) == 2
    users = [line.split()[1] for line in lines if line.startswith("USER ")]
    assert users == ["emic"]
    # The account cannot write into the code, so the translations are compiled before it takes over.
    compiling = [number for number, line in enumerate(lines) if line.startswith("RUN ") and "config.catalogues" in line]
    assert compiling and compiling[0] < lines.index("USER emic") < next(
        number for number, line in enumerate(lines) if "collectstatic" in line
    )
    assert not [line for line in lines if "SECRET" in line]
    for line in lines:
        if "pip install" in line:
            assert "--require-hashes" in line


def test_the_image_holds_every_app_and_nothing_of_a_local_instance() -> None:
    ignore = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in ignore
    included = {line[1:] for line in ignore if line.startswith("!")}
    apps = {name.split(".")[0] for name in settings.INSTALLED_APPS}
    assert {name for name in apps if (ROOT / name).is_dir()} <= included
    assert {"static", "templates", "locale", "requirements", "deploy", "manage.py", "emic"} <= included
    assert not included & {"data", ".venv", ".git", ".env", "tests"}


def test_the_container_refuses_to_boot_with_the_default_key() -> None:
    path = f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    env = own_environment(ROOT / "data", PATH=path, EMIC_HOSTS="emic.example.org", EMIC_DB_POOL="0")
    for role in ("web", "worker", "beat"):
        done = subprocess.run(
            ["sh", "deploy/entrypoint", role], cwd=ROOT, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode != 0
        assert "emic.E001" in done.stderr, role
