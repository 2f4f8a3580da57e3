"""PostgreSQL's own tools, used for backup and restore: dump, load, count."""

import contextlib
import os
import re
import subprocess
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from . import binaries
from .errors import EmicError
from .servers import clean_env

KNOWN_TO_LIBPQ = {"host", "port", "sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout", "options"}
TABLES = "SELECT format('%I', tablename) FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"


class Database:
    """The database at a DATABASE_URL, as PostgreSQL's tools see it; the password never shows in a process list."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        known = [(key, value) for key, value in parse_qsl(parts.query) if key in KNOWN_TO_LIBPQ]
        query = urlencode(known, quote_via=quote)  # libpq takes "+" for itself, not for a space
        self.password = unquote(parts.password) if parts.password else None
        place = parts.netloc.replace(f":{parts.password}@", "@", 1) if parts.password else parts.netloc
        self.url = urlunsplit(("postgresql", place, parts.path, query, ""))

    def env(self) -> dict[str, str]:
        env = clean_env() | {"PGCLIENTENCODING": "UTF8"}
        return env | {"PGPASSWORD": self.password} if self.password else env

    def tool(self, name: str, *arguments: str, stdin_text: str | None = None) -> str:
        command = [str(binaries.client_tool(name)), *arguments]
        done = subprocess.run(command, input=stdin_text, capture_output=True, text=True, env=self.env(), check=False)
        if done.returncode:
            if "No space left on device" in done.stderr:
                raise EmicError(f"The disk became full while {name} was writing. Free some room and try again.")
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise EmicError(f"{name} failed: {last}")
        return done.stdout

    def counts(self) -> dict[str, int]:
        """Rows per table."""
        with Snapshot(self) as snapshot:
            return snapshot.counts()

    def dump(self, file: Path) -> dict[str, int]:
        """Write the whole database; returns the rows per table at that very moment, whatever happens meanwhile."""
        with Snapshot(self) as snapshot:
            self.tool(
                "pg_dump", "-Fc", "--no-owner", "--no-privileges", "-n", "public",
                f"--snapshot={snapshot.name}", "-f", str(file), "-d", self.url,
            )  # fmt: skip
            return snapshot.counts()

    def load(self, file: Path) -> None:
        """All or nothing, into an empty database."""
        self.tool("psql", "-qX", "-v", "ON_ERROR_STOP=1", "-d", self.url, "-c", "DROP SCHEMA IF EXISTS public CASCADE")
        self.tool("pg_restore", "--no-owner", "--no-privileges", "--single-transaction", "-d", self.url, str(file))
        self.tool("psql", "-qX", "-v", "ON_ERROR_STOP=1", "-d", self.url, "-c", RESTART_FEED)


RESTART_FEED = """
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('jobs_event') AND attname = 'xact') THEN
    ALTER TABLE jobs_event DISABLE TRIGGER jobs_event_append_only;
    UPDATE jobs_event SET xact = '0';
    ALTER TABLE jobs_event ENABLE TRIGGER jobs_event_append_only;
  END IF;
  IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('annotation_annotation') AND attname = 'xact') THEN
    ALTER TABLE annotation_annotation DISABLE TRIGGER annotation_annotation_changed;
    UPDATE annotation_annotation SET xact = '0' WHERE xact <> '0';
    ALTER TABLE annotation_annotation ENABLE TRIGGER annotation_annotation_changed;
  END IF;
  IF to_regclass('annotation_goneoutcome') IS NOT NULL THEN
    UPDATE annotation_goneoutcome SET xact = '0';
  END IF;
END $$
"""
"""A database that was restored counts transactions from a lower number: old events would stay out of the feed, and
answers would seem changed."""


class Snapshot:
    """One moment of the database, held open so that the dump and the counts speak of the same rows."""

    def __init__(self, database: Database) -> None:
        command = [str(binaries.client_tool("psql")), "-qAtX", "-v", "ON_ERROR_STOP=1", "-d", database.url]
        self.session = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=database.env(),
        )
        self.name = ""

    def __enter__(self) -> "Snapshot":
        self.ask("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self.name = self.ask("SELECT pg_export_snapshot()")[0]
        return self

    def __exit__(self, *_: object) -> None:
        self.session.communicate()

    def ask(self, query: str) -> list[str]:
        assert self.session.stdin and self.session.stdout and self.session.stderr
        with contextlib.suppress(BrokenPipeError):  # the reason is read below
            self.session.stdin.write(f"{query};\n\\echo --done--\n")
            self.session.stdin.flush()
        lines: list[str] = []
        for line in self.session.stdout:
            if line.rstrip("\n") == "--done--":
                return lines
            lines.append(line.rstrip("\n"))
        last = (self.session.stderr.read().strip().splitlines() or ["it said nothing"])[-1]
        raise EmicError(f"The database does not answer: {last}")

    def counts(self) -> dict[str, int]:
        tables = self.ask(TABLES)
        assert all(re.fullmatch(r'[\w$]+|"[^"]+"', name) for name in tables)  # quoted by PostgreSQL itself
        if not tables:
            return {}
        rows = self.ask(" UNION ALL ".join(f"SELECT '{name}', count(*) FROM public.{name}" for name in tables))  # noqa: S608
        return {name: int(number) for name, number in (row.rsplit("|", 1) for row in rows)}


def external_url() -> str:
    return os.environ.get("DATABASE_URL") or ""
