"""Processes that have grown are replaced, in the worker and in the web server."""

import gc
import inspect
import sys
import time
from types import SimpleNamespace

import pytest
from billiard import pool

from config import celery, memory
from config.local import gunicorn
from tests.start.helpers import eventually


def test_private_memory_grows_with_what_is_written() -> None:
    before = memory.private_kib()
    if before == 1:
        pytest.skip("this system does not say")
    written = bytearray(b"x") * (64 * 1024**2)  # much more than what other tests leave to be given back meanwhile
    assert 48 * 1024 < memory.private_kib() - before < 80 * 1024
    assert written


def test_billiard_compares_its_limit_with_private_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "used_kb = mem_rss()" in inspect.getsource(pool.Worker.workloop)
    monkeypatch.setattr(pool, "mem_rss", None)
    monkeypatch.setattr(memory, "private_kib", lambda: 7)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    celery.keep_shared()
    gc.unfreeze()
    assert pool.mem_rss() == 7
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace())
    assert pool.mem_rss() == 1, "a loaded model stays"


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    monkeypatch.setattr(gunicorn, "activity", gunicorn.Activity())
    monkeypatch.setattr(memory, "private_kib", lambda: gunicorn.PRIVATE_KIB + 1)
    return SimpleNamespace(alive=True)


def ask(web: SimpleNamespace, path: str) -> bool:
    """Whether the process goes on after a request."""
    request = SimpleNamespace(path=path)
    gunicorn.pre_request(web, request)
    gunicorn.post_request(web, request, {}, None)
    gunicorn.replace_if_grown(web)
    return bool(web.alive)


def test_a_web_process_that_has_grown_is_replaced_only_at_rest(
    web: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ask(web, "/work/") and ask(web, "/healthz"), "it was busy just now"
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + gunicorn.REST_SECONDS + 1)
    assert not ask(web, "/healthz")


def test_a_web_process_that_answers_or_has_not_grown_stays(
    web: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    download = SimpleNamespace(path="/b/x/export/")
    gunicorn.pre_request(web, download)
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 3600)
    assert ask(web, "/healthz"), "a download goes on"
    gunicorn.post_request(web, download, {}, None)
    monkeypatch.setattr(time, "monotonic", lambda: now + 7200)
    monkeypatch.setattr(memory, "private_kib", lambda: gunicorn.PRIVATE_KIB)
    assert ask(web, "/healthz")


def test_each_web_process_looks_for_itself(web: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gunicorn, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(gunicorn, "REST_SECONDS", -1.0)
    gunicorn.post_worker_init(web)
    assert eventually(lambda: not web.alive, 10)
