"""When is a thing good enough to go on? A declared rule over the sheets that were filled for it. Pure.

{"clauses": [{"key", "expression", "words": {language: text}}], "score": {"expression", "most"} or absent,
 "over": "majority" | "means", "least": how many sheets or absent}

All clauses must hold. Over `majority` the rule is put to each sheet, and more than half of the sheets decide; with
`least` so many must pass (all, where there are fewer). Over `means` it is put once to the means of the sheets. The two
may differ, so which of them it is belongs to the rule.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from benchmarks.rules.expressions import Expression, ExpressionError, number_names

Value = float | str | None
Values = Mapping[str, Value]
State = Literal["accepted", "rejected", "undecided"]
OVER = ("majority", "means")
KEY = re.compile(r"[a-z][a-z0-9_]{0,59}")
FACTS = "facts."


class RuleError(ValueError):
    """A rule is written wrongly: where, and why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


@dataclass(frozen=True)
class Clause:
    key: str
    expression: Expression
    words: Mapping[str, str]


@dataclass(frozen=True)
class AcceptanceScore:
    """`maximum`: what can be reached, to say "3 of 4"."""

    expression: Expression
    maximum: float


@dataclass(frozen=True)
class Rule:
    clauses: tuple[Clause, ...]
    over: str
    score: AcceptanceScore | None = None
    least: int = 0

    @classmethod
    def from_json(cls, data: Any) -> "Rule":
        """Raises RuleError."""
        if not isinstance(data, Mapping):
            raise RuleError("rule", "must be an object")
        for key in data:
            if key not in ("clauses", "score", "over", "least"):
                raise RuleError(f"rule.{key}", "is not known")
        over = data.get("over", "majority")
        if over not in OVER:
            raise RuleError("rule.over", f"must be one of {', '.join(OVER)}, not {over!r}")
        rows = data.get("clauses")
        if not isinstance(rows, Sequence) or isinstance(rows, str) or not rows:
            raise RuleError("rule.clauses", "needs at least one clause")
        clauses = tuple(_clause(row, f"rule.clauses[{number}]") for number, row in enumerate(rows))
        keys = [clause.key for clause in clauses]
        for number, key in enumerate(keys):
            if key in keys[:number]:
                raise RuleError(f"rule.clauses[{number}].key", f"{key!r} is there twice")
        return cls(clauses, over, _score(data.get("score")), _least(data.get("least"), over))

    @property
    def names(self) -> frozenset[str]:
        """All names the rule needs a value for."""
        return frozenset(name for expression in self._expressions for name in expression.names)

    @property
    def _expressions(self) -> list[Expression]:
        return [clause.expression for clause in self.clauses] + ([self.score.expression] if self.score else [])

    @property
    def facts(self) -> frozenset[str]:
        """Keys of the facts of the item that the rule reads."""
        return frozenset(name.removeprefix(FACTS) for name in self.names if name.startswith(FACTS))

    @property
    def number_facts(self) -> frozenset[str]:
        """Of these facts, those that it calculates with or compares with a number."""
        names = number_names(self._expressions)
        return frozenset(name.removeprefix(FACTS) for name in names if name.startswith(FACTS))

    def words(self, key: str) -> Mapping[str, str]:
        """What a clause says; nothing for one that is not of this rule."""
        return next((clause.words for clause in self.clauses if clause.key == key), {})


@dataclass(frozen=True)
class Verdict:
    """`failed`: keys of the clauses that failed, in the order of the rule. `numbers`: what it was decided on.

    numbers: {"sheets": n, "values": {name: mean over the sheets that have a number}, "score": mean or absent}, and
    over `majority` also {"passed": n, "failed": n, "clauses": {key: how many sheets failed it}}.
    """

    state: State
    failed: tuple[str, ...]
    numbers: Mapping[str, Any]


def judge(rule: Rule, sheets: Sequence[Values]) -> Verdict:
    """The verdict on one thing from the values of each of its sheets. A tie, and what is unknown, is undecided.

    A clause is unknown where a value it needs is missing. A sheet passes when all clauses hold on it and fails when one
    does not; else it takes no side, and still belongs to those of whom more than half must agree.
    """
    return _by_means(rule, sheets) if rule.over == "means" else _by_majority(rule, sheets)


