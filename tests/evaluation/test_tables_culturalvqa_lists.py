"""Answers beside a corpus and beside Wikipedia's titles, counted by hand; and what is said before one is brought."""

import gzip
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from evaluation.tables.registry import table_of
from evaluation.tables.table import MissingData
from evaluation.tables.table_builder import missing_data
from papers.culturalvqa.tables.word_lists import words_of
from predictions.models import Collection, Entry
from tests.evaluation.data import NOON
from tests.evaluation.test_tables_culturalvqa import Study, cell, value
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db


@built_once
def study(world: World) -> Study:
    """q1 (Brazil, food): rice, "Rice ", black beans; q2 (Brazil, clothing), q4 (Iran, rituals), q5 (Canada, food): it;
    q3 (Iran, food): it, barbari."""
    found = Study(world)
    found.answers()
    return found


def create_collection(study: Study, key: str, entries: dict[str, object], version: str = "1") -> None:
    held = Collection.objects.create(benchmark=study.benchmark, key=key, name="A list", version=version)
    for name, count in entries.items():
        Entry.objects.create(collection=held, key=name, about={} if count is None else {"count": count})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Pão de Queijo", ("pao", "de", "queijo")),
        ("Pa\u0303o_de-queijo", ("pao", "de", "queijo")),
        ("STRASSE Straße", ("strasse", "strasse")),
        ("ክትፎ።", ("ክትፎ",)),
        ("हिन्दी", ("हिन्दी",)),
        ("...", ()),
    ],
)
def test_words_are_compared_without_case_and_accents_and_marks_of_other_scripts_stay(
    text: str, words: tuple[str, ...]
) -> None:
    assert words_of(text) == words


@pytest.mark.parametrize(("key", "words"), [("in-corpus", "Corpus counts"), ("in-titles", "Wikipedia titles")])
def test_without_the_list_the_table_says_which_to_bring_and_where(study: Study, key: str, words: str) -> None:
    with pytest.raises(MissingData, match="Import the list") as missing:
        study.table(key)
    assert words in str(missing.value) and missing.value.action.route == "predictions:collection_new"
    spec = table_of(study.benchmark, key)
    from evaluation.selections.catalogue import catalogue_of

    assert "Import the list" in str(missing_data(catalogue_of(study.benchmark), spec, {}, NOON).message)  # type: ignore[arg-type,union-attr]


def test_occurrences_are_counted_for_each_different_answer_of_a_facet(study: Study) -> None:
    """Food: rice 30 (20 + 10, two spellings), black beans 0, it 6; barbari has no count: 36 / 3 = 12. Clothing and
    rituals: it, 6 each. Of 12 + 6 + 6: half."""
    create_collection(
        study, "corpus-counts", {"Rice": "20", "ríce": 10, "black beans": "0", "it": "6", "naan": "5", "x": "many"}
    )
    table = study.table("in-corpus")
    assert [row.label for row in table.rows] == ["food", "clothing", "rituals"]
    assert cell(table, "food", "Different answers").text == "4" and cell(table, "food", "With a count").text == "3"
    assert cell(table, "food", "Occurrences").text == "36"
    each = cell(table, "food", "For each answer")
    assert value(each) == pytest.approx(12) and each.estimate.n_units == 3  # type: ignore[union-attr]
    assert cell(table, "food", "In percent of all").text == "50.0"
    assert cell(table, "food", "In percent of all").printed.text == "46.6"  # type: ignore[union-attr]
    assert value(cell(table, "food", "Answers that occur, percent")) == pytest.approx(2 / 3)
    notes = " ".join(map(str, table.words))
    assert "not a whole number from 0: 1, left out" in notes and "Case and accents are ignored" in notes


def test_the_newest_version_of_a_list_counts(study: Study) -> None:
    create_collection(study, "corpus-counts", {"it": "1"})
    create_collection(study, "corpus-counts", {"it": "9"}, version="2")
    assert cell(study.table("in-corpus"), "clothing", "Occurrences").text == "9"


def test_an_answer_counts_when_one_of_its_words_is_a_word_of_a_title(study: Study) -> None:
    """Of 8 answers rice, Rice and black beans: 3; "it" is no word of "Italian", "barbari" none of "Barbarian".
    Different ones: rice and black beans of rice, black beans, it, barbari."""
    create_collection(
        study, "wikipedia-titles", {"RÍCE_(food)": None, "Black-eyed pea": None, "Italian": None, "Barbarian": None}
    )
    table = study.table("in-titles")
    every = cell(table, "All", "With a word in a title, percent")
    assert value(every) == pytest.approx(3 / 8) and every.printed.text == "80"  # type: ignore[union-attr]
    assert every.estimate.n_ratings == 8 and every.estimate.low is not None  # type: ignore[union-attr]
    assert cell(table, "All", "Different answers").text == "4"
    assert value(cell(table, "All", "Of these with a word in a title, percent")) == pytest.approx(0.5)
    assert value(cell(table, "Iran", "With a word in a title, percent")) == 0


@pytest.mark.parametrize("packed", [True, False])
def test_a_dump_of_titles_is_read_once_and_cut_to_the_words_of_the_answers(
    study: Study, tmp_path: Path, packed: bool
) -> None:
    lines = b"page_title\nRice\nRice_(film)\nItalian\nBlack_bean\n\nIt_(novel)\n"
    file = tmp_path / ("titles.gz" if packed else "titles.txt")
    file.write_bytes(gzip.compress(lines) if packed else lines)
    call_command("import_titles", study.benchmark.slug, str(file))
    held = Collection.objects.get(key="wikipedia-titles")
    assert sorted(held.entries.values_list("key", flat=True)) == ["Black_bean", "It_(novel)", "Rice"]
    assert "5 titles" in held.name
    table = study.table("in-titles")
    assert value(cell(table, "All", "With a word in a title, percent")) == pytest.approx(7 / 8), "all but barbari"
    assert value(cell(study.table("in-titles", "asker=apart"), "All", "With a word in a title, percent")) == (
        pytest.approx(2 / 3)
    )


def test_no_list_is_brought_to_another_kind_of_benchmark(world: World, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no benchmark"):
        call_command("import_titles", "nothing", str(tmp_path / "x"))
