"""Conditions and sums over the values of a sheet, as researchers write them: `q3 == 2 and q1 + q2 >= 3`. Pure.

Numbers, "texts", names (`q1`, `region.area`, `facts.objects`), + - * /, < <= > >= == !=, and, or, not, parentheses,
`x in ("a", "b")`. A name without a value makes undefined what needs it; `and` and `or` are three-valued, as in SQL.
A text in a sum, a division by zero, and a comparison by size of other things than numbers are undefined too.

`tree` is what static/js/rules.js evaluates; tests/data/expressions.json holds examples that both must agree on.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Value = float | str | None
Result = float | bool | str | None
LONGEST = 500
DEEPEST = 40
MOST_STEPS = 100  # one in another, parentheses or not: what evaluates a tree goes down with it
WORDS = ("and", "or", "not", "in")
COMPARE = ("<=", ">=", "==", "!=", "<", ">")
SUMS = ("+", "-", "*", "/")
SIZES = ("<", "<=", ">", ">=")
TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)?)|"(?P<quoted>[^"]*)"
    |(?P<sign><=|>=|==|!=|[-+*/<>(),]))""",
    re.VERBOSE | re.IGNORECASE,
)


class ExpressionError(ValueError):
    """An expression is written wrongly. `position`: at which character, from 0."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(f"{reason} (at character {position + 1})")
        self.reason = reason
        self.position = position


@dataclass(frozen=True)
class Expression:
    """`tree`: nested lists, the operator first; ["name", x] and ["is", value] are its leaves."""

    text: str
    tree: tuple[Any, ...]
    names: frozenset[str]

    @classmethod
    def parse(cls, text: str) -> "Expression":
        """Raises ExpressionError."""
        if len(text) > LONGEST:
            raise ExpressionError(f"is longer than {LONGEST} characters", LONGEST)
        reader = _Parser(text)
        tree = reader.parse_or()
        if reader.kind != "end":
            raise ExpressionError(f"did not expect {reader.found!r}", reader.position)
        if _depth(tree) > MOST_STEPS:
            raise ExpressionError(f"has more than {MOST_STEPS} steps one in another", len(text))
        return cls(text, tree, frozenset(_names(tree)))

    def evaluate(self, values: Mapping[str, Any]) -> Result:
        """A number (always float), true or false, a text, or None where it is undefined."""
        return _value(self.tree, values)


def number_names(expressions: Iterable[Expression]) -> frozenset[str]:
    """Names that are calculated with or compared with a number, and nowhere with a text.

    >>> sorted(number_names([Expression.parse('a > 2 and b == "x" and c in (1, 2) and d')]))
    ['a', 'c']
    >>> sorted(number_names([Expression.parse("a + b"), Expression.parse('b == "none"')]))
    ['a']
    """
    uses = [use for expression in expressions for use in _uses(expression.tree)]
    return frozenset(name for name, kind in uses if kind is float) - {name for name, kind in uses if kind is str}


def _uses(tree: tuple[Any, ...]) -> Iterator[tuple[str, type]]:
    """Names, each with what it is used as: float or str. A name that is used as either is not among them."""
    sign, *parts = tree
    if sign in ("name", "is"):
        return
    kinds: set[type] = {float} if sign in (*SUMS, *SIZES) else set()
    if sign in ("==", "!=", "in"):
        kinds = {float if part[0] in SUMS else type(part[1]) for part in parts if part[0] in ("is", *SUMS)}
    for part in parts:
        if part[0] == "name":
            yield from ((part[1], kind) for kind in kinds)
        else:
            yield from _uses(part)


class _Parser:
    """Reads from left to right, one token ahead. One method for each rank of binding, the loosest first."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0
        self.kind, self.found, self.position = "", "", 0
        self.step()

    def step(self) -> None:
        self.position = len(self.text) - len(self.text[self.at :].lstrip())
        if self.position == len(self.text):
            self.kind, self.found = "end", "the end"
            return
        match = TOKEN.match(self.text, self.at)
        if match is None:
            raise ExpressionError(f"does not know {self.text[self.position]!r}", self.position)
        self.at, self.kind = match.end(), str(match.lastgroup)
        self.found = match.group(self.kind)
        if self.kind == "name" and self.found in WORDS:
            self.kind = "sign"

    def accept(self, *signs: str) -> str:
        """The sign that is next, if it is one of these; it is passed."""
        if self.kind != "sign" or self.found not in signs:
            return ""
        sign = self.found
        self.step()
        return sign

    def expect(self, sign: str) -> None:
        if not self.accept(sign):
            raise ExpressionError(f"expected {sign!r}, found {self.found!r}", self.position)

    def parse_or(self) -> tuple[Any, ...]:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ExpressionError("has too many parentheses", self.position)
        left = self.parse_and()
        while self.accept("or"):
            left = ("or", left, self.parse_and())
        self.depth -= 1
        return left

    def parse_and(self) -> tuple[Any, ...]:
        left = self.parse_not()
        while self.accept("and"):
            left = ("and", left, self.parse_not())
        return left

    def parse_not(self) -> tuple[Any, ...]:
        count = 0
        while self.accept("not"):
            count += 1
        parsed = self.parse_comparison()
        for _time in range(count):
            parsed = ("not", parsed)
        return parsed

    def parse_comparison(self) -> tuple[Any, ...]:
        left = self.parse_sum()
        sign = self.accept(*COMPARE, "in")
        if sign == "in":
            return ("in", left, *self.parse_list())
        return (sign, left, self.parse_sum()) if sign else left

    def parse_list(self) -> Iterator[tuple[Any, ...]]:
        self.expect("(")
        values = [self.parse_atom(leaf=True)]
        while self.accept(","):
            values.append(self.parse_atom(leaf=True))
        self.expect(")")
        return iter(values)

    def parse_sum(self) -> tuple[Any, ...]:
        left = self.parse_product()
        while sign := self.accept("+", "-"):
            left = (sign, left, self.parse_product())
        return left

    def parse_product(self) -> tuple[Any, ...]:
        left = self.parse_atom()
        while sign := self.accept("*", "/"):
            left = (sign, left, self.parse_atom())
        return left

    def parse_atom(self, *, leaf: bool = False) -> tuple[Any, ...]:
        count = 0
        while self.accept("-"):
            count += 1
        parsed = self._parse_operand(leaf)
        for _time in range(count):
            parsed = ("-", ("is", 0.0), parsed)
        return parsed

    def _parse_operand(self, leaf: bool) -> tuple[Any, ...]:
        kind, token, position = self.kind, self.found, self.position
        if not leaf and self.accept("("):
            inner = self.parse_or()
            self.expect(")")
            return inner
        if kind not in ("number", "quoted", *(() if leaf else ("name",))):
            raise ExpressionError(f"expected a value, found {token!r}", position)
        value = float(token) if kind == "number" else token
        if value == math.inf:
            raise ExpressionError("has a number that is too large", position)
        self.step()
        return ("name" if kind == "name" else "is", value)


