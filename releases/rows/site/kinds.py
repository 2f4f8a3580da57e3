"""Rows that a site needs to show a release as it was: one kind for each model, with keys in place of ids.

A kind names its model, which of its rows belong to a release, and what each foreign key refers to. Columns and SQL are
made from the model, so that a new field is in the next release unless the kind says why it is left out. A row whose
required references are not in the release is not in it either.
"""

# ruff: noqa: S608  (tables and columns come from models and from constants of the kinds; ids are integers)

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models

from benchmarks.models import Benchmark
from people.models import Rater
from releases.models import Release
from releases.models.selections import SPLITS
from releases.rows.columns import ColumnType, Row, RowColumn
from releases.rows.kinds import Finish, RowKind, RowScope, cached_pseudonyms

NUMBER = "number"
"""The column of a kind that has no key of its own: the number of the row in the database it comes from."""
RATERS = "raters"
BLOCK = 64  # bytes that SHA-256 takes at once, to which HMAC fills a key
TYPES: tuple[tuple[type[models.Field[Any, Any]], ColumnType], ...] = (
    (models.BooleanField, "bool"),
    (models.IntegerField, "int8"),
    (models.FloatField, "float8"),
    (models.DateTimeField, "time"),
    (models.JSONField, "json"),
    (ArrayField, "json"),
)


@dataclass(frozen=True)
class SiteScope:
    """What a release is made of. `versions`: also answers that were replaced or withdrawn. `release` and `withheld`: a
    release and the split of its items whose answers are not shipped."""

    benchmark: Benchmark
    campaigns: tuple[int, ...]
    stages: tuple[int, ...]
    versions: bool = False
    release: int = 0
    withheld: str = ""

    @classmethod
    def of(cls, release: Release) -> SiteScope:
        chosen = release.chosen
        benchmark, withheld = release.benchmark, chosen.withheld
        return cls(benchmark, chosen.campaigns, chosen.stages, chosen.versions, release=release.pk, withheld=withheld)

    @property
    def rows(self) -> RowScope:
        return RowScope(self.benchmark, self.campaigns, self.stages)

    def fill(self, sql: str, alias: str) -> str:
        """A condition with its names replaced: {x} by the alias of the row, the others by what was chosen."""
        values = {
            "{x}": alias,
            "{benchmark}": str(int(self.benchmark.pk)),
            "{team}": str(int(self.benchmark.team_id)),
            "{campaigns}": _ids(self.campaigns),
            "{stages}": _ids(self.stages),
            "{versions}": "true" if self.versions else "false",
            "{release}": str(int(self.release)),
            "{withheld}": f"'{self.withheld if self.withheld in SPLITS else ''}'",
        }
        for name, value in values.items():
            sql = sql.replace(name, value)
        return sql


