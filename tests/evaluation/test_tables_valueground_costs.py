"""ValueGround's Table 3: what a pair cost to make, as its item says; what judging it cost, as requests were counted."""

from decimal import Decimal

import pytest
from django.utils import timezone

from annotation.models import Campaign
from benchmarks.models import Benchmark, Item
from evaluation.tables.table import MissingData
from people.models import Rater
from predictions.models import Attempt, Call, Run
from tests.evaluation.data import NOON
from tests.evaluation.test_tables_valueground import table
from tests.evaluation.test_tables_valueground_pairs import benchmark, campaign, items  # noqa: F401  (fixtures)
from tests.personas import World

pytestmark = pytest.mark.django_db


def test_the_mean_cost_of_making_a_pair(benchmark: Benchmark, items: list[Item]) -> None:  # noqa: F811
    for item, cost in zip(items, ("0.10", 0.12, "0.2", "nothing"), strict=False):
        item.context = {**item.context, "cost": cost}
        item.save()
    built_table = table(benchmark, "table-3")
    rows = {(row.group, row.label): row.cells[0] for row in built_table.rows}
    assert rows["GPT", "Planner only"].shown == "0.1100" and rows["Gemini", "Planner+Critic"].shown == "0.2000"
    assert rows["GPT", "Planner only"].printed.text == "0.1100" and rows["GPT", "Planner only"].mark == "same"
    assert any("left out: 3 of 6" in str(words) for words in built_table.words)


def test_the_mean_cost_of_judging_one(
    world: World, benchmark: Benchmark, items: list[Item], campaign: Campaign  # noqa: F811
) -> None:  # fmt: skip
    with pytest.raises(MissingData, match="its requests have no price"):
        table(benchmark, "table-3", "cost=judged")
    run = Run.objects.create(
        benchmark=benchmark, campaign=campaign, task="answers", complete=True,
        rater=Rater.objects.create(kind="model", team=world.team, name="One"),
    )  # fmt: skip
    for number, item in enumerate(items[:3]):
        call = Call.objects.create(run=run, item=item, state="answered", ended_at=NOON)
        common = {"call": call, "at": timezone.now(), "seconds": 1}
        Attempt.objects.create(number=1, outcome="rate_limit", cost=Decimal("0.5") if number == 0 else None, **common)
        Attempt.objects.create(number=2, outcome="reply", cost=None if number == 2 else Decimal("1.5"), **common)
    found = table(benchmark, "table-3", "cost=judged")
    [row] = found.rows
    assert (row.group, row.cells[0].shown) == ("GPT", "1.7500"), "2.0 and 1.5; the third has a reply of unknown price"
    Run.objects.update(withdrawn_at=timezone.now())
    with pytest.raises(MissingData):
        table(benchmark, "table-3", "cost=judged")
