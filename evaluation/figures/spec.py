"""What figures there are: how each is made, and what it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from evaluation.figures.figure import Figure, Words
from evaluation.queries.observations import Observations, observe
from evaluation.selections.selection import NAMES, Selection, select
from evaluation.tables.inclusion_text import inclusion_sentences
from evaluation.tables.ranked_lists import labels_of
from evaluation.tables.sources import CAMPAIGNS, COLLECTION, name_of
from evaluation.tables.table import MissingData, TableHeading
from evaluation.tables.table_inputs import EVERYBODY, TableInputs
from predictions.models import Collection, Run


@dataclass(frozen=True)
class FigureSpec:
    """`number` is the paper's own ("Figure 3"), empty for one that is ours; `needs` says what has to be there first."""

    key: str
    number: str
    title: Words
    needs: Words
    build: Callable[[FigureData], Figure] = field(repr=False)


# Parameters of the address that only figures read, each with the values that it may have in a benchmark.
OWN_OPTIONS: dict[str, Callable[[FigureData], list[str]]] = {}


@dataclass
class FigureData(TableInputs):
    """What all figures of a page are made from: each question is read once. `begin` before each figure."""

    def begin(self, spec: FigureSpec) -> None:
        self.heading = TableHeading(spec.key, spec.number, spec.title)
        self.used_selections, self.used_runs, self.choices = [], {}, {}

    @property
    def has_questions(self) -> bool:
        """Whether some question can be asked for in the address."""
        return any(c.fields for stage in self.catalogue.stages for c in stage.current)

    @cached_property
    def asked(self) -> Selection:
        """What the address asks for, else the first stage's first question. Raises MissingData and SelectionError."""
        if not self.has_questions:
            raise MissingData(_("No campaign has been opened yet whose questions have a measure of agreement."))
        return select(self.catalogue, self.params, zone=self.zone)

    def observed(self, stage: str, field_key: str, raters: tuple[str, ...] = EVERYBODY) -> Observations:
        observations = super().observed(stage, field_key, raters)
        self.used_selections.append(self.selection(stage, field_key, raters))
        return observations

    @property
    def everybody(self) -> Observations:
        """All that people and models said to the question asked for. Raises MissingData without any of it."""
        self.used_selections.append(self._everybody[0])
        if not self._everybody[1].n:
            raise self.no_ratings(self.asked.stage)
        return self._everybody[1]

    @cached_property
    def _everybody(self) -> tuple[Selection, Observations]:
        selection = replace(self.asked, raters=EVERYBODY)
        return selection, observe(selection)

    def with_options(self, name: str, value: str) -> str:
        """The address's query with another choice of the figure's own; every other choice stays."""
        options = [
            (option, str(v))
            for option in (*NAMES, *OWN_OPTIONS)
            if option != name
            for v in self.params.getlist(option)
            if v
        ]
        return urlencode([*options, (name, value)])

    def _asked(self, key: str, known: Sequence[str]) -> list[str]:
        """One address is for all figures of a page: a collection that has nothing for this figure changes it not. The
        page calls campaigns by another name, and chooses no runs."""
        name = {CAMPAIGNS: "campaign", COLLECTION: COLLECTION}.get(key)
        return [value for value in super()._asked(name, known) if value in known] if name else []

    def preferred(self, grouped: Mapping[Collection, list[Run]]) -> str:
        """The newest collection with the run that the address asks for."""
        asked = {str(value) for value in self.params.getlist("run")}
        named = (name_of(collection) for collection, runs in grouped.items() if asked & set(labels_of(runs).values()))
        return next(named, "")

    def words(self) -> tuple[str, ...]:
        """The sentences that stand under the figure."""
        used = list(dict.fromkeys(self.used_selections))
        runs = list(self.used_runs.values())
        return (*self.source_words(), *inclusion_sentences(used, runs, self.catalogue))
