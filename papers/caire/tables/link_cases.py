"""CAIRE's Figure 7: in which of the four cases the links of a run fall, as people judged them.

An item's case is its commonest answer; items whose commonest answers tie are left out and counted. Items of one right
entry are left out of the interval together, as in Table 3.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from evaluation.metrics.proportions import share
from evaluation.queries.observations import ObservedItem
from evaluation.rendering.report import Cell, Rounding, Row, Words
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import Table
from evaluation.tables.table_inputs import TableInputs
from predictions.services.knowledge.linking import METHODS

STAGE, FIELD = "link-check", "link"
NEEDS = gettext_lazy("Links that people checked: “Have people check the links” on the page of a linking run.")
CASES: dict[str, Words] = {
    "exact": gettext_lazy("Exact"),
    "narrower_or_broader": gettext_lazy("Narrower or broader"),
    "related": gettext_lazy("Related"),
    "wrong": gettext_lazy("Wrong"),
}


def build_cases(inputs: TableInputs) -> Table:
    """A row for each way of linking, in the order of its first item."""
    observations = inputs.observed(STAGE, FIELD, ("person",))
    answers: dict[int, Counter[str]] = defaultdict(Counter)
    for item, code in zip(observations.item, observations.code, strict=True):
        answers[int(item)][observations.codes[code]] += 1
    case_of = {item: case for item, counts in answers.items() if (case := _commonest(counts))}
    groups: dict[str, list[int]] = defaultdict(list)
    for item in sorted(case_of):
        groups[str(observations.items[item].context.get("linked_by") or "")].append(item)
    rows = [_row(name, members, case_of, observations.items) for name, members in groups.items()]
    words: list[Words] = [
        _("In percent of links. The case of a link is the answer that most people gave."),
        _("Intervals over entries, each with all its images (jackknife). With one image per entry they are Wilson's."),
    ]  # fmt: skip
    if ties := len(answers) - len(case_of):
        text = ngettext(
            "%(n)s link was left out: its answers tie.", "%(n)s links were left out: their answers tie.", ties
        )
        words.append(text % {"n": ties})
    return inputs.table(corner=_("Linked by"), columns=list(CASES.values()), rows=rows, words=words)


def _commonest(counts: Counter[str]) -> str:
    """Empty where two answers tie."""
    ranked = counts.most_common(2)
    return "" if len(ranked) > 1 and ranked[0][1] == ranked[1][1] else ranked[0][0]


def _row(name: str, members: Sequence[int], case_of: Mapping[int, str], items: Sequence[ObservedItem]) -> Row:
    clusters = np.array([str(items[item].context.get("gold_entity") or items[item].key) for item in members], str)
    cells = [
        Cell(
            share(np.array([case_of[item] == case for item in members], bool), clusters, method="share of links"),
            rounding=Rounding(1, 100),
        )
        for case in CASES
    ]
    return Row(name or _("Unknown"), tuple(cells))


CASE_TABLES: tuple[TableSpec, ...] = (
    TableSpec(
        "link-cases",
        "Figure 7",
        gettext_lazy("How links fit what pictures show"),
        NEEDS,
        build_cases,
        code_texts={str(method): text for method, text in METHODS.items()},
    ),
)
