"""What CAIRE's tables need besides the first thing that they read. Each check is a few queries."""

from __future__ import annotations

from benchmarks.models import Item
from evaluation.tables.requirements import Requirements, answers_of
from evaluation.tables.table import MissingData
from evaluation.tables.table_inputs import TableInputs
from papers.caire.tables import specific as caire_specific
from papers.caire.tables import universal as caire


def _people_and_models(inputs: TableInputs) -> None:
    if not answers_of(inputs, caire.STAGE, caire.FIELD, "person").exists():
        raise MissingData(caire.NO_PEOPLE, by_people=True)
    if not answers_of(inputs, caire.STAGE, caire.FIELD, "model").exists():
        raise MissingData(caire.NO_MODELS)


def _require_gold(inputs: TableInputs) -> None:
    items = Item.objects.filter(stage__benchmark=inputs.benchmark, stage__key=caire_specific.STAGE)
    if not items.filter(context__has_key="gold").exists():
        raise MissingData(caire_specific.NO_GOLD)


def _with_the_article(inputs: TableInputs) -> None:
    answered = answers_of(inputs, caire_specific.STAGE, caire_specific.FIELD, "model")
    if not answered.filter(rater__setting="gold_context").exists():
        raise MissingData(caire_specific.NO_ARTICLE)


REQUIREMENTS: Requirements = {
    **dict.fromkeys(("table-2", "table-15", "table-16", "table-17", "spread"), (_people_and_models,)),
    "table-1": (_require_gold,),
    "table-10": (_require_gold, _with_the_article),
}
