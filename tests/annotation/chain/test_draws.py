"""A draw of candidates: n of each group, the same in whatever order they came; only groups concerned are read."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.services.derivation import derived_items
from annotation.services.derivation.group_scope import concerned_items
from benchmarks.models import Item, ItemFact, Stage
from benchmarks.rules.derivations import Derivation
from tests.annotation.chain.factories import ANSWER, a_benchmark, a_stage, items, live_items, process_derivations
from tests.importing import lines, upload
from tests.personas import World

pytestmark = pytest.mark.django_db
BY = ["item.context.country", "item.concept"]


def candidates(count: int = 24) -> tuple[Stage, Stage]:
    """Of two countries and three concepts; two of each are drawn."""
    first = a_stage(a_benchmark(), "candidates", ANSWER)
    draw = {"kind": "sample", "from": ["candidates"], "of": "kept", "params": {"n": 2, "by": BY}, "seed": 5}
    later = a_stage(first.benchmark, "questions", ANSWER, derivation=draw)
    for number, item in enumerate(items(first, count)):
        item.concept, item.context = ("tea", "bread", "market")[number % 3], {"country": "EB"[number % 2]}
        item.save()
    derived_items.rederive_stage(later)
    process_derivations()
    return first, later


def change(later: Stage, **params: Any) -> set[str]:
    later.derivation["params"] |= params
    later.save()
    derived_items.rederive_stage(later)
    process_derivations()
    return {item.key for item in live_items(later)}


def test_more_of_each_group_only_adds_items() -> None:
    _first, later = candidates()
    drawn = {item.pk: item.key for item in live_items(later)}
    assert len(drawn) == 12
    assert set(drawn.values()) < change(later, n=3) and len(live_items(later)) == 18
    assert change(later, n=2) == set(drawn.values())
    assert {item.pk for item in live_items(later)} == set(drawn), "what was drawn before comes back as the same item"


def test_a_change_reads_its_own_group_alone() -> None:
    first, later = candidates()
    derivation = Derivation.from_json(later.derivation)
    assert derivation is not None
    item = first.items.get(key="candidates-000")
    alike = {f"candidates-{number:03}" for number in (0, 6, 12, 18)}  # tea from E
    read = concerned_items(derivation, [first], {item.pk})
    assert read is not None and set(Item.objects.filter(pk__in=read).values_list("key", flat=True)) == alike
    other = first.items.get(key="candidates-001")  # bread from B: neither tea from B nor bread from E is read
    assert len(concerned_items(derivation, [first], {item.pk, other.pk}) or ()) == 8
    before = {item.key for item in live_items(later)}
    gone = next(iter(before & alike))
    first.items.filter(key=gone).update(withdrawn_at="2026-01-01T00:00Z", withdrawn_because="broken")
    derived_items.derive(later, [first.items.get(key=gone).pk], timezone.now())
    after = {item.key for item in live_items(later)}
    assert before - after == {gone} and len(after - before) == 1 and after - before < alike


@pytest.mark.parametrize("params", [{"by": "item.facts.score"}, {"by": ["item.concept", "unit.target"]}, {}])
def test_groups_that_the_items_do_not_name_are_read_together(params: dict[str, Any]) -> None:
    derivation = Derivation.from_json({"kind": "sample", "from": ["a"], "params": {"n": 1, **params}})
    assert derivation is not None and concerned_items(derivation, [], {1}) is None


def test_the_same_import_in_another_order_gives_the_same_draw(world: World) -> None:
    rows = [
        {"key": f"c{n:02}", "text": f"Text {n}", "concept": "tea", "country": "Egypt", "fact.clip_score": n % 9}
        for n in range(18)
    ]
    draws = []
    for number, order in enumerate((rows, rows[::-1])):
        first = a_stage(world.benchmark, f"candidates-{number}", ANSWER, display="words", pictures="none")
        draw = {"kind": "sample", "from": [first.key], "of": "kept", "seed": 5}
        params = {"n": 6, "strata": {"fact": "clip_score", "bins": 3}}
        later = a_stage(world.benchmark, f"labels-{number}", ANSWER, derivation={**draw, "params": params})
        for part in (order[:7], order[7:]):
            upload(world.client(world.mara), first, lines(*part))
        derived_items.rederive_stage(later)
        process_derivations()
        draws.append([item.key for item in live_items(later)])
    assert draws[0] == draws[1] and len(draws[0]) == 6
    assert sorted(int(key[1:]) % 9 // 3 for key in draws[0]) == [0, 0, 1, 1, 2, 2], "two of each third of the scores"


def test_a_draw_costs_the_same_queries_whatever_the_number_of_groups() -> None:
    counts = []
    for count in (24, 240):
        first, later = candidates(count)
        due = list(first.items.values_list("pk", flat=True))
        ItemFact.objects.bulk_create(ItemFact(item_id=pk, key="clip_score", value=1, source="m") for pk in due)
        with CaptureQueriesContext(connection) as captured:
            derived_items.derive(later, due, first.items.latest("pk").created_at)
        counts.append(len(captured))
    assert counts[0] == counts[1]
