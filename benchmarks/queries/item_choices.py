"""What can be chosen in the filters of items: the values that are there."""

# ruff: noqa: S608  (only names of FACETS are put into the statement)

from collections.abc import Sequence

from django.db import connection

from benchmarks.models import Stage
from benchmarks.queries.item_selection import FACETS

MOST_CHOICES = 500
# From one value to the next by the index of the stage: as many steps as there are values, however many items.
WALK = """
WITH RECURSIVE walk (stage, value, step) AS (
  SELECT s, (SELECT min({name}) FROM benchmarks_item WHERE stage_id = s AND {name} > ''), 1
  FROM unnest(%(stages)s::bigint[]) AS s
  UNION ALL
  SELECT stage, (SELECT min({name}) FROM benchmarks_item i WHERE i.stage_id = walk.stage AND {name} > walk.value),
    step + 1
  FROM walk WHERE value IS NOT NULL AND step <= %(most)s
)
SELECT DISTINCT '{name}', value FROM walk WHERE value IS NOT NULL"""
STATEMENT = " UNION ALL ".join(f"SELECT * FROM ({WALK.format(name=name)}) of_{name}" for name in FACETS)


def filter_choices(stages: Sequence[Stage]) -> dict[str, list[str]]:
    """By facet the values that items of these stages have, at most MOST_CHOICES of each stage. One query."""
    choices: dict[str, list[str]] = {name: [] for name in FACETS}
    with connection.cursor() as cursor:
        cursor.execute(STATEMENT, {"stages": [stage.pk for stage in stages], "most": MOST_CHOICES})
        for name, value in cursor.fetchall():
            choices[name].append(value)
    return {name: sorted(values) for name, values in choices.items()}
