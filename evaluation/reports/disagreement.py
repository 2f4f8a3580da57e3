"""Units by how far their raters differ, the most first; and one unit with all that was said about it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.fields.bound_field import AnswerView, answer_views
from annotation.fields.form import Localiser
from annotation.models import Rating, Unit
from annotation.sheets.sheet import Field
from evaluation.metrics.boxes import corners_of
from evaluation.metrics.disagreement import between_boxes, between_groupings, between_texts, disagreement
from evaluation.metrics.partitions import Partition
from evaluation.queries.answer_tables import answer_rows, one_per_rater
from evaluation.queries.ratings import inclusion_filter, pooled_ratings
from evaluation.selections.catalogue import CampaignEntry, Catalogue
from evaluation.selections.measures import CODED
from evaluation.selections.selection import Params, Selection, SelectionError, select, stage_of

PAGE = 50
LEAST = ("2", "3", "5", "10")
EXPLAINED: dict[str, Any] = {
    "coded": gettext_lazy(
        "Disagreement is the mean distance between two raters of the item at the level of "
        "the question, divided by the distance expected by chance. 0 is the same answer by "
        "all, 1 is chance."
    ),
    "box": gettext_lazy("Disagreement is 1 minus the overlap (IoU) of two people's boxes, averaged over pairs."),
    "partition": gettext_lazy("Disagreement is 1 minus the adjusted Rand index of two groupings, averaged over pairs."),
    "text": gettext_lazy(
        "Disagreement is the share of pairs of people whose texts differ; case, punctuation and spaces aside."
    ),
}


@dataclass(frozen=True)
class UnitDisagreement:
    """One unit in the order: `value` is its disagreement, `n` its raters."""

    unit: int
    value: float
    n: int


@dataclass(frozen=True)
class DisagreementOrder:
    """`units`: ids of the n units, the one with the highest disagreement first; `values` and `raters` (n,) are theirs.
    Lists, for a page reads 50 of what may be 100,000. `n_too_few_raters`: units with fewer raters than asked for;
    `n_undefined`: units with enough, without a value."""

    units: list[int]
    values: list[float]
    raters: list[int]
    n_too_few_raters: int
    n_undefined: int

    def places(self, start: int, stop: int) -> list[UnitDisagreement]:
        """Those from `start`, counted from 0, to before `stop`."""
        part = slice(start, stop)
        return list(map(UnitDisagreement, self.units[part], self.values[part], self.raters[part]))

    def around(self, unit: int) -> tuple[int, int | None, int | None]:
        """Where a unit stands, counted from 1 (0: nowhere), and its neighbours."""
        units = self.units
        if unit not in units:
            return 0, None, units[0] if units else None
        at = units.index(unit)
        return at + 1, units[at - 1] if at else None, units[at + 1] if at + 1 < len(units) else None


def comparable(entry: CampaignEntry) -> list[Field]:
    """Questions whose answers can be told apart; a picture that was brought is nobody else's."""
    return [one for one in entry.sheet.fields if not one.spec.takes_uploads]


def disagreement_selection(catalogue: Catalogue, params: Params, zone: Any) -> tuple[Selection, int]:
    """The selection, of any question, and the least number of raters. Raises SelectionError."""
    stage = stage_of(catalogue, params)
    asked = [value for value in params.getlist("field") if value]
    plain = QueryDict(mutable=True)
    for name in ("stage", "campaign"):
        plain.setlist(name, params.getlist(name))
    first = select(catalogue, plain, field=stage.campaigns[0].sheet.fields[0].key)
    entry = next(one for one in stage.campaigns if one.id in first.campaigns)
    known = [one.key for one in comparable(entry)]
    if not known or (asked and asked[0] not in known):
        raise SelectionError("field", _("There is no such question here. There are: %(known)s.") % {
            "known": ", ".join(known) or "-"
        })  # fmt: skip
    least = [value for value in params.getlist("least") if value] or [LEAST[0]]
    if least[0] not in LEAST:
        raise SelectionError("least", _("Choose at least %(known)s raters.") % {"known": ", ".join(LEAST)})
    return select(catalogue, params, field=asked[0] if asked else known[0], zone=zone), int(least[0])


def order_units(selection: Selection, least: int) -> DisagreementOrder:
    """Ties by the number of raters, then by unit, so that the order is the same each time."""
    disagreements = list(
        _coded_disagreement(selection) if selection.level in CODED else _answer_disagreement(selection)
    )
    enough = [(unit, value, n) for unit, value, n in disagreements if n >= least]
    valued = [(unit, value, n) for unit, value, n in enough if value is not None]
    valued.sort(key=lambda row: (-row[1], -row[2], row[0]))
    units, values, raters = (list(column) for column in zip(*valued, strict=True)) if valued else ([], [], [])
    return DisagreementOrder(units, values, raters, len(disagreements) - len(enough), len(enough) - len(valued))


def _coded_disagreement(selection: Selection) -> Iterable[tuple[int, float | None, int]]:
    ratings, units = pooled_ratings(selection)
    by_unit = disagreement(ratings, selection.level)  # type: ignore[arg-type]
    for unit, value, n in zip(units, by_unit.value.tolist(), by_unit.raters.tolist(), strict=True):
        yield unit, None if n < 2 else round(value, 12), n


def _answer_disagreement(selection: Selection) -> Iterable[tuple[int, float | None, int]]:
    """Boxes, groupings and texts have no code; each answer is compared with each other one."""
    answers_by_unit: dict[int, dict[int, Any]] = defaultdict(dict)
    for (unit, rater), row in one_per_rater(answer_rows(selection), selection.repeats).items():
        answers_by_unit[unit][rater] = row[5]
    for unit, answers in answers_by_unit.items():
        yield unit, _disagreement_between(selection, list(answers.values())), len(answers)


def _disagreement_between(selection: Selection, answers: list[Any]) -> float | None:
    if selection.level == "box":
        return between_boxes([corners_of(one, selection.box_rule) for one in answers])
    if selection.level == "partition":
        return between_groupings([Partition.of(one) for one in answers])
    return between_texts([str(one) for one in answers])


def units_of(pks: list[int]) -> dict[int, Unit]:
    rows = Unit.objects.filter(pk__in=pks).select_related("item")
    return {one.pk: one for one in rows.prefetch_related("item__images__image", "item__facts")}


def codes_of(selection: Selection, units: list[int]) -> dict[int, list[tuple[str, int]]]:
    """How often each code was given to each unit, by the same selection; codes in their own order."""
    rows = Rating.objects.filter(
        inclusion_filter(selection, "annotation__"),
        annotation__assignment__unit__in=units,  # ratings themselves have no index of units
        campaign__in=selection.campaigns,
        field=selection.field,
    )
    codes_by_pair: dict[tuple[int, int], str] = {}
    given = rows.order_by("annotation__submitted_at", "annotation_id").values_list("unit_id", "rater_id", "code")
    for unit, rater, code in given:
        if selection.repeats == "latest" or (unit, rater) not in codes_by_pair:
            codes_by_pair[unit, rater] = code
    numbers: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for (unit, _rater), code in codes_by_pair.items():
        numbers[unit][code] += 1
    return {unit: sorted(found.items()) for unit, found in numbers.items()}


def answer_text(field: Field, answer: Any, language: str) -> AnswerView:
    """One answer as its kind draws it."""
    return answer_views([field], Localiser(language), {field.key: answer})[0]
