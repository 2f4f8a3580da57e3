"""./emic manage report: the page's numbers in a terminal, and errors that say what there is."""

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.evaluation.sample_tables import SMALL, tables_are
from tests.evaluation.test_table_pages import EMPTY, url
from tests.personas import World


@pytest.fixture
def tables(world: World) -> Iterator[World]:
    world.add_items(20)
    natural = of_condition(world.items, "natural")
    table(an_open_campaign(world), world.egypt, natural[:5], {world.nour: "11223", world.tarek: "12233"})
    with tables_are(world.benchmark, [SMALL, EMPTY]):
        yield world


def report(world: World, *args: str) -> str:
    out = io.StringIO()
    call_command("report", world.benchmark.slug, *args, stdout=out)
    return out.getvalue()


def without_time(data: Any) -> Any:
    return {key: value for key, value in data.items() if key != "computed_at"}


@pytest.mark.parametrize("option", ["", "decimals=4", "interval=none"])
def test_the_command_writes_what_the_page_hands_out(tables: World, option: str) -> None:
    asked = ["--option", option] if option else []
    client = tables.client(tables.mara)
    page = client.get(url(tables, f"small.json?{option}")).json()
    assert without_time(json.loads(report(tables, "small", "--format", "json", *asked))) == without_time(page)
    latex = client.get(url(tables, f"small.tex?{option}")).content.decode()
    assert report(tables, "small", "--format", "latex", *asked) == latex
    theirs = client.get(url(tables, f"small.csv?{option}")).content.decode().splitlines()
    ours = report(tables, "small", "--format", "csv", *asked).splitlines()
    assert [line.rpartition(",")[0] for line in ours] == [line.rpartition(",")[0] for line in theirs]  # but the time


def test_the_text_has_every_number_with_its_interval_or_the_reason(tables: World) -> None:
    text = report(tables, "small")
    assert text.startswith("Table 14: Agreement by origin\n")
    assert "-0.20" in text
    assert "(no_ratings)" not in text
    assert "Answers of people to “How relevant is this picture to …?”" in text


def test_the_list_names_tables_options_and_what_is_missing(tables: World) -> None:
    assert report(tables, "--list") == (
        "small  Table 14: Agreement by origin\n"
        "    --option decimals=2|4\n"
        "empty  Table 15: Retrieval\n"
        "    nothing yet: There are no predictions for this table yet.\n"
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["smal"], "has no table 'smal'. Did you mean 'small'?"),
        (["nine"], "There are: small, empty."),
        (["small", "--option", "decimal=4"], "has no option 'decimal'. Did you mean 'decimals'?"),
        (["small", "--option", "decimals"], "--option takes key=value"),
        (["small", "--option", "decimals=9"], "There are: 2, 4."),
        (["small", "--option", "counted=most"], "There are: counted, all."),
        (["empty"], "No value: There are no predictions for this table yet. It is made from: Runs of models."),
    ],
)
def test_wrong_name_is_reported_with_the_valid_names(tables: World, args: list[str], message: str) -> None:
    with pytest.raises(CommandError) as refused:
        report(tables, *args)
    assert message in str(refused.value)
    assert refused.value.returncode == (3 if args == ["empty"] else 1)


def test_a_benchmark_nearly_named_is_suggested(tables: World) -> None:
    with pytest.raises(CommandError, match="Did you mean 'sea-and-river'"):
        call_command("report", "sea-and-rivers", "small")
    with pytest.raises(CommandError, match="has no table 'small'"):
        call_command("report", "fjord-songs", "small")
