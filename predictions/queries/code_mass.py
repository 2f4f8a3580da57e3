"""How likely the codes of a scale were together, where answers came by log-probabilities: an answer whose codes were
unlikely is a weak one, and nothing else says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Aggregate, Count, FloatField, Min, Q, QuerySet
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from predictions.models import Call

HALF = 0.5


@dataclass(frozen=True)
class CodeMass:
    """Of `n` answers by log-probabilities: the least and the median probability of all codes together, and how many had
    less than half of it."""

    n: int
    least: float
    median: float
    low: int

    def to_json(self) -> dict[str, Any]:
        return {"n": self.n, "least": self.least, "median": self.median, "below_half": self.low}


class Median(Aggregate):
    function = "percentile_cont"
    template = "%(function)s(0.5) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()


def code_mass_by_rater(calls: QuerySet[Call]) -> dict[int, CodeMass]:
    """Of the answers among these calls, by the id of the rater; only of those with answers by log-probabilities."""
    rows = calls.filter(state=Call.State.ANSWERED, how="logprobs", notes__has_key="covered").order_by()
    some = rows.annotate(covered=Cast(KT("notes__covered"), FloatField())).values_list("run__rater")
    annotated = some.annotate(
        n=Count("pk"), least=Min("covered"), median=Median("covered"), low=Count("pk", filter=Q(covered__lt=HALF))
    )
    return {rater: CodeMass(*numbers) for rater, *numbers in annotated}


def code_mass_text(of: CodeMass | None) -> str:
    """In words; empty where no answer came so."""
    if of is None:
        return ""
    text = ngettext(
        "Probability of the codes together, of %(n)s answer by log-probabilities: least %(least)s, median %(median)s;"
        " less than half in %(low)s.",
        "Probability of the codes together, of %(n)s answers by log-probabilities: least %(least)s, median %(median)s;"
        " less than half in %(low)s.",
        of.n,
    )
    share = _("%(n)s %%")
    least, median = (share % {"n": f"{100 * one:.3g}"} for one in (of.least, of.median))
    return text % {"n": f"{of.n:,}", "least": least, "median": median, "low": f"{of.low:,}"}
