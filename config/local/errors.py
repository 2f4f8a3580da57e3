"""The one kind of failure that `./emic` explains in a sentence instead of a traceback."""


class EmicError(Exception):
    """Something a person can act on; its text is printed as it is, and the exit status is 1."""
