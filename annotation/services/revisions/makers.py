"""Who writes the next revision of an item that was returned with a comment.

A maker is registered in AppConfig.ready, also by apps above this one. It is called from the outbox, once for each
return. A maker that works long starts a job of its own and writes the revision when it is done. The item is written
with `replaces` and the key of benchmarks.rules.revisions; the database refuses a second one.
"""

from datetime import datetime
from typing import Any, Protocol

from django.utils.translation import gettext

from annotation.models import ItemSource
from benchmarks.models import Item, ItemReturn
from benchmarks.models.revisions import BY_IMPORT


class Maker(Protocol):
    """`problems`: what the page of a returned item says where the maker could not begin, by code."""

    key: str
    problems: dict[str, Any]

    def accepts(self, item: Item) -> bool:
        """Whether this maker made the item, and can make it anew."""

    def start(self, item_return: ItemReturn, at: datetime) -> str:
        """Begin the next revision, in the transaction that notes the call: the code of a problem, or nothing.

        With a problem it is called again at the next turn of the outbox.
        """

    def waiting_text(self, item_return: ItemReturn) -> str:
        """What the page of the item says, until its next revision is there."""

    def cancel(self, item_return: ItemReturn, at: datetime) -> None:
        """The return is undone, in this transaction, before there is a next revision."""


class ImportMaker:
    """For items that were made elsewhere: their next revision is an import of corrected rows under the same key."""

    key = BY_IMPORT
    problems: dict[str, Any] = {}

    def accepts(self, item: Item) -> bool:
        return not ItemSource.objects.filter(item=item).exists()

    def start(self, item_return: ItemReturn, at: datetime) -> str:
        """The import recognises the item as returned: see benchmarks.services.row_import."""
        return ""

    def waiting_text(self, item_return: ItemReturn) -> str:
        return gettext("Correct it where it was made. Then import all its rows again under the same key.")

    def cancel(self, item_return: ItemReturn, at: datetime) -> None:
        """Nobody was asked for anything."""


_MAKERS: list[Maker] = []


def register(maker: Maker) -> None:
    if all(known.key != maker.key for known in _MAKERS):
        _MAKERS.append(maker)


def maker_of(item: Item) -> Maker | None:
    """The first that accepts the item, the import last of all; items that were passed on from an earlier stage have
    none."""
    in_order = sorted(_MAKERS, key=lambda maker: maker.key == BY_IMPORT)
    return next((maker for maker in in_order if maker.accepts(item)), None)


def find_maker(key: str) -> Maker | None:
    """None where the app that registered it is not installed any more."""
    return next((maker for maker in _MAKERS if maker.key == key), None)
