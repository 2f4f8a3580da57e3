"""Label sets: countries have one code however they are spelled; versions never change; a file is read or refused."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.imports.label_files import SAMPLE, parse_labels
from benchmarks.imports.problems import SourceProblem
from benchmarks.models import CohortLabel, LabelSet
from benchmarks.queries.label_sets import find_set, recipe_set, spec_of
from benchmarks.recipes.recipe_cohorts import PLACES
from benchmarks.recipes.registry import recipe
from benchmarks.rules.label_sets.contract import LabelSetError, LabelSpec, problems
from benchmarks.rules.label_sets.countries import CONTINENTS, COUNTRIES, NAMES, ZONES, country_code
from benchmarks.rules.label_sets.globalrg import GROUNDING, RETRIEVAL, SETS
from benchmarks.services.label_sets import (
    UnknownLabelSet,
    create_typed,
    ensure,
    import_set,
    keyed_labels,
    set_cohort_label,
)
from jobs.formats.csv_safety import csv_lines
from papers.globalrg.recipe import GROUNDED
from tests.personas import World


@pytest.mark.parametrize(
    ("spellings", "code"),
    [
        (("Sri Lanka", "srilanka", "sri lanka", "LK"), "LK"),
        (("Philippines", "phillippines", "The Philippines", "ph"), "PH"),
        (("us", "USA", "United States", "U.S.A."), "US"),
        (("uk", "United Kingdom", "GB"), "GB"),
        (("South Korea", "south_korea"), "KR"),
        (("Turkey", "Türkiye"), "TR"),
    ],
)
def test_spellings_meet_in_one_code(spellings: tuple[str, ...], code: str) -> None:
    assert {country_code(name) for name in spellings} == {code}


def test_a_country_nobody_listed_stays_itself_and_has_no_region() -> None:
    assert country_code(" Ruritania ") == "Ruritania"
    assert RETRIEVAL.of("Ruritania") is None
    assert RETRIEVAL.of("") is None
    assert RETRIEVAL.of("Israel") is None  # Table 1 does not name it
    assert GROUNDING.of("Israel") == "Middle East Asia"  # Table 4 does


def test_the_tables_hold_what_the_paper_says() -> None:
    codes = [code for region in RETRIEVAL.countries.values() for code in region]
    assert len(RETRIEVAL.countries) == 10 and len(codes) == len(set(codes)) == 50
    assert RETRIEVAL.of("somalia") == "Africa"
    assert len(GROUNDING.countries) == 8
    assert sorted(c for region in GROUNDING.countries.values() for c in region) == sorted(map(country_code, GROUNDED))


def test_codes_are_those_of_the_recipes_places() -> None:
    known = {label: place.country for label, place in PLACES.items() if country_code(label) != label}
    assert len(known) > 25
    assert {label: country_code(label) for label in known} == known


def test_every_country_has_one_continent_and_at_most_one_zone() -> None:
    for table, whole in ((CONTINENTS, True), (ZONES, False)):
        codes = [code for group in table.values() for code in group.split()]
        assert len(codes) == len(set(codes)) and set(codes) <= set(NAMES)
        assert not whole or set(codes) == set(NAMES)
    assert not list(problems(COUNTRIES.labels)) and len(COUNTRIES.labels) == len(NAMES)


def test_a_country_says_where_it_lies_and_whether_it_is_western() -> None:
    india, germany, malta = (COUNTRIES.find(name) for name in ("india", "Germany", "Malta"))
    assert india is not None and germany is not None and malta is not None
    assert (india.continent, india.values_zone, india.western) == ("Asia", "West and South Asia", False)
    assert germany.western is True and malta.western is None, "the map does not place Malta"
    russia = COUNTRIES.find("russian federation")
    assert russia is not None and russia.key == "RU", "by another spelling"
    assert COUNTRIES.find("Ruritania") is None and COUNTRIES.find("") is None


def test_the_western_countries_of_culturalvqa_are_its_papers() -> None:
    """The three that the paper's Figure 1 sets apart."""
    labels = recipe_set(recipe("culturalvqa")).labels
    assert len(labels) == 11
    assert [label.text for label in labels if label.western] == ["Canada", "Germany", "United States"]
    assert None not in {label.western for label in labels}


def test_globalrg_regions_are_a_label_set() -> None:
    retrieval, grounding = SETS
    somalia, israel = retrieval.find("somalia"), grounding.find("Israel")
    assert somalia is not None and somalia.region == "Africa" and len(retrieval.labels) == 50
    assert israel is not None and israel.region == "Middle East Asia" and retrieval.find("Israel") is None


@pytest.mark.django_db
def test_a_built_in_set_is_stored_once_for_each_team(world: World) -> None:
    assert not LabelSet.objects.exists()
    first, again, other = (
        ensure(world.team, "countries"),
        ensure(world.team, "countries"),
        ensure(world.other_team, "countries"),
    )
    assert first == again and first != other and first.reference == "countries@1"
    assert spec_of(first).labels == COUNTRIES.labels, "nothing is lost on the way"
    assert ensure(world.team, "Countries of the world") == first, "by its name, too"
    with pytest.raises(UnknownLabelSet):
        ensure(world.team, "no-such-set")
    with pytest.raises(UnknownLabelSet):
        ensure(world.team, "countries@7")


