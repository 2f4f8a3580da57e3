"""A whole site in a database of its own: made from a dump or from the demo, and what it counts and shows.

`python -m tests.upgrade.site VERSION` writes `VERSION.sql.gz` and `VERSION.json` beside this file: the demo as this
version stores it, and the values below. It is called once for each tag; the test then upgrades every such file.
"""

import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from config.local.database import Database

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ADMIN = "admin@demo.emic"
PAGES = (
    "/b/caire-demo/agreement/questions.csv",
    "/b/valueground-demo/tables/table-5.csv",
    "/b/3xcm-demo/tables/association-countries.csv",
)
NUMBERS = ("value", "low", "high", "n_units", "n_raters", "n_ratings")
LABELS = ("question", "measure", "cohort", "group", "row", "column")
# What only one version of PostgreSQL understands.
UNPORTABLE = re.compile(r"^(\\(un)?restrict .*|SET transaction_timeout = 0;)\n", re.MULTILINE)
Values = dict[str, Any]


@contextmanager
def empty_database(server: str, name: str) -> Iterator[str]:
    """The URL of a new database on the server of another URL. It is dropped at the end."""
    with psycopg.connect(Database(server).url, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        connection.execute(f'CREATE DATABASE "{name}"')
        try:
            yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def manage(url: str, *arguments: str) -> None:
    """Run a management command on the database; its output is in the CalledProcessError where it fails."""
    run(url, "manage.py", *arguments)


def read_values(url: str) -> Values:
    """Row counts by table, and the numbers of three pages as a researcher downloads them."""
    values: Values = json.loads(run(url, "-m", "tests.upgrade.site", "--values").splitlines()[-1])
    return {"rows": Database(url).counts(), **values}


def run(url: str, *arguments: str) -> str:
    env = {**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{' '.join(arguments)} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def load(url: str, dump: Path) -> None:
    database = Database(url)
    database.tool("psql", "-qX", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", "DROP SCHEMA public CASCADE")
    database.tool(
        "psql", "-qX", "-v", "ON_ERROR_STOP=1", "-d", url, stdin_text=gzip.decompress(dump.read_bytes()).decode()
    )


def write(url: str, version: str) -> None:
    """Dump before the pages are read: what they store for later is computed anew after each upgrade."""
    manage(url, "migrate", "--no-input", "-v", "0")
    manage(url, "load_demo", "--all")
    database = Database(url)
    text = database.tool("pg_dump", "--no-owner", "--no-privileges", "-n", "public", "-d", url)
    packed = gzip.compress(UNPORTABLE.sub("", text).encode(), 9, mtime=0)
    (HERE / f"{version}.sql.gz").write_bytes(packed)
    values = read_values(url)
    (HERE / f"{version}.json").write_text(json.dumps(values, indent=1, sort_keys=True) + "\n")
    print(f"{version}: {len(packed) / 1e3:,.0f} kB, {sum(values['rows'].values()):,} rows")


def print_values() -> None:
    import django

    django.setup()
    from django.test import Client

    from people.models import User

    client = Client()
    client.force_login(User.objects.get(email=ADMIN))
    pages = {}
    for address in PAGES:
        response = client.get(address)
        assert response.status_code == 200, f"{address} answers {response.status_code}"
        rows = csv.DictReader(io.StringIO(response.content.decode("utf-8-sig")))
        pages[address] = [{name: row[name] for name in (*LABELS, *NUMBERS) if name in row} for row in rows]
    print(json.dumps({"pages": pages}))


def main(argument: str) -> None:
    if argument == "--values":
        print_values()
        return
    from tests import servers

    servers.ensure()
    with empty_database(os.environ["DATABASE_URL"], "emic_upgrade_sample") as url:
        write(url, argument)


if __name__ == "__main__":
    main(sys.argv[1])
