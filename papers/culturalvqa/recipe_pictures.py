"""CulturalVQA: candidate pictures, the filters that keep some of them, and labels that calibrate the CLIP score.

The limits follow section 3 and Appendix B of the paper, 23 is the score that it chose. The blocked words are its
examples and some of ours. The sentences are ours.
"""

from typing import Any

from benchmarks.recipes.contract import StageSpec
from benchmarks.recipes.parts import BROKEN, OFFENSIVE, UNFAMILIAR, one_of, option

CANDIDATES = "candidates"
SCORE = "clip_score"
SCORE_LIMIT = 23
BINS = 10  # of the score, so that labels are as many at each height of it
LABELLED = 200  # of which people say whether they are relevant, as many as the paper's
DRAWN = 300  # of each country: the paper showed about 263 to have 211 kept
BLOCKED_WORDS = ("logo", "social", "icon", "banner", "avatar", "sprite", "thumbnail", "watermark")
FILTERS: tuple[dict[str, Any], ...] = (
    {"key": "aspect", "kind": "aspect", "params": {"least": 0.5, "most": 2}},
    {"key": "shortest_side", "kind": "shortest_side", "params": {"least": 100}},
    {"key": "blocked_words", "kind": "blocked_words", "params": {"words": list(BLOCKED_WORDS)}},
    {"key": SCORE, "kind": "fact", "params": {"key": SCORE, "least": SCORE_LIMIT}},
)
RELEVANCE_SHEET = {
    "fields": [
        one_of(
            "relevant",
            {"en": "Does the picture show it?"},
            (option("relevant", {"en": "Yes"}), option("irrelevant", {"en": "No"})),
        )
    ]
}
# What the question speaks of: a picture may have been found for a concept, without a sentence.
SHOWN = {
    "show": [
        {"key": "concept", "label": {"en": "Concept"}},
        {"key": "assertion", "label": {"en": "It is said to show"}},
    ]
}
TO_LABEL: dict[str, Any] = {
    "kind": "sample",
    "from": [CANDIDATES],
    "of": "kept",
    "without": SCORE,
    "params": {
        "n": LABELLED,
        "strata": {"fact": SCORE, "bins": BINS},
        "image": "item",
        "context": {"assertion": "item.context.assertion", "facet": "item.context.facet"},
    },
}
# A picture brings its source and its licence along: they stand with it in every stage that shows it.
TO_WRITE: dict[str, Any] = {
    "kind": "sample",
    "from": [CANDIDATES],
    "of": "kept",
    "params": {
        "n": DRAWN,
        "by": ["item.origin"],
        "weight": f"item.facts.{SCORE}",
        "image": "item",
        "context": {name: f"item.context.{name}" for name in ("facet", "assertion", "entities")},
    },
}
INSTRUCTIONS = {
    "en": (
        "You will see a picture and a sentence that it was found for. Say whether the picture shows what the sentence "
        "is about.\n\nIt need not be a good picture, and it need not show everything that the sentence names."
    )
}
PICTURE_STAGES = (
    StageSpec(
        key=CANDIDATES,
        name="Candidate pictures",
        display="image",
        sheet=RELEVANCE_SHEET,
        target_answers=0,
        has_target=False,
        own_items_only=True,
        layout=SHOWN,
        filters=FILTERS,
        skip_reasons=(UNFAMILIAR, BROKEN, OFFENSIVE),
        instructions=INSTRUCTIONS,
        sample=(
            {
                "file": "india/diwali-01.jpg",
                "key": "india-diwali-01",
                "country": "India",
                "concept": "Diwali",
                "facet": "rituals",
                "assertion": "Oil lamps are lit in rows at Diwali.",
                "entities": "Oil lamp|Rangoli",
                "source": "https://example.org/page",
                "alt": "Rows of small oil lamps on a floor",
                "title": "Diwali in Jaipur",
                "licence": "CC BY 4.0",
                "fact.clip_score": "27.4",
            },
        ),
    ),
    StageSpec(
        key="relevance-labels",
        name="Relevance of pictures",
        display="image",
        sheet=RELEVANCE_SHEET,
        target_answers=1,
        has_target=False,
        own_items_only=True,
        derivation=TO_LABEL,
        layout=SHOWN,
        skip_reasons=(UNFAMILIAR, BROKEN, OFFENSIVE),
        instructions=INSTRUCTIONS,
    ),
)
