"""3XCM's figures: who wins a forced choice, and which languages stand at which rank."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.figures.drawing import bars, ranks
from evaluation.figures.drawing.colours import BRASS_DEEP, KINDS, Look
from evaluation.figures.estimate_text import list_text
from evaluation.figures.figure import Datum, Figure
from evaluation.figures.spec import FigureData, FigureSpec
from evaluation.metrics.counts import Floats
from evaluation.tables.ranked_lists import RankedLists, labels_at, ranked_lists
from evaluation.tables.table import MissingData
from papers.xcm.metrics import winners
from papers.xcm.tables.prevalence import TIERS, tier
from papers.xcm.tables.trials import SIX, THREE, TrialScores, choices_of, countries_of, with_trials

DEPTH = 100  # ranks at most
ROLES: Mapping[str, tuple[str, str | Promise]] = {
    "correct": ("C", gettext_lazy("correct")),
    "object_language_biased": ("OL", gettext_lazy("object relevant, language-biased")),
    "object_relevant": ("O", gettext_lazy("object relevant")),
    "descriptor_relevant": ("D", gettext_lazy("descriptor relevant")),
    "language_biased": ("L", gettext_lazy("language-biased")),
    "irrelevant": ("I", gettext_lazy("irrelevant")),
}
LOOKS: Mapping[str, Look] = {
    "correct": KINDS[0],
    "object_language_biased": KINDS[1],
    "object_relevant": KINDS[2],
    "descriptor_relevant": KINDS[3],
    "language_biased": Look(BRASS_DEEP, "#fff", "across-light"),
    "irrelevant": KINDS[5],
}


def wins_of_three(ground: FigureData) -> Figure:
    return _wins_figure(ground, "wins", THREE, _("Wins, three candidates"))


def wins_of_six(ground: FigureData) -> Figure:
    return _wins_figure(ground, "wins-six", SIX, _("Who wins, of six candidates"))


def _wins_figure(ground: FigureData, key: str, roles: tuple[str, ...], title: str) -> Figure:
    """Pooled for every run; by country of the query for the run that the address names (`run`), else the first."""
    score_sets = choices_of(ground.runs("forced_choice", with_trials(len(roles))), roles)
    if not score_sets:
        raise MissingData(_("No run has answered trials with these candidates."))
    labels = [scores.label for scores in score_sets]
    asked = next((str(x) for x in ground.params.getlist("run") if str(x) in labels), labels[0])
    shown = score_sets[labels.index(asked)]
    blocks = [(_("All countries"), scores.label, scores) for scores in score_sets]
    countries = [str(c) for c in countries_of([shown])]
    blocks += [(asked, country, shown.where(shown.countries == country)) for country in countries]
    counted = [(head, name, _counts(scores)) for head, name, scores in blocks]
    drawing = bars.Stacks(
        tuple(str(ROLES[role][1]) for role in roles),
        tuple(LOOKS[role] for role in roles),
        tuple(_stacks(counted)),
        tuple(ROLES[role][0] for role in roles),
    )
    named = [(name, head, every) if head != asked else (asked, name, every) for head, name, every in counted]
    rows: list[tuple[Datum, ...]] = [
        (run, country, str(ROLES[role][1]), wins, _share(wins, every))
        for run, country, every in named
        for role, wins in zip(roles, every, strict=True)
    ]
    pooled = [(name, _shares_text(roles, every)) for _head, name, every in counted[: len(score_sets)]]
    return Figure(
        key=key,
        title=title,
        alt=list_text(pooled, _("Shares of trials won, all countries:")),
        columns=(_("run"), _("country of the query"), _("candidate"), _("wins"), _("share")),
        rows=tuple(rows),
        draw=lambda width: bars.draw_stacks(drawing, width),
        words=(
            _("The most similar candidate wins; of several level with each other the first in the legend."),
            _("n is the number of trials with all similarities."),
            *ground.words(),
        ),
        links_head=_("By country, of the run:"),
        links=tuple((name, ground.with_options("run", name), name == asked) for name in labels),
    )


def _counts(of: TrialScores) -> list[int]:
    return [int(wins) for wins in np.nansum(winners(of.similarity), axis=0)] if of.trials else [0] * len(of.roles)


def _share(wins: int, every: list[int]) -> float | None:
    return wins / sum(every) if sum(every) else None


def _stacks(counted: list[tuple[str, str, list[int]]]) -> list[bars.Stack]:
    stacks, before = [], ""
    for head, name, every in counted:
        n = sum(every)
        shares = tuple(wins / n for wins in every) if n else None
        stacks.append(bars.Stack(name, shares, n, _("no trials"), head if head != before else ""))
        before = head
    return stacks


def _shares_text(roles: tuple[str, ...], every: list[int]) -> str:
    n = sum(every)
    if not n:
        return _("no trials")
    return ", ".join(f"{ROLES[role][1]} {100 * wins / n:.1f} %" for role, wins in zip(roles, every, strict=True))


def frequency_by_rank(ground: FigureData) -> Figure:
    """For every run: of all lists, how large a part has a caption of the tier at this rank."""
    parts = ranked_lists(ground.runs("retrieval"))
    found = [(part.label, _by_tier(part)) for part in parts]
    drawn = [(name, table) for name, table in found if table is not None and table.size]
    if not drawn:
        raise MissingData(_("No list has captions whose language is known. Give each entry its language."))
    panels = tuple(
        (
            name,
            tuple(
                ranks.ListKind(str(words), tuple(table[:, place].tolist()))
                for place, words in enumerate(TIERS.values())
            ),
        )
        for name, table in drawn
    )
    drawing = ranks.Ranks(panels, _("Rank"), _("Share of lists with a caption of the tier at this rank"))
    first = [(name, _tiers_in_words(table[0])) for name, table in drawn]
    return Figure(
        key="ranks",
        title=_("Languages by rank"),
        alt=list_text(first, _("At the first rank:")),
        columns=(_("run"), _("rank"), *(str(words) for words in TIERS.values())),
        rows=tuple(
            (name, rank, *(float(share) for share in row)) for name, table in drawn for rank, row in enumerate(table, 1)
        ),
        draw=lambda width: ranks.draw(drawing, width),
        words=(
            _("Tiers by the language's share of web text, as in the paper's Table 5."),
            _("Captions in other languages are left out."),
            *ground.words(),
        ),
    )


def _tiers_in_words(row: Floats) -> str:
    return ", ".join(f"{words} {100 * share:.0f} %" for words, share in zip(TIERS.values(), row, strict=True))


def _by_tier(of: RankedLists) -> Floats | None:
    """(k, 3) shares by rank, of the captions whose language is in a tier; None where a rank has no such caption."""
    k = min([DEPTH, *(len(keys) for keys in of.keys)])
    if not k:
        return None
    places = labels_at(of, k, tier, list(TIERS))
    known = (places >= 0).sum(axis=0)
    if not known.all():
        return None
    return np.stack([(places == place).sum(axis=0) / known for place in range(len(TIERS))], axis=1)


FIGURES = (
    FigureSpec(
        "wins", "Figure 5", gettext_lazy("Wins, three candidates"),
        gettext_lazy("Forced choices of a model between a correct, a language-biased and an irrelevant picture."),
        wins_of_three,
    ),
    FigureSpec(
        "wins-six", "Figure 7", gettext_lazy("Who wins, of six candidates"),
        gettext_lazy("Forced choices of a model between the six kinds of pictures of the descriptor task."),
        wins_of_six,
    ),
    FigureSpec(
        "ranks", "Figure 10", gettext_lazy("Languages by rank"),
        gettext_lazy("Ranked captions of a model, over a collection whose captions name their language."),
        frequency_by_rank,
    ),
)  # fmt: skip
