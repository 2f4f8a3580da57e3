"""ValueGround's tables. Its numbers of models are in `valueground_accuracy.py` and `valueground_reversal.py`, those of
its pairs of pictures in `valueground_rubric.py`; here is the list of them, and the labels that they rest on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.metrics.proportions import share
from evaluation.rendering.report import Cell, Row, Words
from evaluation.tables.known_models import about_models
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import Table
from evaluation.tables.table_inputs import TableInputs
from evaluation.tables.targets import GROUPS, LABEL_SET, not_asked_cells, table_rows
from papers.valueground.survey_labels import Why
from papers.valueground.tables.accuracy import (
    PERCENT,
    SAME_OPTION,
    UNREADABLE,
    WHOLE,
    build_bands,
    build_countries,
    build_settings,
)
from papers.valueground.tables.answers import code_words, count_estimate, inclusion_sentences, load_instances
from papers.valueground.tables.label_sources import survey_state
from papers.valueground.tables.raters import CHOICE
from papers.valueground.tables.reversal import (
    BINS,
    POOLING,
    build_reversals,
    build_reversals_by_country,
    build_reversals_by_margin,
    build_transfer,
)
from papers.valueground.tables.rubric import RUBRIC_TABLES

NEEDS = gettext_lazy(
    "Models' answers in the stage “The picture that fits a country” (with pictures and with words alone), "
    "and the survey's counts."
)
NEEDS_ALIGNMENT = gettext_lazy("The same, and models' answers in the stage “Which picture shows which answer”.")

REASONS: tuple[Why, ...] = ("tie", "no_counts", "codes_unresolved", "not_positive")
REASON_TEXTS: dict[Why, Promise] = {
    "tie": gettext_lazy("exact tie"),
    "no_counts": gettext_lazy("no counts"),
    "codes_unresolved": gettext_lazy("no codes"),
    "not_positive": gettext_lazy("code not above 0"),
}


def build_labels(inputs: TableInputs) -> Table:
    """What each country's labels are, and what has none: the denominators of all the rest."""
    of = load_instances(inputs)
    n = len(of.questions)
    rows = []
    label_rows, set_text = table_rows(inputs, CHOICE, of.countries)
    for label_row in label_rows:
        if label_row.place is None:
            rows.append(Row(label_row.text, (*not_asked_cells(9), Cell(text="")), label_row.group))
            continue
        labels = [of.labels[q, label_row.place] for q in range(n)]
        scorable = np.array([label.side is not None for label in labels], bool)
        counts = [
            *(sum(label.side == side for label in labels) for side in ("a", "b")),
            *(sum(label.why == why for label in labels) for why in REASONS),
            sum(label.out_of_range for label in labels),
            sum(label.n_zero > 0 and label.why != "not_positive" for label in labels),
        ]
        numbers = [Cell(count_estimate(count, n), rounding=WHOLE) for count in counts]
        left = ", ".join(
            f"{question} ({REASON_TEXTS[label.why]})"
            for question, label in zip(of.questions, labels, strict=True)
            if label.why is not None
        )
        cells = (Cell(share(scorable), rounding=PERCENT), *numbers, Cell(text=left))
        rows.append(Row(label_row.text, cells, label_row.group))
    columns: list[Words] = [
        _("With a label"),
        _("Label A"),
        _("Label B"),
        _("Exact tie"),
        _("No counts"),
        _("Options without codes"),
        _("An option's code not above 0"),
        _("Mean outside the options"),
        _("A code 0 left out"),
        _("Not scorable"),
    ]
    words: list[Words] = [
        *inclusion_sentences(of),
        *code_words(of),
        *set_text,
        _(
            "Questions; the first column in percent. A mean outside the options and a code 0 "
            "that was left out are reported."
        ),
    ]
    return inputs.table(corner=_("Country"), columns=columns, rows=rows, words=words)


ABOUT = (UNREADABLE, SAME_OPTION)
READS_LABELS = {"figure-3", "table-2", "table-5", "table-6", "table-7", "table-8", "labels", "bands"}
SPECS: tuple[TableSpec, ...] = (
    *RUBRIC_TABLES,
    TableSpec(
        "figure-3",
        "Figure 3",
        gettext_lazy("Accuracy of models by country"),
        NEEDS,
        build_countries,
        (UNREADABLE, LABEL_SET),
    ),
    TableSpec("table-2", "Table 2", gettext_lazy("Accuracy by setting"), NEEDS_ALIGNMENT, build_settings, ABOUT),
    TableSpec("table-5", "Table 5", gettext_lazy("Cross-modal reversal by model"), NEEDS, build_reversals),
    TableSpec(
        "table-6",
        "Table 6",
        gettext_lazy("Cross-modal reversal by country"),
        NEEDS,
        build_reversals_by_country,
        (POOLING, LABEL_SET, GROUPS),
    ),
    TableSpec(
        "table-7", "Table 7", gettext_lazy("Reversal by midpoint margin"), NEEDS, build_reversals_by_margin, (BINS,)
    ),
    TableSpec("table-8", "Table 8", gettext_lazy("From text-only to main, by country"), NEEDS, build_transfer),
    TableSpec("labels", "", gettext_lazy("Labels from the survey"), NEEDS, build_labels, (LABEL_SET, GROUPS)),
    TableSpec("bands", "", gettext_lazy("Ranks of the models"), NEEDS, build_bands),
    about_models(stage=(CHOICE, "choice")),
)
TABLES = {
    "valueground": tuple(replace(spec, state=survey_state) if spec.key in READS_LABELS else spec for spec in SPECS)
}
