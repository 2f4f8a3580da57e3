"""What a table needs besides the first thing it reads: looked for without computing anything, for the list of tables.

Each look says what its table would say, and is a few questions whose answers stop at the first row, or walk the runs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from annotation.models import Rating
from benchmarks.models import Item
from evaluation.tables.sources import PICTURES, TEXTS
from evaluation.tables.spec import MissingData
from evaluation.tables.table_inputs import TableInputs
from papers.caire.tables import specific as caire_specific
from papers.caire.tables import universal as caire
from papers.culturalvqa.tables import accuracy as culturalvqa
from papers.culturalvqa.tables import judgements as culturalvqa_judged
from papers.culturalvqa.tables.labels import SUB_CATEGORIES
from papers.valueground.tables.raters import CHOICE, MAIN, TEXT, rows_of
from papers.xcm.tables.association import PLAIN_THREE, embeddings_of
from people.models import Rater

Look = Callable[[TableInputs], None]


def check_requirements(inputs: TableInputs) -> None:
    """Raises MissingData for the first thing that is not there."""
    for one in LOOKS.get((inputs.benchmark.recipe, inputs.spec.key), ()):
        one(inputs)


def _has_answers(inputs: TableInputs, stage: str, field: str, kind: str) -> Any:
    campaigns = inputs.selection(stage, field).campaigns
    return Rating.objects.filter(campaign__in=campaigns, field=field, live=True, rater__kind=kind)


# ---- CAIRE ----------------------------------------------------------------------------------------------------------


def _people_and_models(inputs: TableInputs) -> None:
    if not _has_answers(inputs, caire.STAGE, caire.FIELD, "person").exists():
        raise MissingData(caire.NO_PEOPLE, by_people=True)
    if not _has_answers(inputs, caire.STAGE, caire.FIELD, "model").exists():
        raise MissingData(caire.NO_MODELS)


def _gold(inputs: TableInputs) -> None:
    items = Item.objects.filter(stage__benchmark=inputs.benchmark, stage__key=caire_specific.STAGE)
    if not items.filter(context__has_key="gold").exists():
        raise MissingData(caire_specific.NO_GOLD)


def _with_the_article(inputs: TableInputs) -> None:
    answered = _has_answers(inputs, caire_specific.STAGE, caire_specific.FIELD, "model")
    if not answered.filter(rater__setting="gold_context").exists():
        raise MissingData(caire_specific.NO_ARTICLE)


# ---- CulturalVQA ----------------------------------------------------------------------------------------------------


def _judged(inputs: TableInputs) -> Any:
    return Item.objects.filter(stage__benchmark=inputs.benchmark, stage__key=culturalvqa_judged.STAGE)


def _ways(inputs: TableInputs) -> set[tuple[str, str]]:
    """Model and setting of what was judged."""
    rows = _judged(inputs).order_by().values_list("context__candidate_by", "context__setting").distinct()
    return {(str(by or ""), str(how or "")) for by, how in rows} - {("", "")}


def _with_the_picture(inputs: TableInputs) -> None:
    if not any(how == "vlm" and by != culturalvqa_judged.HUMAN for by, how in _ways(inputs)):
        raise culturalvqa_judged.no_setting("vlm")


def _without_the_picture(inputs: TableInputs) -> None:
    if not {how for _by, how in _ways(inputs)} & set(culturalvqa.BASELINES[:3]):
        raise MissingData(culturalvqa.NOT_WITHOUT)


def _with_examples_and_without(inputs: TableInputs) -> None:
    ways = _ways(inputs)
    if not any((by, "vlm") in ways for by, how in ways if how == "vlm_few_shot"):
        raise MissingData(culturalvqa.NOT_BOTH)


def _sub_categories(facets: tuple[str, ...], inputs: TableInputs) -> None:
    rows = _judged(inputs).exclude(context__sub_category="").filter(context__has_key="sub_category")
    labels = Rating.objects.filter(
        campaign__stage__benchmark=inputs.benchmark, campaign__stage__key=SUB_CATEGORIES, live=True, counted=True
    )
    if not (rows.filter(context__facet__in=facets) if facets else rows).exists() and not labels.exists():
        raise MissingData(culturalvqa.NO_SUB_CATEGORIES)


def _known(name: str, words: Any, inputs: TableInputs) -> None:
    models = Rater.objects.filter(kind=Rater.Kind.MODEL, team=inputs.benchmark.team_id, about__has_key=name)
    if not models.exists():
        raise MissingData(words)


# ---- ValueGround ----------------------------------------------------------------------------------------------------


def _settings(both: bool, inputs: TableInputs) -> None:
    ratings = _has_answers(inputs, CHOICE, "choice", "model").order_by()
    raters = Rater.objects.filter(pk__in=ratings.values_list("rater", flat=True).distinct())
    rows = rows_of(raters, inputs.selection(CHOICE, "choice").campaigns)
    main, text = set(rows[MAIN].values()), set(rows[TEXT].values())
    if both and not main & text:
        raise MissingData(_("No model has answered both settings, main and text_only, yet. Import its answers."))
    if not main:
        raise MissingData(_("No model has answered the setting “main” yet. Import its answers."))


# ---- 3XCM -----------------------------------------------------------------------------------------------------------


def _embedded(inputs: TableInputs) -> None:
    """A model with similarities in the collection of the trials, and embeddings in those of texts or pictures."""
    trials = TableInputs.runs(inputs, "forced_choice", PLAIN_THREE)
    embedded = {run.rater.name for option in (TEXTS, PICTURES) for run in embeddings_of(inputs, option)}
    if not embedded & {run.rater.name for run in trials}:
        raise MissingData(_("No model has both similarities and embeddings. Import its embeddings."))


_FOOD, _RITES = ("food", "drink", "clothing"), ("traditions", "rituals")
_BOTH: tuple[Look, ...] = (partial(_settings, True),)
LOOKS: dict[tuple[str, str], tuple[Look, ...]] = {
    **{("caire-universal", key): (_people_and_models,) for key in ("table-2", "table-15", "table-16", "table-17")},
    ("caire-universal", "spread"): (_people_and_models,),
    ("caire-universal", "table-1"): (_gold,),
    ("caire-universal", "table-10"): (_gold, _with_the_article),
    **{("culturalvqa", key): (_with_the_picture,) for key in ("accuracy", "facets", "correlations")},
    ("culturalvqa", "releases"): (_with_the_picture, partial(_known, "released", culturalvqa.NOT_DATED)),
    ("culturalvqa", "gaps"): (_with_the_picture, partial(_known, "open", culturalvqa.NOT_OPEN)),
    ("culturalvqa", "table-6"): (_with_the_picture, partial(_sub_categories, _FOOD)),
    ("culturalvqa", "table-7"): (_with_the_picture, partial(_sub_categories, _RITES)),
    ("culturalvqa", "sub-categories"): (partial(_sub_categories, ()),),
    ("culturalvqa", "without-picture"): (_without_the_picture,),
    ("culturalvqa", "few-shot"): (_with_examples_and_without,),
    **{("valueground", key): _BOTH for key in ("table-5", "table-6", "table-7", "table-8")},
    **{("valueground", key): (partial(_settings, False),) for key in ("figure-3", "bands")},
    ("3xcm", "silhouettes"): (_embedded,),
}
