"""Countries have one code however they are spelled, and the region their paper puts them in."""

import pytest

from benchmarks.recipes.recipe_cohorts import PLACES
from benchmarks.rules.regions import GROUNDING, RETRIEVAL, country_code
from papers.globalrg.recipe import GROUNDED


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
