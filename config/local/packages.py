"""Debian packages: installed where we may (root, apt-get), else named for somebody who may."""

import os
import shutil
import subprocess

from .errors import EmicError


def may_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def apt_install(packages: list[str]) -> None:
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    commands = (["apt-get", "update", "-q"], ["apt-get", "install", "-qy", "--no-install-recommends", *packages])
    for command in commands:
        done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise EmicError(f"apt-get could not install {' '.join(packages)}: {last}")
