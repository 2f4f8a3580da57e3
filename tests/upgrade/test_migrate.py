"""The migrate command makes few classes of models anew, and ends in the tables that Django's own ends in."""

import os
import subprocess

import pytest

from config.local.binaries import client_tool
from tests.upgrade import site

WITH_DJANGOS_OWN = """
from contextlib import nullcontext
import django
django.setup()
from django.core.management import call_command
from config.management.commands import migrate
migrate.few_classes = nullcontext
call_command("migrate", verbosity=0, interactive=False)
"""


def schema_of(url: str) -> list[str]:
    command = [str(client_tool("pg_dump")), "--schema-only", "--no-owner", url]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [line for line in lines if not line.startswith("\\")]  # a random key of this dump


@pytest.mark.slow
def test_the_schema_is_the_one_that_django_makes() -> None:
    schemas = []
    for name, command in (("few", ("manage.py", "migrate", "--no-input")), ("all", ("-c", WITH_DJANGOS_OWN))):
        with site.empty_database(os.environ["DATABASE_URL"], f"emic_{name}_classes_{os.getpid()}") as url:
            site.run(url, *command)
            schemas.append(schema_of(url))
    few, every = schemas
    assert len(few) > 1000 and few == every
