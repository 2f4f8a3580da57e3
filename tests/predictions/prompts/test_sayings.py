"""Ways of saying a verdict, and of not saying one: bounded, asked, supposed, taken back, by another scale, declined."""

import pytest

from predictions.prompts.contract import Question, Reply, Token, UnparsedReply
from predictions.prompts.letters import parse_letter
from predictions.prompts.phrases import parse_phrase
from predictions.prompts.reply_text import strip_reasoning
from predictions.prompts.scales import parse_code, parse_single_field
from predictions.prompts.sheet import parse_json_reply
from predictions.prompts.verdicts import VerdictScale

FIVE = VerdictScale(tuple("12345"), names={"Relevant": "4", "Highly Relevant": "5", "Irrelevant": "2"})
REASONED = VerdictScale(FIVE.codes, names=FIVE.names, reasoned=True, last=True)
JUDGE = VerdictScale(("1", "2"), reasoned=True, stated="rating|score")


def read(words: str, scale: VerdictScale = FIVE) -> str:
    found = parse_code(Reply(words, finish="stop"), scale)
    return found.reason if isinstance(found, UnparsedReply) else found[0]


def letter(words: str) -> str:
    found = parse_letter(Reply(words, finish="stop"))
    return found.reason if isinstance(found, UnparsedReply) else found[0]


@pytest.mark.parametrize("scale", [FIVE, REASONED], ids=["digit", "reasoned"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("Final Score: four", "4"),
        ("Final Score: Relevant", "4"),
        ("**Final Score:** Highly Relevant.", "5"),
        ("Rating: one", "1"),
        ("Final Score 4", "4"),
        ("Final Score 4/5", "4"),
        ("rating 2: good", "2"),
        ("It is typical, rating 5.", "5"),
        ("Rating - 2", "2"),
        ("4/5 stars", "4"),
        ("4 out of five", "4"),
        ("four out of five", "4"),
        ("On a scale of 1 to 5: 4", "4"),
        ('{"relevance": 4}', "4"),
        ("<score>4</score>", "4"),
        ("score 4 is too high, score 3", "3"),
    ],
)
def test_what_is_plainly_readable_is_read(words: str, code: str, scale: VerdictScale) -> None:
    assert read(words, scale) == code


@pytest.mark.parametrize("scale", [FIVE, REASONED], ids=["digit", "reasoned"])
@pytest.mark.parametrize(
    "words",
    [
        "Score: 3 at best",
        "Score: 4 at most",
        "Score: 4 or higher",
        "Final Score: 4 or above",
        "Score: 3 or more",
        "Score: under 4",
        "Score: over 3",
        "Score: almost 5",
        "Score: no more than 3",
        "Score: 4?",
        "Final Score: 4?",
        "I give it a 4? No.",
        "If scored, Score: 4",
        "Suppose Score: 4. Then it fits.",
        "Could be Final Score: 4",
        "Score: 4 is wrong",
        "Score: 4 is what the text demands, I refuse",
        "Score: 4 unless it is fake",
        "Score: 4 on a scale of 1 to 10",
        "On a scale of 1 to 10: 4",
        "On a scale of 1 to 10, I would rate this 4.",
        "Score (1-10): 4",
        "Final Score: Not relevant",
        "Final Score: Relevant to irrelevant",
        "Score: one of a kind",
    ],
)
def test_a_bound_a_question_a_supposition_and_another_scale_are_no_verdict(words: str, scale: VerdictScale) -> None:
    assert not read(words, scale).isdigit()


@pytest.mark.parametrize("scale", [FIVE, REASONED], ids=["digit", "reasoned"])
@pytest.mark.parametrize(
    "words",
    [
        '{"score": 4}\nActually 5',
        '{"score": 4}\n5',
        "Score: 4 or five",
        "Score: four or 5",
        "4 (or five)",
        "4\nor 5",
        "4. Or 5.",
        "Score: 4, then 5",
        "Final Score: 4\nNo wait. 3",
        "Final Score: 4. Hmm, 3.",
        "Rating: 4 for dress; 2 for food",
    ],
)
def test_two_verdicts_however_they_are_joined_are_none(words: str, scale: VerdictScale) -> None:
    assert read(words, scale) == "two_verdicts" or (scale is REASONED and read(words, scale) == "no_verdict")


@pytest.mark.parametrize("words", ['{"score": 4}\nSo no more than 3.', '{"score": 4}\nBecause 3 of them wear masks.'])
def test_numbers_in_reasons_outside_json_do_not_change_the_answer(words: str) -> None:
    assert read(words) == "4"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("A?", "no_verdict"),
        ("Answer: A?", "no_verdict"),
        ("I choose A? No", "no_verdict"),
        ("I would choose A, if only", "no_verdict"),
        ("A, or B", "two_verdicts"),
        ("A - B", "two_verdicts"),
        ("A, but B is better", "two_verdicts"),
        ('"A", no, "B"', "two_verdicts"),
        ("A to B", "no_verdict"),
        ("Choose A.", "A"),
        ("I prefer A to B", "A"),
        ("I prefer B to A", "B"),
        ("B, not A", "B"),
        ("A, a family eats", "A"),
        ("B, A person prays", "B"),
    ],
)
def test_one_letter_is_read_and_two_are_none(words: str, code: str) -> None:
    assert letter(words) == code


@pytest.mark.parametrize("phrase", ["1", "2"])
@pytest.mark.parametrize(
    "candidate", ["rating={}", "so rating={}", "Wrong. rating={}", "The candidate does not match, so rating={}."]
)
def test_a_candidate_in_the_judges_words_makes_no_honest_verdict_vanish(candidate: str, phrase: str) -> None:
    candidate = candidate.format(phrase)
    scale = VerdictScale(JUDGE.codes, judged=(candidate,), reasoned=True, stated=JUDGE.stated)
    for honest in ("1", "2"):
        assert read(candidate.replace(phrase, honest), scale) == honest
        assert read(f"It was compared, so rating={honest}", scale) == honest


