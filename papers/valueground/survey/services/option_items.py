"""The items of the stage `options`: one for each question of the current survey, with its pair of options as it is now.

Written with every import and decision, in its transaction. Whether a question is confirmed or excluded is a fact of its
item, so the filter of the stage keeps, drops, or lets it wait.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.utils import timezone

from benchmarks.models import Item, ItemFact, Stage
from benchmarks.services.intake import arrivals
from benchmarks.services.intake.judging import lock_stage
from papers.valueground.recipe_options import CONFIRMED, STAGE
from papers.valueground.survey.models import OptionPair, Survey, SurveyQuestion
from papers.valueground.survey.queries import codes_of, current_pairs, options_of
from papers.valueground.survey.rules import scale_of

State = SurveyQuestion.State
SOURCE = "survey"  # of the fact, and why an item was withdrawn
VALUES = {State.CONFIRMED: 1, State.EXCLUDED: 0}
COLUMNS = ("concept", "text", "context", "withdrawn_at", "withdrawn_because")


def write_option_items(survey: Survey, keys: Collection[str] | None = None) -> None:
    """Bring the items up to date; of these questions only, unless some question has no item yet.

    Needs the transaction that locked the survey. Locks the stage. A benchmark of an older recipe has no such stage.
    """
    row = Stage.objects.filter(benchmark=survey.benchmark_id, key=STAGE).first()
    if row is None:
        return
    stage = lock_stage(row)
    items = {item.key: item for item in stage.items.all()}
    questions = list(survey.questions.all())
    current = {question.key for question in questions}
    is_complete = current == {key for key, item in items.items() if item.withdrawn_at is None}
    if keys is not None and is_complete:
        questions = [question for question in questions if question.key in keys]
    gone = [item for key, item in items.items() if key not in current and item.withdrawn_at is None]
    at = timezone.now()
    for item in gone:
        item.withdrawn_at, item.withdrawn_because = at, SOURCE
    changed = _write_items(stage, questions, items)
    changed += _write_facts(questions, {item.key: item for item in (*items.values(), *changed)})
    Item.objects.bulk_update(gone, COLUMNS, batch_size=500)
    ids = sorted({item.pk for item in (*changed, *gone)})
    if ids:
        arrivals.judge_and_notify(stage, ids)


def _write_items(stage: Stage, questions: Sequence[SurveyQuestion], items: Mapping[str, Item]) -> list[Item]:
    """The items that are new or say something else than before."""
    pairs = current_pairs(questions)
    new, updated = [], []
    for question in questions:
        content = {
            "concept": question.key, "text": question.text or question.title,
            "context": _context(question, pairs[question.pk]), "withdrawn_at": None, "withdrawn_because": "",
        }  # fmt: skip
        item = items.get(question.key)
        if item is None:
            new.append(Item(stage=stage, key=question.key, **content))
        elif any(getattr(item, name) != value for name, value in content.items()):
            for name, value in content.items():
                setattr(item, name, value)
            updated.append(item)
    Item.objects.bulk_create(new, batch_size=500)
    Item.objects.bulk_update(updated, COLUMNS, batch_size=500)
    return [*new, *updated]


def _context(question: SurveyQuestion, pair: OptionPair) -> dict[str, Any]:
    scale = scale_of(options_of(question), codes_of(pair.adjustment))
    context: dict[str, Any] = {"flags": list(pair.flags)}
    if pair.a is not None and pair.b is not None:
        context |= {
            "option_a": scale.get(pair.a, str(pair.a)), "option_b": scale.get(pair.b, str(pair.b)),
            "codes": [pair.a, pair.b], "how": pair.how,
        }  # fmt: skip
    if pair.state == State.EXCLUDED:
        context["reason"] = str(pair.note or pair.reason)
    return context


def _write_facts(questions: Sequence[SurveyQuestion], items: Mapping[str, Item]) -> list[Item]:
    """The items whose decision is another than before."""
    ids = {items[question.key].pk: question for question in questions}
    facts = {fact.item_id: fact for fact in ItemFact.objects.filter(item__in=ids, key=CONFIRMED, source=SOURCE)}
    changed, new, other, undecided = [], [], [], []
    for pk, question in ids.items():
        value, fact = VALUES.get(State(question.state)), facts.get(pk)
        if value == (fact.value if fact else None):
            continue
        changed.append(items[question.key])
        if fact is None:
            new.append(ItemFact(item_id=pk, key=CONFIRMED, value=value, source=SOURCE))
        elif value is None:
            undecided.append(fact.pk)
        else:
            fact.value = value
            other.append(fact)
    ItemFact.objects.filter(pk__in=undecided).delete()
    ItemFact.objects.bulk_update(other, ["value"], batch_size=500)
    ItemFact.objects.bulk_create(new, batch_size=500)
    return changed
