"""What a sheet says of several fields at once: when one is asked, what must hold between them, what they add up to."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from annotation.fields.contract import (
    ConfigError,
    InvalidAnswer,
    Shown,
    Spec,
    Text,
    reject_unknown_keys,
    require,
    require_text,
)
from benchmarks.rules.expressions import Expression, ExpressionError

KEY = re.compile(r"[a-z][a-z0-9_]{0,59}")
FACTS = "facts"
MOST_DECIMALS = 6
HUGE = 1e15  # beyond it a float has no decimals


@dataclass(frozen=True)
class ShowIf:
    """The field is asked only when an earlier one has one of these codes."""

    field: str
    codes: tuple[str, ...]

    def is_met(self, answers: Mapping[str, Any]) -> bool:
        answer = answers.get(self.field)
        return any(code in self.codes for code in (answer if isinstance(answer, list) else [answer]))

    def to_json(self) -> dict[str, Any]:
        return {"field": self.field, "in": list(self.codes)}


@dataclass(frozen=True)
class CrossCheck:
    """Must hold between fields. Where a value it needs is missing there is no remark."""

    key: str
    expression: Expression
    words: Text
    blocks: bool

    def to_json(self) -> dict[str, Any]:
        data = {"key": self.key, "expression": self.expression.text, "words": dict(self.words)}
        return {**data, "blocks": self.blocks}


@dataclass(frozen=True)
class Score:
    """A number made of the answers. `decimals`: how many are shown, rounded half up as JavaScript's toFixed does."""

    label: Text
    expression: Expression
    decimals: int

    def of(self, values: Mapping[str, Any]) -> float | None:
        value = self.expression.evaluate(values)
        if not isinstance(value, float):
            return None
        if abs(value) >= HUGE:
            return value
        return float(Decimal(value).quantize(Decimal(1).scaleb(-self.decimals), ROUND_HALF_UP))

    def to_json(self) -> dict[str, Any]:
        return {"label": dict(self.label), "expression": self.expression.text, "decimals": self.decimals}


def parse_show_if(row: Any, path: str, earlier: Mapping[str, tuple[Spec[Any, Any], Any]]) -> ShowIf:
    """A code that the field cannot take would hide this one for ever, so it is refused."""
    if not isinstance(row, Mapping):
        raise ConfigError(path, "must be an object with field and in")
    reject_unknown_keys(row, ("field", "in"), path)
    key, codes = require(row, "field", str, path), require(row, "in", list, path)
    if key not in earlier:
        raise ConfigError(f"{path}.field", f"{key!r} is no field that stands before this one")
    if not codes or not all(isinstance(code, str) for code in codes):
        raise ConfigError(f"{path}.in", "needs one code or more")
    spec, config = earlier[key]
    for code in codes:
        try:
            spec.parse(code, config, Shown(item_id=0))
        except InvalidAnswer:
            raise ConfigError(f"{path}.in", f"{key!r} has no code {code!r}") from None
    return ShowIf(key, tuple(codes))


def parse_checks(rows: Any, path: str, fields: Collection[str]) -> tuple[CrossCheck, ...]:
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise ConfigError(path, "must be a list")
    checks: list[CrossCheck] = []
    for number, row in enumerate(rows):
        where = f"{path}[{number}]"
        if not isinstance(row, Mapping):
            raise ConfigError(where, "must be an object with key, expression and words")
        reject_unknown_keys(row, ("key", "expression", "words", "blocks"), where)
        key = require(row, "key", str, where)
        if not KEY.fullmatch(key):
            raise ConfigError(f"{where}.key", "must be small letters, digits and _, and begin with a letter")
        if key in fields or any(check.key == key for check in checks):
            raise ConfigError(f"{where}.key", f"{key!r} is there twice")
        blocks = require(row, "blocks", bool, where) if "blocks" in row else False
        expression = parse_expression(row, where, {*fields, FACTS})
        checks.append(CrossCheck(key, expression, require_text(row, "words", where), blocks))
    return tuple(checks)


def parse_score(row: Any, path: str, fields: Collection[str]) -> Score | None:
    if row is None:
        return None
    if not isinstance(row, Mapping):
        raise ConfigError(path, "must be an object with label and expression")
    reject_unknown_keys(row, ("label", "expression", "decimals"), path)
    if "score" in fields:
        raise ConfigError(path, 'has the column "score"; give the field of that key another one')
    decimals = require(row, "decimals", int, path) if "decimals" in row else 2
    if not 0 <= decimals <= MOST_DECIMALS:
        raise ConfigError(f"{path}.decimals", f"must be 0 to {MOST_DECIMALS}, not {decimals}")
    return Score(require_text(row, "label", path), parse_expression(row, path, fields), decimals)


def parse_expression(row: Mapping[str, Any], path: str, known: Collection[str]) -> Expression:
    try:
        expression = Expression.parse(require(row, "expression", str, path))
    except ExpressionError as error:
        raise ConfigError(f"{path}.expression", str(error)) from None
    for name in sorted(expression.names):
        if name.split(".")[0] not in known:
            raise ConfigError(f"{path}.expression", f"{name!r} is no field of this sheet")
    return expression