@pytest.mark.django_db
def test_the_same_content_makes_no_new_version_and_a_version_never_changes(world: World) -> None:
    labels = [LabelSpec("a", "Alpha"), LabelSpec("b", "Beta", region="North")]
    first, is_new = import_set(world.team, "Letters", labels, world.mara)
    again, is_new_again = import_set(world.team, "Letters", labels, world.mara)
    assert (first, is_new, is_new_again) == (again, True, False)
    second, _new = import_set(world.team, "Letters", labels[:1], world.mara)
    assert (second.version, second.key) == (2, first.key)
    assert [label.text for label in spec_of(first).labels] == ["Alpha", "Beta"], "version 1 is as it was"
    assert find_set(world.team, "letters") == second and find_set(world.team, "letters@1") == first
    assert find_set(world.other_team, "letters") is None


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "texts", "code"),
    [
        ("Letters", (), "empty"),
        ("Letters", ("A", "A"), "text_twice"),
        ("Letters", ("x" * 121,), "too_long"),
        ("countries", ("A",), "reserved"),
        ("Recipe caire", ("A",), "reserved"),
        ("؟", ("A",), "no_name"),
    ],
)
def test_what_is_no_set_is_refused_with_its_reason(world: World, name: str, texts: tuple[str, ...], code: str) -> None:
    with pytest.raises(LabelSetError) as refused:
        import_set(world.team, name, keyed_labels([LabelSpec("", text) for text in texts]), world.mara)
    assert refused.value.code == code and not LabelSet.objects.exists()


@pytest.mark.django_db
def test_typed_labels_stay_as_they_are_written(world: World) -> None:
    row, _new = create_typed(world.team, "Faiths", " Sufism \n\nsufism\nመንፈስ\n", world.mara, kind="religions")
    assert [label.text for label in row.labels.all()] == ["Sufism", "sufism", "መንፈስ"]
    assert [label.key for label in row.labels.all()] == ["sufism", "sufism-2", "መንፈስ"]


@pytest.mark.django_db
def test_a_cohort_keeps_its_label_in_the_next_version(world: World) -> None:
    first, _new = create_typed(world.team, "Lands", "Egypt\nBrazil", world.mara)
    set_cohort_label(world.egypt, first, first.labels.get(key="egypt"), world.mara)
    second, _new = create_typed(world.team, "Lands", "Egypt\nBrazil\nPeru", world.mara)
    assert CohortLabel.objects.get(label_set=second).label.key == "egypt"
    set_cohort_label(world.egypt, second, None, world.mara)
    assert CohortLabel.objects.get().label_set == first
    with pytest.raises(ValueError, match="not of one team"):
        set_cohort_label(world.other_cohort, first, None, world.mara)


def test_a_file_says_more_of_a_label_than_its_text() -> None:
    text = (
        "label,key,country,group,western,aliases,name.ar,speakers\n"
        "Georgia,ge,Georgia,Caucasus,,Sakartvelo|GEO,جورجيا,4000000\nYoruba,,,,no,,,\n"
    )
    georgia, yoruba = parse_labels(io.BytesIO(text.encode()))
    assert (georgia.country, georgia.continent, georgia.region, georgia.western) == ("GE", "Asia", "Caucasus", False)
    assert georgia.aliases == ("Sakartvelo", "GEO") and georgia.names == {"ar": "جورجيا"}
    assert georgia.about == {"speakers": "4000000"}
    assert (yoruba.key, yoruba.country, yoruba.western) == ("", "", False)
    lines = (
        '{"label": "Georgia", "aliases": ["GEO"], "names": {"ar": "جورجيا"}}\n{"target": "Yoruba", "western": false}'
    )
    again = parse_labels(io.BytesIO(lines.encode()))
    assert [label.text for label in again] == ["Georgia", "Yoruba"] and again[1].western is False


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"name\nA\n", "no column"),
        (b"label,label\nA,B\n", "twice"),
        (b"label,country\nA,Ruritania\n", "Row 2.*is no country"),
        (b"label,western\nA,perhaps\n", "Row 2.*Write yes, no"),
        (b"label\nA,B\n", "Row 2.*more cells"),
        (b"label\n\xff\n", "UTF-8"),
        (b'{"label": "A"}\n[1]\n', "Row 2.*JSON object"),
        (b'{"label": {"x": 1}}\n', "Row 1.*must be a text"),
        (b"label,key\n,a\n", "Row 2.*is empty"),
        (b"label\n" + b"x" * 200 + b"\n", "longer than 120"),
    ],
)
def test_a_file_that_is_none_is_refused_with_its_row(data: bytes, words: str) -> None:
    with pytest.raises(SourceProblem, match=words):
        parse_labels(io.BytesIO(data))


@given(st.binary(max_size=200))
def test_any_bytes_are_labels_or_a_reason(data: bytes) -> None:
    try:
        labels = parse_labels(io.BytesIO(data))
    except SourceProblem:
        return
    assert all(label.text for label in labels)


def test_a_line_end_of_unicode_within_a_json_text_ends_no_row() -> None:
    text = '{"label": "Georgia", "note": "one\u2028two"}\r\n{"label": "Yoruba", "note": "a\u0085b"}\n'
    assert [label.text for label in parse_labels(io.BytesIO(text.encode()))] == ["Georgia", "Yoruba"]


def test_the_sample_file_is_one_that_can_be_imported() -> None:
    labels = parse_labels(io.BytesIO("".join(csv_lines(SAMPLE[0], SAMPLE[1:])).encode()))
    assert [label.key for label in labels] == ["georgia", "yoruba"] and labels[0].country == "GE"
