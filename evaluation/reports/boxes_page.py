"""Boxes beside boxes, for the agreement and the model pages: a box has no code, so its agreement is overlap (IoU)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import tzinfo
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.translation import gettext as _

from evaluation.metrics.box_agreement import Boxes, mean_overlap_with_people, mean_pairwise_overlap
from evaluation.metrics.boxes import corners_of
from evaluation.metrics.estimate import Estimate
from evaluation.queries.answer_tables import field_answers, one_per_rater
from evaluation.queries.call_statistics import CallStatistics, call_statistics
from evaluation.rendering.html import page_table
from evaluation.rendering.report import Cell, Reason, Report, ReportColumn, Row, number
from evaluation.reports.comparison_filters import EVERYBODY
from evaluation.selections.catalogue import Catalogue
from evaluation.selections.selection import LABEL_RULE_LABELS, Selection, select, stage_of
from people.models import Rater
from predictions.pages.variant_names import VariantNames


def box_selection(catalogue: Catalogue, params: QueryDict, zone: tzinfo) -> Selection | None:
    """Of the question that is asked for, where it is a box; else of the first box of a stage none of whose questions
    has a code. None of any other. Raises SelectionError."""
    stage = stage_of(catalogue, params)
    sheet = stage.campaigns[0].sheet
    keys = [one.key for one in sheet.fields if sheet.level(one.key) == "box"]
    chosen = [key for key in params.getlist("field") if key in keys]
    if not keys or (stage.campaigns[0].fields and not chosen):
        return None
    plain = QueryDict(mutable=True)
    for name in (
        "stage",
        "campaign",
        "cohort",
        "condition",
        "concept",
        "counted",
        "repeats",
        "labels",
        "since",
        "until",
    ):
        plain.setlist(name, params.getlist(name))
    return replace(select(catalogue, plain, field=(chosen or keys)[0], zone=zone), raters=EVERYBODY)


def boxes_context(catalogue: Catalogue, selection: Selection) -> dict[str, Any]:
    """For templates/evaluation/boxes.html: people among themselves by cohort, and each model beside people."""
    cohorts, models = _boxes_by_rater(selection)
    of_calls, names = call_statistics(selection), VariantNames(catalogue.benchmark)
    models = {pk: {} for pk in of_calls} | models  # one that drew nothing readable is not left out in silence
    people: dict[int, dict[int, Boxes]] = defaultdict(dict)
    for drawn in cohorts.values():
        for unit, answers in drawn.items():
            people[unit] |= answers
    raters = Rater.objects.in_bulk(list(models))
    people_rows = tuple(
        Row(catalogue.cohorts[pk].name, (_overlap(people_overlap(cohorts.get(pk, {}).values()), of_people=True),))
        for pk in selection.cohorts
    )
    model_rows = tuple(
        Row(
            raters[pk].name,
            _model_cells(drawn, people, of_calls.get(pk)),
            setting=names.name_of(raters[pk].setting, selection.stage),
        )
        for pk, drawn in sorted(models.items(), key=lambda pair: (raters[pair[0]].name, pair[0]))
    )
    among = ReportColumn(_("Mean pairwise IoU"), shape="short")
    columns = (
        ReportColumn(_("Mean IoU with people"), shape="short"),
        ReportColumn(_("Left out"), shape="text", style="num"),
    )
    return {
        **_label_context(selection),
        "stage": next(one for one in catalogue.stages if one.key == selection.stage),
        "stages": catalogue.stages,
        "people": page_table(Report(_("Cohort"), (among,), people_rows), "by-cohort"),
        "models": page_table(Report(_("Model"), columns, model_rows), "by-cohort") if model_rows else None,
    }


def _label_context(selection: Selection) -> dict[str, Any]:
    """Whether labels count, and the address of the other choice; nothing where boxes have none."""
    if not selection.label_rule:
        return {}
    ignored = selection.box_rule == "ignore"
    rest = [(name, value) for name, value in selection.to_params() if name not in ("labels", "field")]
    other = [*rest, ("field", selection.field), ("labels", "must_match" if ignored else "ignore")]
    text = LABEL_RULE_LABELS[selection.label_rule]
    return {"label_rule": text, "labels_ignored": ignored, "other_rule": urlencode(other)}


def _overlap(estimate: Estimate, *, of_people: bool) -> Cell:
    why = _("no item has boxes of two people") if of_people else _("people drew no boxes for its items")
    return number(estimate, reason=Reason("", why))


def _model_cells(
    drawn: Mapping[int, Boxes], people: Mapping[int, Mapping[int, Boxes]], calls: CallStatistics | None
) -> tuple[Cell, Cell]:
    """The overlap, and the number of units that the model was asked about and drew nothing readable for."""
    left_out = len(set(calls.failed) & set(people)) if calls else 0
    return _overlap(model_overlap(drawn, people), of_people=False), Cell(text=str(left_out))


def people_overlap(units: Iterable[Mapping[int, Boxes]]) -> Estimate:
    """Mean over units of the IoU between two people, averaged over their pairs; units with fewer than two are out."""
    return mean_pairwise_overlap(list(units))


def model_overlap(drawn: Mapping[int, Boxes], people: Mapping[int, Mapping[int, Boxes]]) -> Estimate:
    """Mean over units of a model's IoU with each person's box; units that nobody drew for are out."""
    units = [unit for unit in drawn if people.get(unit)]
    return mean_overlap_with_people([drawn[unit] for unit in units], [people[unit] for unit in units])


def _boxes_by_rater(selection: Selection) -> tuple[dict[int, dict[int, dict[int, Boxes]]], dict[int, dict[int, Boxes]]]:
    """Of people by cohort, unit and rater; of models by rater and unit."""
    answers_by_pair = one_per_rater(field_answers(selection), selection.repeats)
    seen = {rater for _unit, rater in answers_by_pair}
    machines = set(Rater.objects.filter(pk__in=seen, kind=Rater.Kind.MODEL).values_list("pk", flat=True))
    cohorts: dict[int, dict[int, dict[int, Boxes]]] = defaultdict(lambda: defaultdict(dict))
    models: dict[int, dict[int, Boxes]] = defaultdict(dict)
    for (unit, rater), (cohort, *_when, answer) in answers_by_pair.items():
        boxes = corners_of(answer, selection.box_rule)
        if rater in machines:
            models[rater][unit] = boxes
        elif cohort is not None:
            cohorts[cohort][unit][rater] = boxes
    return cohorts, models
