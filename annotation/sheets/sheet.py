"""A sheet asks: an ordered set of fields. It works on JSON, and every door to an answer ends in `Sheet.parse`."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from annotation.fields.contract import (
    AgreementLevel,
    AnswerProblem,
    Column,
    ConfigError,
    InvalidAnswer,
    Level,
    Rubric,
    Shown,
    Spec,
    Text,
    localise,
    reject_unknown_keys,
    require,
    require_text,
)
from annotation.fields.form import FieldForm, PostData
from annotation.fields.registry import Kind, UnknownKind, kind, kind_or_unknown
from annotation.sheets.rules import FACTS, KEY, CrossCheck, Score, ShowIf, parse_checks, parse_score, parse_show_if

__all__ = ["AnswerProblem", "Field", "FieldCode", "ParsedSheet", "Sheet", "SheetError", "Text", "localise"]

REQUIRED = AnswerProblem("required")


class SheetError(ConfigError):
    """A sheet is written wrongly: `path` says where, `reason` why."""


class FieldCode(NamedTuple):
    """One field's answer as measures compare it; becomes one Rating."""

    field: str
    code: str
    value: float | None


@dataclass(frozen=True)
class Field:
    key: str
    kind: str
    version: int
    label: Text
    help: Text
    required: bool
    config: Any
    spec: Spec[Any, Any]
    form: FieldForm
    rules: tuple[Text, ...] = ()
    show_if: ShowIf | None = None
    required_unless: str = ""
    """Key of another field: where that one is answered, this one may be left open."""

    @property
    def name(self) -> str:
        """Of its inputs in a web form."""
        return f"a-{self.key}"

    @property
    def draws_item(self) -> bool:
        """Whether its drawing depends on the item."""
        return self.form.draws_item or bool(getattr(self.config, "draws_item", False))

    def fits_phone(self, shown: Shown) -> bool:
        """Whether it has options that a phone shows all at once. A kind without options has no such method."""
        fits = getattr(self.form, "fits_phone", None)
        return fits is not None and bool(fits(self.config, shown))

    def to_json(self) -> dict[str, Any]:
        data = {
            "key": self.key,
            "kind": self.kind,
            "version": self.version,
            "label": dict(self.label),
            "help": dict(self.help),
            "required": self.required,
            "config": self.spec.config_json(self.config),
        }
        data |= {"rules": [dict(rule) for rule in self.rules]} if self.rules else {}
        data |= {"show_if": self.show_if.to_json()} if self.show_if else {}
        return data | ({"required_unless": self.required_unless} if self.required_unless else {})


