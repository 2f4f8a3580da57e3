"""CulturalVQA: people of a culture write questions about pictures of it, and others of the same culture answer them.

Countries, facets, the familiarity gate, the rules of Figures 13 to 15 and the five cases of the rating of model
answers follow, with the two cases of its judge (LAVE, Appendix L),

    Shravan Nayak, Kanishk Jain, Rabiul Awal, Siva Reddy, Sjoerd van Steenkiste, Lisa Anne Hendricks, Karolina
    Stanczak, Aishwarya Agrawal. Benchmarking Vision Language Models for Cultural Understanding. EMNLP 2024.

The sentences are ours, and so are the reasons to skip, to return and to reject.
"""

from benchmarks.recipes.contract import PredictionTask, Recipe, ReportTable, StageSpec
from benchmarks.recipes.parts import (
    BROKEN,
    IRRELEVANT,
    OFFENSIVE,
    UNCLEAR,
    UNFAMILIAR,
    field,
    one_of,
    option,
)
from benchmarks.recipes.recipe_cohorts import country_cohorts
from papers.culturalvqa.recipe_labels import LABEL_STAGES, TO_ANSWER
from papers.culturalvqa.recipe_models import MODEL_CONDITIONS
from papers.culturalvqa.recipe_pictures import PICTURE_STAGES, TO_WRITE
from papers.culturalvqa.recipe_verdicts import VERDICT_STAGES

COUNTRIES = (
    "Brazil", "Canada", "China", "Ethiopia", "Germany", "India", "Iran", "Nigeria", "Rwanda", "Turkey", "United States",
)  # fmt: skip

SHORT_ANSWER_RULES = (
    {"en": "A brief phrase, not a sentence: “Potato”, not “It is a potato.”"},
    {"en": "The local name where your culture has one: “Naan”, not “bread”. English for things found everywhere."},
    {"en": "Precise: “Diwali”, not “festival”. Digits for numbers: 10, not ten."},
    {"en": "What most people of your culture would agree on."},
)
ANSWER = {
    "max_length": 120,
    "checks": ["words", "full_stop", "spelled_number", "sentence_start", "in_question"],
    "most_words": 3,
}

QUESTION_SHEET = {
    "fields": [
        one_of(
            "familiarity",
            {"en": "Are you familiar with what the picture shows?"},
            (
                option("familiar", {"en": "Yes"}),
                option("somewhat", {"en": "Somewhat"}),
                option("not_familiar", {"en": "No"}),
            ),
        ),
        field(
            "question",
            "text",
            {"en": "Your question about it"},
            {"max_length": 300, "min_length": 5, "checks": ["question_mark"]},
            rules=[
                {"en": "Easy for people of {target}, not for others."},
                {"en": "Nobody can answer it without the picture, nor without knowing the culture."},
                {"en": "It has one correct answer, and that is a true fact, not a stereotype."},
            ],
        ),
        field("answer", "text", {"en": "The answer"}, ANSWER, rules=list(SHORT_ANSWER_RULES)),
    ],
    "checks": [
        {
            "key": "same",
            "expression": "question != answer",
            "words": {"en": "The answer repeats the question. Write them apart."},
            "blocks": True,
        }
    ],
}

ANSWER_SHEET = {
    "fields": [
        field(
            "answer",
            "text",
            {"en": "Your answer"},
            ANSWER,
            help={"en": "If you do not know, give your best guess."},
            rules=list(SHORT_ANSWER_RULES),
        ),
        one_of(
            "sure",
            {"en": "Do you think you answered correctly?"},
            (option("yes", {"en": "Yes"}), option("maybe", {"en": "Maybe"}), option("no", {"en": "No"})),
        ),
    ]
}

REVIEW_REASONS = (
    {"code": "no_picture_needed", "label": {"en": "It can be answered without the picture"}},
    {"code": "no_culture_needed", "label": {"en": "It needs no knowledge of the culture"}},
    {"code": "several_answers", "label": {"en": "It has several correct answers"}},
    {"code": "stereotype", "label": {"en": "It rests on a stereotype"}},
    {"code": "not_true", "label": {"en": "It is not a fact"}},
    {"code": "answer_form", "label": {"en": "The answer is not a brief, precise phrase"}},
    {"code": "language", "label": {"en": "Spelling or wording"}},
)

