"""Bounds the logs of the children of `./emic run`: 20 MB each, and four older ones beside it.

A child keeps its log open for appending, so the file is copied and emptied in place instead of renamed. Lines that a
child writes in the moment between the two are lost.
"""

import itertools
import os
import shutil
from pathlib import Path
from typing import IO

from . import console

MEGABYTE = 1024 * 1024
LIMIT = 20 * MEGABYTE
OLDER = 4


def open_log(path: Path) -> IO[bytes]:
    """The log of a program that starts, for the caller to close. On a full disk the program runs without it."""
    rotate(path)
    try:
        return path.open("ab")
    except OSError as error:
        console.line_now_and_then(f"{path}: {error.strerror}.")
        return Path(os.devnull).open("ab")


def rotate_all(folder: Path, limit: int = LIMIT) -> None:
    """Rotate each log of the folder that is too long. Never raises."""
    for path in sorted(folder.glob("*.log")):
        rotate(path, limit)


def rotate(path: Path, limit: int = LIMIT) -> None:
    """Keep the older logs as `.1` (the latest) to `.4`. On a full disk the log is emptied without a copy."""
    try:
        if path.stat().st_size <= limit:
            return
        try:
            _shift(path)
        except OSError as error:
            console.line_now_and_then(f"{path} was emptied without a copy: {error.strerror}.")
        os.truncate(path, 0)
    except FileNotFoundError:
        return
    except OSError as error:
        console.line_now_and_then(f"{path}: {error.strerror}.")


def _shift(path: Path) -> None:
    older = [path.with_name(f"{path.name}.{number}") for number in range(1, OLDER + 1)]
    for newer, old in reversed(list(itertools.pairwise(older))):
        if newer.exists():
            newer.replace(old)
    half = path.with_name(f"{path.name}.new")
    try:
        shutil.copyfile(path, half)
        half.replace(older[0])
    except OSError:
        half.unlink(missing_ok=True)
        raise