@dataclass
class ParsedSheet:
    """What became of raw answers. Warnings are those the person has not confirmed.

    Errors and warnings stand under the key of their field, or of the check between fields.
    """

    answers: dict[str, Any] = field(default_factory=dict)
    codes: list[FieldCode] = field(default_factory=list)
    errors: dict[str, list[AnswerProblem]] = field(default_factory=dict)
    warnings: dict[str, list[AnswerProblem]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return not self.errors and not self.warnings


@dataclass(frozen=True)
class Sheet:
    fields: tuple[Field, ...]
    checks: tuple[CrossCheck, ...] = ()
    score: Score | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, Any], *, stored: bool = False) -> "Sheet":
        """Read a sheet. `stored`: it was valid once, so a kind that is gone since is kept as unknown."""
        try:
            reject_unknown_keys(data, ("fields", "checks", "score"), "sheet")
            fields = _fields(require(data, "fields", list, "sheet"), stored)
            keys = [sheet_field.key for sheet_field in fields]
            checks = parse_checks(data.get("checks", []), "checks", keys)
            score = parse_score(data.get("score"), "score", keys)
        except ConfigError as error:
            raise SheetError(error.path, error.reason) from None
        return cls(fields, checks, score)

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = {"fields": [sheet_field.to_json() for sheet_field in self.fields]}
        data |= {"checks": [check.to_json() for check in self.checks]} if self.checks else {}
        return data | ({"score": self.score.to_json()} if self.score else {})

    def field(self, key: str) -> Field:
        for sheet_field in self.fields:
            if sheet_field.key == key:
                return sheet_field
        raise KeyError(f"no field {key!r} in this sheet; there are {', '.join(f.key for f in self.fields)}")

    def level(self, field_key: str) -> Level:
        sheet_field = self.field(field_key)
        return sheet_field.spec.level(sheet_field.config)

    def agreement_level(self, field_key: str) -> AgreementLevel:
        """How people's answers to the field are compared; differs from ``level`` where codes do not do."""
        sheet_field = self.field(field_key)
        return sheet_field.spec.agreement_level(sheet_field.config)

    def read_form(self, posted: PostData) -> dict[str, Any]:
        """Raw answers out of a posted web form."""
        return {
            sheet_field.key: strip_nul(sheet_field.form.read(posted, sheet_field.name)) for sheet_field in self.fields
        }

    def unconfirmed(self, raw: Mapping[str, Any], shown: Shown, marks: Collection[str]) -> tuple[str, ...]:
        """Of the confirmations a page sent ("field:code,code"), those of warnings that these answers do bring."""
        if not marks:
            return ()
        split = (mark.partition(":") for mark in marks)
        marks = {f"{key}:{code}" for key, _colon, codes in split for code in codes.split(",")}
        warnings = self.parse(raw, shown).warnings
        return tuple(
            f"{key}:{problem.code}"
            for key, all in warnings.items()
            for problem in all
            if f"{key}:{problem.code}" in marks
        )

    def parse(
        self, raw: Mapping[str, Any], shown: Shown, confirmed: Collection[str] = (), *, partial: bool = False
    ) -> ParsedSheet:
        """Every door ends here. `confirmed` names warnings as "field:code". `partial`: what is left out was not asked,
        and what depends on it was."""
        parsed = ParsedSheet()
        for key in raw:
            if all(one.key != key for one in self.fields):
                parsed.errors[key] = [AnswerProblem("no_such_field", {"field": key[:60]})]
        for sheet_field in self.fields:
            if _visible_fields(sheet_field, raw, parsed.answers, partial):
                _parse_field(sheet_field, raw.get(sheet_field.key), shown, confirmed, parsed)
        for sheet_field in self.fields:
            if sheet_field.required_unless in parsed.answers and parsed.errors.get(sheet_field.key) == [REQUIRED]:
                del parsed.errors[sheet_field.key]
        values = self.values(parsed.answers, shown) if self.checks else {}
        for check in self.checks:
            if check.expression.evaluate(values) is False:
                problem = AnswerProblem("check", {"words": localise(check.words, "en")})
                if check.blocks:
                    parsed.errors[check.key] = [problem]
                elif f"{check.key}:{problem.code}" not in confirmed:
                    parsed.warnings[check.key] = [problem]
        return parsed

    def values(self, answers: Mapping[str, Any], shown: Shown | None = None) -> dict[str, float | str]:
        """What expressions may name: answers by field, with what is measured of them, and facts of the item."""
        values: dict[str, float | str] = {}
        for sheet_field in self.fields:
            if answers.get(sheet_field.key) is not None:
                for suffix, value in sheet_field.spec.values(answers[sheet_field.key], sheet_field.config).items():
                    values[sheet_field.key + suffix] = value
        facts = shown.facts if shown else {}
        return values | {
            f"{FACTS}.{key}": value for key, value in facts.items() if isinstance(value, int | float | str)
        }

    def columns(self) -> list[Column]:
        """Of an export; the suffix is the whole name here."""
        columns = [
            Column(sheet_field.key + column.suffix, column.type, column.meaning, column.typed)
            for sheet_field in self.fields
            for column in sheet_field.spec.columns(sheet_field.config)
        ]
        return columns + ([self.score_column()] if self.score else [])

    def score_column(self) -> Column:
        """Of an export: the score as the person saw it."""
        assert self.score is not None
        meaning = f"{localise(self.score.label, 'en')}: {self.score.expression.text}, to {self.score.decimals} decimals"
        return Column("score", "number", meaning)

    def cells(self, answers: Mapping[str, Any]) -> dict[str, Any]:
        """Stored answers under the names of `columns`; an unanswered field has None in each."""
        row: dict[str, Any] = {}
        for sheet_field in self.fields:
            answer = answers.get(sheet_field.key)
            cells = {} if answer is None else sheet_field.spec.cells(answer, sheet_field.config)
            for column in sheet_field.spec.columns(sheet_field.config):
                row[sheet_field.key + column.suffix] = cells.get(column.suffix)
        return row | ({"score": self.score.of(self.values(answers))} if self.score else {})

    def rubric(self, field_key: str, language: str = "en", target: str = "") -> Rubric:
        sheet_field = self.field(field_key)
        return sheet_field.spec.rubric(localise(sheet_field.label, language, target), sheet_field.config, language)


