"""Memory of the processes that serve one site: what they share, and what they give back."""

import ctypes
import gc


def share_imports() -> None:
    """Call it before processes begin: the collector of each would touch, and so copy, all that they could share."""
    import scipy.sparse  # noqa: F401  (scipy loads its parts at first use)
    import scipy.special  # noqa: F401

    gc.collect()
    gc.freeze()


def return_unused() -> None:
    """Give to the system what the C library keeps for later; where it is not glibc, nothing happens."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
