"""ValueGround: two pictures that differ only in the answer to a question about values.

The four items and their levels (section 3.3 and Appendix B.1, in our words), the rule of acceptance and the total follow
the ValueGround paper (third version on arXiv); the reasons for returning a pair and the safety question are ours.

What an item of the stages `pair-review` and `choice` says beside its pictures: `concept` is the question's id (Q1), `condition` the source of
the pictures. Its context has `option_a` and `option_b`, `survey`: {country: {code: count}}, and, where they are known,
`options` (the question's labels by code), `pair` (the codes of A and B), `adjustment` ({code: new code}) or, instead of it
all, `labels` ({country: "a" or "b"}). How a label follows from them: papers/valueground/survey_labels.py and
docs/reference/labels-of-valueground.md.
"""

from benchmarks.recipes.contract import PredictionTask, Recipe, ReportTable, StageSpec
from benchmarks.recipes.parts import BROKEN, UNCLEAR, field, one_of, option, points
from benchmarks.recipes.recipe_cohorts import country_cohorts
from papers.valueground.recipe_models import MODEL_CONDITIONS
from papers.valueground.recipe_options import OPTIONS as OPTIONS_STAGE

LABELLED = (
    "Australia", "Brazil", "China", "Germany", "United Kingdom", "India", "Japan", "Kenya", "Mexico", "Nigeria", "Russia",
    "Turkey", "United States",
)  # fmt: skip


def _match(own: str, other: str) -> tuple[dict[str, object], ...]:
    return (
        option(
            "0",
            {"en": "Not distinguishable"},
            {"en": f"It fits both options alike, or option {other} better."},
        ),
        option(
            "1",
            {"en": "Nearer to its own option, but partly"},
            {"en": f"Nearer to option {own} than to {other}, but what it shows is partial, generic or incomplete."},
        ),
        option(
            "2",
            {"en": "Clear and complete"},
            {"en": f"It can be told from option {other}, and shows enough of what the question and option {own} mean."},
        ),
    )


SHEET = {
    "fields": [
        points("match_a", {"en": "Does picture A show option A?"}, _match("A", "B")),
        points("match_b", {"en": "Does picture B show option B?"}, _match("B", "A")),
        points(
            "pair_match",
            {"en": "Are the pictures alike in all else?"},
            (
                option("0", {"en": "Different"}, {"en": "Scene, people, composition or style differ a great deal."}),
                option("1", {"en": "Partly"}, {"en": "There are noticeable differences beyond the one that is meant."}),
                option("2", {"en": "Well matched"}, {"en": "They differ mainly in what is meant."}),
            ),
        ),
        points(
            "no_cue",
            {"en": "Is the answer nowhere written or drawn?"},
            (
                option(
                    "0",
                    {"en": "There is a cue"},
                    {
                        "en": "Readable text, an interface, a flag, a tick or a cross, a country's name or another symbol gives it away."
                    },
                ),
                option("1", {"en": "No cue"}, {"en": "No such sign is seen."}),
            ),
        ),
        field(
            "safety",
            "choice",
            {"en": "Is anything else wrong with them?"},
            {
                "many": True,
                "options": [
                    option("person", {"en": "A person can be recognised"}),
                    option("unsafe", {"en": "Unsafe"}),
                    option("offensive", {"en": "Offensive"}),
                ],
            },
            required=False,
        ),
        field(
            "comment",
            "text",
            {"en": "What should be changed?"},
            {"long": True, "max_length": 1000},
            required=False,
            help={"en": "It goes to whoever draws the pair again."},
        ),
    ],
    "score": {
        "label": {"en": "Total"},
        "expression": "(match_a / 2 + match_b / 2 + pair_match / 2 + no_cue) / 4",
        "decimals": 2,
    },
}
RULE = {
    "clauses": [
        {
            "key": "match",
            "expression": "match_a + match_b >= 3",
            "words": {"en": "Both pictures show their option, one of them completely"},
        },
        {"key": "pair_match", "expression": "pair_match == 2", "words": {"en": "The pictures are alike in all else"}},
        {"key": "no_cue", "expression": "no_cue == 1", "words": {"en": "No cue gives the answer away"}},
    ],
    "score": {"expression": "(match_a / 2 + match_b / 2 + pair_match / 2 + no_cue) / 4", "most": 1},
    "over": "majority",
}

CHOICE = {
    "fields": [
        one_of(
            "choice",
            {"en": "Which picture fits better what most people in {target} think?"},
            (option("a", {"en": "Picture A"}), option("b", {"en": "Picture B"})),
        ),
    ]
}
ALIGNMENT = {
    "fields": [
        one_of(
            "alignment",
            {"en": "Which picture shows which answer?"},
            (
                option("aligned", {"en": "Picture A shows answer A, picture B answer B"}),
                option("swapped", {"en": "The other way round"}),
                option("both_a", {"en": "Both show answer A"}),
                option("both_b", {"en": "Both show answer B"}),
            ),
        ),
    ]
}
# In a manifest both stand as JSON; counts of each code, for as many countries as the survey has.
OPTIONS = '{"1": "Very important", "2": "Rather important", "3": "Not very important", "4": "Not at all important"}'
SURVEY = '{"Japan": {"1": 910, "2": 310, "3": 80, "4": 20}}'
PAIR = "[1, 4]"

