"""A or B out of a reply: the letter stands alone, and two letters are none."""

import pytest

from papers.valueground.prompts import draw_order
from predictions.prompts.contract import ParsedReply, Reply, Token, UnparsedReply
from predictions.prompts.letters import letter
from tests.predictions.prompts.cases import case, text_reply


def read(text: str) -> str:
    found = letter(text)
    return found.reason if isinstance(found, UnparsedReply) else found


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("A", "A"),
        ("b.", "B"),
        ("**B**", "B"),
        ("(A)", "A"),
        ("Ａ", "A"),
        ("А, потому что", "A"),  # Cyrillic
        ("Image A", "A"),
        ("Option B – it shows a family", "B"),
        ("A (Image A)", "A"),
        ("A. The picture shows a family.", "A"),
        ("A, because a person prays.", "A"),
        ("B because it shows a family.", "B"),
        ("A\nA person is shown praying.", "A"),
        ("Answer: B\nIt shows a family.", "B"),
        ("The answer is A.", "A"),
        ("I would choose Image B because of the table.", "B"),
        ("Image A shows work, while Image B shows a family. Image B better matches the value.", "B"),
        ("Both can be argued for.\n\nAnswer: **A**", "A"),
        ("It is close.\n\nB", "B"),
        ('{"answer": "B", "reason": "A person prays"}', "B"),
        ('{"answer": "B"}\nIt shows a family.', "B"),
        ("Image A is better? No, B.", "B"),
        ("Image A shows prayer. Image B shows work. Image B.", "B"),
        ("Image A is more representative of the value.", "A"),
    ],
)
def test_the_letter_that_stands_alone_is_read(text: str, side: str) -> None:
    if text.startswith("Both"):
        assert read(text) in (side, "no_verdict")
    else:
        assert read(text) == side


@pytest.mark.parametrize(
    "text",
    [
        "A person is shown praying in a temple.",
        "A family eats together, which fits.",
        "Answer: A person who prays",
        "The answer is a difficult one.",
        "A or B",
        "A/B",
        "A and B are alike.",
        "A, B\nAnswer: A",
        "Image A and Image B both show it.",
        "Image A: a family eats. Image B: a man works.",
        "A - a family eats\nB - a man works",
        "Neither of them.",
        "Both.",
        "Not A",
        "Image A does not match.",
        "A\nIt fits.\nFinal answer: B",
        "Choice: A\nChoice: B",
        "A_or_B",
        "A...B",
        "A\nB",
        "A? B?",
        "Image A is more colourful, but B fits",
        "I select Image A. On reflection, Image B.",
        "Image A is better? No, A or B.",
        "Image A is better?",
        '{"answer": "A"} B',
        '{"answer": "A"}\nActually, B.',
        "",
    ],
)
def test_what_names_no_letter_or_two_is_left_unread(text: str) -> None:
    assert read(text) in ("no_verdict", "two_verdicts")


def test_a_model_that_declines_to_choose_has_refused() -> None:
    found = case("valueground-main").read(Reply("I cannot choose between these images.", finish="stop"))
    assert isinstance(found, UnparsedReply) and (found.state, found.reason) == ("refused", "said_no")


def test_pictures_are_shuffled_by_the_seed_and_the_answer_is_mapped_back() -> None:
    main = case("valueground-main")
    seeds = {draw_order(seed): seed for seed in range(20)}
    assert set(seeds) == {("a", "b"), ("b", "a")}
    for order, seed in seeds.items():
        asked = main.asked(seed=seed)
        shas = [
            piece.sha for message in asked.requests[0].messages for piece in message.pieces if hasattr(piece, "sha")
        ]
        assert shas == [main.scene().image(side).sha for side in order]  # type: ignore[union-attr]
        assert asked.order == order
        assert main.says("A\nIt fits.", seed=seed) == {"choice": order[0]}
        assert main.says("B\nIt fits.", seed=seed) == {"choice": order[1]}


def test_answers_are_shuffled_where_there_are_no_pictures() -> None:
    text = case("valueground-text")
    seed = next(seed for seed in range(20) if draw_order(seed) == ("b", "a"))
    words = text.asked(seed=seed).requests[0].messages[-1].pieces[0].text
    assert "Option A: Not at all important\nOption B: Very important" in words
    assert text.says("A", seed=seed) == {"choice": "b"}


def test_both_orders_come_about_equally_often() -> None:
    first = sum(draw_order(seed)[0] == "a" for seed in range(1000))
    assert 440 < first < 560


def test_a_distribution_over_letters_is_mapped_back_too() -> None:
    main = case("valueground-main")
    seed = next(seed for seed in range(20) if draw_order(seed) == ("b", "a"))
    tokens = (Token("A", -0.1, {"A": -0.105, " A": -3.0, "B": -4.0}),)
    reply = main.read(Reply("A", way="logprobs", tokens=tokens), seed=seed)
    assert isinstance(reply, ParsedReply)
    assert reply.answers == {"choice": "b"}
    assert reply.notes["distribution"]["b"] > 0.9
    assert sum(reply.notes["distribution"].values()) == pytest.approx(1)


