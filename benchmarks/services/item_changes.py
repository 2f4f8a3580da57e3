"""Tells the apps above that items of a stage changed: other candidates are kept than before."""

from collections.abc import Callable, Sequence

Listener = Callable[[int, Sequence[int]], None]
_LISTENERS: list[Listener] = []


def register(listener: Listener) -> None:
    """Call `listener(stage_id, item_ids)` in the transaction of each change. Registering twice adds nothing."""
    if listener not in _LISTENERS:
        _LISTENERS.append(listener)


def notify(stage_id: int, item_ids: Sequence[int]) -> None:
    """Needs the transaction that changed the items."""
    if item_ids:
        for listener in _LISTENERS:
            listener(stage_id, item_ids)
