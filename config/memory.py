"""Memory of the processes that serve one site: what they share, and what they give back."""

import ctypes
import gc
import re
from contextlib import suppress
from pathlib import Path


def share_imports() -> None:
    """Call it before processes begin: the collector of each would touch, and so copy, all that they could share."""
    import scipy.sparse
    import scipy.special  # noqa: F401

    gc.collect()
    gc.freeze()


def keep_shared() -> None:
    """Call it when a process begins: its collector leaves alone what it has of its parent."""
    gc.freeze()


def return_unused() -> None:
    """Give to the system what the C library keeps for later; where it is not glibc, nothing happens."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def private_kib() -> int:
    """What this process has written and shares with no other, in KiB; 1 where the system does not say (not Linux)."""
    with suppress(OSError):
        if private := re.search(r"^Private_Dirty: +(\d+)", Path("/proc/self/smaps_rollup").read_text(), re.MULTILINE):
            return int(private[1])
    return 1