def _by_majority(rule: Rule, sheets: Sequence[Values]) -> Verdict:
    votes = [_clauses(rule, sheet) for sheet in sheets]
    against = [[key for key, holds in vote.items() if holds is False] for vote in votes]
    passed = sum(all(holds is True for holds in vote.values()) for vote in votes)
    failed = sum(bool(keys) for keys in against)
    by_clause = {c.key: sum(c.key in keys for keys in against) for c in rule.clauses}
    state: State = "undecided"
    least = min(rule.least, len(sheets))
    if passed >= least if least else 2 * passed > len(sheets):
        state = "accepted"
    elif len(sheets) - failed < least if least else 2 * failed > len(sheets):
        state = "rejected"
    named = () if state == "accepted" else tuple(key for key, count in by_clause.items() if count)
    numbers = _numbers(rule, sheets) | {"passed": passed, "failed": failed, "clauses": by_clause}
    scores = [] if rule.score is None else [rule.score.expression.evaluate(dict(sheet)) for sheet in sheets]
    return Verdict(state, named, numbers | _mean_score(scores))


def _by_means(rule: Rule, sheets: Sequence[Values]) -> Verdict:
    """Of what is no number, the means have what all sheets agree on."""
    values: dict[str, Value] = {name: _mean(sheets, name) for name in rule.names}
    for name, mean in values.items():
        words = {sheet.get(name) for sheet in sheets}
        if mean is None and len(words) == 1:
            values[name] = words.pop()
    clauses = _clauses(rule, values) if sheets else {}
    named = tuple(key for key, holds in clauses.items() if holds is False)
    state: State = "undecided"
    if named:
        state = "rejected"
    elif clauses and all(holds is True for holds in clauses.values()):
        state = "accepted"
    scores = [] if rule.score is None else [rule.score.expression.evaluate(values)]
    return Verdict(state, named, _numbers(rule, sheets) | _mean_score(scores))


def _clauses(rule: Rule, values: Values) -> dict[str, Any]:
    return {clause.key: clause.expression.evaluate(dict(values)) for clause in rule.clauses}


def _numbers(rule: Rule, sheets: Sequence[Values]) -> dict[str, Any]:
    means = {name: _mean(sheets, name) for name in sorted(rule.names)}
    return {"sheets": len(sheets), "values": {name: mean for name, mean in means.items() if mean is not None}}


def _mean(sheets: Sequence[Values], name: str) -> float | None:
    known = [value for value in (sheet.get(name) for sheet in sheets) if isinstance(value, int | float)]
    return sum(known) / len(known) if known else None


def _mean_score(scores: Sequence[Any]) -> dict[str, float]:
    known = [score for score in scores if isinstance(score, int | float) and not isinstance(score, bool)]
    return {"score": sum(known) / len(known)} if known else {}


def _clause(row: Any, path: str) -> Clause:
    if not isinstance(row, Mapping):
        raise RuleError(path, "must be an object")
    key, words = row.get("key"), row.get("words")
    if not isinstance(key, str) or not KEY.fullmatch(key):
        raise RuleError(f"{path}.key", "must be small letters, digits and _, and begin with a letter")
    if not isinstance(words, Mapping) or not str(words.get("en", "")).strip():
        raise RuleError(f"{path}.words", 'needs a text in English ("en")')
    return Clause(key, _expression(row.get("expression"), f"{path}.expression"), dict(words))


def _least(value: Any, over: str) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise RuleError("rule.least", "must be a whole number from 1")
    if over != "majority":
        raise RuleError("rule.least", "counts sheets, so it goes with majority")
    return value


def _score(row: Any) -> AcceptanceScore | None:
    if row is None:
        return None
    if not isinstance(row, Mapping):
        raise RuleError("rule.score", "must be an object")
    most = row.get("most")
    if not isinstance(most, int | float) or isinstance(most, bool) or most <= 0:
        raise RuleError("rule.score.most", "must be a number above 0")
    return AcceptanceScore(_expression(row.get("expression"), "rule.score.expression"), most)


def _expression(text: Any, path: str) -> Expression:
    if not isinstance(text, str):
        raise RuleError(path, "must be an expression")
    try:
        return Expression.parse(text)
    except ExpressionError as error:
        raise RuleError(path, str(error)) from None