def test_a_candidate_with_words_of_its_own_does_not_decide() -> None:
    scale = VerdictScale(JUDGE.codes, judged=("Naan bread, rating=2",), reasoned=True, stated=JUDGE.stated)
    assert read("Naan bread, rating=2", scale) == "no_number"
    assert read("Naan bread, rating=2\nrating=1", scale) == "1"


@pytest.mark.parametrize("told", ["</think>", "</", "a</think>"])
def test_a_candidate_that_is_a_tag_does_not_make_the_reply_a_thought(told: str) -> None:
    assert strip_reasoning("<think>hm</think>rating=1", (told,)) == "rating=1"


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ("5</think>4", "4"),
        ("1. It shows a mask.\n2. It is new.</think>4", "4"),
        ("<think>5<think>3</think>4", "4"),
        ("<think>5</think>4<think>2</think>", "4"),
        ("The answer is 2. It says x</think>Score: 5", "two_verdicts"),
        ("My rating is 2: x</think>Rating: 5", "two_verdicts"),
    ],
)
def test_a_thought_ends_where_its_tag_says_unless_a_verdict_stood_before_it(words: str, outcome: str) -> None:
    assert read(words) == outcome


@pytest.mark.parametrize(
    ("words", "digit", "side"),
    [
        ("I cannot say. {}", None, None),
        ("As an AI I can't say. But {}.", None, None),
        ("I'm sorry, I can't rate or compare this. {}", None, None),
        ("Unfortunately, I cannot rate or choose.", None, None),
        ("I cannot identify any cue.\n{}", "1", "A"),
        ("I can't judge or compare.\nFinal answer: {}", "1", "A"),
    ],
)
def test_words_that_decline_are_one_rule_for_all(words: str, digit: str | None, side: str | None) -> None:
    for sign, result, code in (
        ("1", parse_code(Reply(words.format("1"), finish="stop"), FIVE), digit),
        ("A", parse_letter(Reply(words.format("A"), finish="stop")), side),
    ):
        if code is None:
            assert isinstance(result, UnparsedReply) and (result.state, result.reason) == ("refused", "said_no"), sign
        else:
            assert not isinstance(result, UnparsedReply) and result[0] == code, sign


def test_by_log_probabilities_a_thought_is_passed_over() -> None:
    tokens = (
        Token("<think>", -0.1),
        Token("5", -0.1),
        Token("</think>", -0.1),
        Token("4", -0.1, {"4": -0.1, "3": -3.0}),
    )
    found = parse_code(Reply("<think>5</think>4", way="logprobs", tokens=tokens, finish="stop"), FIVE)
    assert not isinstance(found, UnparsedReply) and found[0] == "4"


def test_log_probabilities_at_another_word_do_not_overrule_the_reply() -> None:
    tokens = (Token("My", -0.1, {"My": -0.1, "4": -3.0}), Token(" score", -0.1), Token(" is", -0.1), Token(" 3", -0.1))
    found = parse_code(Reply("My score is 3", way="logprobs", tokens=tokens, finish="stop"), FIVE)
    assert isinstance(found, UnparsedReply) and found.reason == "two_verdicts"


def test_the_sheets_own_key_is_read_in_json() -> None:
    question = Question("Kinship", "How near?", {"type": "string"}, codes=FIVE.codes)
    found = parse_single_field(question, Reply('{"kinship": 4, "note": "near"}', finish="stop"), FIVE)
    assert not isinstance(found, UnparsedReply) and found.answers == {"Kinship": "4"}


def test_a_number_is_words_where_a_question_asks_for_words() -> None:
    """As models write counts and years in JSON; the sheet takes no number for a text."""
    questions = [Question(key, key, {"type": "string"}) for key in ("count", "year", "what")]
    found = parse_json_reply(Reply('{"count": 5, "year": 1958.5, "what": true}', finish="stop"), questions)
    assert not isinstance(found, UnparsedReply)
    assert found.answers == {"count": "5", "year": "1958.5", "what": True}


def phrase(words: str, *keys: str) -> str:
    parsed = parse_phrase([Reply(words, finish="stop")], keys or ("answer",))
    return parsed.reason if isinstance(parsed, UnparsedReply) else parsed


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ('"Tea"', "Tea"),
        ("**Answer:** Tea", "Tea"),
        ('"Tea" and "coffee"', '"Tea" and "coffee"'),
        ('{"answer": "Tea"}', "Tea"),
        ('{"answer": "Tea"} {"answer": "Tea"}', "Tea"),
        ('{"answer": "Tea"} {"answer": "Coffee"}', "two_verdicts"),
        ('{"title": "Oni"}', '{"title": "Oni"}'),
        ("Answer: **Tea**", "Tea"),
        ("Answer: *Tea*", "Tea"),
        ("**Answer: Tea**", "Tea"),
        ("**Answer**: __Tea__", "Tea"),
        ("**Final answer:** *Tea*", "Tea"),
        ("Answer: **Tea** with *mint*", "**Tea** with *mint*"),
        ("**Answer: Tea**\n\nIt is hot.", "**Tea**\n\nIt is hot."),
        ('{"Answer": "Tea"}', "Tea"),
        ('{"answer": 5}', "5"),
        ('{"answer": null}', "missing_answer"),
        ('{"answer": ""}', "missing_answer"),
        ('{"answer": ["Tea"]}', '{"answer": ["Tea"]}'),
    ],
)
def test_a_phrase_loses_what_is_round_it_and_two_phrases_are_none(words: str, text: str) -> None:
    assert phrase(words) == text
