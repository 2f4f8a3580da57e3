"""What is read otherwise is a new version of the rules of reading, which every reading is kept with."""

import json
import os
from typing import Any

from predictions.prompts.contract import DetectedBox, ParsedReply, Reply, Token
from predictions.prompts.reply_text import READING_VERSION
from tests.predictions.prompts.cases import CASES, GOLDEN, Case

WORDS = (
    "4", "4.", "**4**", "Four", "4/5", "8/10", "4.5", "7", "3-4", "3 or 4", "4, no, 3", "rating=2", "'rating=1'",
    "rating=2?", "I would not say rating=2", "Correct. rating=2", "rating=1|2", "Final Score: 4",
    "Final score: 4 is too high, so 3", "Score: at least 4", "about 4", '{"score": 4}', '{"score": 4} Actually 5',
    "A", "B, because it fits", "A or B", "Image A", "I select Image A. On reflection, Image B.", "A person prays",
    '{"answer": "B"}', '{"image_1": "A", "image_2": "B"}', '{"image_1": "A", "image_2": "B"} Actually swapped.',
    '{"image_1": "A", "image_2": "A"}', '{"match_a": 2, "match_b": 1, "pair_match": 0, "no_cue": 1}',
    '{"match_a": 2, "match_b": 1, "pair_match": 0, "no_cue": 1}\nmatch_a should be 1', "[100, 200, 300, 400]",
    "not [100, 200, 300, 400] but [1, 2, 3, 4]", "<100><200><300><400>", "[0.1, 0.2, 0.3, 0.4]", "celebration",
    "category = celebration? no, other", '{"labels": ["market"]}', "Query: a photo of a bus", "I cannot judge this.",
    "I'm sorry, but I can't help. 4", "", "<think>4</think>5", "<think>4", "Answer: naan bread",
    '{"sub_category": "other"}', "yes", "No", "Answer: **naan bread**", '{"Answer": "naan bread"}', "Score: 4\u00bd",
    "Score: 4 and a half",
)  # fmt: skip


def tokens(*many: tuple[str, dict[str, float]]) -> tuple[Token, ...]:
    return tuple(Token(text, top.get(text, -0.1), top) for text, top in many)


OTHERS = (
    Reply("4", "stop", way="logprobs", tokens=tokens(("4", {"4": -0.2, "5": -1.9, " 4": -3.0}))),
    Reply("10", "stop", way="logprobs", tokens=tokens(("1", {"1": -0.2}), ("0", {"0": -0.1}))),
    Reply("A", "stop", way="logprobs", tokens=tokens(("A", {"A": -0.5, "B": -0.5}))),
    Reply(similarities=(0.1, 0.2, 0.3, 0.2, 0.1)),
    Reply(boxes=(DetectedBox("bus", 0.4, (0.1, 0.1, 0.5, 0.5)), DetectedBox("bus", 0.9, (0.2, 0.2, 0.6, 0.6)))),
    Reply("4", "length"), Reply("", "content_filter"), Reply("4", refusal="no"),
)  # fmt: skip


def outcome(one: Case, reply: Reply) -> Any:
    found = one.read(*[reply] * len(one.asked().requests))
    return dict(found.answers) if isinstance(found, ParsedReply) else f"{found.state}: {found.reason}"


def test_what_is_read_otherwise_is_a_new_version() -> None:
    """To accept one: raise READING_VERSION, then EMIC_GOLDEN=write. A new prompt, or a reply that is added here,
    belongs to the version there is: delete its file first."""
    replies = [*(Reply(words, "stop") for words in WORDS), *OTHERS]
    now = {one.key: [outcome(one, reply) for reply in replies] for one in CASES}
    path = GOLDEN.parent / "readings" / f"{READING_VERSION}.json"
    if not path.exists() and os.environ.get("EMIC_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(now, indent=1, ensure_ascii=False) + "\n", "utf-8")
    assert path.exists(), f"{path.name} is not there: a new version is written by EMIC_GOLDEN=write"
    assert now == json.loads(path.read_text("utf-8")), "replies are read otherwise: raise READING_VERSION"
