"""Slow senders cannot occupy the web server: finding H2, against a real gunicorn of 2 processes x 8 threads."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.models import Session

from config import deadline
from config.deadline import BodyBounds, PersonalReaders, RequestBody, Watchdog
from people.models import User
from tests.load.server import session_of
from tests.operations.servers import PROCESSES, THREADS, SlowSenders, free_port, get, gunicorn, post_in_pieces
from tests.personas import make_user

pytestmark = pytest.mark.django_db  # the database must be there; the web server sees what is committed
SENDERS = 64
PROBE_SECONDS = 2.0
CADDY = shutil.which("caddy")


@pytest.fixture(scope="module")
def sessions(django_db_setup: None, django_db_blocker: Any) -> Iterator[list[str]]:
    """The cookies of two signed-in people, whom a web server of its own can see."""
    with django_db_blocker.unblock():
        people = [make_user("Slow"), make_user("Quick")]
        yield [f"sessionid={session_of(user)}" for user in people]
        Session.objects.all().delete()
        User.objects.filter(pk__in=[user.pk for user in people]).delete()


@pytest.fixture(scope="module")
def port(sessions: list[str]) -> Iterator[int]:
    with gunicorn() as port:
        for _ in range(2 * PROCESSES):
            get(port, "/sign-in")  # every process has made its pages once
        yield port


def answered(port: int, probes: int, seconds: float = PROBE_SECONDS) -> int:
    """How many of so many probes, one a second, were answered in time; each asks two pages."""
    good = 0
    for _ in range(probes):
        begun = time.monotonic()
        good += get(port, "/healthz", seconds) == 200 and get(port, "/sign-in", seconds) == 200
        time.sleep(max(0.0, 1 - (time.monotonic() - begun)))
    return good


@pytest.mark.parametrize("path", ["/sign-in", "/no-such-page", "/healthz"])
def test_pages_are_answered_while_64_visitors_send_slowly(port: int, path: str) -> None:
    with SlowSenders(port, SENDERS, path):
        assert answered(port, 3, seconds=8) == 3  # within the deadline of the first bodies
    assert get(port, "/healthz") == 200


@pytest.mark.slow
def test_pages_are_answered_for_40_seconds_while_64_visitors_send_slowly(port: int) -> None:
    with SlowSenders(port, SENDERS) as senders:
        assert answered(port, 40) >= 39
        assert senders.reopened > SENDERS, "they were refused, and came again"


@pytest.mark.slow
@pytest.mark.skipif(CADDY is None, reason="no caddy on this machine")
def test_pages_are_answered_through_our_caddyfile(sessions: list[str], tmp_path: Path) -> None:
    with gunicorn() as behind:
        port = free_port()
        text = Path("deploy/Caddyfile").read_text().replace("web:8000", f"127.0.0.1:{behind}")
        (tmp_path / "Caddyfile").write_text(text.replace("{$EMIC_DOMAIN}", f"http://localhost:{port}", 1))
        command = [str(CADDY), "run", "--config", str(tmp_path / "Caddyfile")]
        env = {"EMIC_DOMAIN": "localhost", "HOME": str(tmp_path)}
        with (tmp_path / "caddy.log").open("wb") as log:
            caddy = subprocess.Popen(command, env=env, stdout=log, stderr=log)
        try:
            assert [get(port, "/healthz") for _ in range(50) if not time.sleep(0.2)][-1] == 200
            with SlowSenders(port, SENDERS):
                assert answered(port, 40) == 40
        finally:
            caddy.terminate()
            caddy.wait()


def test_a_visitor_who_sends_too_slowly_is_told_so_and_reads_the_form_again(port: int) -> None:
    begun = time.monotonic()
    assert post_in_pieces(port, "/sign-in", [b"x"] * 12, 40_000, pause=1) == 408
    assert time.monotonic() - begun < 20


def test_a_form_of_ordinary_speed_is_read(port: int) -> None:
    body = b"username=nobody%40example.org&password=wrong"
    assert (
        post_in_pieces(port, "/sign-in", [body[:10], body[10:]], len(body), pause=0.3) == 403
    )  # read to its end; it lacks the token


def test_at_most_half_of_the_threads_read_bodies_of_visitors(port: int) -> None:
    def post(_: int) -> int:
        return post_in_pieces(port, "/sign-in", [b"x"], 40_000)

    with SlowSenders(port, SENDERS), ThreadPoolExecutor(12) as pool:
        # 408: a reader was free at that moment, for a slow sender is cut off after seconds and comes again.
        assert {*pool.map(post, range(12))} - {408} == {503}
        assert PROCESSES * THREADS // 2 < SENDERS


def test_a_visitor_waits_a_moment_for_a_reader_and_some_threads_never_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of people who signed in together some were told at once that the site is receiving many uploads."""
    monkeypatch.setattr(deadline, "WAIT_SECONDS", 60)
    bounds = BodyBounds(None, threads=8)
    assert all(bounds.admit_reader() for _ in range(4)), "half of the threads read"
    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(bounds.admit_reader) for _ in range(3)]
        while bounds.waiters._value:  # not all of them wait yet
            time.sleep(0.01)
        assert not bounds.admit_reader() and not bounds.has_free_reader(), "the last thread is not held"
        for _ in waiting:
            bounds.readers.release()
        assert all(one.result() for one in waiting)
    monkeypatch.setattr(deadline, "WAIT_SECONDS", 0.01)
    assert not bounds.has_free_reader()
    bounds.readers.release()
    assert bounds.has_free_reader() and bounds.has_free_reader(), "looking takes nothing"


