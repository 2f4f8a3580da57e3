"""Answers of models and people become items to judge or to rate. Pure.

params:
    field: the answer's field.
    runs: "chosen" (those chosen on the page of the stage) or {"settings": [...]} (each run with such a prompt variant).
    people: "none" or "leave_one_out" (each answer of a person against those of the others), with `least` answers (3).
    references: "people_and_asker" (the asker's own answer first), "people" or "none".
    when: "complete" (the question waits for no further answer of a person) or "now".
    repeats: "first" or "all" times that a model was asked.
    pictures: "none" or "item".
    carry: names of context fields that the new item takes from the question.
    where: only answers of models that differ from the gold answer, {"measure": "iou" or "equal", "at_most": number,
        "no_answer": true or false}. "iou" is the overlap of two boxes, 0 where their labels differ; "equal" is 1
        for the same answer and 0 for another one. With `no_answer` a call that ended without an answer makes an item,
        too. The gold answer is the one that settled a dispute, else the first person's.

The order of references is that of submission, and equal answers are all kept. What comes of a question depends on that
question alone.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.rules.derivations.contract import (
    DerivationError,
    ItemDraft,
    Result,
    digest,
    read_number,
    shorten_key,
)
from evaluation.metrics.boxes import corners_of, overlap

CHOICES = {
    "people": ("none", "leave_one_out"),
    "references": ("people_and_asker", "people", "none"),
    "when": ("complete", "now"),
    "repeats": ("first", "all"),
    "pictures": ("none", "item"),
}
"""Values by parameter, the default first."""
PARAMS = frozenset({"field", "runs", "least", "carry", "where", *CHOICES})
WHERE = frozenset({"measure", "at_most", "no_answer"})
OWN_CONTEXT = frozenset({"question", "candidate", "candidate_by", "setting", "run", "references", "gold", "agreement"})
LEAST_PEOPLE = 3  # where the stage says nothing
DIGITS = 9  # 0.5 is at most 0.5, whatever the last digits of a quotient are
HUMAN = "human"
OWN_ANSWER = "asker_answer"


def check(params: Mapping[str, Any]) -> None:
    for key in params:
        if key not in PARAMS:
            raise DerivationError(f"params.{key}", "is not known")
    if not isinstance(params.get("field"), str) or not params["field"]:
        raise DerivationError("params.field", "needs the key of a question")
    for key, values in CHOICES.items():
        if params.get(key, values[0]) not in values:
            raise DerivationError(f"params.{key}", f"must be one of {', '.join(values)}")
    least = params.get("least", LEAST_PEOPLE)
    if not isinstance(least, int) or least < 2:
        raise DerivationError("params.least", "must be a number from 2")
    if params.get("people") == "leave_one_out" and params.get("references") == "none":
        raise DerivationError("params.people", "needs references, when each answer is judged against the others")
    _check_names(params.get("carry", []), "params.carry")
    for name in params.get("carry", []):
        if name in OWN_CONTEXT:
            raise DerivationError("params.carry", f"{name!r} is written by the derivation")
    runs = params.get("runs", "chosen")
    if isinstance(runs, Mapping) and set(runs) == {"settings"}:
        _check_names(runs["settings"], "params.runs.settings")
    elif runs != "chosen":
        raise DerivationError("params.runs", 'must be "chosen", or an object with "settings"')
    if "where" in params:
        _check_where(params["where"])
        if params.get("people", "none") != "none":
            raise DerivationError(
                "params.people", "must be none: only answers of models are compared with the gold one"
            )


def _check_where(where: Any) -> None:
    if not isinstance(where, Mapping) or not set(where) <= WHERE:
        raise DerivationError("params.where", f"must be an object with {', '.join(sorted(WHERE))}")
    if where.get("measure") not in COMPARISONS:
        raise DerivationError("params.where.measure", f"must be one of {', '.join(COMPARISONS)}")
    limit = where.get("at_most")
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 <= limit <= 1:
        raise DerivationError("params.where.at_most", "must be a number from 0 to 1")
    if not isinstance(where.get("no_answer", False), bool):
        raise DerivationError("params.where.no_answer", "must be true or false")


def _check_names(names: Any, path: str) -> None:
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise DerivationError(path, "must be a list of names")


def derive(results: Sequence[Result], params: Mapping[str, Any], seed: int) -> list[ItemDraft]:
    """An item for each answer of a model, and for each of a person where people are judged, too."""
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        if result.annotation is not None or result.unanswered:
            groups.setdefault((result.item.key, result.target, result.item.stage), []).append(result)
    return [draft for key in sorted(groups) for draft in _of_question(groups[key], params)]


def _of_question(results: Sequence[Result], params: Mapping[str, Any]) -> list[ItemDraft]:
    if params.get("when", "complete") == "complete" and not results[0].complete:
        return []
    ordered = sorted(results, key=lambda result: (result.submitted, result.annotation or 0))
    people = _last_of_each([result for result in ordered if result.kind == "person" and _value(result, params)])
    asked = [r for r in ordered if r.kind == "model" and (r.repeat == 0 or params.get("repeats") == "all")]
    if "where" in params:
        candidates = [result for result in asked if _is_wanted(result, people, params)]
    else:
        candidates = [result for result in asked if _value(result, params)]
    if params.get("people") == "leave_one_out" and len(people) >= params.get("least", LEAST_PEOPLE):
        candidates += people
    keys = _keys(candidates)
    drafts = (_draft(candidate, people, keys[number], params) for number, candidate in enumerate(candidates))
    return sorted((draft for draft in drafts if draft is not None), key=lambda draft: draft.key)


def _last_of_each(ordered: Sequence[Result]) -> list[Result]:
    """One answer of each person: the last, where somebody answered in two campaigns."""
    last = {result.rater: result for result in ordered}
    return [result for result in ordered if last[result.rater] is result]


def _value(result: Result, params: Mapping[str, Any]) -> Any:
    """The answer; None where there is none."""
    value = result.answers.get(params["field"])
    if isinstance(value, str):
        return value.strip() or None
    return value or None


def _is_wanted(candidate: Result, people: Sequence[Result], params: Mapping[str, Any]) -> bool:
    """Whether the answer is far enough from the gold one; of an answer or a gold one that is missing, see `where`."""
    if not people:
        return False
    if _value(candidate, params) is None:
        return candidate.unanswered and bool(params["where"].get("no_answer"))
    measured = _agreement(candidate, people, params)
    limit = read_number(params["where"]["at_most"]) or 0.0
    return measured is not None and measured <= round(limit, DIGITS)


def _agreement(candidate: Result, people: Sequence[Result], params: Mapping[str, Any]) -> float | None:
    value = _value(candidate, params)
    if value is None:
        return None
    return round(COMPARISONS[params["where"]["measure"]](value, _value(people[0], params)), DIGITS)


def _iou(answer: Any, gold: Any) -> float:
    """Of the first box of each."""
    return float(overlap(corners_of(answer[:1]), corners_of(gold[:1])))


def _equal(answer: Any, gold: Any) -> float:
    if isinstance(answer, str) and isinstance(gold, str):
        return float(answer.casefold() == gold.casefold())
    return float(answer == gold)


COMPARISONS: Mapping[str, Callable[[Any, Any], float]] = {"iou": _iou, "equal": _equal}
"""How far an answer agrees with the gold one: from 0 to 1."""


def _draft(
    candidate: Result, people: Sequence[Result], keys: tuple[str, str], params: Mapping[str, Any]
) -> ItemDraft | None:
    """None where references are asked for and there are none."""
    item, is_model = candidate.item, candidate.kind == "model"
    roles: dict[tuple[int, int | None], str] = {(item.id, None): "item"}
    if candidate.annotation is not None:
        roles[item.id, candidate.annotation] = "candidate"
    context = {name: item.context[name] for name in params.get("carry", []) if name in item.context}
    context |= {
        "question": item.key,
        "candidate": _value(candidate, params),
        "candidate_by": candidate.rater_name if is_model else HUMAN,
        "setting": candidate.setting if is_model else "",
        "run": candidate.run if is_model else None,
    }
    kind = params.get("references", "people_and_asker")
    if kind != "none":
        others = [person for person in people if is_model or person.rater != candidate.rater]
        own_answer = item.context.get(OWN_ANSWER) if kind == "people_and_asker" and not candidate.owns else None
        first = [own_answer] if own_answer else []
        context["references"] = [*first, *(_value(person, params) for person in others)]
        if not context["references"]:
            return None
        roles |= {(item.id, person.annotation): "reference" for person in others}
    if "where" in params:
        context |= {"gold": _value(people[0], params), "agreement": _agreement(candidate, people, params)}
        roles |= {(item.id, people[0].annotation): "reference"}
    key, former = keys
    return ItemDraft(
        key=key,
        sources=tuple(roles),
        former=former,
        concept=item.concept,
        origin=item.origin,
        condition=item.condition,
        text=item.text or _both_sides(item.context),
        context=context,
        images=dict(item.images) if params.get("pictures") == "item" else {},
        roles=roles,
        answer_target=candidate.culture,
    )


def _both_sides(context: Mapping[str, Any]) -> str:
    """Of a pair of texts, which has no text of its own."""
    sides = [(name, context.get(f"option_{name.lower()}")) for name in ("A", "B")]
    return "\n".join(f"{name}: {text}" for name, text in sides if text)


def _keys(candidates: Sequence[Result]) -> list[tuple[str, str]]:
    """Of each its key, and the key that it has while no other candidate would have the same."""
    plain = [_plain_key(candidate) for candidate in candidates]
    keys = []
    for candidate, key in zip(candidates, plain, strict=True):
        if plain.count(key) == 1:
            keys.append((shorten_key(key), ""))
        else:
            mark = digest(candidate.rater, str(candidate.run))[:4]
            keys.append((shorten_key(f"{key}~{mark}"), shorten_key(key)))
    return keys


def _plain_key(candidate: Result) -> str:
    """Of a person's answer a digest, which names nobody."""
    item = candidate.item
    question = f"{item.key}/{slug(candidate.target)}" if candidate.target not in ("", item.origin) else item.key
    if candidate.kind == "person":
        return f"{question}/p~{digest(item.key, candidate.target, candidate.rater)[:6]}"
    name = "-".join(filter(None, (slug(candidate.rater_name), slug(candidate.setting))))
    return f"{question}/m/{name or 'model'}{f'-r{candidate.repeat + 1}' if candidate.repeat else ''}"


def slug(text: str) -> str:
    """Lower-case letters a to z and digits, with hyphens for all else."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub("[^a-z0-9]+", "-", plain.lower()).strip("-")
