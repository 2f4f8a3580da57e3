"""CAIRE's specific set: a model proposes rare concepts with several gold labels, an encyclopedia has an article of
each, people confirm the article and bring a free picture that the knowledge base does not have.

Section 4.1 and Table 13 of the paper. Its proposals were made outside of any tool; questions and texts are ours. The
items of the confirmed concepts come from a linking run by names: predictions/services/knowledge/link_checks.py.
"""

from typing import Any

from benchmarks.recipes.contract import StageSpec
from benchmarks.recipes.parts import CANNOT_JUDGE, UNFAMILIAR, field, one_of, option

LABEL_SET = {"key": "label_set", "label": {"en": "Label set"}}
GOLD = {"key": "gold", "label": {"en": "Its labels"}}
NEAREST_PICTURE = 0.95  # to one of the knowledge base, from which on a picture counts as that very one (ours)
CARRIED = {name: f"item.context.{name}" for name in ("gold", "label_set", "gold_entity")}

PROPOSALS = StageSpec(
    key="specific-proposals",
    name="Rare concepts to propose",
    display="words",
    pictures="none",
    sheet={
        "fields": [
            field(
                "entity",
                "text",
                {"en": "Name one rare concept of these cultures"},
                {"max_length": 120},
                rules=[{"en": "A dish, a garment, a rite, a building or another thing that can be seen in a picture."}],
            ),
            field(
                "gold",
                "text",
                {"en": "Which of the labels does it belong to?"},
                {"max_length": 500},
                rules=[{"en": "Write them as they stand above, with | between. Several may be right."}],
            ),
        ]
    },
    target_answers=0,
    has_target=False,
    own_vocabulary=True,
    layout={"show": [LABEL_SET, {"key": "labels", "label": {"en": "Labels"}}]},
    sample=(
        {
            "key": "world-religions-1",
            "text": "A garment of one of the world religions",
            "label_set": "World religions",
            "labels": "Buddhism, Christianity, Hinduism, Islam, Judaism",
        },
    ),
)

CONCEPTS = StageSpec(
    key="specific-concepts",
    name="Rare concepts",
    display="words",
    pictures="none",
    sheet={
        "fields": [
            one_of(
                "article",
                {"en": "What is the article about?"},
                (
                    option("same", {"en": "This very concept"}),
                    option("other_name", {"en": "This very concept, under another name or spelling"}),
                ),
                help={"en": "If it is about something else, skip it and say so."},
            )
        ]
    },
    target_answers=1,
    target_in_all=True,
    has_target=False,
    own_vocabulary=True,
    acceptance="by_review",
    review_reasons=(
        {"code": "wrong_article", "label": {"en": "The article is about something else"}},
        {"code": "wrong_labels", "label": {"en": "Its labels are wrong"}},
    ),
    layout={
        "show": [
            LABEL_SET,
            GOLD,
            {"key": "linked_title", "label": {"en": "Article"}},
            {"key": "linked_text", "label": {"en": "How the article begins"}},
        ]
    },
    retire_after_skips=1,
    skip_reasons=(
        {"code": "wrong_article", "label": {"en": "The article is about something else"}},
        {"code": "wrong_labels", "label": {"en": "Its labels are wrong"}},
        UNFAMILIAR,
        CANNOT_JUDGE,
    ),
    instructions={
        "en": (
            "You will see a concept that a model named, the labels that it gave, and the beginning of an article that has "
            "the same name. Say whether the article is about the concept, and look whether the labels are right."
        )
    },
    sample=(
        {
            "key": "world-religions/thangka",
            "concept": "Thangka",
            "text": "Thangka",
            "label_set": "World religions",
            "gold": "Buddhism",
            "gold_entity": "bn:00076663n",
            "linked_title": "Thangka",
            "linked_text": "A thangka is a Buddhist painting on cotton or silk.",
        },
    ),
)

PICTURES = StageSpec(
    key="specific-pictures",
    name="Pictures of rare concepts",
    display="words",
    pictures="none",
    sheet={
        "fields": [
            field(
                "picture",
                "picture",
                {"en": "Your picture"},
                {},
                rules=[
                    {"en": "Sharp and large, and the concept can be seen."},
                    {"en": "Its licence must allow everybody to use it. Say where it comes from."},
                ],
            )
        ]
    },
    target_answers=1,
    target_in_all=True,
    has_target=False,
    own_vocabulary=True,
    derivation={
        "kind": "promote",
        "from": ["specific-concepts"],
        "params": {
            "text": "item.text",
            "image": "item",
            "context": {**CARRIED, "linked_gloss": "item.context.linked_gloss"},
        },
    },
    layout={"show": [LABEL_SET, {"key": "linked_gloss", "label": {"en": "About the entry"}}]},
    skip_reasons=(UNFAMILIAR, {"code": "not_found", "label": {"en": "I found no good picture"}}),
    instructions={
        "en": (
            "You will see a concept that few people know. Find a picture of it that is free to use, and bring it here: as a "
            "file, or by its address. Do not take it from the encyclopedia that the concept comes from."
        )
    },
    sample=(
        {
            "key": "world-religions/thangka",
            "concept": "Thangka",
            "text": "Thangka",
            "label_set": "World religions",
            "gold": "Buddhism",
            "gold_entity": "bn:00076663n",
        },
    ),
)

FROM_PICTURES: dict[str, Any] = {
    "kind": "promote",
    "from": ["specific-pictures"],
    "params": {"image": "picture", "context": CARRIED},
}
NOT_IN_BASE: tuple[dict[str, Any], ...] = (
    {
        "key": "not_in_base",
        "kind": "not_in_base",
        "params": {"fact": "base_similarity", "similarity": NEAREST_PICTURE},
    },
)
