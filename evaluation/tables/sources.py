"""What a table reads, and the reader's choice of it: a collection with its runs, campaigns, prompt variants of models.

Rows of two collections never stand in one table: of each a table takes one version, by default the newest that has a
complete run of the kind that the table reads. A choice stands under the table and in every file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.rendering.report import Words
from predictions.models import Collection, Run

COLLECTION, RUNS, CAMPAIGNS, SETTINGS = "collection", "runs", "campaigns", "settings"
TEXTS, PICTURES, STAGE = "texts", "pictures", "stage"
SOURCES = (COLLECTION, TEXTS, PICTURES, STAGE, RUNS, CAMPAIGNS, SETTINGS)  # parameters of an address
LABELS: Mapping[str, Words] = {
    COLLECTION: gettext_lazy("Collection"),
    TEXTS: gettext_lazy("Embeddings of texts"),
    PICTURES: gettext_lazy("Embeddings of pictures"),
    STAGE: gettext_lazy("Pictures of the stage"),
    RUNS: gettext_lazy("Runs"),
    CAMPAIGNS: gettext_lazy("Campaigns"),
    SETTINGS: gettext_lazy("Prompt variants"),
}
CLEARS = {COLLECTION: RUNS, STAGE: RUNS}  # what a change of a choice makes void
ALL = "all"
DEFAULT_SETTING = "default"  # of a model rater without one: an address has no empty value

Usable = Callable[[Sequence[Run]], list[Run]]
"""Of the runs over one collection those that a table can be made from; none where it cannot be made."""


@dataclass(frozen=True)
class Choice:
    """`values` are all that can be chosen, by their value in an address, with their labels; `chosen` those in force.
    `several`: more than one may be, and without a choice all are."""

    key: str
    values: Mapping[str, Words]
    chosen: tuple[str, ...]
    several: bool = False

    @property
    def label(self) -> Words:
        return LABELS[self.key]

    @property
    def narrowed(self) -> bool:
        return self.several and len(self.chosen) < len(self.values)

    @property
    def value(self) -> str:
        """As files name it."""
        return ALL if self.several and not self.narrowed else ",".join(self.chosen)

    def to_json(self) -> dict[str, object]:
        return {
            "key": self.key,
            "label": str(self.label),
            "values": {value: str(words) for value, words in self.values.items()},
            "chosen": list(self.chosen),
            "several": self.several,
        }

    def sentence(self) -> str:
        """Of a choice between several what is shown; how many there are besides."""
        names = ", ".join(str(self.values[one]) for one in self.chosen)
        if not self.narrowed:
            return f"{self.label}: {names}."
        shown = {"label": self.label, "n": len(self.chosen), "all": len(self.values), "names": names}
        return _("%(label)s: %(n)s of %(all)s: %(names)s.") % shown


class SourceError(ValueError):
    """`name` has a value that is not among `known`."""

    def __init__(self, name: str, value: str, known: Sequence[str]) -> None:
        super().__init__(name)
        self.name, self.value, self.known = name, value, known


def name_of(collection: Collection) -> str:
    """A collection's version in an address: `trials@2`."""
    return f"{collection.key}@{collection.version}"


def title_of(collection: Collection) -> str:
    return _("%(name)s, version %(version)s") % {"name": collection.name, "version": collection.version}


def every(runs: Sequence[Run]) -> list[Run]:
    return list(runs)


def by_collection(runs: Sequence[Run], usable: Usable = every) -> dict[Collection, list[Run]]:
    """Usable runs by their collection, the newest collection first; without collections that have none."""
    grouped: dict[Collection, list[Run]] = {}
    for run in runs:
        grouped.setdefault(run.pool, []).append(run)
    newest = sorted(grouped, key=lambda collection: -collection.pk)
    return {collection: kept for collection in newest if (kept := usable(grouped[collection]))}


def choose_one(key: str, values: Mapping[str, Words], asked: Sequence[str], default: str = "") -> Choice:
    """What the address asks for, else the default, else the first. Raises SourceError; `values` must have one."""
    if len(asked) > 1 or (asked and asked[0] not in values):
        raise SourceError(key, ", ".join(asked), list(values))
    return Choice(key, values, (asked[0] if asked else default or next(iter(values)),))


def choose_some(key: str, values: Mapping[str, Words], asked: Sequence[str], known: Sequence[str] = ()) -> Choice:
    """What the address asks for, else all. A value of `known` belongs to another collection, stage or question: it
    chooses nothing here. Raises SourceError for any other value."""
    for value in asked:
        if value not in values and value not in known:
            raise SourceError(key, value, list(values))
    return Choice(key, values, tuple(value for value in values if value in asked) or tuple(values), several=True)


def setting_of(setting: str) -> str:
    return setting or DEFAULT_SETTING
