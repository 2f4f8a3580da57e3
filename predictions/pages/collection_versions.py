"""What the page of a collection's next version shows: entries that come, go and change, each with its reason."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from predictions.models import Entry
from predictions.services.collections.builder import ACCEPTED
from predictions.services.collections.next_versions import NextVersion

SHOWN = 60  # of each list
REASONS: Mapping[str, Any] = {
    "source": _("What it was made from is no longer accepted, or others come before it"),
    "withdrawn": _("Its item was withdrawn"),
    "dropped": _("A filter or a person dropped its item"),
    "waiting": _("Its item waits for a fact"),
    "not_accepted": _("Its item is not accepted any more"),
}


@dataclass(frozen=True)
class ListedEntry:
    """An entry with the picture that it has, and why it is listed."""

    entry: Entry
    reason: Any = ""


@dataclass(frozen=True)
class EntryList:
    """Entries under a heading; `more` of them are not shown."""

    key: str
    title: Any
    rows: list[ListedEntry]
    n: int

    @property
    def more(self) -> int:
        return self.n - len(self.rows)


def version_lists(shown: NextVersion) -> list[EntryList]:
    """What comes, goes and changes; without those of which there are none."""
    lists = [
        (
            "goes",
            _("Entries that go"),
            [ListedEntry(leaving.entry, REASONS[leaving.reason]) for leaving in shown.goes],
        ),
        ("comes", _("Entries that come"), [ListedEntry(entry) for entry in shown.comes]),
        (
            "changed",
            _("Entries that change"),
            [
                ListedEntry(change.entry, gettext("Differs in: %(names)s") % {"names": ", ".join(change.names)})
                for change in shown.changed
            ],
        ),
    ]
    return [EntryList(key, title, rows[:SHOWN], len(rows)) for key, title, rows in lists if rows]


def source_text(of: str) -> Any:
    """Which items of its stage a collection has."""
    return _("accepted results") if of == ACCEPTED else _("items that filters keep")