@dataclass(frozen=True)
class SiteKind:
    """One kind of rows.

    Attributes:
        where: SQL of the rows that belong to a release; see SiteScope.fill.
        identity: fields that together name a row; empty where only its number does.
        references: field to the key of the kind that it refers to.
        needs: references that may be null in the database, and that a row of a release must have.
        implied: references whose target is in the release because this row is, so that nobody has to look: to ask each
            of a million answers whether its rater has one would take a million times the answers of a rater.
        filled: field to what the import puts there: see releases.imports.values.
        left_out: fields that are not in a release, with the reason.
        select: field to SQL that stands in place of the column.
        names: field to SQL of a rater's id; where there is model_field, the pseudonym stands in place of the column.
        join: SQL behind the table, for `select` and `names`.
        shared: it belongs to the team: the import uses what is there under the same key.
        gone: what a later version of a release does to a row that it lacks: see releases.imports.removal.
    """

    key: str
    model: type[models.Model]
    meaning: str
    where: str = "true"
    identity: tuple[str, ...] = ()
    references: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    implied: tuple[str, ...] = ()
    filled: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    select: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    join: str = ""
    shared: bool = False
    gone: str = "kept"

    @property
    def table(self) -> str:
        return str(self.model._meta.db_table)

    @property
    def fields(self) -> list[models.Field[Any, Any]]:
        """Those that are columns, in the order of the model."""
        return [
            model_field
            for model_field in self.model._meta.concrete_fields
            if not (model_field.primary_key or isinstance(model_field, models.GeneratedField))
            and model_field.name not in self.left_out
            and model_field.name not in self.filled
        ]

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The columns of a row of a file that together are its key."""
        return ("rater",) if self.key == RATERS else self.identity or (NUMBER,)

    def row_kind(self, kinds: Mapping[str, SiteKind], scope: SiteScope) -> RowKind:
        """As other rows are streamed, frozen and read."""
        query = _Query(kinds, scope)
        return RowKind(
            key=self.key,
            meaning=self.meaning,
            columns=query.columns(self),
            source=f"FROM {self.table} x {scope.fill(self.join, 'x')} WHERE {query.condition(self, 'x', 1)}",
            order=(_pseudonym_order(scope.benchmark), "x.id") if self.key == RATERS else ("x.id",),
            params=lambda _scope: [],
            finish=lambda rows_scope: _finish(self, rows_scope),
        )


def _pseudonym_order(benchmark: Benchmark) -> str:
    """SQL of a number made of a person's pseudonym, by which people are sorted; the number of any other rater.

    In the order of accounts the place of a person would be the same in each release and in the list of a cohort's
    members. `Benchmark.pseudonym` computes the same HMAC.
    """
    key = benchmark.pseudonym_key.encode()
    key = (hashlib.sha256(key).digest() if len(key) > BLOCK else key).ljust(BLOCK, b"\0")
    inner, outer = (f"decode('{bytes(byte ^ pad for byte in key).hex()}', 'hex')" for pad in (0x36, 0x5C))
    digest = f"encode(sha256({outer} || sha256({inner} || x.id::text::bytea)), 'hex')"
    own = f"n.benchmark_id = {int(benchmark.pk)} AND n.rater_id = x.id"
    known = f"(SELECT n.name FROM benchmarks_ratername n WHERE {own})"
    name = f"coalesce({known}, 'R-' || left({digest}, 12))"
    return f"CASE WHEN x.kind = 'person' THEN ('x' || left(md5({name}), 15))::bit(60)::bigint ELSE x.id END"


def key_of(kind: SiteKind, row: Mapping[str, Any]) -> Any:
    """The key of a row of a file: one value, or a list of several."""
    values = [row[name] for name in kind.key_columns]
    return values[0] if len(values) == 1 else values


@dataclass(frozen=True)
class _Query:
    kinds: Mapping[str, SiteKind]
    scope: SiteScope

    def columns(self, kind: SiteKind) -> list[RowColumn]:
        columns = []
        if kind.key == RATERS:
            columns.append(RowColumn("rater", "x.id", "person", "A person's pseudonym; name and setting of a model."))
        elif not kind.identity:
            columns.append(RowColumn(NUMBER, "x.id", "int8", "Number of the row in the site it comes from."))
        columns += [self._column(kind, model_field) for model_field in kind.fields]
        return columns + [RowColumn(f"_{name}", sql, "person", "") for name, sql in kind.names.items()]

    def _column(self, kind: SiteKind, model_field: models.Field[Any, Any]) -> RowColumn:
        meaning = str(model_field.help_text or model_field.verbose_name)
        if target := kind.references.get(model_field.name):
            column_type: ColumnType = "person" if target == RATERS else "json"
            return RowColumn(model_field.name, self._reference(kind, model_field), column_type, f"Key in {target}.")
        sql = self.scope.fill(kind.select.get(model_field.name, f"x.{model_field.column}"), "x")
        column_type = next((name for known, name in TYPES if isinstance(model_field, known)), "text")
        if isinstance(model_field, ArrayField):
            sql = f"to_json({sql})"
        if isinstance(model_field, models.BinaryField):
            sql = f"encode({sql}, 'base64')"
        if column_type in ("json", "text"):
            sql = f"({sql})::text"
        return RowColumn(model_field.name, sql, column_type, meaning)

    def _reference(self, kind: SiteKind, model_field: models.Field[Any, Any]) -> str:
        """The key of the target as JSON text, a rater's id; null where the target is not in the release."""
        target, column = self.kinds[kind.references[model_field.name]], f"x.{model_field.column}"
        may_lack = (model_field.null or _loose(model_field)) and model_field.name not in kind.needs
        optional = may_lack and model_field.name not in kind.implied
        chosen = f"y1.id = {column}" + (f" AND {self.condition(target, 'y1', 2)}" if optional else "")
        if target.key == RATERS:
            return f"(SELECT y1.id FROM {target.table} y1 WHERE {chosen})" if optional else column
        return f"(SELECT ({self._key(target, 'y1', 2)})::text FROM {target.table} y1 WHERE {chosen})"

    def condition(self, kind: SiteKind, alias: str, depth: int) -> str:
        """Of the rows that are in the release: its own condition, and that what it needs is there as well."""
        parts = [self.scope.fill(kind.where, alias)]
        for name, target_key in kind.references.items():
            if name in kind.implied:
                continue
            model_field: Any = kind.model._meta.get_field(name)
            target = self.kinds[target_key]
            if name in kind.needs or not (model_field.null or _loose(model_field)):
                inner, other = self.condition(target, f"y{depth}", depth + 1), f"y{depth}"
                if inner != "true":
                    same = f"{other}.id = {alias}.{model_field.column}"
                    parts.append(f"EXISTS (SELECT FROM {target.table} {other} WHERE {same} AND {inner})")
        return " AND ".join(part for part in parts if part != "true") or "true"

    def _key(self, kind: SiteKind, alias: str, depth: int) -> str:
        """SQL of the key of a row, as JSON."""
        values = [self._key_part(kind, name, alias, depth) for name in kind.identity] or [f"{alias}.id"]
        return f"to_json({values[0]})" if len(values) == 1 else f"json_build_array({', '.join(values)})"

    def _key_part(self, kind: SiteKind, name: str, alias: str, depth: int) -> str:
        model_field: Any = kind.model._meta.get_field(name)
        if name not in kind.references:
            return f"{alias}.{model_field.column}"
        target, other = self.kinds[kind.references[name]], f"z{depth}"
        key = self._key(target, other, depth + 1)
        return f"(SELECT {key} FROM {target.table} {other} WHERE {other}.id = {alias}.{model_field.column})"