def strip_nul(raw: Any) -> Any:
    """Without the character that the database cannot keep."""
    if isinstance(raw, str):
        return raw.replace("\x00", "")
    return [strip_nul(value) for value in raw] if isinstance(raw, list) else raw


def _visible_fields(sheet_field: Field, raw: Mapping[str, Any], answers: Mapping[str, Any], partial: bool) -> bool:
    if partial and sheet_field.key not in raw:
        return False
    return (
        sheet_field.show_if is None
        or sheet_field.show_if.is_met(answers)
        or (partial and sheet_field.show_if.field not in raw)
    )


def _parse_field(sheet_field: Field, raw: Any, shown: Shown, confirmed: Collection[str], parsed: ParsedSheet) -> None:
    try:
        answer = sheet_field.spec.parse(raw, sheet_field.config, shown)
    except InvalidAnswer as refused:
        parsed.errors[sheet_field.key] = [refused.problem]
        return
    if answer is None:
        if sheet_field.required:
            parsed.errors[sheet_field.key] = [REQUIRED]
        return
    parsed.answers[sheet_field.key] = answer
    for check in sheet_field.spec.checks(answer, sheet_field.config, shown):
        if check.blocks:
            parsed.errors.setdefault(sheet_field.key, []).append(check.problem)
        elif f"{sheet_field.key}:{check.problem.code}" not in confirmed:
            parsed.warnings.setdefault(sheet_field.key, []).append(check.problem)
    coded = sheet_field.spec.code(answer, sheet_field.config)
    if coded is not None:
        parsed.codes.append(FieldCode(sheet_field.key, coded.code, coded.value))


def _fields(rows: list[Any], stored: bool) -> tuple[Field, ...]:
    if not rows:
        raise ConfigError("fields", "needs at least one field")
    fields: list[Field] = []
    for number, row in enumerate(rows):
        new_field = _field(row, f"fields[{number}]", stored, fields)
        if any(other.key == new_field.key for other in fields):
            raise ConfigError(f"fields[{number}].key", f"{new_field.key!r} is there twice")
        fields.append(new_field)
    for number, new_field in enumerate(fields):
        if new_field.required_unless and new_field.required_unless not in {f.key for f in fields} - {new_field.key}:
            where = f"fields[{number}].required_unless"
            raise ConfigError(where, f"{new_field.required_unless!r} is no other field of this sheet")
    return tuple(fields)


FIELD = ("key", "kind", "version", "label", "help", "required", "config", "rules", "show_if", "required_unless")


def _field(row: Any, path: str, stored: bool, before: list[Field]) -> Field:
    if not isinstance(row, Mapping):
        raise SheetError(path, "must be an object")
    reject_unknown_keys(row, FIELD, path)
    key = require(row, "key", str, path)
    if not KEY.fullmatch(key):
        raise SheetError(f"{path}.key", "must be small letters, digits and _, and begin with a letter")
    field_kind = _kind(require(row, "kind", str, path), path, stored)
    version = require(row, "version", int, path) if "version" in row else field_kind.spec.version
    rules = require(row, "rules", list, path) if "rules" in row else []
    earlier = {earlier_field.key: (earlier_field.spec, earlier_field.config) for earlier_field in before}
    if not stored and version != field_kind.spec.version:
        raise SheetError(f"{path}.version", f"is {version}; this is version {field_kind.spec.version}")
    return Field(
        key=key,
        kind=row["kind"],
        version=version,
        label=require_text(row, "label", path),
        help=require_text(row, "help", path, optional=True),
        required=require(row, "required", bool, path) if "required" in row else True,
        config=field_kind.spec.config(require(row, "config", dict, path) if "config" in row else {}, f"{path}.config"),
        spec=field_kind.spec,
        form=field_kind.form,
        rules=tuple(require_text({"rule": rule}, "rule", f"{path}.rules[{at}]") for at, rule in enumerate(rules)),
        show_if=parse_show_if(row["show_if"], f"{path}.show_if", earlier) if row.get("show_if") else None,
        required_unless=require(row, "required_unless", str, path) if row.get("required_unless") else "",
    )


def _kind(key: str, path: str, stored: bool) -> Kind:
    if stored:
        return kind_or_unknown(key)
    try:
        return kind(key)
    except UnknownKind as error:
        raise SheetError(f"{path}.kind", str(error)) from None