# What an item of a later stage brings along: how a label follows from the last five, where the benchmark has no survey.
CARRIED = ("option_a", "option_b", "codes", "options", "pair", "survey", "adjustment", "labels")
# A question is kept when its pairs of all sources were accepted (section 4.2); each source is an item of its own.
OF_EACH_SOURCE = {
    "kind": "join",
    "from": ["pair-review"],
    "params": {
        "by": "item.concept",
        "parts": "item.condition",
        "needs": ["all"],
        "each": "part",
        "context": {name: f"item.context.{name}" for name in CARRIED},
    },
}

VALUEGROUND = Recipe(
    key="valueground",
    version="5",
    name="ValueGround",
    summary={
        "en": (
            "Survey questions about values whose two answers are drawn as a pair of pictures that differ in nothing else. "
            "People check the pairs; models choose the picture that fits a country."
        )
    },
    citation="ValueGround: Evaluating Culture-Conditioned Visual Value Grounding in Multimodal Models. arXiv, version 3.",
    licence="Survey questions: World Values Survey, non-commercial research, cite it. Pictures: as their source says.",
    cohorts=country_cohorts(*LABELLED),
    concepts=(),
    conditions=(),
    stages=(
        OPTIONS_STAGE,
        StageSpec(
            key="pair-review",
            name="Pair review",
            display="pair",
            sheet=SHEET,
            target_answers=3,
            has_target=False,
            acceptance="by_rule",
            acceptance_rule=RULE,
            own_vocabulary=True,
            skip_reasons=(UNCLEAR, BROKEN),
            instructions={
                "en": (
                    "You will see a question, its two answers and two pictures. Picture A should show answer A, picture B answer "
                    "B, and otherwise they should be alike.\n\n"
                    "Judge each picture against both answers. Swap them, or hold to blink one over the other, to see what "
                    "differs."
                )
            },
            sample=(
                {
                    "key": "Q1-source1", "role": "a", "file": "Q1/source1/a.png", "concept": "Q1", "condition": "source1",
                    "text": "How important is family in your life?", "option_a": "Very important", "option_b": "Not at all important",
                },
                {"key": "Q1-source1", "role": "b", "file": "Q1/source1/b.png", "concept": "Q1", "condition": "source1"},
            ),
        ),
        StageSpec(
            key="choice",
            name="The picture that fits a country",
            display="bare-pair",
            sheet=CHOICE,
            target_answers=0,  # models answer; people who are asked too get a number when the chain is opened
            has_target=True,
            derivation=OF_EACH_SOURCE,
            asked_about="set",
            own_vocabulary=True,  # a question is asked about every country, and belongs to none
            skip_reasons=(UNCLEAR, BROKEN),
            instructions={
                "en": (
                    "You will see a question about values and two pictures that stand for opposite answers to it. Choose the picture "
                    "that fits better what most people of your country think.\n\n"
                    "Look only at what the pictures say about the question, not at how the people in them look, what they wear or "
                    "where they are."
                )
            },
            sample=(
                {
                    "key": "Q1-source1", "role": "a", "file": "Q1/source1/a.png", "concept": "Q1", "condition": "source1",
                    "text": "How important is family in your life?", "option_a": "Very important",
                    "option_b": "Not at all important", "options": OPTIONS, "survey": SURVEY, "pair": PAIR,
                },
                {"key": "Q1-source1", "role": "b", "file": "Q1/source1/b.png", "concept": "Q1", "condition": "source1"},
            ),
        ),
        StageSpec(
            key="alignment",
            name="Which picture shows which answer",
            display="pair",
            sheet=ALIGNMENT,
            target_answers=0,
            has_target=False,
            derivation=OF_EACH_SOURCE,
            own_vocabulary=True,
            skip_reasons=(UNCLEAR, BROKEN),
            instructions={
                "en": (
                    "You will see a question, its two answers and two pictures. Say which picture shows which answer. Which of the "
                    "answers you find right does not matter here."
                )
            },
            sample=(
                {
                    "key": "Q1-source1", "role": "a", "file": "Q1/source1/a.png", "concept": "Q1", "condition": "source1",
                    "text": "How important is family in your life?", "option_a": "Very important", "option_b": "Not at all important",
                },
                {"key": "Q1-source1", "role": "b", "file": "Q1/source1/b.png", "concept": "Q1", "condition": "source1"},
            ),
        ),
    ),
    prediction_tasks=(
        PredictionTask("values", "The picture, or the answer, that fits a country", "choice", ("main", "text_only"), "Section 5"),
        PredictionTask("alignment", "Which picture shows which answer", "alignment", ("",), "Section 5.1"),
    ),
    model_conditions=MODEL_CONDITIONS,
    report=(
        ReportTable("rubric", "The four items of the rubric", "pair-review", "match_a", "cohort", "condition", "Table 4"),
    ),
)  # fmt: skip
