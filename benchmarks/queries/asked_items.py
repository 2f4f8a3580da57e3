"""Which items an address asks for: its parameters read as a selection, and a selection written as parameters."""

from collections.abc import Mapping, Sequence

from benchmarks.imports.records import clean
from benchmarks.models import Benchmark, Item, Stage
from benchmarks.queries.item_filters import available_filters, filter_names
from benchmarks.queries.item_selection import (
    DISAGREEMENTS,
    FACETS,
    OLDEST,
    SORTS,
    STATES,
    UNKNOWN,
    WITHHELD,
    ItemSelection,
)
from benchmarks.queries.item_words import LONGEST

ALL_STAGES = "*"


def asked_items(benchmark: Benchmark, asked: Mapping[str, str]) -> ItemSelection | None:
    """None for a stage that is not there. What is not on offer is not chosen. Without a stage it is the first."""
    stages = list(benchmark.stages.all())
    key = clean(asked.get("stage"))
    chosen = stages if key == ALL_STAGES else [stage for stage in stages if stage.key == key] if key else stages[:1]
    if not chosen:
        return None
    return ItemSelection(
        tuple(chosen),
        {name: clean(asked.get(name)) for name in FACETS},
        _known(asked.get("state"), offered_states(chosen)),
        _known(asked.get("disagreement"), [*DISAGREEMENTS, UNKNOWN]),
        clean(asked.get("text"))[:LONGEST],
        tuple(available_filters(chosen[0], asked)) if key != ALL_STAGES else (),
        SORTS.get(asked.get("order", ""), OLDEST),
        key == ALL_STAGES,
    )


def offered_states(stages: Sequence[Stage]) -> list[str]:
    """Those of the filters only where a stage has filters, and withheld answers only where some were imported."""
    has_filters = any(stage.filters for stage in stages)
    imported = any(stage.benchmark.imported for stage in stages)
    left_out = [*(() if has_filters else Item.Intake.values), *(() if imported else (WITHHELD,))]
    return [state for state in STATES if state not in left_out]


def params_of(selection: ItemSelection) -> dict[str, str]:
    """What an address holds to ask for the same items; `stage` is always among them."""
    chosen = {
        "stage": ALL_STAGES if selection.is_of_all_stages else selection.stages[0].key,
        "text": selection.text,
        **selection.facets,
        "state": selection.state,
        "disagreement": selection.disagreement,
        **{view.filter.name: view.chosen for view in selection.offered},
        "order": selection.sort.key,
    }
    return {name: value for name, value in chosen.items() if value}


def has_lost_choice(selection: ItemSelection, asked: Mapping[str, str]) -> bool:
    """Whether something that was asked for is not on offer any more, so that more items match than were asked for."""
    now = params_of(selection)
    names = ("state", "disagreement", *filter_names())
    return any(asked.get(name) and now.get(name) != asked[name] for name in names)


def _known(value: str | None, known: Sequence[str]) -> str:
    return value if value and value in known else ""
