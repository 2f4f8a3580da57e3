"""3XCM's tables, in the order of the paper: by what is asked of the models, then what was collected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmarks.rules.label_sets.countries import country_code
from evaluation.metrics.estimate import Estimate
from evaluation.rendering.report import Cell, Rounding, Row
from evaluation.tables.known_models import about_models
from evaluation.tables.ranked_lists import CollectionEntries
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData, Table
from evaluation.tables.table_inputs import TableInputs
from papers.xcm.printed_values import printed
from papers.xcm.tables import association as xcm_association
from papers.xcm.tables import descriptor as xcm_descriptor
from papers.xcm.tables import prevalence as xcm_prevalence
from papers.xcm.tables.trials import ORDER
from predictions.models import Entry, Run


def build_counts(inputs: TableInputs, name: str) -> Table:
    """How many entries of each kind the collection of the forced choices has."""
    runs = inputs.runs("forced_choice", partial(_runs_with, name))
    if not runs:
        raise MissingData(_("The entries do not say their country or concept. Import the collection with these."))
    entries = CollectionEntries().of(runs[0].pool).values()
    counts = Counter(str(about[name]) for about in entries if about.get(name))
    if name == "country":
        counts = _by_code(counts)
    order = {code: place for place, code in enumerate(ORDER)}
    rows = [
        Row(
            label,
            (Cell(Estimate.of_count(n), rounding=Rounding(0), printed=printed("table_9", "images", country=label)),),
        )
        for label, n in sorted(counts.items(), key=lambda pair: (order.get(pair[0], len(order)), pair[0]))
    ]
    return inputs.table(corner=_("Country") if name == "country" else _("Concept"), columns=[_("Images")], rows=rows)


def _runs_with(name: str, runs: Sequence[Run]) -> list[Run]:
    """The runs, where entries of their collection say this."""
    entries = Entry.objects.filter(collection=runs[0].pool, about__has_key=name)
    return list(runs) if entries.exclude(**{f"about__{name}": ""}).exists() else []


def _by_code(counts: Counter[str]) -> Counter[str]:
    by_code: Counter[str] = Counter()
    for label, n in counts.items():
        by_code[country_code(label)] += n
    return by_code


COLLECTED = gettext_lazy("A collection whose entries name their country and concept, and a run over its trials.")
TABLES: dict[str, tuple[TableSpec, ...]] = {
    "3xcm": (
        *xcm_prevalence.TABLES,
        *xcm_association.TABLES,
        *xcm_descriptor.TABLES,
        about_models(("retrieval", "forced_choice", "embedding"), number="Table 7"),
        TableSpec(
            "images-countries",
            "Table 9",
            gettext_lazy("Images of each country"),
            COLLECTED,
            partial(build_counts, name="country"),
        ),
        TableSpec(
            "images-concepts",
            "Table 10",
            gettext_lazy("Images of each concept"),
            COLLECTED,
            partial(build_counts, name="concept"),
        ),
    )
}
