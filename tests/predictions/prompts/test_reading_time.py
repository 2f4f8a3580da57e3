"""A reply of 20,000 characters, whatever they are, is read at once: readers run while a worker holds its lease."""

import time

import pytest

from predictions.prompts.reply_text import LONGEST
from tests.predictions.prompts.cases import case, text_reply

PIECES = (
    " ", "\n", "\t\n", "\n ", "*", "(", "[", "<", '"', "'", "`", "{", "#", "\\", "|", "-", ".", ",", ":", "=", "(*",
    "* ", "1", "1 ", "9.", "1,", "1-", "1,1,1,1,", "score", "score is ", "score\n", "final ", "final a b ",
    "answer is *", "rate ", "i rate it ", "not ", "a ", "of ", "to ", "or ", "four or ", "no, 1 ", "so ", "if ",
    "scale of ", "1 to ", "on a scale of 1 to ", "rating=1 ", "\\boxed{", "<think>", "</think>", "<candidate>",
    "<text>", "<score>", '{"a":', '"\\', "A ", "B. ", "image A ", "image ", "Image A is better ", "[1,2,3,", "(1,2),",
    "<loc0001>", "<patch_index_0001>", "1,I give it ", "(1,2),I rate it the ", "(1,2),answer is *",
    "final score for x1 ",
)  # fmt: skip
ROUND = (("", ""), ("a", "x"), ("score is", "x"), ("final score is", "1"), ("<think>", "</b"), ("A", "B"), ("1", "2"))
SLOW = 2.0  # seconds of a slow and busy machine; a quiet one takes a tenth


@pytest.mark.parametrize(
    "key",
    ["lave", "lave-original", "caire-digit", "caire-reason", "valueground-main", "valueground-alignment",
     "globalrg-grounding", "culturalvqa-vlm"],
)  # fmt: skip
@pytest.mark.parametrize("before", range(len(ROUND)))
def test_no_reply_takes_long(key: str, before: int) -> None:
    prompt_case, (head, tail) = case(key), ROUND[before]
    scene, asked = prompt_case.scene(), prompt_case.asked()
    for piece in PIECES if before < 2 else PIECES[:24]:
        reply = text_reply(head + (piece * (LONGEST // len(piece)))[: LONGEST - len(head + tail)] + tail)
        began = time.process_time()
        prompt_case.prompt.read(scene, asked, [reply])
        assert time.process_time() - began < SLOW, piece
