"""A database that this version cannot open is refused with one sentence, and stays as it is."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from config.local import environment
from config.management.commands import migrate

pytestmark = pytest.mark.django_db


def record(app: str, name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO django_migrations (app, name, applied) VALUES (%s, %s, now())", [app, name])


def test_a_database_from_before_0_2_0_names_the_last_commit_that_opens_it() -> None:
    record("jobs", "0002_initial")
    record("people", "0013_password_requests")
    with pytest.raises(CommandError, match=f"Commit {migrate.LAST_COMMIT} is the last that can open it"):
        call_command("migrate", verbosity=0)


def test_a_database_of_a_later_version_is_refused_with_the_names_it_has() -> None:
    record("annotation", "0099_from_the_future")
    with pytest.raises(CommandError, match=r"later version of Emic \(it has annotation\.0099_from_the_future\)"):
        call_command("migrate", verbosity=0)


def test_migrations_that_a_library_has_merged_are_no_reason_to_refuse() -> None:
    record("axes", "0001_before_they_were_merged")
    call_command("migrate", verbosity=0)


def test_emic_run_prints_the_sentence_and_nothing_around_it(tmp_path: Path) -> None:
    output = f"Operations to perform:\nCommandError: {migrate.TOO_OLD}\n"
    assert environment.explain_failure(output, "migrate", tmp_path, tmp_path) == migrate.TOO_OLD
