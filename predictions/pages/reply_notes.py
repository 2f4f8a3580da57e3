"""What was noted when a reply was read, in words: the page of a call shows all of it, so that another cut can be tried
without another call. Exports have the same as it is kept."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from predictions.texts import call_reasons

HIDDEN = frozenset({"way", "before", "reason", "rationale"})  # said elsewhere on the page: the last two are the reply
LABELS = {
    "distribution": gettext_lazy("Probability of each option"),
    "covered": gettext_lazy("How likely the codes were together"),
    "letter": gettext_lazy("Letter that was given"),
    "cosines": gettext_lazy("Cosine of the picture and each code's sentence"),
    "loss": gettext_lazy("Loss with the article: -log P (L)"),
    "base_loss": gettext_lazy("Base rate: the loss without it (L₀)"),
    "corrected_loss": gettext_lazy("Corrected loss"),
    "tokens": gettext_lazy("Tokens of the name"),
    "lambda": gettext_lazy("Weight of the base rate (λ)"),
    "limit": gettext_lazy("Limit of the base rate (T)"),
    "bound": gettext_lazy("What T was"),
    "over": gettext_lazy("Over the tokens"),
    "cut": gettext_lazy("Cut"),
    "scale": gettext_lazy("Scale of the box's numbers"),
    "order": gettext_lazy("Order of the box's numbers"),
    "padded": gettext_lazy("The picture in the middle of a square"),
    "rule": gettext_lazy("Which box was taken"),
    "score": gettext_lazy("Its score"),
    "label": gettext_lazy("Its label"),
    "found": gettext_lazy("Boxes there were"),
    "among": gettext_lazy("Boxes there were"),
    "field": gettext_lazy("Question it was about"),
    "sheet": gettext_lazy("What the sheet did not take"),
    "incomplete": gettext_lazy("Questions without a readable answer"),
    "labels": gettext_lazy("Labels that are none of the list"),
    "ordered": gettext_lazy("Labels in the order of the reply"),
    "problems": gettext_lazy("What is wrong with the query"),
    "query": gettext_lazy("The query"),
    "reason_1": gettext_lazy("Reason for the first picture"),
    "reason_2": gettext_lazy("Reason for the second picture"),
    "reading": gettext_lazy("Rules of reading"),
}
VALUE_TEXTS = {
    ("bound", "floor"): gettext_lazy("a floor: the greater of the two"),
    ("bound", "cap"): gettext_lazy("a cap: the smaller of the two"),
    ("over", "sum"): gettext_lazy("sum"),
    ("over", "mean"): gettext_lazy("mean"),
    ("rule", "best_scored"): gettext_lazy("the best scored"),
}


def note_rows(notes: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Label and value of everything that was noted, in the order of LABELS; what has no label by its key. A text that
    the model left empty is left out."""
    keys = sorted(notes.keys() - HIDDEN, key=lambda key: ([*LABELS, key].index(key), key))
    return [(str(LABELS.get(key, key)), _value(key, notes[key])) for key in keys if notes[key] != ""]


def _value(key: str, value: Any) -> str:
    known = VALUE_TEXTS.get((key, value)) if isinstance(value, str) else None
    return str(known) if known else VALUES.get(key, _value_text)(value)


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return _("Yes") if value else _("No")
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return " · ".join(f"{key}: {_value_text(one)}" for key, one in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_value_text, value))
    return value if isinstance(value, str) else json.dumps(value)


def _share(value: Any) -> str:
    return f"{100 * value:.3g} %" if isinstance(value, int | float) else _value_text(value)


def _shares(value: Any) -> str:
    return (
        " · ".join(f"{key}: {_share(one)}" for key, one in value.items())
        if isinstance(value, Mapping)
        else _value_text(value)
    )


def _problems(value: Any) -> str:
    return (
        " ".join(map(call_reasons.reason_text, value))
        if isinstance(value, Sequence) and not isinstance(value, str)
        else _value_text(value)
    )


def _fields(value: Any) -> str:
    if not isinstance(value, Mapping):
        return _value_text(value)
    return " · ".join(f"{field}: {call_reasons.field_reason(str(code))}" for field, code in value.items())


def _version(value: Any) -> str:
    return _("version %(number)s") % {"number": value}


VALUES: Mapping[str, Callable[[Any], str]] = {
    "distribution": _shares,
    "covered": _share,
    "problems": _problems,
    "incomplete": _fields,
    "reading": _version,
}
