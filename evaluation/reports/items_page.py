"""The pages of single units: those that people disagree about most, and one with all its answers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.displays import display
from annotation.displays.answer_culture import layout_for_person
from annotation.displays.shown_item import build_shown
from annotation.models import Annotation, Unit
from annotation.pages.uncounted_reasons import WHY_UNCOUNTED
from annotation.queries.consent_withdrawal import NEVER_SELECTED
from annotation.services.sheets.sheet_versions import sheet_of
from annotation.sheets.conditions import condition_name
from annotation.sheets.sheet import Field, localise
from benchmarks.models import Benchmark, Stage
from evaluation.rendering.number_format import format_number
from evaluation.reports.disagreement import (
    EXPLAINED,
    LEAST,
    PAGE,
    DisagreementOrder,
    answer_text,
    codes_of,
    comparable,
    units_of,
)
from evaluation.reports.filters import arrange_form, build_select, other_params, rater_selects, task_selects
from evaluation.selections.catalogue import Catalogue
from evaluation.selections.measures import CODED
from evaluation.selections.selection import COUNTED_LABELS, Selection
from predictions.pages.variant_names import VariantNames


def list_context(
    catalogue: Catalogue, selection: Selection, order: DisagreementOrder, page: int, language: str
) -> dict[str, Any]:
    """What templates/evaluation/items.html takes: one page of the order."""
    start = (page - 1) * PAGE
    places = order.places(start, start + PAGE)
    ids = [one.unit for one in places]
    units = units_of(ids)
    codes = codes_of(selection, ids) if selection.level in CODED else {}
    names = {c: condition_name(catalogue.benchmark, c, language) for c in selection.conditions}
    rows = [
        {
            "unit": units[place.unit],
            "picture": next(iter(build_shown(units[place.unit], None).images), None),
            "condition": names.get(units[place.unit].item.condition, ""),
            "value": format_number(place.value),
            "n": place.n,
            "codes": codes.get(place.unit, []),
        }
        for place in places
    ]
    of_measure = {str(measure.explained) for measure in selection.measures}
    texts = [words for words in selection.description(catalogue, language)[:-1] if words not in of_measure]
    texts.append(str(EXPLAINED.get(selection.level, EXPLAINED["coded"])))
    return {
        "rows": rows,
        "first": start + 1,
        "last": start + len(places),
        "page": page,
        "earlier": page - 1,
        "later": page + 1 if start + PAGE < len(order.units) else 0,
        "total": len(order.units),
        "apart": _unranked_notes(order),
        "counted": texts,
        "has_codes": bool(codes),
    }


def _unranked_notes(order: DisagreementOrder) -> list[str]:
    """What stands in no order, and why."""
    notes = []
    if order.values and order.values[0] == 0:
        notes.append(_("No two raters differ on any of these items, so their order has no meaning."))
    if order.n_too_few_raters:
        notes.append(
            ngettext(
                "%(n)s item with fewer raters is left out.",
                "%(n)s items with fewer raters are left out.",
                order.n_too_few_raters,
            )
            % {"n": f"{order.n_too_few_raters:,}"}
        )
    if order.n_undefined:
        notes.append(
            ngettext(
                "%(n)s item has no value: chance alone would give the same.",
                "%(n)s items have no value: chance alone would give the same.",
                order.n_undefined,
            )
            % {"n": f"{order.n_undefined:,}"}
        )
    return notes


def list_filters(catalogue: Catalogue, selection: Selection, least: int, language: str) -> dict[str, Any]:
    stage = next(one for one in catalogue.stages if one.key == selection.stage)
    campaigns = [one for one in stage.campaigns if one.id in selection.campaigns]
    selects = task_selects(catalogue, stage, selection)
    questions = {f.key: localise(f.label, language).replace("{target}", "…") for f in comparable(campaigns[0])}
    if len(questions) > 1:
        selects.append(build_select("field", _("Question"), questions, selection.field))
    selects.append(build_select("least", _("Minimum raters per item"), {one: one for one in LEAST}, str(least)))
    selects.append(build_select("counted", _("Answers included"), COUNTED_LABELS, selection.counted))
    selects += rater_selects(catalogue, stage, campaigns, selection, language)
    return arrange_form(selection, selects) | {"carried": other_params(selection, selects)}


@dataclass(frozen=True)
class UnitAnswerRow:
    """One person's or model's whole answer to the unit."""

    annotation: Annotation
    rater_name: str
    group: str
    note: str


def answers_to(benchmark: Benchmark, unit: Unit, selection: Selection) -> list[UnitAnswerRow]:
    """All that stands in the selection's campaigns, counted or not: people by cohort and name here, then models."""
    annotations = Annotation.objects.filter(
        assignment__unit=unit, assignment__campaign__in=selection.campaigns, live=True
    )
    annotations = annotations.exclude(uncounted_because__in=NEVER_SELECTED)
    rows, names = [], VariantNames(benchmark)
    for annotation in annotations.select_related("rater", "cohort", "sheet_version"):
        model = annotation.rater.kind == annotation.rater.Kind.MODEL
        name = (
            ", ".join(filter(None, [annotation.rater.name, names.name_of(annotation.rater.setting, selection.stage)]))
            if model
            else benchmark.pseudonym(annotation.rater_id)
        )
        group = _("Models") if model else annotation.cohort.name if annotation.cohort else _("no cohort")
        why = WHY_UNCOUNTED.get(annotation.uncounted_because, annotation.uncounted_because)
        note = "" if annotation.counted else _("not counted: %(why)s") % {"why": why}
        rows.append(UnitAnswerRow(annotation, name, group, note))
    return sorted(
        rows, key=lambda row: (row.annotation.rater.kind == "model", bool(row.note), row.group, row.rater_name)
    )


