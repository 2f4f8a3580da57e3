"""What ValueGround's tables need besides the first thing that they read. Each check is a few queries."""

from __future__ import annotations

from functools import partial

from django.utils.translation import gettext as _

from evaluation.tables.requirements import Requirements, answers_of
from evaluation.tables.table import MissingData
from evaluation.tables.table_inputs import TableInputs
from papers.valueground.tables.raters import CHOICE, MAIN, TEXT, rows_of
from people.models import Rater


def _settings(both: bool, inputs: TableInputs) -> None:
    ratings = answers_of(inputs, CHOICE, "choice", "model").order_by()
    raters = Rater.objects.filter(pk__in=ratings.values_list("rater", flat=True).distinct())
    rows = rows_of(raters, inputs.selection(CHOICE, "choice").campaigns)
    main, text = set(rows[MAIN].values()), set(rows[TEXT].values())
    if both and not main & text:
        raise MissingData(_("No model has answered both with pictures and with words alone yet. Import its answers."))
    if not main:
        raise MissingData(_("No model has answered the setting “main” yet. Import its answers."))


REQUIREMENTS: Requirements = {
    **{key: (partial(_settings, True),) for key in ("table-5", "table-6", "table-7", "table-8")},
    **{key: (partial(_settings, False),) for key in ("figure-3", "bands")},
}
