"""Keeps the children of `./emic run` alive: starts them in order, restarts what dies, stops all in reverse order."""

import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from . import process, say
from .errors import EmicError
from .home import trim_log

FIRST_DELAY = 0.5
LONGEST_DELAY = 30.0
HEALTHY_AFTER = 60.0  # seconds of life after which an earlier death is forgotten


class Service(Protocol):
    """Anything with a process that can be started again."""

    name: str
    child: subprocess.Popen[bytes] | None

    def start(self) -> None: ...

    def stop(self) -> None: ...


class Program:
    """A service that is one of our own programs: the web server, the worker."""

    def __init__(self, name: str, command: Sequence[str], env: dict[str, str], log: Path, cwd: Path) -> None:
        self.name = name
        self.command = command
        self.env = env
        self.log = log
        self.cwd = cwd
        self.child: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        trim_log(self.log)
        with self.log.open("ab") as log:
            self.child = process.spawn(self.command, log=log, env=self.env, cwd=self.cwd)

    def stop(self) -> None:
        if self.child:
            process.stop(self.child, signal.SIGTERM)
            self.child = None


@dataclass
class Watched:
    """One service and its recent history."""

    service: Service
    started: float = 0.0
    delay: float = FIRST_DELAY
    again_at: float | None = None
    note: Callable[[str, int], None] = field(default=lambda name, pid: None)

    def start(self) -> None:
        self.service.start()
        self.started = time.monotonic()
        self.again_at = None
        if self.service.child:
            self.note(self.service.name, self.service.child.pid)

    def look(self, now: float) -> None:
        """Notice a death, or start again when its pause is over."""
        child = self.service.child
        if self.again_at is not None:
            if now >= self.again_at:
                self._start_again(now)
        elif child is not None and child.poll() is not None:
            process.end_group(child.pid)
            if now - self.started > HEALTHY_AFTER:
                self.delay = FIRST_DELAY
            self._wait(now, f"{self.service.name} ended ({how_it_ended(child.returncode)})")

    def _start_again(self, now: float) -> None:
        try:
            self.start()
        except EmicError as error:
            self._wait(now, str(error))

    def _wait(self, now: float, why: str) -> None:
        say.line(f"  {time.strftime('%H:%M:%S')} {why}; starting it again in {self.delay:g} s.")
        self.again_at = now + self.delay
        self.delay = min(self.delay * 2, LONGEST_DELAY)


class Supervisor:
    """Starts services one by one; `watch` returns never, and `stop` may be called at any time."""

    def __init__(self, note: Callable[[str, int], None]) -> None:
        self.watched: list[Watched] = []
        self.note = note

    def start(self, service: Service) -> None:
        watched = Watched(service, note=self.note)
        self.watched.append(watched)
        watched.start()

    def look(self) -> None:
        for watched in self.watched:
            watched.look(time.monotonic())

    def watch(self) -> None:
        while True:
            self.look()
            time.sleep(0.2)

    def stop(self) -> None:
        """The last started first, so that nobody is left talking to a server that has gone."""
        while self.watched:
            self.watched.pop().service.stop()


def how_it_ended(code: int) -> str:
    if code >= 0:
        return f"exit status {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
