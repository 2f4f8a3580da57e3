"""CulturalVQA: what judges and people say of the questions themselves: their sub-categories, and stereotypes.

A judge labels, people correct: where people have said which sub-category a question is of, theirs holds; else what came
with the item; else the judge's.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Rating
from evaluation.metrics.proportions import share_of
from evaluation.queries.observations import Observations
from evaluation.rendering.report import Cell, Rounding, Row, Words
from evaluation.tables.model_scores import model_label
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData, Table
from evaluation.tables.table_inputs import TableInputs
from papers.culturalvqa.recipe_labels import STEREOTYPE_SHEET, SUB_CATEGORY_SHEET
from people.models import Rater

SUB_CATEGORIES, STEREOTYPES = "sub-categories", "stereotypes"
NAMES = {one["code"]: one["label"]["en"] for one in SUB_CATEGORY_SHEET["fields"][0]["config"]["options"]}
CODES, ABOUT = (
    {one["code"]: one["label"]["en"] for one in field["config"]["options"]} for field in STEREOTYPE_SHEET["fields"]
)
WHOLE = Rounding(1, 100)
UNKNOWN = "unknown"  # a question that has a label, and no answer to what it is about
NO_SUB_CATEGORIES = gettext_lazy(
    "The questions of these facets have no sub-categories. Have a judge or people name them in the stage "
    "“sub-categories”, or import them with the items."
)


def sub_categories(inputs: TableInputs) -> tuple[dict[str, str], dict[str, str]]:
    """By the question's key its sub-category, as the paper calls it: as people said, and as models did. Where as many
    say one thing as another, nobody has said anything."""
    entry = next((stage for stage in inputs.catalogue.stages if stage.key == SUB_CATEGORIES), None)
    campaigns = [campaign_entry.id for campaign_entry in inputs.campaigns_of(entry)] if entry else []
    rows = Rating.objects.filter(campaign__in=campaigns, field="sub_category", live=True, counted=True)
    rows = rows.filter(unit__item__withdrawn_at=None)
    votes: dict[str, dict[str, Counter[str]]] = {kind: defaultdict(Counter) for kind in Rater.Kind.values}
    for key, kind, code in rows.values_list("unit__item__key", "rater__kind", "code").iterator(chunk_size=5000):
        votes[kind][key][NAMES.get(code, code)] += 1
    people, models = (
        {key: name for key, counts in votes[kind].items() if (name := _most_common(counts))}
        for kind in (Rater.Kind.PERSON, Rater.Kind.MODEL)
    )
    return people, models


def _most_common(counts: Counter[str]) -> str:
    ranked = counts.most_common(2)
    return "" if len(ranked) > 1 and ranked[0][1] == ranked[1][1] else ranked[0][0]


def build_stereotypes(inputs: TableInputs) -> Table:
    """How many questions each rater finds to rest on a stereotype, or to go against one, and about what."""
    observations = inputs.observed(STEREOTYPES, "stereotype")
    try:
        about = inputs.observed(STEREOTYPES, "about")
    except MissingData:
        about = None  # nobody has found any
    places = [place for place, _who in observations.models()]
    sides = [*([-1] if not observations.by_model.all() else []), *places]
    counted = [_counts(observations, about, place) for place in sides]
    rows = []
    for code, label in CODES.items():
        cells = [
            Cell(share_of(counts[code, ""], n, method="share of questions"), rounding=WHOLE) for counts, n in counted
        ]
        rows.append(Row(label, tuple(cells)))
        if code == "neither":
            continue
        all_counts = [counts for counts, _n in counted]
        for what, name in ABOUT.items():
            rows.append(Row(name, tuple(Cell(text=_about_text(counts, code, what)) for counts in all_counts), label))
        if any(counts[code, UNKNOWN] for counts in all_counts):
            cells = [Cell(text=str(counts[code, UNKNOWN])) for counts in all_counts]
            rows.append(Row(_("Unknown"), tuple(cells), label))
    columns: list[Words] = [_("People") if place < 0 else model_label(observations.raters[place]) for place in sides]
    words: list[Words] = [
        _("Shares of the questions that were labelled, in percent; below them how many are about what."),
        _("People: each answer of a person counts."),
    ]
    return inputs.table(corner=_("The question"), columns=columns, rows=rows, words=words)


def _about_text(counts: Counter[tuple[str, str]], code: str, what: str) -> str:
    """A dash where no question with this label says what it is about: unknown is not zero."""
    return "–" if 0 < counts[code, ""] == counts[code, UNKNOWN] else str(counts[code, what])


def _counts(observations: Observations, about: Observations | None, place: int) -> tuple[Counter[tuple[str, str]], int]:
    """(code, what about) to how many; place -1: people."""
    mine = observations.people if place < 0 else observations.of_rater(place)
    counts: Counter[tuple[str, str]] = Counter()
    targets_by_unit: dict[tuple[int, int], str] = {}
    if about is not None:
        for unit, rater, code in zip(about.unit_pk, about.rater, about.code, strict=True):
            targets_by_unit[int(unit), about.raters[rater].pk] = about.codes[code]
    for unit, rater, code in zip(mine.unit_pk, mine.rater, mine.code, strict=True):
        counts[mine.codes[code], ""] += 1
        counts[mine.codes[code], targets_by_unit.get((int(unit), mine.raters[rater].pk), UNKNOWN)] += 1
    return counts, mine.n


STEREOTYPE_TABLE = TableSpec(
    "stereotypes",
    "Appendix C",
    gettext_lazy("Questions that rest on a stereotype"),
    gettext_lazy("Answers of people or of a judge in the stage “stereotypes”."),
    build_stereotypes,
)