WRITING = {
    "en": (
        "You will see a picture of something from your culture: a custom, a dish, a drink, a dress, a feast. Write a question "
        "about it that people of {target} answer easily and others cannot.\n\n"
        "First say whether you know what the picture shows. Only if you do not, open the supporting information under it.\n\n"
        "A good question needs the picture, needs the culture, and has exactly one right answer. Ask about something "
        "that is true, not about what people say of you.\n\n"
        "Then write the answer: a short phrase that most people of {target} would give.\n\n"
        "If the picture has nothing to do with {target}, or you do not know it, skip it and say why."
    )
}
ANSWERING = {
    "en": (
        "You will see a picture and a question that somebody of {target} asked about it. Answer it with a short phrase.\n\n"
        "Use the name that most people of {target} use. Be precise. Write numbers with digits. If you do not know the "
        "answer, give your best guess, and say so below."
    )
}
CULTURALVQA = Recipe(
    key="culturalvqa",
    version="5",
    name="CulturalVQA",
    summary={
        "en": (
            "Questions about pictures of a culture, written and answered by people of it, in eleven countries; and how "
            "people judge the answers of models."
        )
    },
    citation=(
        "Shravan Nayak, Kanishk Jain, Rabiul Awal, Siva Reddy, Sjoerd van Steenkiste, Lisa Anne Hendricks, Karolina "
        "Stańczak, Aishwarya Agrawal. Benchmarking Vision Language Models for Cultural Understanding. EMNLP 2024."
    ),
    licence="Each picture keeps the licence of its source.",
    cohorts=country_cohorts(*COUNTRIES),
    concepts=(),
    conditions=(),
    stages=(
        *PICTURE_STAGES,
        StageSpec(
            key="questions",
            name="Question writing",
            display="image",
            sheet=QUESTION_SHEET,
            target_answers=1,
            has_target=True,
            own_items_only=True,
            acceptance="by_review",
            review_reasons=REVIEW_REASONS,
            derivation=TO_WRITE,
            layout={
                "fold": ["concept", "assertion"],
                "fold_label": {"en": "Supporting information, if you do not know it"},
                "gate": "familiarity",
            },
            retire_after_skips=3,
            skip_reasons=(IRRELEVANT, UNFAMILIAR, BROKEN, OFFENSIVE),
            instructions=WRITING,
        ),
        StageSpec(
            key="answers",
            name="Answer writing",
            display="question",
            sheet=ANSWER_SHEET,
            target_answers=3,
            has_target=True,
            own_items_only=True,
            staffing="others",
            derivation=TO_ANSWER,
            skip_reasons=(UNFAMILIAR, UNCLEAR, BROKEN, OFFENSIVE),
            instructions=ANSWERING,
        ),
        *LABEL_STAGES,
        *VERDICT_STAGES,
    ),
    prediction_tasks=(
        PredictionTask(
            key="answers",
            name="A short answer to the question about the picture",
            stage="answers",
            modes=("vlm", "vlm-few-shot", "llm-only", "llm-country", "llm-entities"),
            source="Section 5, Appendix K",
        ),
        PredictionTask(
            key="lave",
            name="Whether an answer agrees with the reference answers, by a judge that sees text only",
            stage="lave",
            modes=("1-2", "1-3"),
            source="Section 5, Appendix L",
        ),
        PredictionTask("sub-categories", "The sub-category of a question", "sub-categories", ("text",), "Appendix F"),
        PredictionTask(
            "stereotypes", "Whether a question rests on a stereotype", "stereotypes", ("text",), "Appendix C"
        ),
    ),
    model_conditions=MODEL_CONDITIONS,
    report=(
        ReportTable(
            key="verdicts",
            title="How people judge the answers of models",
            stage="model-answers",
            field="verdict",
            rows="cohort",
            columns="condition",
            source="Figure 11",
        ),
    ),
)
