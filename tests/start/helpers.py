"""What the tests of `./emic` share: running it on a folder of its own, and asking its database."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from config.local.binaries import client_tool
from config.local.database import Database

ROOT = Path(__file__).resolve().parents[2]


def own_environment(data: Path, **more: str) -> dict[str, str]:
    """No setting of the test run reaches the instance under test."""
    foreign = ("EMIC_", "DATABASE_URL", "CELERY_BROKER_URL", "DJANGO_", "COV_", "COVERAGE_")
    env = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
    return {**env, "EMIC_DATA": str(data), **more}


def emic(data: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run `./emic` to its end."""
    return subprocess.run(
        [sys.executable, str(ROOT / "emic"), *arguments],
        env=own_environment(data, **more), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip


def emic_started(data: Path, *arguments: str, **more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(ROOT / "emic"), *arguments],
        env=own_environment(data, **more), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True,
    )  # fmt: skip


def read_until(program: subprocess.Popen[str], words: str) -> str:
    """What it prints up to the line with these words, or to its end."""
    assert program.stdout
    output = ""
    for line in program.stdout:
        output += line
        if words in line:
            break
    return output


def eventually(happened: Callable[[], bool], seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def sql(url: str, query: str) -> str:
    """One answer from psql; empty when the server is away."""
    database = Database(url)
    done = subprocess.run(
        [client_tool("psql"), "-qAtX", "-d", database.url, "-c", query],
        env=database.env(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout.strip()


def one_sentence(done: subprocess.CompletedProcess[str]) -> str:
    """The refusal as a person reads it: an exit status, one line, no traceback."""
    assert done.returncode not in (0, None), done.stdout + done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]