def _depth(tree: tuple[Any, ...]) -> int:
    """By layers, not by calls: it is asked before anything goes down the tree."""
    layer, depth = [tree], 0
    while layer:
        layer, depth = [part for node in layer for part in node[1:] if isinstance(part, tuple)], depth + 1
    return depth


def _names(tree: tuple[Any, ...]) -> Iterator[str]:
    if tree[0] == "name":
        yield tree[1]
    elif tree[0] != "is":
        for part in tree[1:]:
            yield from _names(part)


def _value(tree: tuple[Any, ...], values: Mapping[str, Any]) -> Result:
    sign, *parts = tree
    if sign == "is":
        return parts[0]  # type: ignore[no-any-return]
    if sign == "name":
        return _parse_value(values.get(parts[0]))
    operands = [_value(part, values) for part in parts]
    if sign in ("and", "or"):
        return _combine(operands, decides=sign == "or")
    if sign == "not":
        return not operands[0] if isinstance(operands[0], bool) else None
    if any(value is None for value in operands):
        return None
    if sign in ("==", "!="):
        return _is_same(operands[0], operands[1]) is (sign == "==")
    if sign == "in":
        return any(_is_same(operands[0], other) for other in operands[1:])
    return _sum(sign, operands[0], operands[1])


def _parse_value(value: Any) -> Value:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _combine(values: list[Result], *, decides: bool) -> bool | None:
    if any(value is decides for value in values):
        return decides
    return None if any(not isinstance(value, bool) for value in values) else not decides


def _is_same(left: Result, right: Result) -> bool:
    return type(left) is type(right) and left == right


def _sum(sign: str, left: Result, right: Result) -> Result:
    if not _number(left) or not _number(right):
        return None
    a, b = float(left or 0), float(right or 0)
    if sign == "/" and b == 0:
        return None
    if sign in "<=>=":
        return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[sign]
    done = {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else 0.0}[sign]
    return done if math.isfinite(done) else None


def _number(value: Result) -> bool:
    return isinstance(value, float) and not isinstance(value, bool)
