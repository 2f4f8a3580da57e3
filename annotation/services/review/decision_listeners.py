"""Tells the apps above that reviewers decided on answers of a stage, or took a decision back."""

from collections.abc import Callable

Listener = Callable[[int], None]
_LISTENERS: list[Listener] = []


def register(listener: Listener) -> None:
    """Call `listener(stage_id)` in the transaction of each decision. Registering twice adds nothing."""
    if listener not in _LISTENERS:
        _LISTENERS.append(listener)


def notify(stage_id: int) -> None:
    """Needs the transaction of the decision."""
    for listener in _LISTENERS:
        listener(stage_id)
