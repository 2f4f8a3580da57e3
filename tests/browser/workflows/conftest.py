"""Whole workflows before two web processes, with real files: what one of them stores, the other serves."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection

from tests.load.server import ROOT, wait_until_healthy


class Unchanged:
    """pytest-django's live server changes settings for its thread; processes of their own need none of it."""

    def enable(self) -> None: ...
    def disable(self) -> None: ...


@dataclass
class Site:
    url: str
    files: Path
    _live_server_modified_settings = Unchanged()


@pytest.fixture(scope="session")
def site(django_db_setup: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """gunicorn with two processes, started once: tests empty the database between them, not the server."""
    files = tmp_path_factory.mktemp("files")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, "-m", "gunicorn", "-c", "config/local/gunicorn.py", "-b", f"127.0.0.1:{port}"]
    env = {
        **os.environ,
        "DATABASE_URL": _address(),
        "DJANGO_SETTINGS_MODULE": "tests.browser.workflows.settings",
        "EMIC_TEST_FILES": str(files),
        "EMIC_WEB_WORKERS": "2",
        "EMIC_WEB_THREADS": "4",
        "EMIC_DB_POOL": "0",
    }
    with (files.parent / "web.log").open("wb") as log:
        child = subprocess.Popen([*command, "config.wsgi"], cwd=ROOT, env=env, stdout=log, stderr=log)
        try:
            try:
                wait_until_healthy(port, 120)
            except TimeoutError as error:
                raise RuntimeError((files.parent / "web.log").read_text()[-3000:]) from error
            yield Site(f"http://127.0.0.1:{port}", files)
        finally:
            child.terminate()
            child.wait(20)


def _address() -> str:
    """Of the database that this test process was given: the server that all share, and its own name."""
    server = urlsplit(os.environ["DATABASE_URL"])
    return urlunsplit(server._replace(path=f"/{connection.settings_dict['NAME']}"))


@pytest.fixture
def live_server(site: Site, transactional_db: None, settings: Any) -> Site:
    """What `open_as` opens. Files that the test itself stores lie where the server looks."""
    backend = "django.core.files.storage.FileSystemStorage"
    settings.STORAGES = {**settings.STORAGES, "default": {"BACKEND": backend, "OPTIONS": {"location": site.files}}}
    return site
