"""A stage that judges the answers of another one, made of a few choices: its sheet, its items and who judges them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.services.derivation import derived_items
from annotation.services.derivation.derived_counts import context_names
from annotation.services.derivation.run_choice import prompt_variants
from annotation.services.sheets import stages
from annotation.services.transactions import in_transaction
from benchmarks.models import Stage
from benchmarks.rules.derivations.cultures import SEPARATOR
from benchmarks.services.benchmarks import BLANK_POINTS
from people.models import User

Text = Mapping[str, str]
NO: Text = {"en": "No", "ar": "لا", "pt": "Não", "am": "አይደለም"}
PARTLY: Text = {"en": "Partly", "ar": "جزئيًّا", "pt": "Em parte", "am": "በከፊል"}
YES: Text = {"en": "Yes", "ar": "نعم", "pt": "Sim", "am": "አዎ"}
SCALES: Mapping[str, Sequence[tuple[str, Text]]] = {
    "two": (("0", NO), ("1", YES)),
    "three": (("1", NO), ("2", PARTLY), ("3", YES)),
    "five": BLANK_POINTS,
}
WHY: Text = {"en": "Why?", "ar": "لماذا؟", "pt": "Por quê?", "am": "ለምን?"}
SIDES: Mapping[str, Text] = {"option_a": {"en": "A"}, "option_b": {"en": "B"}}
NO_CONTEXT = frozenset({"candidate", "candidate_by", "question", "references", "setting", "run", "pictures"})


@dataclass(frozen=True)
class JudgeStage:
    """What is judged: the answers to `field` at `source`, of models, of people, or of both. `answers`: how many people
    judge each, besides models; 0: none do. `own_culture`: of answers about a culture these are people of its cohort."""

    name: str
    source: Stage
    field: str
    question: str
    scale: str = "two"
    of_models: bool = True
    of_people: bool = True
    reason: bool = True
    answers: int = 0
    own_culture: bool = True


def answer_cultures_of(stage: Stage) -> tuple[bool, bool]:
    """Whether answers of the stage are about cultures, since it asks each cohort about its own or shows such answers;
    and whether each has one culture, so that its cohort can judge it: an answer to a pair of two cultures has not."""
    if stage.asks_own_culture:
        return True, True
    about = stage.items.filter(withdrawn_at=None).exclude(answer_target="")
    return about.exists(), about.exclude(answer_target__contains=SEPARATOR).exists()


@in_transaction
def create_judge_stage(choice: JudgeStage, actor: User) -> Stage:
    """The new last stage. Its items come as soon as questions have all their answers."""
    benchmark = choice.source.benchmark
    stage = stages.create(benchmark, choice.name, actor, _content(choice))
    derived_items.rederive_stage(stage)
    return stage


def _content(choice: JudgeStage) -> dict[str, Any]:
    carried = [name for name in context_names(choice.source) if name not in NO_CONTEXT]
    about_cultures, has_own = answer_cultures_of(choice.source)
    show = [{"key": name, "label": dict(SIDES[name])} if name in SIDES else {"key": name} for name in carried]
    return {
        **stages.BLANK,
        "display": "candidate",
        "pictures": "optional" if choice.source.pictures != Stage.Pictures.NONE else "none",
        "sheet": {"fields": _fields(choice)},
        "has_target": False,
        "target_answers": choice.answers,
        "staffing": Stage.Staffing.NOT_OWN,
        "own_items_only": has_own and choice.own_culture,
        "layout": {
            **({"show": show} if show else {}),
            "references": True,
            **({"culture": True} if about_cultures else {}),
        },
        "derivation": {
            "kind": "verdicts",
            "from": [choice.source.key],
            "of": "results",
            "params": _params(choice, carried),
        },
    }


def _fields(choice: JudgeStage) -> list[dict[str, Any]]:
    points = [{"code": code, "label": dict(label)} for code, label in SCALES[choice.scale]]
    verdict = {
        "key": "verdict", "kind": "rating", "version": 1, "label": {"en": choice.question}, "required": True,
        "config": {"level": "ordinal", "points": points},
    }  # fmt: skip
    reason = {"key": "reason", "kind": "text", "version": 1, "label": dict(WHY), "required": False, "config": {}}
    return [verdict, *([reason] if choice.reason else [])]


def _params(choice: JudgeStage, carried: Sequence[str]) -> dict[str, Any]:
    variants = ["", *prompt_variants([choice.source])]
    return {
        "field": choice.field,
        "runs": {"settings": list(dict.fromkeys(variants))} if choice.of_models else "chosen",
        **({"people": "leave_one_out", "least": 2} if choice.of_people else {"people": "none"}),
        "pictures": "none" if choice.source.pictures == Stage.Pictures.NONE else "item",
        **({"carry": list(carried)} if carried else {}),
    }
