"""CAIRE: whether a picture was linked to the right entry of a knowledge base.

The cases follow Figure 7 and Appendix C.1 of the paper, in which 86 of 100 links of the specific set are exact; the
sentences are ours. The items are made from the links of a run: predictions/services/knowledge/link_checks.py.
"""

from benchmarks.recipes.contract import StageSpec
from benchmarks.recipes.parts import BROKEN, CANNOT_JUDGE, UNFAMILIAR, one_of, option

SHEET = {
    "fields": [
        one_of(
            "link",
            {"en": "How does the entry fit what the picture shows?"},
            (
                option(
                    "exact",
                    {"en": "Exact"},
                    {"en": "It is the very thing. Another name or spelling of it is exact too."},
                ),
                option(
                    "narrower_or_broader",
                    {"en": "Narrower or broader"},
                    {
                        "en": (
                            "It is a kind or a part of the thing, or a wider class that the thing belongs to: Tibetan art "
                            "for a Thangka."
                        )
                    },
                ),
                option(
                    "related",
                    {"en": "Related, and fitting its culture"},
                    {
                        "en": (
                            "It is another thing, of the same culture and closely tied to it: a goddess of the dead for the "
                            "Day of the Dead."
                        )
                    },
                ),
                option(
                    "wrong",
                    {"en": "Wrong"},
                    {"en": "It is something else, or looks alike and belongs to another culture."},
                ),
            ),
        )
    ]
}

INSTRUCTIONS = {
    "en": (
        "You will see a picture, what it is said to show, and the entry of an encyclopedia that a machine found for it. "
        "Say how the entry fits.\n\n"
        "Look at the picture first. Then read the entry's name and the sentence about it. Take the first case that holds, "
        "from the top. If you do not know the thing, look it up, or skip it and say why."
    )
}

LINK_CHECK = StageSpec(
    key="link-check",
    name="Link check",
    display="image",
    sheet=SHEET,
    target_answers=3,
    target_in_all=True,
    has_target=False,
    own_vocabulary=True,
    layout={
        "show": [
            {"key": "shown_as", "label": {"en": "It is said to show"}},
            {"key": "linked", "label": {"en": "Entry"}},
            {"key": "linked_gloss", "label": {"en": "About the entry"}},
        ]
    },
    skip_reasons=(UNFAMILIAR, CANNOT_JUDGE, BROKEN),
    instructions=INSTRUCTIONS,
    sample=(
        {
            "file": "specific/namahage-01.jpg",
            "key": "namahage-01/lemma_vt",
            "shown_as": "Namahage",
            "linked": "Oni",
            "linked_gloss": "A kind of demon of Japanese folklore.",
            "linked_key": "bn:00059013n",
        },
    ),
)
