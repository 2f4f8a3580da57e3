"""Filters and their results in words."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from benchmarks.forms.filters import GROUP_NAMES, NAMES, TEXT_NAMES
from benchmarks.models import FilterResult
from benchmarks.rules.filters import FilterRule, aspect, blocked_words, near_duplicate, not_in_base, shortest_side
from benchmarks.rules.filters.contract import HASH, PICTURE, within_of
from benchmarks.rules.filters.registry import BY_HAND

WORDS_SHOWN = 8


def filter_name(rule: FilterRule) -> str:
    return str(rule.params["key"]) if rule.kind == "fact" else str(NAMES[rule.kind])


def rule_text(rule: FilterRule) -> str:
    """The rule of a filter: what is kept."""
    return RULES[rule.kind](rule.params)


def _aspect(params: Mapping[str, Any]) -> str:
    limits = {"least": _number(params.get("least", aspect.LEAST)), "most": _number(params.get("most", aspect.MOST))}
    return _("Width divided by height from %(least)s to %(most)s") % limits


def _shortest_side(params: Mapping[str, Any]) -> str:
    return _("At least %(n)s pixels") % {"n": _number(params.get("least", shortest_side.LEAST))}


def _blocked_words(params: Mapping[str, Any]) -> str:
    words = list(params["words"])
    shown = ", ".join(words[:WORDS_SHOWN])
    more = len(words) - WORDS_SHOWN
    if more > 0:
        shown = ngettext("%(words)s and %(n)s more", "%(words)s and %(n)s more", more) % {"words": shown, "n": more}
    texts = ", ".join(str(TEXT_NAMES[name]) for name in params.get("in", blocked_words.TEXTS))
    return _("None of: %(words)s. Read: %(texts)s") % {"words": shown, "texts": texts}


def _fact(params: Mapping[str, Any]) -> str:
    limits = {"least": _number(params.get("least")), "most": _number(params.get("most"))}
    if params.get("most") is None:
        return _("At least %(least)s") % limits
    if params.get("least") is None:
        return _("At most %(most)s") % limits
    return _("From %(least)s to %(most)s") % limits


def _same_picture(params: Mapping[str, Any]) -> str:
    return _("Each file once %(group)s, the first by rank and key") % {"group": _group(params)}


def _near_duplicate(params: Mapping[str, Any]) -> str:
    values = {"least": _number(params.get("least", near_duplicate.LEAST)), "group": _group(params)}
    if params.get("fact"):
        return _("Similarity below %(least)s %(group)s, by %(fact)s") % {**values, "fact": params["fact"]}
    return _("Similarity below %(least)s %(group)s, by perceptual hash") % values


def _not_in_base(params: Mapping[str, Any]) -> str:
    values = {"fact": params["fact"], "limit": _number(params.get("similarity", not_in_base.SIMILARITY))}
    return _("%(fact)s below %(limit)s") % values


RULES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "aspect": _aspect,
    "shortest_side": _shortest_side,
    "blocked_words": _blocked_words,
    "fact": _fact,
    "same_picture": _same_picture,
    "near_duplicate": _near_duplicate,
    "not_in_base": _not_in_base,
}


def _group(params: Mapping[str, Any]) -> str:
    names = " + ".join(str(GROUP_NAMES[name]) for name in within_of(params))
    return _("within the same %(fields)s") % {"fields": names} if names else _("in the whole stage")


def _number(value: Any) -> str:
    """Four decimals at most, and none of a whole number."""
    if isinstance(value, float):
        value = int(value) if value.is_integer() else round(value, 4)
    return "" if value is None else number_format(value)


NO_SHARE = {
    "nothing_kept": gettext_lazy("no labelled item is kept"),
    "nothing_relevant": gettext_lazy("no labelled item is relevant"),
}


def measured_text(measured: Mapping[str, Any]) -> str:
    """What was measured when a limit was chosen: precision and recall with intervals, labels and people."""
    values = {key: _share(measured.get(key) or {}) for key in ("precision", "recall")}
    counts = {key: number_format(measured.get(key, 0)) for key in ("n", "people")}
    text = _("Precision %(precision)s, recall %(recall)s. Labelled items: %(n)s, people: %(people)s.")
    return text % {**values, **counts}


def _share(share: Mapping[str, Any]) -> str:
    if share.get("value") is None:
        return f"– ({NO_SHARE.get(str(share.get('reason')), '')})"
    value, low, high = (number_format(round(share[name], 2), 2) for name in ("value", "low", "high"))
    return f"{value} \u2066({low}–{high}, {share['count']}/{share['n']})\u2069"


REASONS = {
    "too_narrow": gettext_lazy("Width divided by height is %(value)s, below %(limit)s"),
    "too_wide": gettext_lazy("Width divided by height is %(value)s, above %(limit)s"),
    "too_small": gettext_lazy("Shortest side is %(value)s pixels, below %(limit)s"),
    "too_low": gettext_lazy("%(name)s is %(value)s, below %(limit)s"),
    "too_high": gettext_lazy("%(name)s is %(value)s, above %(limit)s"),
    "same_picture": gettext_lazy("Same file as “%(key)s”"),
    "near_duplicate": gettext_lazy("Similarity to “%(key)s” is %(similarity)s"),
    "in_base": gettext_lazy("%(name)s is %(similarity)s, not below %(limit)s"),
    "unreadable": gettext_lazy("The picture cannot be read"),
    "not_a_number": gettext_lazy("%(value)s is not a number"),
}


def result_text(result: FilterResult, rules: Mapping[str, FilterRule]) -> str:
    """Why a filter dropped an item, or what the item waits for; of a decision by hand who made it and why."""
    if result.key == BY_HAND:
        person = result.decided_by.name if result.decided_by else "–"
        values = {"person": person, "reason": result.reason}
        if result.state == FilterResult.State.KEPT:
            return _("Kept by %(person)s: %(reason)s") % values
        return _("Dropped by %(person)s: %(reason)s") % values
    if result.reason == "blocked_word":
        name = TEXT_NAMES.get(str(result.limit), result.limit)
        return _("Blocked word “%(word)s” in the %(text)s") % {"word": result.value, "text": name}
    if result.reason in REASONS:
        return str(REASONS[result.reason]) % _reason_values(result, rules.get(result.key))
    return _("Waits for %(name)s") % {"name": WAITS.get(str(result.value), result.value)}


WAITS = {PICTURE: gettext_lazy("a picture"), HASH: gettext_lazy("the perceptual hash")}


def _reason_values(result: FilterResult, rule: FilterRule | None) -> dict[str, Any]:
    detail = result.value if isinstance(result.value, dict) else {}
    value = result.value if not detail else ""
    return {
        "name": rule.needs if rule else result.key,
        "value": _number(value) if isinstance(value, int | float) else value,
        "limit": _number(result.limit) if isinstance(result.limit, int | float) else "",
        "key": detail.get("key", ""),
        "similarity": _number(detail.get("similarity")),
    }


def result_texts(results: Sequence[FilterResult], rules: Mapping[str, FilterRule]) -> list[str]:
    """Reasons of what is not kept, the decision by hand first."""
    reasons = [result for result in results if result.key == BY_HAND or result.state != FilterResult.State.KEPT]
    return [result_text(result, rules) for result in sorted(reasons, key=lambda result: result.key != BY_HAND)]
