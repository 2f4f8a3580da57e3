"""How CAIRE asks models: for rare concepts, and for the scores of sections 4.3 and 5, of the universal and of the
specific set.

The likelihood of a culture's name (Appendix B.1) is planned as a single run: its cut is not printed, so a person gives it.
"""

from benchmarks.recipes.contract import ModelCondition

BOTH = (
    ("digit", {"en": "With the linked article, the number alone"}, "caire-digit", "", ("picture", "links")),
    ("reasoned", {"en": "With the linked article, reasons first"}, "caire-reason", "reasoned", ("picture", "links")),
    ("top_20", {"en": "With the titles of the nearest entries"}, "caire-digit-titles", "top_20", ("picture", "links")),
    ("article_only", {"en": "From the linked article alone"}, "caire-digit-text", "article_only", ("links",)),
    ("no_retrieval", {"en": "From the picture alone"}, "caire-digit-plain", "no_retrieval", ("picture",)),
    ("cosine", {"en": "The nearest of five sentences, by an encoder"}, "caire-probe", "cosine", ("picture",)),
)
GOLD = ("gold_context", {"en": "With the right article"}, "caire-digit-gold", "gold_context", ("picture", "gold"))

PROPOSE = ModelCondition(
    key="specific-proposals", name={"en": "Rare concepts with their labels"}, stage="specific-proposals", prompt="sheet"
)

MODEL_CONDITIONS = (
    PROPOSE,
    *(
        ModelCondition(key=f"{stage}-{key}", name=name, stage=stage, prompt=prompt, setting=setting, needs=needs)
        for stage, conditions in (("relevance", BOTH), ("specific", (*BOTH, GOLD)))
        for key, name, prompt, setting, needs in conditions
    ),
)
