"""What CulturalVQA's tables need besides the first thing that they read. Each check is a few queries."""

from __future__ import annotations

from functools import partial
from typing import Any

from annotation.models import Rating
from benchmarks.models import Item
from evaluation.tables.requirements import Requirements
from evaluation.tables.table import MissingData
from evaluation.tables.table_inputs import TableInputs
from papers.culturalvqa.tables import accuracy as culturalvqa
from papers.culturalvqa.tables import judgements as culturalvqa_judged
from papers.culturalvqa.tables.labels import NO_SUB_CATEGORIES, SUB_CATEGORIES
from predictions.queries.model_details import without_detail


def _judged_items(inputs: TableInputs) -> Any:
    return Item.objects.filter(stage__benchmark=inputs.benchmark, stage__key=culturalvqa_judged.STAGE)


def _judged_settings(inputs: TableInputs) -> set[tuple[str, str]]:
    """Model and setting of what was judged."""
    rows = _judged_items(inputs).order_by().values_list("context__candidate_by", "context__setting").distinct()
    return {(str(by or ""), str(how or "")) for by, how in rows} - {("", "")}


def _with_the_picture(inputs: TableInputs) -> None:
    if not any(how == "vlm" and by != culturalvqa_judged.HUMAN for by, how in _judged_settings(inputs)):
        raise culturalvqa_judged.no_setting("vlm")


def _without_the_picture(inputs: TableInputs) -> None:
    if not {how for _by, how in _judged_settings(inputs)} & set(culturalvqa.BASELINES[:3]):
        raise MissingData(culturalvqa.NOT_WITHOUT)


def _with_examples_and_without(inputs: TableInputs) -> None:
    ways = _judged_settings(inputs)
    if not any((by, "vlm") in ways for by, how in ways if how == "vlm_few_shot"):
        raise MissingData(culturalvqa.NOT_BOTH)


def _sub_categories(facets: tuple[str, ...], inputs: TableInputs) -> None:
    items = Item.objects.filter(stage__benchmark=inputs.benchmark, stage__key__in=("lave", "answers"))
    rows = items.exclude(context__sub_category="").filter(context__has_key="sub_category")
    labels = Rating.objects.filter(
        campaign__stage__benchmark=inputs.benchmark, campaign__stage__key=SUB_CATEGORIES, live=True, counted=True
    )
    if not (rows.filter(context__facet__in=facets) if facets else rows).exists() and not labels.exists():
        raise MissingData(NO_SUB_CATEGORIES)


def _require_model_info(name: str, words: Any, inputs: TableInputs) -> None:
    names = {by for by, how in _judged_settings(inputs) if how == "vlm" and by != culturalvqa_judged.HUMAN}
    if len(unknown := without_detail(inputs.benchmark.team, names, name)) == len(names):
        raise culturalvqa.details_missing(words, unknown)


_FOOD, _RITES = ("food", "drink", "clothing"), ("traditions", "rituals")
REQUIREMENTS: Requirements = {
    **dict.fromkeys(("accuracy", "facets", "correlations"), (_with_the_picture,)),
    "releases": (_with_the_picture, partial(_require_model_info, "released", culturalvqa.NOT_DATED)),
    "gaps": (_with_the_picture, partial(_require_model_info, "open", culturalvqa.NOT_OPEN)),
    "table-6": (_with_the_picture, partial(_sub_categories, _FOOD)),
    "table-7": (_with_the_picture, partial(_sub_categories, _RITES)),
    "sub-categories": (partial(_sub_categories, ()),),
    "without-picture": (_without_the_picture,),
    "few-shot": (_with_examples_and_without,),
}
