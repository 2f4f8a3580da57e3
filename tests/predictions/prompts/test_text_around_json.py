"""Words beside a JSON object: reasons are welcome; what takes it back, or states another answer, makes two verdicts."""

import pytest

from predictions.prompts.reply_text import after_objects, json_objects, single_json_object, without_objects
from tests.predictions.prompts.cases import case

PAIR = '{"image_1": "A", "image_2": "B"}'
RUBRIC = '{"match_a": 2, "match_b": 2, "pair_match": 1, "no_cue": 1}'
FOLDED = {"match_a": "2", "match_b": "2", "pair_match": "1", "no_cue": "1"}
TWO = "two_verdicts"


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (f"{PAIR} Actually swapped.", TWO),
        (f"{PAIR}\nOn reflection, image 1 is B.", TWO),
        (f"{PAIR}\nimage_2 -> A", TWO),
        (f"Image 1 shows option B.\n{PAIR}", TWO),
        (f"{PAIR}\nThe other way round!", TWO),
        (f"{PAIR} They are not swapped.", {"alignment": "aligned"}),
        (f"{PAIR}\nIf image 1 is B, the rest fails.", {"alignment": "aligned"}),
        (f"{PAIR}\nImage 1 shows option A: it actually shows a family.", {"alignment": "aligned"}),
        (f"Image 1 is a picture of a school. Wait, of a temple.\n{PAIR}", {"alignment": "aligned"}),
        (f"{PAIR}\nImage 1 shows A family at a table.", {"alignment": "aligned"}),
    ],
)
def test_an_alignment_that_is_taken_back_is_two(reply: str, outcome: object) -> None:
    assert case("valueground-alignment").says(reply) == outcome


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (f"{RUBRIC}\nmatch_a should be 1", TWO),
        (f"{RUBRIC}\nMatch B: 0", TWO),
        (f"{RUBRIC} Correction: the pair does not match.", TWO),
        (f"match_a: 1? No.\n{RUBRIC}", FOLDED),
        (f"{RUBRIC}\nI would not say match_a: 1.", FOLDED),
        (f"{RUBRIC}\nmatch_a is 2 because it actually shows it; match_a: 2/2.", FOLDED),
    ],
)
def test_a_rubric_that_is_taken_back_is_two(reply: str, outcome: object) -> None:
    assert case("valueground-rubric").says(reply) == outcome


def test_a_category_is_no_question_no_comparison_and_read_with_its_reasons() -> None:
    says = case("culturalvqa-subcategory").says
    assert says("category = celebration? no, other") == "no_choice" == says("The answer is other than celebration")
    assert says("celebration, as it asks when it is held") == {"sub_category": "celebration"}
    assert says("celebration because other fits less") == "no_choice"
    assert says("Beliefs / Customs") == {"sub_category": "beliefs_customs"}


def test_an_object_with_a_number_that_is_none_is_not_read() -> None:
    """JSON has no NaN and no Infinity, although Python reads both."""
    for constant in ("NaN", "Infinity", "-Infinity"):
        assert json_objects(f'{{"score": {constant}}}') == [], constant
        assert json_objects(f'{{"score": {constant}}} {{"score": 2}}') == [{"score": 2}], constant


def test_a_key_that_says_the_same_twice_is_read_and_one_that_says_two_things_is_not() -> None:
    assert single_json_object('{"score": 4, "score": 4}') == {"score": 4}
    says = case("caire-digit").says
    assert says('{"score": 4, "score": 4}') == says('{"score": 4}') != TWO
    assert says('{"score": 4, "score": 5}') == says('{"score": 4, "score": 4, "score": 5}') == TWO


def test_objects_are_read_whole_and_what_follows_begins_after_the_last() -> None:
    text = 'So: {"a": {"b": 1}} or {"c": 2}. Done.'
    assert json_objects(text) == [{"a": {"b": 1}}, {"c": 2}]
    assert after_objects(text) == ". Done." and without_objects(text) == "So: \n or \n. Done."
    assert after_objects("No object.") == without_objects("No object.") == "No object."
