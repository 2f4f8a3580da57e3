"""How far written answers are word for word the same, once case, punctuation and spaces are set aside.

The normal form: Unicode NFKC, casefold, every run of punctuation, separators and control characters to one blank,
trimmed. Agreement of wording is not agreement of content: it is meant for names and other short answers, and the extra
"median_words" lets a page say so where answers are long.
"""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from statistics import median

from evaluation.metrics.alpha import alpha, percent_agreement
from evaluation.metrics.distance_alpha import AnswerTable
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Interval

TWO_WAY = Interval()
NORMAL_FORM = "NFKC, casefold, punctuation and separators to one blank, trimmed"
LONG = 5  # words: above this median the wording says little about the content


def normal_form(text: str) -> str:
    """
    >>> normal_form("  Pita-Bread!  ")
    'pita bread'
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join("".join(" " if unicodedata.category(one)[0] in "PZC" else one for one in folded).split())


def exact_match(table: AnswerTable, *, interval: Interval = TWO_WAY) -> Estimate:
    """The share of pairs of raters whose texts have the same normal form, 0 to 1.

    >>> rows = [("u", "a", "Pita"), ("u", "b", "pita "), ("v", "a", "Ful"), ("v", "b", "Koshari")]
    >>> exact_match(AnswerTable.from_rows(rows)).value
    0.5
    """
    estimate = percent_agreement(table.codes(normal_form), interval=interval)
    return _describe(replace(estimate, method="exact match of texts"), table)


def text_alpha(table: AnswerTable, *, interval: Interval = TWO_WAY) -> Estimate:
    """Krippendorff's alpha, nominal, of the normal forms."""
    estimate = alpha(table.codes(normal_form), "nominal", interval=interval)
    return _describe(replace(estimate, method="Krippendorff's alpha (nominal) of texts"), table)


def _describe(estimate: Estimate, table: AnswerTable) -> Estimate:
    words = [len(normal_form(one).split()) for one in table.distinct]
    middle = float(median(words[place] for place in table.answer.tolist())) if table.n_ratings else 0.0
    return replace(estimate, extras={**estimate.extras, "normal_form": NORMAL_FORM, "median_words": middle})
