"""One private PostgreSQL per test session, in a temporary folder, unless DATABASE_URL names another; and a Valkey.

Under xdist the controller starts it and the workers inherit its address; pytest-django gives each worker
a database of its own, a copy of the one that the first of them migrates.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from config.local.servers import Postgres, Valkey

THROWAWAY = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_wal_size": "4GB",
    "jit": "off",
    "autovacuum": "off",  # conftest sweeps between tests: in the midst of one, whose rows are not committed, it would
    # count none, and the planner would then read whole tables again and again
    "max_connections": "300",  # each process of the tests has those of its threads, and servers that it starts
}


def ensure() -> None:
    """Called before settings are read, so that tests never touch the data folder or the database of a real instance."""
    if "EMIC_TEST_DATA" not in os.environ:
        home = Path(tempfile.mkdtemp(prefix="emic-test-"))
        os.environ["EMIC_TEST_DATA"] = str(home)
        atexit.register(shutil.rmtree, home, ignore_errors=True)
    home = Path(os.environ["EMIC_TEST_DATA"])
    # Each process has a folder of its own: what one sweeps away with the clock a week ahead, another still needs.
    data = home / os.environ.get("PYTEST_XDIST_WORKER", "data")
    os.environ["EMIC_DATA"] = str(data)
    (data / "static").mkdir(parents=True, exist_ok=True)
    os.environ["EMIC_DB_POOL"] = "0"
    if "DATABASE_URL" not in os.environ:
        server = Postgres(home, options=THROWAWAY)
        server.start()
        atexit.register(server.stop)
        os.environ["DATABASE_URL"] = server.url
        os.environ["EMIC_TEST_TEMPLATE"] = "migrated"  # another's server gets no database beside those of the workers
    if "EMIC_LIMITS_URL" not in os.environ:
        valkey = Valkey(home)
        valkey.start()
        atexit.register(valkey.stop)
        os.environ["EMIC_LIMITS_URL"] = valkey.url


def copy_migrated_database() -> None:
    """Migrations take seconds and always end in the same tables: whoever comes first runs them, the others wait."""
    from django.core.management import call_command
    from django.db import connection

    template = os.environ.get("EMIC_TEST_TEMPLATE")
    if not template:
        return
    settings = connection.settings_dict
    with connection._nodb_cursor() as cursor:
        cursor.execute("select pg_advisory_lock(hashtext(%s))", [template])  # until this connection ends
        cursor.execute("select 1 from pg_database where datname = %s", [template])
        if cursor.fetchone() is None:
            cursor.execute(f"drop database if exists {template}_half")
            cursor.execute(f"create database {template}_half")
            name, settings["NAME"] = settings["NAME"], f"{template}_half"
            try:
                call_command("migrate", verbosity=0, interactive=False)
            finally:
                connection.close()
                settings["NAME"] = name
            cursor.execute(f"alter database {template}_half rename to {template}")
    settings["TEST"]["TEMPLATE"] = template


def drop_database(creation: Any, name: str, _verbosity: int) -> None:
    """Also while a browser's last connection is open, which ends with it."""
    with creation._nodb_cursor() as cursor:
        cursor.execute(f"drop database if exists {creation.connection.ops.quote_name(name)} with (force)")
