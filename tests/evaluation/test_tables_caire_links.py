"""CAIRE's Table 3 from links small enough to count by hand."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from django.http import QueryDict

from benchmarks.models import Benchmark, Item
from benchmarks.services.benchmarks import create_from_recipe
from evaluation.metrics.proportions import wilson
from evaluation.tables.registry import table_of
from evaluation.tables.table import MissingData, Table
from evaluation.tables.table_builder import build_table
from papers.caire.printed_values import rows as published
from papers.caire.tables import links as caire_links
from people.models import Rater
from predictions.models import EntityLink, Run
from tests.evaluation.data import NOON
from tests.evaluation.output_forms import table_forms
from tests.module_world import built_once
from tests.personas import World
from tests.predictions.knowledge.samples import a_linking

pytestmark = pytest.mark.django_db


@built_once
def benchmark(world: World) -> Benchmark:
    return create_from_recipe(world.team, "caire-universal", "CAIRE", "caire", world.owner)


def table(benchmark: Benchmark) -> Table:
    return build_table(benchmark, table_of(benchmark, "table-3"), QueryDict(), NOON)


def create_linking_run(
    world: World, benchmark: Benchmark, method: str, entries_by_image: dict[str, tuple[Any, Sequence[str], str]]
) -> Run:
    """A run that found these entries: item key -> gold ids, ranked keys, dataset."""
    base = Run.objects.filter(task="linking").first()
    if base is None:
        world.add_items(1)
        base = a_linking(world)
        base.withdrawn_at = NOON
        base.save()
    model, _made = Rater.objects.get_or_create(kind="model", team=world.team, name="tiny", setting=method)
    run = Run.objects.create(
        benchmark=benchmark, task="linking", knowledge_index=base.knowledge_index, model="tiny", rater=model,
        complete=True, options={"method": method}, selection={"stage": "specific"},
    )  # fmt: skip
    stage = benchmark.stages.get(key="specific")
    for key, (gold, keys, dataset) in entries_by_image.items():
        context = {"gold_entity": gold} | ({"dataset": dataset} if dataset else {})
        item, _made = Item.objects.get_or_create(stage=stage, key=key, defaults={"context": context})
        reason = "" if keys else "nothing_near"
        EntityLink.objects.create(run=run, item=item, keys=list(keys), scores=[1.0] * len(keys), reason=reason)
    return run


def shown_cells(table: Table) -> dict[str, list[str]]:
    return {row.label: [cell.shown for cell in row.cells] for row in table.rows}


OTHERS = [f"x{n}" for n in range(30)]


def test_recall_counts_the_first_right_entry_of_each_image(world: World, benchmark: Benchmark) -> None:
    create_linking_run(world, benchmark, "frequency_vt", {
        "first": ("a", ["a", *OTHERS], ""), "fifth": (["b"], [*OTHERS[:4], "b"], ""),
        "one of two": ("c|d", ["x0", "d"], ""), "late": ("e", [*OTHERS[:20], "e"], ""), "unlinked": ("f", [], ""),
        "nobody knows": ("", ["a"], ""),
    })  # fmt: skip
    create_linking_run(world, benchmark, "lemma_vt", {"first": ("a", ["a"], ""), "fifth": ("b", ["b"], "")})
    built_table = table(benchmark)
    assert [row.label for row in built_table.rows] == [
        str(caire_links.METHODS[one]) for one in ("lemma_vt", "frequency_vt")
    ]
    assert shown_cells(built_table)[str(caire_links.METHODS["frequency_vt"])] == ["20.00", "60.00", "60.00", "60.00"]
    first = built_table.rows[1].cells[0].estimate
    assert first is not None and first.n_units == 5 and first.extras["count"] == 1
    low, high = wilson(1, 5)
    assert (first.low, first.high) == (pytest.approx(low), pytest.approx(high)), "each entry has one image"
    assert {run.pk for run in built_table.runs} == {run.pk for run in Run.objects.filter(benchmark=benchmark)}


def test_images_of_an_entry_are_drawn_together(world: World, benchmark: Benchmark) -> None:
    found = {f"{n}": (f"e{n // 5}", [f"e{n // 5}" if n < 25 else "x"], "") for n in range(50)}
    create_linking_run(world, benchmark, "lemma_vt", found)
    cell = table(benchmark).rows[0].cells[0].estimate
    assert cell is not None and cell.value == 0.5 and cell.extras["n_clusters"] == 10
    assert cell.low is not None and cell.high is not None
    alone = wilson(25, 50)
    assert cell.high - cell.low > 1.5 * (alone[1] - alone[0]), "ten entries are not fifty images"


def test_entry_of_the_knowledge_base_itself_is_left_out_with_a_note(world: World, benchmark: Benchmark) -> None:
    run = create_linking_run(world, benchmark, "lemma_vt", {"a": ("a", ["a"], ""), "known": ("b", [], "")})
    EntityLink.objects.filter(run=run, item__key="known").update(reason="in_knowledge_base")
    made = table(benchmark)
    assert shown_cells(made)[str(caire_links.METHODS["lemma_vt"])][0] == "100.00"
    assert any("1 image was left out" in str(one) for one in made.words)


def test_an_item_that_was_withdrawn_counts_in_no_recall(world: World, benchmark: Benchmark) -> None:
    create_linking_run(world, benchmark, "lemma_vt", {"a": ("a", ["a"], ""), "b": ("b", ["x"], "")})
    assert shown_cells(table(benchmark))[str(caire_links.METHODS["lemma_vt"])][0] == "50.00"
    Item.objects.filter(key="b").update(withdrawn_at=NOON, withdrawn_because="by_hand")
    assert shown_cells(table(benchmark))[str(caire_links.METHODS["lemma_vt"])][0] == "100.00"


def test_image_sets_have_rows_of_their_own_with_the_printed_values(world: World, benchmark: Benchmark) -> None:
    create_linking_run(world, benchmark, "lemma_vt", {"a": ("a", ["a"], "IN-Food"), "b": ("b", ["x"], "IN-Plant")})
    made = table(benchmark)
    assert [str(one) for one in made.columns][:2] == ["IN-Food @1", "IN-Food @5"]
    cells = made.rows[0].cells
    assert (cells[0].shown, cells[4].shown) == ("100.00", "0.00")
    assert cells[0].printed is not None and cells[0].printed.text == "23.65" and cells[0].mark == "differs"


def test_a_linking_run_renders_as_page_and_in_every_file(world: World, benchmark: Benchmark) -> None:
    run = create_linking_run(world, benchmark, "lemma_vt", {"a": ("a", ["a"], ""), "b": ("b", ["x"], "")})
    forms = table_forms(world.client(world.owner), "caire", "table-3")
    [told] = json.loads(forms["json"])["runs"]
    assert told["collection"] is None and told["version"] is None and told["id"] == run.pk
    assert told["knowledge_base"] == "small@1"
    for form in forms.values():
        assert "50.00" in form


def test_missing_data_names_the_import_page(world: World, benchmark: Benchmark) -> None:
    with pytest.raises(MissingData, match="No image has been linked") as none:
        table(benchmark)
    assert none.value.action is not None and none.value.action.route == "predictions:linking"
    create_linking_run(world, benchmark, "lemma_vt", {"a": ("", ["a"], "")})
    with pytest.raises(MissingData, match="gold_entity"):
        table(benchmark)


def test_what_the_paper_prints_never_falls_from_one_k_to_the_next() -> None:
    for row in published("table_3"):
        numbers = [float(row[f"at_{k}"]) for k in caire_links.AT]
        if row["method"] != "named":  # a model that names the entity is asked anew for each k
            assert numbers == sorted(numbers), row
    assert np.isclose(np.mean([float(row["at_1"]) for row in published("table_3")][1::6]), 18.47)