def test_the_country_is_written_as_it_is() -> None:
    from dataclasses import replace

    asked = replace(case("valueground-main"), target="the United States of America").asked()
    assert "Country: the United States of America\n" in asked.requests[0].messages[1].pieces[0].text


def test_without_a_country_none_is_named() -> None:
    asked = case("valueground-main-no-country").asked()
    assert "Japan" not in str(asked) and "country" not in str(asked).lower()


ALIGNMENT = case("valueground-alignment")
SWAPPED = next(seed for seed in range(20) if draw_order(seed) == ("b", "a"))


@pytest.mark.parametrize(
    ("reply", "seed", "outcome"),
    [
        ('{"image_1": "A", "image_2": "B"}', 1, {"alignment": "aligned"}),
        ('{"image_1": "B", "image_2": "A"}', 1, {"alignment": "swapped"}),
        ('{"image_1": "A", "image_2": "B"}', SWAPPED, {"alignment": "swapped"}),
        ('```json\n{"image_1": "Option B", "image_2": "a", "reason_1": "x"}\n```', SWAPPED, {"alignment": "aligned"}),
        ('{"image_1": "A", "image_2": "A"}', 1, "not_one_to_one"),
        ('{"image_1": "A_or_B", "image_2": "A_or_B"}', 1, "bad_json"),
        ('{"image_1": "A"}', 1, "bad_json"),
        ('{"image_1": "A", "image_1": "B", "image_2": "B"}', 1, "two_verdicts"),
        ('{"image_1": "A", "image_2": "B"} {"image_1": "B", "image_2": "A"}', 1, "two_verdicts"),
        ("Image 1 is A and image 2 is B.", 1, "bad_json"),
    ],
)
def test_alignment_is_one_to_one_and_mapped_back(reply: str, seed: int, outcome: object) -> None:
    assert ALIGNMENT.says(reply, seed=seed) == outcome


def test_the_same_answer_for_both_pictures_can_be_counted_as_wrong() -> None:
    both = '{"image_1": "B", "image_2": "B"}'
    assert ALIGNMENT.says(both, not_one_to_one="answer") == {"alignment": "both_b"}


def test_alignment_asks_for_reasons_only_where_they_are_wanted() -> None:
    assert "reason_1" in str(ALIGNMENT.asked().requests[0].schema)
    without = ALIGNMENT.asked(reasons=False)
    assert "reason" not in str(without.requests[0].schema)
    assert "reason" not in str(without.requests[0].messages)


def test_a_cut_off_answer_without_a_letter_says_so() -> None:
    found = case("valueground-main").read(Reply("The first picture shows", finish="length"))
    assert isinstance(found, UnparsedReply) and found.reason == "cut_off"


def test_the_rubric_asks_for_safety_only_where_it_is_wanted() -> None:
    rubric = case("valueground-rubric")
    assert "safety" not in str(rubric.asked().requests[0].schema)
    assert "safety" in rubric.asked(safety=True).requests[0].schema["required"]


@pytest.mark.parametrize(
    ("reply", "answers", "incomplete"),
    [
        (
            '{"match_a": 3, "match_b": 1, "pair_match": 2, "no_cue": 1}',
            {"match_b": "1", "pair_match": "2", "no_cue": "1"},
            {"match_a": "outside_scale"},
        ),
        (
            '{"match_a": 2, "match_b": 1, "pair_match": 2}',
            {"match_a": "2", "match_b": "1", "pair_match": "2"},
            {"no_cue": "missing_answer"},
        ),
        ('{"match_a": 2, "match_b": 9, "pair_match": null, "no_cue": 2}', {"match_a": "2"}, None),
    ],
)
def test_a_rubric_keeps_what_is_readable(
    reply: str, answers: dict[str, str], incomplete: dict[str, str] | None
) -> None:
    parsed_reply = case("valueground-rubric").read(text_reply(reply))
    assert isinstance(parsed_reply, ParsedReply) and dict(parsed_reply.answers) == answers
    wanted = incomplete or {"match_b": "outside_scale", "pair_match": "missing_answer", "no_cue": "outside_scale"}
    assert parsed_reply.notes["incomplete"] == wanted


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ('{"match_a": 3, "match_b": 9, "pair_match": null, "no_cue": 7}', "outside_scale"),
        ("{}", "missing_answer"),
        ("2, 1, 2, 1", "bad_json"),
    ],
)
def test_a_rubric_without_any_readable_answer_is_unread(reply: str, outcome: str) -> None:
    assert case("valueground-rubric").says(reply) == outcome


def test_nothing_wrong_with_a_pair_is_an_answer() -> None:
    safety = case("valueground-safety")
    assert safety.says('{"safety": []}') == {"safety": []}
    assert safety.says('{"safety": null}') == {"safety": []}
    assert safety.read(text_reply("{}")).reason == "missing_answer"  # type: ignore[union-attr]
