"""One child process: started in its own group, tied to our life, stopped gently and then firmly."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import IO, Protocol

LAUNCH = Path(__file__).with_name("launch.py")


class Child(Protocol):
    """What is used of a `subprocess.Popen`."""

    pid: int

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def send_signal(self, number: int, /) -> None: ...


def wrapped_command(command: Sequence[str], user: str = "same", death: int = signal.SIGTERM) -> list[str]:
    """The command wrapped so that it ends when this process does, however this process ends."""
    return [sys.executable, "-I", "-S", str(LAUNCH), str(os.getpid()), str(int(death)), user, "--", *command]


def spawn(
    command: Sequence[str],
    *,
    log: IO[bytes] | int | None = None,
    env: Mapping[str, str] | None = None,
    user: str = "same",
    death: int = signal.SIGTERM,
    cwd: Path | None = None,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        wrapped_command(command, user, death), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, cwd=cwd,
        pass_fds=pass_fds,
    )  # fmt: skip


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _state(pid).startswith("Z")


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2]
    except OSError:
        return ""


def command_line(pid: int) -> str:
    """What a process was started with, or nothing where the system does not say."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        listed = subprocess.run(["ps", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=False)
        return listed.stdout.strip()


def wait_for_exit(pid: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while is_alive(pid):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def stop(child: Child, gentle: int = signal.SIGTERM, seconds: float = 10.0) -> bool:
    """Ask the child to end, then end its whole group. True when asking was enough."""
    asked = True
    if child.poll() is None:
        child.send_signal(gentle)
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            asked = False
    end_group(child.pid)
    child.wait()
    return asked


def end_group(pid: int) -> None:
    """Kill what is left of the group that a child leads (its workers, if it died without them)."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


@contextlib.contextmanager
def stopping_on_signals() -> Iterator[None]:
    """Ctrl-C, a closed terminal and a service manager all ask for the same: an orderly end."""

    def ask(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    former = {number: signal.signal(number, ask) for number in signals}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
