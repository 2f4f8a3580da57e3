"""What ValueGround's tables are made from: each model's answers to (question, source, country), and the labels.

A question is an item's concept (its key, where it has none), a source its condition, a country the unit's target. A
model's text-only answer may stand with any one source, since words have none: reversals take the answer given with the
same source, else that of the first source by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from evaluation.metrics.classification import MISSING, Unreadable, alignment_codes
from evaluation.metrics.counts import Bools, Floats, Ints
from evaluation.metrics.estimate import Estimate
from evaluation.queries.observations import ObservedItem
from evaluation.tables.table import MissingData
from evaluation.tables.table_inputs import TableInputs
from papers.valueground.survey_labels import Label, PairSource, Why
from papers.valueground.tables.label_sources import LabelSource, label_of, load_label_sources
from papers.valueground.tables.raters import (
    ALIGNMENT,
    CHOICE,
    MAIN,
    MATCHING,
    TEXT,
    PresentedUnits,
    presented_units,
    rows_of,
)

CODES = {"a": 0, "b": 1}
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Instances:
    """n instances. ``question``, ``source``, ``country`` (n,) are places in the tuples; ``gold`` (n,) the label's code,
    MISSING where unscorable; ``margin`` (n,), NaN where unknown. By model, each (n,): ``main`` and ``text`` the codes
    of its answers, ``own_text`` only those that stand with this very instance, ``aligned`` 1 or 0 or MISSING for the
    pair of pictures; ``put_main`` and ``put_text`` (n,) whether it was asked about the instance. ``alignments``: by
    model, of all pairs of pictures, 1, 0 or MISSING, whether it was asked about it, and the number of its question."""

    questions: tuple[str, ...]
    sources: tuple[str, ...]
    countries: tuple[str, ...]
    question: Ints
    source: Ints
    country: Ints
    gold: Ints
    margin: Floats
    labels: Mapping[tuple[int, int], Label]
    known: tuple[LabelSource, ...]
    main: Mapping[str, Ints]
    text: Mapping[str, Ints]
    own_text: Mapping[str, Ints]
    put_main: Mapping[str, Bools]
    put_text: Mapping[str, Bools]
    aligned: Mapping[str, Ints]
    alignments: Mapping[str, tuple[Ints, Bools, Ints]]

    @property
    def n(self) -> int:
        return int(self.question.size)

    @property
    def models(self) -> list[str]:
        return sorted({*self.main, *self.text})

    @property
    def nothing(self) -> Ints:
        return np.full(self.n, MISSING)

    @property
    def no_alignments(self) -> tuple[Ints, Bools, Ints]:
        """Of a model that was asked about no pair of pictures."""
        size = next((codes.size for codes, *_rest in self.alignments.values()), 0)
        cluster = next((numbers for *_rest, numbers in self.alignments.values()), np.zeros(0, np.int64))
        return np.full(size, MISSING), np.zeros(size, bool), cluster

    def main_gold(self, model: str) -> Ints:
        """(n,) labels of the instances that the model was asked about with pictures; MISSING elsewhere."""
        return np.where(self.put_main.get(model, False), self.gold, MISSING)

    def text_gold(self, model: str) -> Ints:
        return np.where(self.put_text.get(model, False), self.gold, MISSING)

    @property
    def pair(self) -> Ints:
        """(n,) one number for each question and country."""
        return self.question * len(self.countries) + self.country


def load_instances(inputs: TableInputs) -> Instances:
    """Raises MissingData without any answer of a model in the stage `choice`."""
    units = presented_units(
        inputs, CHOICE, lambda codes: np.array([CODES.get(code, MISSING) for code in codes], np.int64)
    )
    of_question, of_source, questions, sources = _places(units.items)
    key = (of_question[units.item] * len(sources) + of_source[units.item]) * len(units.targets) + units.target
    instances, place = np.unique(key, return_inverse=True)
    country = instances % len(units.targets)
    question, source = np.divmod(instances // len(units.targets), len(sources))
    about = load_label_sources(inputs.benchmark, questions, units.items, units.targets)
    labels = {(q, c): label_of(code, name) for q, code in enumerate(about) for c, name in enumerate(units.targets)}
    known = [labels[int(q), int(c)] for q, c in zip(question, country, strict=True)]
    rows = rows_of(units.raters, units.campaigns)
    main, put_main = _by_model(units, place, instances.size, rows[MAIN])
    own, put_text = _by_model(units, place, instances.size, rows[TEXT])
    pair = question * len(units.targets) + country
    aligned, alignments = _alignment(inputs, questions, sources, question, source)
    return Instances(
        questions=questions,
        sources=sources,
        countries=units.targets,
        question=question,
        source=source,
        country=country,
        gold=np.array([CODES.get(one.side or "", MISSING) for one in known], np.int64),
        margin=np.array([np.nan if one.margin is None else one.margin for one in known]),
        labels=labels,
        known=about,
        main=main,
        text={name: _fill_from_same_pair(codes, pair) for name, codes in own.items()},
        own_text=own,
        put_main=put_main,
        put_text=put_text,
        aligned=aligned,
        alignments=alignments,
    )


def _places(items: tuple[ObservedItem, ...]) -> tuple[Ints, Ints, tuple[str, ...], tuple[str, ...]]:
    """Of each item: the places of its question and its source, and both lists."""
    names = [item.concept or item.key for item in items]
    questions, question = np.unique(np.array(names, str), return_inverse=True)
    sources, source = np.unique(np.array([item.condition for item in items], str), return_inverse=True)
    return question, source, tuple(questions.tolist()), tuple(sources.tolist())


def _by_model(
    units: PresentedUnits, place: Ints, n: int, rows: Mapping[int, str]
) -> tuple[dict[str, Ints], dict[str, Bools]]:
    """Of each row: its codes, and what it was asked about. Where its calls are not known, that is all that anybody was
    asked in this way: what has no answer could not be read."""
    anybody = np.zeros(n, bool)
    anybody[place[np.isin(units.rater, list(rows))]] = True
    codes, asked = {}, {}
    for pk, name in sorted(rows.items(), key=lambda one: one[1]):
        mine = units.rater == pk
        codes[name] = np.full(n, MISSING)
        codes[name][place[mine]] = units.code[mine]
        asked[name] = anybody
        if pk in units.told:
            asked[name] = np.zeros(n, bool)
            asked[name][place[mine]] = True
    return codes, asked


def _fill_from_same_pair(codes: Ints, pair: Ints) -> Ints:
    """An instance without an answer of its own takes that of the first one of its question and country."""
    answered = np.flatnonzero(codes != MISSING)
    pairs, first = np.unique(pair[answered], return_index=True)
    if not pairs.size:
        return codes
    at = np.minimum(np.searchsorted(pairs, pair), pairs.size - 1)
    other = np.where(pairs[at] == pair, codes[answered[first]][at], MISSING)
    return np.where(codes != MISSING, codes, other)


def _alignment(
    inputs: TableInputs, questions: tuple[str, ...], sources: tuple[str, ...], question: Ints, source: Ints
) -> tuple[dict[str, Ints], dict[str, tuple[Ints, Bools, Ints]]]:
    """By model: for each instance; and for each pair of pictures."""
    both: Unreadable = "wrong" if inputs.chosen.get("same_option") == "wrong" else "left out"
    try:
        units = presented_units(inputs, ALIGNMENT, lambda codes: alignment_codes(codes, both=both))
    except MissingData:
        return {}, {}
    names = [(item.concept or item.key, item.condition) for item in units.items]
    shown = {name: n for n, name in enumerate(dict.fromkeys(names))}
    of_item = np.array([shown[name] for name in names])
    pairs = zip(question, source, strict=True)
    wanted = np.array([shown.get((questions[q], sources[s]), MISSING) for q, s in pairs])
    cluster = np.unique(np.array([q for q, _s in shown]), return_inverse=True)[1]
    rows = rows_of(units.raters, units.campaigns, (MATCHING,))[MATCHING]
    codes, asked = _by_model(units, of_item[units.item], len(shown), rows)
    aligned = {name: np.where(wanted == MISSING, MISSING, item[wanted]) for name, item in codes.items()}
    return aligned, {name: (one, asked[name], cluster) for name, one in codes.items()}


def inclusion_sentences(of: Instances) -> list[str]:
    """Denominators, and what is not in them, in words."""
    why = Counter(one.why for one in of.labels.values())
    sources = ngettext("%(n)s source of pictures.", "%(n)s sources of pictures.", len(of.sources))
    pairs = _("%(scorable)s of %(all)s pairs of question and country have a label;") % {
        "scorable": why[None],
        "all": len(of.labels),
    }
    return [f"{pairs} {sources % {'n': len(of.sources)}}", *_left_out(why)]


def _left_out(why: Mapping[Why | None, int]) -> list[str]:
    reasons = (
        ngettext("%(n)s exact tie", "%(n)s exact ties", why["tie"]) % {"n": why["tie"]},
        _("%(n)s without counts") % {"n": why["no_counts"]},
        _("%(n)s whose options have no codes") % {"n": why["codes_unresolved"]},
        _("%(n)s where an option's code is not above 0") % {"n": why["not_positive"]},
    )
    return [_("Left out: %(reasons)s.") % {"reasons": ", ".join(reasons)}]


def code_words(of: Instances) -> list[str]:
    """Which codes were taken for A and B, from where, and what is doubtful about them."""
    where: dict[PairSource, str] = {
        "options": _("Codes of options A and B, of the texts shown:"),
        "metadata": _("Codes of A and B, as “pair” gives them:"),
        "ends": _("Codes of A and B, taken from the two ends of the survey's options:"),
        "prefix": _("Codes of A and B, of the numbers their texts begin with:"),
        "extremes": _("Codes of A and B, the least and the greatest that were counted:"),
    }
    known = list(zip(of.questions, of.known, strict=True))
    confirmed = [f"{name} ({k.pair.a}, {k.pair.b})" for name, k in known if k.pair and k.confirmed]
    as_confirmed = _("Codes of A and B, as confirmed on the page Survey:")
    sentences = [f"{as_confirmed} {', '.join(confirmed)}."] * bool(confirmed)
    for found, words in where.items():
        others = [(name, k.pair) for name, k in known if k.pair and not k.confirmed]
        taken = [f"{name} ({pair.a}, {pair.b})" for name, pair in others if pair.found == found]
        sentences += [f"{words} {', '.join(taken)}."] if taken else []
    outside = [f"{of.questions[q]} {of.countries[c]}" for (q, c), one in sorted(of.labels.items()) if one.out_of_range]
    doubts = (
        (_("The mean is not between the two codes, and the label is only the nearer one:"), outside),
        (
            _("“pair” names other codes than the texts shown have; the texts count:"),
            _questions_with(known, "overruled"),
        ),
        (
            _("The texts shown are not among the survey's options; check the codes:"),
            _questions_with(known, "unmatched"),
        ),
        (_("Their pair of options is not confirmed, so they have no label:"), _faulty(known, "not_confirmed")),
        (_("They are not in the survey, so they have no label:"), _faulty(known, "not_in_survey")),
    )
    return [*sentences, *(f"{words} {', '.join(names)}." for words, names in doubts if names)]


def _questions_with(known: list[tuple[str, LabelSource]], name: str) -> list[str]:
    return [question for question, one in known if getattr(one, name)]


def _faulty(known: list[tuple[str, LabelSource]], fault: str) -> list[str]:
    return [question for question, source in known if source.fault == fault]


def known_answers(of: Instances, model: str) -> Bools:
    """(n,) instances with a label and both of the model's answers."""
    sides = (of.gold, of.main.get(model, of.nothing), of.text.get(model, of.nothing))
    return np.asarray(np.all([side != MISSING for side in sides], axis=0))


def count_estimate(count: int, of: int) -> Estimate:
    """How many of how many, as a number that has no interval."""
    return Estimate.of(float(count), method="count", n_units=of, n_raters=0, n_ratings=of)
