"""A file that keeps room on the disk of the data folder: it is deleted when the disk is nearly full.

The room it leaves lets the database, the queue and the logs go on while somebody makes more.
"""

import os
import shutil
from pathlib import Path

from . import console

MEGABYTE = 1024 * 1024
SIZE = 64 * MEGABYTE
LITTLE = 100 * MEGABYTE  # below this much free the file goes
PLENTY = 1024 * MEGABYTE  # above this much free it is made again
NAME = "ballast"


def adjust_ballast(folder: Path) -> None:
    """Delete or make the file, as the room on its disk demands. Never raises."""
    path = folder / NAME
    try:
        free = shutil.disk_usage(folder).free
        if free < LITTLE and path.exists():
            path.unlink()
            console.line_now_and_then(
                f"Only {free // MEGABYTE} MB are free: {path} was deleted. Make room on this disk."
            )
        elif free > PLENTY and not path.exists():
            _make(path)
    except OSError as error:
        console.line_now_and_then(f"{path}: {error.strerror}.")


def _make(path: Path) -> None:
    half = path.with_name(f"{NAME}.new")
    with half.open("wb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, SIZE)
        else:
            for _ in range(SIZE // MEGABYTE):
                file.write(bytes(MEGABYTE))
    half.replace(path)
