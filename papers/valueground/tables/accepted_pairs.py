"""The sentence of a table about pairs that a person accepted as they are."""

from __future__ import annotations

from django.utils.translation import ngettext

from annotation.models import ItemAcceptance, ItemSource
from benchmarks.models import Item
from evaluation.rendering.report import Words
from evaluation.tables.table_inputs import TableInputs

STAGE = "pair-review"


def accepted_pairs_note(inputs: TableInputs, later: str = "") -> list[Words]:
    """How many pairs went on by a person's word and not by the rule of their review; empty where none did. `later`: a
    stage, and only pairs that are items there are counted."""
    acceptances = ItemAcceptance.objects.filter(
        item__stage__benchmark=inputs.benchmark, item__stage__key=STAGE, item__withdrawn_at=None, undone_at=None
    )
    if later:
        derived = Item.objects.filter(stage__benchmark=inputs.benchmark, stage__key=later, withdrawn_at=None)
        sources = ItemSource.objects.filter(item__in=derived).values("source")
        acceptances = acceptances.filter(item__in=sources)
    n = acceptances.count()
    text = ngettext(
        "%(n)s pair was accepted as it is by a person, whatever the rule of its review says.",
        "%(n)s pairs were accepted as they are by a person, whatever the rule of their review says.",
        n,
    )
    return [text % {"n": n}] if n else []
