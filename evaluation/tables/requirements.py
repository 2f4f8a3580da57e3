"""What a table needs besides the first thing that it reads, so that the list of tables can say so.

A requirement is a function that raises MissingData with the sentence that the table itself would say. It computes
nothing: a few queries that stop at the first row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from django.db.models import QuerySet

from annotation.models import Rating
from evaluation.tables.spec import TableSpec
from evaluation.tables.table_inputs import TableInputs

Requirements = Mapping[str, tuple[Callable[[TableInputs], None], ...]]  # by the key of the table


def with_requirements(specs: Iterable[TableSpec], requirements: Requirements) -> tuple[TableSpec, ...]:
    """The tables, each with its requirements. Raises KeyError for requirements of no table."""
    named = {spec.key: spec for spec in specs}
    for key, checks in requirements.items():
        named[key] = replace(named[key], requirements=checks)
    return tuple(named.values())


def answers_of(inputs: TableInputs, stage: str, field: str, kind: str) -> QuerySet[Rating]:
    """Ratings that the table can count; `kind` of their raters: "person" or "model"."""
    campaigns = inputs.selection(stage, field).campaigns
    return Rating.objects.filter(campaign__in=campaigns, field=field, live=True, rater__kind=kind)
