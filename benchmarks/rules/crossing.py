"""Rows of items that are words alone: each concept with each label of a set, in one sentence. Pure."""

import hashlib
import re
from collections.abc import Iterator, Sequence

from benchmarks.rules.label_sets.contract import LabelSpec

PLACEHOLDERS = ("{concept}", "{origin}")
MAX_KEY_PART = 90


def missing_placeholders(sentence: str) -> list[str]:
    """Placeholders without which rows of different concepts or labels would say the same."""
    return [name for name in PLACEHOLDERS if name not in sentence]


def crossed_rows(concepts: Sequence[str], labels: Sequence[LabelSpec], sentence: str) -> Iterator[dict[str, str]]:
    """A row for each label and concept. Its key is made of both, so that a second import adds nothing.

    >>> from benchmarks.rules.label_sets.contract import LabelSpec
    >>> list(crossed_rows(["hats"], [LabelSpec("br", "Brazil")], "A photo of {concept} in {origin}"))
    [{'key': 'br/hats', 'concept': 'hats', 'origin': 'Brazil', 'text': 'A photo of hats in Brazil'}]
    """
    for label in labels:
        for concept in concepts:
            yield {
                "key": f"{key_part(label.key)}/{key_part(concept)}",
                "concept": concept,
                "origin": label.text,
                "text": _fill(sentence, concept, label.text),
            }


def key_part(text: str) -> str:
    """Of a key: Latin letters as they are; a digest tells apart what a slug does not."""
    part = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if part.replace("-", " ") == " ".join(text.lower().split()) and len(part) <= MAX_KEY_PART:
        return part
    digest = hashlib.sha256(text.encode()).hexdigest()[:6]
    return "-".join(filter(None, (part[:MAX_KEY_PART], digest)))


def _fill(sentence: str, concept: str, origin: str) -> str:
    """The sentence with both names, whatever braces they have themselves."""
    parts = [part.replace("{origin}", origin) for part in sentence.split("{concept}")]
    return concept.join(parts)
