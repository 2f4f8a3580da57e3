"""3XCM's stages of pictures: found by searches, without look-alikes, with all concepts that they show.

The guideline for look-alikes follows Appendix J of the paper, the labels Appendix I. The sentences and roles are ours.
"""

from typing import Any

from benchmarks.recipes.contract import StageSpec
from benchmarks.recipes.parts import BROKEN, CANNOT_JUDGE, OFFENSIVE, UNFAMILIAR, field
from papers.xcm.recipe_words import CONCEPT, RENAMED

LEAST_ALIKE = 0.9  # of two pictures of a concept and country, or the later one is dropped (ours)
CELL = ["origin", "concept"]
REMARK = {"fields": [field("remark", "text", {"en": "Remark on the picture"}, {"max_length": 300})]}
IMAGE_FILTERS: tuple[dict[str, Any], ...] = (
    {"key": "same_picture", "kind": "same_picture", "params": {"within": CELL}},
    {"key": "near_duplicate", "kind": "near_duplicate", "params": {"least": LEAST_ALIKE, "within": CELL}},
)
TO_COMPARE: dict[str, Any] = {
    "kind": "cluster",
    "from": ["images"],
    "of": "kept",
    "params": {
        "by": ["item.concept", "item.origin"],
        "title": "item.context.title",
        "rank": "item.context.rank",
        "rename": RENAMED,
    },
}
KEPT: dict[str, Any] = {"kind": "ungroup", "from": ["look-alikes"], "params": {"field": "groups", "rename": RENAMED}}
TO_TAG: dict[str, Any] = {"kind": "promote", "from": ["unique"], "of": "items", "params": {"image": "item"}}
TO_CORRECT: dict[str, Any] = {
    **TO_TAG,
    "params": {"image": "item", "proposals": {"stage": "tagging", "field": "labels"}},
}

IMAGES = StageSpec(
    key="images",
    name="Pictures of searches",
    display="image",
    sheet=REMARK,
    target_answers=0,
    has_target=False,
    own_vocabulary=True,
    filters=IMAGE_FILTERS,
    layout=CONCEPT,
    sample=(
        {
            "key": "brazil-41-1-nav",
            "file": "brazil-41-1-nav.jpg",
            "country": "Brazil",
            "concept": "market",
            "rank": "1",
            "query_language": "pt",
            "title": "Mercado",
            "source": "https://example.org/page",
            "licence": "CC BY 4.0",
        },
    ),
)
LOOK_ALIKES = StageSpec(
    key="look-alikes",
    name="De-duplication",
    display="contact",
    sheet={
        "fields": [
            field(
                "groups",
                "grouping",
                {"en": "Which pictures show the same?"},
                {
                    "roles": [
                        {"code": "crop", "label": {"en": "Crop"}},
                        {"code": "zoom", "label": {"en": "Zoom"}},
                        {"code": "shift", "label": {"en": "Slight shift"}},
                        {"code": "copy", "label": {"en": "Copy"}},
                        {"code": "time", "label": {"en": "Other time of day"}, "keeps": True},
                        {"code": "angle", "label": {"en": "Other angle"}, "keeps": True},
                    ],
                    "not_sure": True,
                    "keep_one": {
                        "en": "Keep one: the same scene or object without a meaningful change. Crops, zooms and slight shifts are duplicates."
                    },
                    "keep_both": {"en": "Keep both: another time of day, or a clearly different angle."},
                },
            )
        ]
    },
    target_answers=1,
    has_target=False,
    derivation=TO_COMPARE,
    layout=CONCEPT,
    skip_reasons=(BROKEN, CANNOT_JUDGE),
    instructions={
        "en": (
            "You will see all pictures of one concept from one country, look-alikes side by side. Keep one of each group.\n\n"
            "The same scene or object without a meaningful change: keep one. Crops, zooms and slight shifts count as the "
            "same. Another time of day or a clearly different angle: keep both. If you are not sure, say so: a second "
            "person will look."
        )
    },
    sample=(
        {
            "key": "brazil-market",
            "file": "brazil-41-1-nav.jpg",
            "country": "Brazil",
            "concept": "market",
            "title": "Mercado",
            "rank": "1",
        },
        {
            "key": "brazil-market",
            "file": "brazil-41-2-nav.jpg",
            "country": "Brazil",
            "concept": "market",
            "title": "Feira",
            "rank": "2",
        },
    ),
)
UNIQUE = StageSpec(
    key="unique",
    name="Unique pictures",
    display="image",
    sheet=REMARK,
    target_answers=0,
    has_target=False,
    own_vocabulary=True,
    derivation=KEPT,
    layout=CONCEPT,
)
TAGGING = StageSpec(
    key="tagging",
    name="Labels by a model",
    display="image",
    sheet={
        "fields": [
            field(
                "labels",
                "text",
                {"en": "Which concepts does the picture show?"},
                {"max_length": 1000},
                help={"en": "The most important first, with | between them."},
            )
        ]
    },
    target_answers=0,
    has_target=False,
    own_vocabulary=True,
    derivation=TO_TAG,
    layout=CONCEPT,
)
LABELS = StageSpec(
    key="labels",
    name="Multi-concept labelling",
    display="image",
    sheet={
        "fields": [
            field(
                "labels",
                "choice",
                {"en": "Which of these does the picture show?"},
                {"many": True, "options_from": "labels", "least": 1},
                help={"en": "Proposed by a model. Take away what is not there, and add what is missing."},
                required_unless="others",
            ),
            field(
                "others",
                "text",
                {"en": "What else does it show?"},
                {"max_length": 200},
                required=False,
                help={"en": "Separate several with commas."},
            ),
        ]
    },
    target_answers=1,
    has_target=False,
    derivation=TO_CORRECT,
    layout={"show": [{"key": "concept", "label": {"en": "Found for"}}]},
    skip_reasons=(UNFAMILIAR, BROKEN, OFFENSIVE),
    instructions={
        "en": "You will see a picture and the concepts that a model found in it. Correct the list: what is there stays, what is not goes."
    },
    sample=(
        {
            "key": "brazil-41-1-nav",
            "file": "brazil-41-1-nav.jpg",
            "country": "Brazil",
            "concept": "market",
            "labels": "market | fruit | street",
        },
    ),
)