def unit_context(catalogue: Catalogue, stage: Stage, unit: Unit, selection: Selection, language: str) -> dict[str, Any]:
    """What templates/evaluation/item.html takes: the unit as people saw it, and what each of them said."""
    benchmark = catalogue.benchmark
    own = unit.label_set_id is None
    cohort = next((one for one in catalogue.cohorts.values() if own and one.label == unit.target), None)
    rows = answers_to(benchmark, unit, selection)
    shown_item = build_shown(unit, cohort)
    fields: dict[str, tuple[Field, list[dict[str, Any]]]] = {}
    for row in rows:
        for field in sheet_of(row.annotation.sheet_version).fields:
            if row.annotation.answers.get(field.key) is not None:
                data = answer_text(field, row.annotation.answers[field.key], language).data
                fields.setdefault(field.key, (field, []))[1].append({"who": _signed_name(row), "data": data})
    return {
        "display": display(stage.display),
        "shown": shown_item,
        "layout": layout_for_person(stage, shown_item, cohort, language),
        "n": len(rows),
        "questions": [
            {
                "label": localise(field.label, language).replace("{target}", shown_item.target_name or "…"),
                "template": f"annotation/fields/{field.spec.key}/compare.html",
                "rows": answer_rows,
            }
            for field, answer_rows in fields.values()
        ],
        **_distribution(rows, selection, language),
    }


def _signed_name(row: UnitAnswerRow) -> str:
    return f"{row.rater_name}, {row.group} ({row.note})" if row.note else f"{row.rater_name}, {row.group}"


def _distribution(rows: list[UnitAnswerRow], selection: Selection, language: str) -> dict[str, Any]:
    """How often each code was given in each cohort, of answers that count."""
    if selection.level not in CODED:
        return {}
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    labels: dict[str, str] = {}
    for row in rows:
        sheet = sheet_of(row.annotation.sheet_version)
        answer = row.annotation.answers.get(selection.field)
        if row.note or answer is None:
            continue
        field = sheet.field(selection.field)
        coded = field.spec.code(answer, field.config)
        if coded is not None:
            counts[row.group][coded.code] += 1
            labels[coded.code] = coded.code
    codes = sorted(labels)
    table = [(group, [found.get(code, 0) for code in codes], sum(found.values())) for group, found in counts.items()]
    return {"codes": codes, "distribution": table}
