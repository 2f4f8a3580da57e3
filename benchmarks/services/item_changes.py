"""Tells the apps above that items of a stage changed: other candidates are kept than before, or items arrived."""

from collections.abc import Callable, Sequence

Listener = Callable[[int, Sequence[int]], None]
_LISTENERS: list[Listener] = []
_OF_ARRIVALS: list[Listener] = []


def register(listener: Listener) -> None:
    """Call `listener(stage_id, item_ids)` in the transaction of each change. Registering twice adds nothing."""
    if listener not in _LISTENERS:
        _LISTENERS.append(listener)


def register_for_arrivals(listener: Listener) -> None:
    """As `register`, for steps of imports and derivations that wrote these items, in stages without filters too."""
    if listener not in _OF_ARRIVALS:
        _OF_ARRIVALS.append(listener)


def notify(stage_id: int, item_ids: Sequence[int]) -> None:
    """Needs the transaction that changed the items."""
    if item_ids:
        for listener in _LISTENERS:
            listener(stage_id, item_ids)


def notify_arrivals(stage_id: int, item_ids: Sequence[int]) -> None:
    """Needs the transaction that wrote the items."""
    if item_ids:
        for listener in _OF_ARRIVALS:
            listener(stage_id, item_ids)
