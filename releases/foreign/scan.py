"""What files of another tool hold before anything is imported: counts, columns, questions, what is not taken. Pure."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from benchmarks.imports.tables.roles import NAMES, fold
from releases.foreign.contract import (
    MAX_OPTION,
    ROLES,
    ForeignAnswer,
    ForeignBox,
    ForeignField,
    ForeignFile,
    ForeignItem,
    ForeignMapping,
    ForeignProblem,
    ForeignReader,
    ForeignRecord,
    QuestionKind,
    SourceProgram,
)

LOOKED_AT = 20_000
"""Records of a preview; the import reads all."""
SHOWN, SAMPLES, MOST_NAMES = 20, 3, 1000
FEW = 20
"""A text with at most so many values, each twice on average, is proposed as a choice."""


@dataclass
class ScannedColumn:
    """A column of the items. `role`: what it is taken for; empty: it stays with the item."""

    name: str
    role: str = ""
    samples: list[str] = field(default_factory=list)
    values: Counter[str] = field(default_factory=Counter)


@dataclass
class ScannedQuestion:
    """A question with what was answered. `labels`: of boxes. `declared`: as a configuration has it."""

    key: str
    answers: int = 0
    boxes: int = 0
    rotated: int = 0
    most: int = 0
    codes: Counter[str] = field(default_factory=Counter)
    longest: int = 0
    as_list: bool = False
    declared: ForeignField | None = None

    @property
    def field(self) -> ForeignField:
        """As a sheet would ask it: what is declared, with the codes that only the answers have."""
        declared = self.declared
        kind = declared.kind if declared else self._kind()
        if kind == "single" and self.most > 1:
            kind = "several"
        options = dict(declared.options) if declared else {}
        codes = _ordered(self.codes) if kind in ("single", "several", "scale", "boxes") else []
        options |= {code: code for code in codes if code not in options}
        return ForeignField(self.key, kind, declared.label if declared else self.key, tuple(options.items()))

    def _kind(self) -> QuestionKind:
        if self.boxes:
            return "boxes"
        few = len(self.codes) <= FEW and self.longest <= MAX_OPTION and sum(self.codes.values()) >= 2 * len(self.codes)
        if few and all(code.isdecimal() and len(code) < 3 for code in self.codes) and 2 <= len(self.codes) <= 10:
            return "scale"
        if self.as_list:
            fits = self.longest <= MAX_OPTION and len(self.codes) <= MAX_OPTION
            return "words" if not fits else "several" if self.most > 1 else "single"
        return "single" if few else "words"


@dataclass
class Scan:
    """`whole`: whether everything was looked at. `raters` and `models`: name to number of answers."""

    reader: ForeignReader
    program: SourceProgram
    columns: dict[str, ScannedColumn] = field(default_factory=dict)
    questions: dict[str, ScannedQuestion] = field(default_factory=dict)
    item_keys: set[str] = field(default_factory=set)
    pictures: int = 0
    texts: int = 0
    answers: int = 0
    skips: int = 0
    raters: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    problem_count: int = 0
    problems: list[ForeignProblem] = field(default_factory=list)
    rows: list[ForeignRecord] = field(default_factory=list)
    whole: bool = True
    encodings: Mapping[str, str] = field(default_factory=dict)
    """Of a table that does not say its own: those that fit, each with a line as it reads it."""

    @property
    def items(self) -> int:
        return len(self.item_keys)

    @property
    def fields(self) -> list[ForeignField]:
        return [question.field for question in self.questions.values()]

    @property
    def boxes(self) -> int:
        return sum(question.boxes for question in self.questions.values())

    @property
    def rotated(self) -> int:
        return sum(question.rotated for question in self.questions.values())


def scan_files(
    files: Sequence[ForeignFile], reader: ForeignReader, mapping: ForeignMapping, *,
    damaged: Sequence[ForeignProblem] = (), countries: Callable[[str], bool] = lambda text: False,
) -> Scan:  # fmt: skip
    """`damaged`: files that are not among `files`. Raises SourceProblem."""
    scan = Scan(reader, reader.program(files))
    for declared in reader.sheet(files):
        scan.questions[declared.key] = ScannedQuestion(declared.key, declared=declared)
    for count, record in enumerate(chain(damaged, reader.read(files, mapping))):
        if count >= LOOKED_AT:
            scan.whole = False
            break
        _take(scan, record)
    for column in scan.columns.values():
        column.role = column.role or _role(column, countries)
    return scan


def _take(scan: Scan, record: ForeignRecord) -> None:
    if isinstance(record, ForeignItem):
        _take_item(scan, record)
    elif isinstance(record, ForeignAnswer):
        _take_answer(scan, record)
    elif isinstance(record, ForeignProblem):
        if record.left_out:
            scan.left_out[record.left_out] += 1
            return
        scan.problem_count += 1
        if len(scan.problems) < SHOWN:
            scan.problems.append(record)


def _take_item(scan: Scan, item: ForeignItem) -> None:
    if item.key in scan.item_keys:
        return
    scan.item_keys.add(item.key)
    scan.pictures += bool(item.picture)
    scan.texts += bool(item.text)
    values = {"key": item.key, "picture": item.picture, "text": item.text}
    named = {column: (role, values[role]) for role, column in item.columns.items() if column}
    rows = {**named, **{name: ("", value) for name, value in item.context.items()}}
    for name, (role, value) in rows.items():
        if len(scan.columns) >= MOST_NAMES and name not in scan.columns:
            continue
        column = scan.columns.setdefault(name, ScannedColumn(name, role))
        text = _shown(value)
        if text and len(column.samples) < SAMPLES and text not in column.samples:
            column.samples.append(text)
        if len(column.values) < MOST_NAMES:
            column.values[text] += 1


def _take_answer(scan: Scan, answer: ForeignAnswer) -> None:
    scan.left_out.update({kind: len(rows) for kind, rows in answer.left_out.items()})
    if len(scan.rows) < SHOWN:
        scan.rows.append(answer)
    if answer.skipped:
        scan.skips += 1
        return
    raters = scan.models if answer.model else scan.raters
    if len(raters) < MOST_NAMES or answer.rater in raters:
        raters[answer.rater] += 1
    scan.answers += not answer.model
    for key, value in answer.values.items():
        question = scan.questions.setdefault(key, ScannedQuestion(key))
        question.answers += 1
        rows = value if isinstance(value, list) else [value]
        question.most = max(question.most, len(rows))
        question.as_list |= isinstance(value, list)
        for row in rows:
            boxed = isinstance(row, ForeignBox)
            question.boxes += boxed
            question.rotated += boxed and bool(row.angle % 360)
            code = row.label if boxed else str(row)
            question.longest = max(question.longest, len(code))
            if code and (len(question.codes) <= MOST_NAMES or code in question.codes):
                question.codes[code] += 1


def _role(column: ScannedColumn, countries: Callable[[str], bool]) -> str:
    """By name; a country only if its values are countries that are known."""
    folded = fold(column.name)
    for role in ROLES:
        if folded in NAMES[role] and (role != "country" or all(countries(value) for value in column.values if value)):
            return role
    return ""


def _shown(value: Any) -> str:
    return str(value)[:80] if value is not None else ""


def _ordered(codes: Mapping[str, int]) -> list[str]:
    """Numbers by size, words as they first came."""
    if all(code.isdecimal() for code in codes):
        return sorted(codes, key=int)
    return list(codes)


def proposed_mapping(scan: Scan, mapping: ForeignMapping, fields: Sequence[str]) -> ForeignMapping:
    """With what a person did not choose filled in. `fields`: the keys of the sheet that takes the answers."""
    by_role = {column.role: column.name for column in scan.columns.values()}
    answers = mapping.answers if mapping.answers is not None else dict(_matching(list(scan.questions), fields))
    roles = dict(mapping.roles) or {column.name: column.role for column in scan.columns.values()
                                    if column.role in ROLES}  # fmt: skip
    return replace(
        mapping, tool=scan.reader.key, key=mapping.key or by_role.get("key", ""),
        picture=mapping.picture or by_role.get("picture", ""), text=mapping.text or by_role.get("text", ""),
        roles=roles, answers=answers,
    )  # fmt: skip


def _matching(questions: Sequence[str], fields: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Questions with the name of a field; one question and one field belong together under any name."""
    if len(questions) == len(fields) == 1:
        yield questions[0], fields[0]
        return
    folded = {fold(key): key for key in fields}
    for question in questions:
        if fold(question) in folded:
            yield question, folded[fold(question)]
