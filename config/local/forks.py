"""Processes that are forked from one that has loaded Emic's packages, for `./emic run`. Linux only."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import process

READY_SECONDS = 30.0
MESSAGE_BYTES = 1 << 20


def is_possible() -> bool:
    return sys.platform.startswith("linux") and hasattr(os, "pidfd_open") and hasattr(socket, "SOCK_SEQPACKET")


class ForkServer:
    """A service: starts `fork_server.py` and asks it for processes. Without it programs start on their own."""

    name = "Fork server"

    def __init__(self, python: Path, home: Path, env: Mapping[str, str], cwd: Path) -> None:
        self.child: process.Child | None = None
        self.ended: dict[int, int] = {}
        self._python = python
        self._home = home
        self._env = env
        self._cwd = cwd
        self._line: socket.socket | None = None
        self._is_ready = False

    def start(self) -> None:
        self._close()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [str(self._python), "-m", "config.local.fork_server", str(theirs.fileno()), str(self._home)]
        with theirs, (self._home / "logs" / "fork-server.log").open("ab") as log:
            files = (theirs.fileno(),)
            self.child = process.spawn(command, log=log, env=self._env, cwd=self._cwd, pass_fds=files)
        self._line = ours

    def stop(self) -> None:
        if self.child:
            process.stop(self.child, signal.SIGTERM)
            self.child = None
        self._close()

    def fork(self, command: Sequence[str], env: Mapping[str, str], log: int, cwd: Path) -> "ForkedChild | None":
        """A new process for a command of the form `python -m module ...`; None where the server cannot make one."""
        _python, _option, module, *arguments = command
        request = {"module": module, "arguments": arguments, "environment": dict(env), "folder": str(cwd)}
        if not self._wait_until_ready() or self._line is None:
            return None
        try:
            socket.send_fds(self._line, [json.dumps(request).encode()], [log])
        except OSError:
            return None
        end = time.monotonic() + READY_SECONDS
        while (message := self._receive(end - time.monotonic())) is not None:
            if "pid" in message:
                return ForkedChild(message["pid"], self)
        self.stop()  # it may still fork, and the program would run twice
        return None

    def update(self) -> bool:
        """Read what the server reports; False where it is gone."""
        while self._receive(0) is not None:
            pass
        return self._line is not None

    def _wait_until_ready(self) -> bool:
        end = time.monotonic() + READY_SECONDS
        while not self._is_ready and self._receive(end - time.monotonic()) is not None:
            pass
        return self._is_ready

    def _receive(self, seconds: float) -> dict[str, Any] | None:
        """The next message; None where none comes in time or the server is gone."""
        if self._line is None:
            return None
        self._line.settimeout(max(0.0, seconds))
        try:
            text = self._line.recv(MESSAGE_BYTES)
        except (TimeoutError, BlockingIOError):
            return None
        except OSError:
            text = b""
        if not text:
            self._close()
            return None
        message: dict[str, Any] = json.loads(text)
        self._is_ready = self._is_ready or "ready" in message
        if "ended" in message:
            self.ended[message["ended"]] = message["code"]
        return message

    def _close(self) -> None:
        self._is_ready = False
        if self._line:
            self._line.close()
            self._line = None


class ForkedChild:
    """A process of the fork server, with what the supervisor uses of `subprocess.Popen`."""

    def __init__(self, pid: int, server: ForkServer) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._server = server

    def poll(self) -> int | None:
        if self.returncode is None:
            is_known = self._server.update()
            self.returncode = self._server.ended.pop(self.pid, None)
            if self.returncode is None and not is_known and not process.is_alive(self.pid):
                self.returncode = -signal.SIGTERM  # it ended with its server, and how is not known
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        end = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if end is not None and timeout is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(0.02)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)
