"""Estimates and names as figures write them: for the drawing, for its table, and for its text alternative."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from annotation.sheets.sheet import Sheet, localise
from evaluation.figures.drawing.axis import Value
from evaluation.figures.drawing.text import isolate_direction
from evaluation.figures.figure import Datum
from evaluation.metrics.estimate import Estimate
from evaluation.rendering.number_format import format_interval, format_number
from evaluation.rendering.reason_text import interval_sentence, reason_sentence, reason_title
from evaluation.tables.table import MissingData

MOST_IN_WORDS = 8


def value_of(estimate: Estimate, n: int | None = None) -> Value:
    """`n`: what is counted below the drawing; the units without it."""
    count = estimate.n_units if n is None else n
    return Value(estimate.value, estimate.low, estimate.high, count, why_not(estimate), why_no_interval(estimate))


def why_not(estimate: Estimate) -> str:
    if estimate.reason is None:
        return ""
    return _("No value: %(reason)s") % {"reason": reason_sentence(estimate) or reason_title(estimate)}


def why_no_interval(estimate: Estimate) -> str:
    """Empty where there is one, and where there is no value to have one."""
    return "" if estimate.value is None or estimate.low is not None else interval_sentence(estimate)


def missing_reasons(estimates: Iterable[Estimate]) -> MissingData:
    """Where none of them has a value: each reason once, the most frequent first, with how many it holds for."""
    whys = Counter(reason_sentence(one) or reason_title(one) for one in estimates)
    if len(whys) == 1:
        return MissingData(_("There is no value to draw. %(reason)s") % {"reason": next(iter(whys))})
    reasons = " ".join(
        _("%(reason)s (%(n)s of %(all)s).") % {"reason": strip_full_stop(why), "n": n, "all": whys.total()}
        for why, n in whys.most_common()
    )
    return MissingData(_("There is no value to draw. %(reason)s") % {"reason": reasons})


def strip_full_stop(words: str) -> str:
    """Without the full stop at its end: a sentence inside another."""
    return re.sub("[.\u3002\u1362\u06d4]+(\u2069?)$", r"\1", words.rstrip())


def number_columns() -> tuple[str, ...]:
    return (_("value"), _("low"), _("high"), _("items"), _("raters"), _("reason"))


def numbers(estimate: Estimate) -> tuple[Datum, ...]:
    """Under `number_columns`."""
    return (
        estimate.value, estimate.low, estimate.high, estimate.n_units, estimate.n_raters, why_not(estimate)
    )  # fmt: skip


def estimate_text(estimate: Estimate) -> str:
    """0.31 [0.24, 0.38], kept from left to right in any sentence; with the reason where there is no
    interval; or why there is no value."""
    if estimate.value is None:
        return why_not(estimate)
    number = "\u2066" + " ".join(filter(None, [format_number(estimate.value), format_interval(estimate)])) + "\u2069"
    why = why_no_interval(estimate)
    return f"{number} ({why})" if why else number


def list_text(parts: Sequence[tuple[str, str]], head: str) -> str:
    """A sentence of names with what is said of each; of many the first, and how many more there are."""
    listed = "; ".join(f"{isolate_direction(name)}: {strip_full_stop(words)}" for name, words in parts[:MOST_IN_WORDS])
    more = len(parts) - MOST_IN_WORDS
    if more > 0:
        listed += "; " + ngettext("%(n)s more in the table", "%(n)s more in the table", more) % {"n": more}
    return f"{head} {listed}." if listed else head


def codes_of(sheet: Sheet, field: str, codes: Iterable[str]) -> dict[str, str]:
    """Codes of a question in the order of its sheet, with their labels; what was said beside them comes last."""
    one = sheet.field(field)
    known: dict[str, str] = {}
    for listed_ in one.spec.config_json(one.config).values():
        if isinstance(listed_, list) and all(isinstance(x, dict) and {"code", "label"} <= x.keys() for x in listed_):
            known |= {str(x["code"]): localise(x["label"], get_language() or "en") for x in listed_}
    return known | {code: code for code in codes if code not in known}