def _loose(model_field: models.Field[Any, Any]) -> bool:
    """A reference without a foreign key, where 0 or null stands for none."""
    return not isinstance(model_field, models.ForeignKey)


def _ids(values: Collection[int]) -> str:
    return f"'{{{','.join(str(int(value)) for value in values)}}}'::bigint[]"


def _finish(kind: SiteKind, scope: RowScope) -> Finish:
    """Raters by their keys: a pseudonym, or name and setting of a model."""
    columns = [name for name, target in kind.references.items() if target == RATERS]
    if kind.key == RATERS:
        columns.append("rater")
    if not columns and not kind.names:
        return lambda row: row
    named = _rater_keys(scope)

    def finish(row: Row) -> Row:
        for name in columns:
            row[name] = row[name] and named(row[name])
        for name in kind.names:
            rater = row.pop(f"_{name}")
            row[name] = named(rater) if rater else row[name]
        return row

    return finish


def _rater_keys(scope: RowScope) -> Callable[[int], Any]:
    rows = Rater.objects.filter(team=scope.benchmark.team_id, kind=Rater.Kind.MODEL)
    known = {pk: [name, setting] for pk, name, setting in rows.values_list("pk", "name", "setting")}
    person = cached_pseudonyms(scope.benchmark)
    return lambda rater: known.get(rater) or person(rater)
