"""Tells the apps above that items of a stage changed: other candidates are kept than before, items arrived, or an
import of them ended."""

from collections.abc import Callable, Sequence

Listener = Callable[[int, Sequence[int]], None]
_LISTENERS: list[Listener] = []
_OF_ARRIVALS: list[Listener] = []
_OF_IMPORTS: list[Callable[[], None]] = []


def register(listener: Listener) -> None:
    """Call `listener(stage_id, item_ids)` in the transaction of each change. Registering twice adds nothing."""
    if listener not in _LISTENERS:
        _LISTENERS.append(listener)


def register_for_arrivals(listener: Listener) -> None:
    """As `register`, for steps of imports and derivations that wrote these items, in stages without filters too."""
    if listener not in _OF_ARRIVALS:
        _OF_ARRIVALS.append(listener)


def register_for_imports(listener: Callable[[], None]) -> None:
    """Call `listener()` after an import has ended, outside its transactions."""
    if listener not in _OF_IMPORTS:
        _OF_IMPORTS.append(listener)


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


def notify_import_ended() -> None:
    """Once for each import, whose steps are committed."""
    for listener in _OF_IMPORTS:
        listener()
