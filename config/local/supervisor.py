"""Keeps the children of `./emic run` alive: starts them in order, stops all in reverse order, and restarts what dies
or does not respond."""

import signal
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from . import console, process
from .errors import EmicError
from .forks import ForkServer
from .logs import open_log

FIRST_DELAY = 0.5
LONGEST_DELAY = 30.0
HEALTHY_AFTER = 60.0  # seconds of life after which an earlier death is forgotten
PROBE_SECONDS = 10.0
FAILED_PROBES = 3  # one after another, before a service is replaced
START_SECONDS = 120.0  # until a service that has not responded since its start is probed as strictly as others
REPLACE_SECONDS = 300.0  # at least so long between two replacements of one service
CHORE_SECONDS = 5.0


class Service(Protocol):
    """Anything with a process that can be started again."""

    name: str

    @property
    def child(self) -> process.Child | None: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...


class Program:
    """A service that is one of our own programs: the web server, the worker. With `forks` it shares its imports."""

    def __init__(
        self, name: str, command: Sequence[str], env: dict[str, str], log: Path, cwd: Path,
        forks: ForkServer | None = None,
    ) -> None:  # fmt: skip
        self.name = name
        self.command = command
        self.env = env
        self.log = log
        self.cwd = cwd
        self.forks = forks
        self.child: process.Child | None = None

    def start(self) -> None:
        with open_log(self.log) as log:
            forked = self.forks.fork(self.command, self.env, log.fileno(), self.cwd) if self.forks else None
            self.child = forked or process.spawn(self.command, log=log, env=self.env, cwd=self.cwd)

    def stop(self) -> None:
        if self.child:
            process.stop(self.child, signal.SIGTERM)
            self.child = None


class Health:
    """Asks a service again and again whether it responds, in a thread, for an answer may take seconds."""

    def __init__(self, responds: Callable[[], bool]) -> None:
        self.responds = responds
        self.failures = 0
        self.has_responded = False
        threading.Thread(target=self._run, daemon=True).start()

    def restarted(self) -> None:
        self.failures, self.has_responded = 0, False

    def _run(self) -> None:
        while True:
            time.sleep(PROBE_SECONDS)
            if self.responds():
                self.failures, self.has_responded = 0, True
            else:
                self.failures += 1

    def is_lost(self, age: float) -> bool:
        """Whether a service that was started `age` seconds ago has to be replaced."""
        return self.failures >= FAILED_PROBES and (self.has_responded or age > START_SECONDS)


@dataclass
class WatchedService:
    """One service and its recent history."""

    service: Service
    health: Health | None = None
    replaced: float = -REPLACE_SECONDS
    started: float = 0.0
    delay: float = FIRST_DELAY
    again_at: float | None = None
    note: Callable[[str, int], None] = field(default=lambda name, pid: None)

    def start(self) -> None:
        self.service.start()
        self.started = time.monotonic()
        self.again_at = None
        if self.health:
            self.health.restarted()
        if self.service.child:
            self.note(self.service.name, self.service.child.pid)

    def check(self, now: float) -> None:
        """Notice a death, or start again when its pause is over."""
        child = self.service.child
        if self.again_at is not None:
            if now >= self.again_at:
                self._restart(now)
        elif child is not None and (code := child.poll()) is not None:
            process.end_group(child.pid)
            if now - self.started > HEALTHY_AFTER:
                self.delay = FIRST_DELAY
            self._wait(now, f"{self.service.name} ended ({exit_description(code)})")
        elif child is not None and self._is_lost(now):
            console.print_line(
                f"  {time.strftime('%H:%M:%S')} {self.service.name} does not respond, so it is replaced."
            )
            self.replaced = now
            process.end_group(child.pid)

    def _is_lost(self, now: float) -> bool:
        lost = self.health is not None and self.health.is_lost(now - self.started)
        return lost and now - self.replaced >= REPLACE_SECONDS

    def _restart(self, now: float) -> None:
        try:
            self.start()
        except (EmicError, OSError) as error:
            self._wait(now, str(error))

    def _wait(self, now: float, why: str) -> None:
        console.print_line(f"  {time.strftime('%H:%M:%S')} {why}; starting it again in {self.delay:g} s.")
        self.again_at = now + self.delay
        self.delay = min(self.delay * 2, LONGEST_DELAY)


class Supervisor:
    """Starts services one by one; `watch` returns never, and `stop` may be called at any time."""

    def __init__(self, note: Callable[[str, int], None], chore: Callable[[], None] = lambda: None) -> None:
        self.watched: list[WatchedService] = []
        self.note = note
        self.chore = chore  # done every few seconds while all runs

    def start(self, service: Service, responds: Callable[[], bool] | None = None) -> None:
        """Start a service; with `responds`, replace it when it does not respond."""
        watched = WatchedService(service, note=self.note)
        self.watched.append(watched)
        watched.start()
        watched.health = Health(responds) if responds else None

    def check(self) -> None:
        """A service that cannot be looked after now hinders no other."""
        for watched in self.watched:
            try:
                watched.check(time.monotonic())
            except OSError as error:
                console.line_now_and_then(f"{watched.service.name}: {error.strerror}.")

    def watch(self) -> None:
        chore_at = 0.0
        while True:
            self.check()
            if time.monotonic() >= chore_at:
                with suppress(OSError):  # a full disk: it is done again in a few seconds
                    self.chore()
                chore_at = time.monotonic() + CHORE_SECONDS
            time.sleep(0.2)

    def stop(self) -> None:
        """The last started first, so that nobody is left talking to a server that has gone."""
        while self.watched:
            self.watched.pop().service.stop()


def exit_description(code: int) -> str:
    if code >= 0:
        return f"exit status {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
