"""Processes that are forked from one that has loaded Emic's packages, for `./emic run`. Linux only."""

import json
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import console, logs, process

READY_SECONDS = 30.0
CODE_SECONDS = 1.0  # from the end of a process until the server reports its exit status
LOST_SECONDS = 10.0  # for a process to end after its server, as for one that is stopped
TRIES = 3
MESSAGE_BYTES = 4096


def is_possible() -> bool:
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):  # not Linux, or one before 5.3
        return False
    return True


class ForkServer:
    """A service: starts `fork_server.py` and asks it for processes. Without it programs start on their own."""

    name = "Fork server"

    def __init__(self, python: Path, home: Path, env: Mapping[str, str], cwd: Path) -> None:
        self.child: process.Child | None = None
        self.line: socket.socket | None = None  # another one after each start
        self._python = python
        self._home = home
        self._env = env
        self._cwd = cwd
        self._codes: dict[int, int] = {}
        self._is_ready = False
        self._failures = 0

    def start(self) -> None:
        """Without a process after several that were never ready: another one would not be, either."""
        self.child = None
        self._close()
        self._codes.clear()
        log_file = self._home / "logs" / "fork-server.log"
        if self._failures == TRIES:
            console.print_line(f"  Each program loads its packages for itself now; the reason is in {log_file}.")
            return
        self._failures += 1
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [str(self._python), "-m", "config.local.fork_server", str(theirs.fileno()), str(self._home)]
        with theirs, logs.open_log(log_file) as log:
            files = (theirs.fileno(),)
            self.child = process.spawn(
                command, log=log, env=self._env, cwd=self._cwd, pass_fds=files, death=signal.SIGKILL
            )
        self.line = ours

    def stop(self) -> None:
        """It keeps nothing, so it is killed, also where it hangs. What it has forked is then asked to end."""
        if self.child:
            process.stop(self.child, signal.SIGKILL)
            self.child = None
        self._close()

    def fork(self, command: Sequence[str], env: Mapping[str, str], log: int, cwd: Path) -> "ForkedChild | None":
        """A new process for a command of the form `python -m module ...`; None where the server cannot make one."""
        _python, _option, module, *arguments = command
        request = {"module": module, "arguments": arguments, "environment": dict(env), "folder": str(cwd)}
        if not self._wait_until_ready() or self.line is None:
            return None
        try:
            socket.send_fds(self.line, [json.dumps(request).encode()], [log])
        except OSError:
            return None
        end = time.monotonic() + READY_SECONDS
        while (message := self._receive(end - time.monotonic())) is not None:
            if "pid" in message:
                return ForkedChild(message["pid"], self)
            if "refused" in message:
                console.line_now_and_then(f"Fork server: {message['refused']}.")
                return None
        if self.line:
            self.stop()  # it hangs; if it went on to fork, the program would run twice
        return None

    def is_gone(self, line: socket.socket | None) -> bool:
        """Whether the server at the other end of this line has ended, or another one was started."""
        self._receive(0)
        return self.line is not line

    def exit_code(self, pid: int) -> int:
        """Of a process that has ended. SIGTERM where its server went before it could report."""
        end = time.monotonic() + CODE_SECONDS
        while pid not in self._codes and self._receive(end - time.monotonic()) is not None:
            pass
        return self._codes.pop(pid, -signal.SIGTERM)

    def _wait_until_ready(self) -> bool:
        end = time.monotonic() + READY_SECONDS
        while not self._is_ready and self._receive(end - time.monotonic()) is not None:
            pass
        return self._is_ready

    def _receive(self, seconds: float) -> dict[str, Any] | None:
        """The next message; None where none comes in time or the server is gone."""
        if self.line is None:
            return None
        self.line.settimeout(max(0.0, seconds))
        try:
            text = self.line.recv(MESSAGE_BYTES)
        except (TimeoutError, BlockingIOError):
            return None
        except OSError:
            text = b""
        if not text:
            self._close()
            return None
        message: dict[str, Any] = json.loads(text)
        if "ready" in message:
            self._is_ready, self._failures = True, 0
        if "ended" in message:
            self._codes[message["ended"]] = message["code"]
        return message

    def _close(self) -> None:
        self._is_ready = False
        if self.line:
            self.line.close()
            self.line = None


class ForkedChild:
    """A process of the fork server, with what the supervisor uses of `subprocess.Popen`. The system says when it ends,
    not the server, which may hang or be another one by then."""

    def __init__(self, pid: int, server: ForkServer) -> None:
        self.pid = pid
        self._server = server
        self._line = server.line
        self._code: int | None = None
        self._lost_at: float | None = None
        try:
            self._file: int | None = os.pidfd_open(pid)  # readable once the process has ended
        except ProcessLookupError:
            self._file = None

    def poll(self) -> int | None:
        if self._code is None:
            if self._file is None or select.select([self._file], [], [], 0)[0]:
                self._code = self._server.exit_code(self.pid)
                if self._file is not None:
                    os.close(self._file)
            elif self._server.is_gone(self._line):
                self._end_after_server()
        return self._code

    def _end_after_server(self) -> None:
        """The system has asked it to end. A worker would first finish its tasks, which may take hours, and take no
        others."""
        self._lost_at = self._lost_at or time.monotonic()
        if time.monotonic() - self._lost_at > LOST_SECONDS:
            process.end_group(self.pid)

    def wait(self, timeout: float | None = None) -> int:
        end = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if end is not None and timeout is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(0.02)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None and self._file is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._file, number)