def test_a_visitor_sends_64_kib_at_most_and_a_sheet_of_a_visitor_is_asked_to_sign_in(port: int) -> None:
    assert post_in_pieces(port, "/sign-in", [], 65 * 1024) == 413
    assert post_in_pieces(port, "/assignments/1/submit", [], 65 * 1024, **{"X-Requested-With": "emic"}) == 403


def test_a_signed_in_person_may_send_slower_than_a_visitor_and_much_more(port: int, sessions: list[str]) -> None:
    pieces = [b"x" * 10_000] * 13  # 130 kB in 13 s: a visitor would have been cut off after 10
    status = post_in_pieces(port, "/me", pieces, 130_000, pause=1, Cookie=sessions[0])
    assert status == 403  # read to its end; it lacks the token


def test_small_bodies_of_signed_in_people_are_read_while_visitors_send_slowly(port: int, sessions: list[str]) -> None:
    with SlowSenders(port, SENDERS):
        for _ in range(8):
            assert post_in_pieces(port, "/me", [b"a=1"], 3, Cookie=sessions[1]) == 403


def test_one_person_who_sends_slowly_leaves_threads_for_the_others(port: int, sessions: list[str]) -> None:
    with SlowSenders(port, SENDERS, "/me", Cookie=sessions[0]):
        assert answered(port, 3, seconds=8) == 3
        assert post_in_pieces(port, "/me", [b"a=1"], 3, Cookie=sessions[1]) == 403  # another person's form is read


def test_readers_are_counted_by_person_and_in_all() -> None:
    readers = PersonalReaders(3)
    assert [readers.acquire(person) for person in ("a", "a", "a", "b", "c")] == [True, True, False, True, False]
    readers.release("a")
    assert readers.acquire("c") and not readers.acquire("a")


def test_the_watchdog_is_woken_for_an_earlier_deadline_and_sleeps_through_later_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watchdog, ended, woken = Watchdog(), list[int](), list[float]()

    def add(number: int, seconds: float) -> None:
        body = RequestBody(None, None, 1, BodyBounds(None))
        monkeypatch.setattr(body, "expire", lambda: ended.append(number))
        watchdog.add(body, seconds)
        time.sleep(0.05)

    notify = watchdog._changed.notify
    monkeypatch.setattr(watchdog._changed, "notify", lambda: (woken.append(time.monotonic()), notify()))
    add(1, 60)
    begun = len(woken)
    for number in range(2, 6):
        add(number, 60 + number)
    assert len(woken) == begun, "a later deadline wakes nobody"
    add(6, 0.2)
    assert len(woken) == begun + 1
    add(7, 0.5)
    time.sleep(0.8)
    assert ended == [6, 7], "both in time, though the thread slept until the first minute was over"
    add(8, 0.1)
    time.sleep(0.3)
    assert ended == [6, 7, 8]
