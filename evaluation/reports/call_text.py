"""How models were asked and what was left out, in words: beside every number that leaves something out."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from evaluation.queries.call_statistics import MissingAnswers
from evaluation.rendering.number_format import format_number
from predictions.models import Call
from predictions.texts.call_reasons import GOT, sample_words


def methods_text(ways: Mapping[str, int]) -> str:
    """Which way of asking the answers came by: a score read from log-probabilities and one read from prose are
    different measurements. Empty where nobody knows.

    >>> methods_text({"logprobs": 97, "text": 3})
    'Answer methods: 97 by log-probabilities, 3 from free text.'
    """
    known = {how: n for how, n in ways.items() if how}
    if not known:
        return ""
    names = {how: GOT.get(how, how) for how in ways if how} | {"": _("in a way the file does not say")}
    order = sorted(ways, key=lambda how: (-ways[how], how))
    parts = [_("%(n)s %(way)s") % {"n": f"{ways[how]:,}", "way": names[how]} for how in order]
    return _("Answer methods: %(ways)s.") % {"ways": _(", ").join(parts)}


def sample_sentences(samples: Sequence[Mapping[str, Any]]) -> list[str]:
    """How the units were drawn, for each run that asked a sample of them only."""
    return [
        _("It was asked about %(sample)s.") % {"sample": sample_text}
        for one in samples
        if (sample_text := sample_words(one))
    ]


def incomplete_sentence(n: int) -> str:
    """How many replies have readable answers to some questions only. Empty for none."""
    text = ngettext(
        "%(n)s reply is incomplete: some question of the sheet has no readable answer in it. The others count.",
        "%(n)s replies are incomplete: some question of the sheet has no readable answer in them. The others count.",
        n,
    )
    return text % {"n": f"{n:,}"} if n else ""


def missing_answers_text(of: MissingAnswers) -> str:
    """How many have no value, why, and within which ends the number would lie with them. Empty for none."""
    if not of.n:
        return ""
    labels = dict(Call.State.choices)
    states = _(", ").join(f"{str(labels[state]).lower()} {n:,}" for state, n in of.states.items())
    text = ngettext("Left out %(n)s: %(states)s.", "Left out %(n)s: %(states)s.", of.n)
    sentence = text % {"n": f"{of.n:,}", "states": states}
    if of.n_undecided:
        text = ngettext(
            "For %(n)s of them no answer is correct.",
            "For %(n)s of them no answer is correct.",
            of.n_undecided,
        )
        sentence = f"{sentence} {text % {'n': f'{of.n_undecided:,}'}}"
    if of.worst is None or of.best is None:
        return sentence
    ends = _("Bounds if all were wrong or right: %(worst)s to %(best)s.")
    if of.n_undecided:
        ends = _("Bounds if the others were all wrong or right: %(worst)s to %(best)s.")
    return f"{sentence} {ends % {'worst': format_number(of.worst), 'best': format_number(of.best)}}"
