"""The migrate command makes few classes of models anew, and ends in the tables that Django's own ends in."""

import os
import subprocess

import pytest
from django.db import models
from django.db.migrations.state import ModelState, ProjectState

from config.local.binaries import client_tool
from config.management.commands.migrate import few_classes
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


def test_python_code_of_a_migration_gets_all_relations() -> None:
    """A model whose class alone was made anew has lost what refers to it, until then."""
    owner = models.ForeignKey("people.Owner", models.CASCADE, related_name="things")
    state = ProjectState()
    state.add_model(ModelState("people", "Owner", [("id", models.AutoField(primary_key=True))]))
    state.add_model(ModelState("people", "Thing", [("id", models.AutoField(primary_key=True)), ("owner", owner)]))
    assert hasattr(state.apps.get_model("people", "Owner"), "things")
    with few_classes():
        state.add_field("people", "owner", "name", models.TextField(), preserve_default=True)
        assert not hasattr(state.apps.get_model("people", "Owner"), "things")
        state.clear_delayed_apps_cache()  # as Django does before it calls the code
        owner_class = state.apps.get_model("people", "Owner")
        assert hasattr(owner_class, "things") and owner_class._meta.get_field("name")
