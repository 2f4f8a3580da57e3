"""The world of personas.py, kept: its models write it once per process, and each test copies its rows in one statement.

The rows get new keys, as if they were written anew, and times shifted to now. Triggers and foreign keys were satisfied
when the world was written, so they are left out.
"""

import functools
import pickle
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.apps import apps
from django.db import connection, models, transaction
from django.utils import timezone

from tests.personas import World, make_world

SCHEMA = "kept"
COPY = f"{SCHEMA}.copy_world"
_kept: "KeptWorld | None" = None


class KeptWorld:
    """The world as Python objects, and a function in the database that copies its rows."""

    def __init__(self, world: World, tables: list[type[models.Model]]) -> None:
        self.pickled = pickle.dumps(world)
        self.at = timezone.now()
        self.keyed = [model for model in tables if isinstance(model._meta.pk, models.AutoField)]

    def copy(self) -> World:
        at = timezone.now()
        with connection.cursor() as cursor:
            cursor.execute(f"select {COPY}(%s)", [at - self.at])
            [moved] = cursor.fetchone()
        world: World = pickle.loads(self.pickled)
        shift = Shift(dict(zip(self.keyed, moved, strict=True)), at - self.at)
        for instance in instances_of(world):
            shift.apply(instance)
        return world


class Shift:
    """How far the keys of each model and all times are from those of the kept world."""

    def __init__(self, keys: dict[type[models.Model], int], time: timedelta) -> None:
        self.keys, self.time = keys, time

    def apply(self, instance: models.Model) -> None:
        values = instance.__dict__
        for name, target in key_columns(type(instance)):
            if target in self.keys and values.get(name) is not None:
                values[name] += self.keys[target]
        for name, value in values.items():
            if isinstance(value, datetime):
                values[name] = value + self.time


@functools.cache
def key_columns(model: type[models.Model]) -> list[tuple[str, type[models.Model]]]:
    """The columns of a model that hold keys, and whose they are."""
    fields = model._meta.concrete_fields
    return [(field.attname, target) for field in fields if (target := owner_of_key(field)) is not None]


def owner_of_key(field: Any) -> type[models.Model] | None:
    if field.remote_field is not None:
        return field.remote_field.model  # type: ignore[no-any-return]
    return field.model if isinstance(field, models.AutoField) else None


def instances_of(world: World) -> Iterator[models.Model]:
    """Every object of the world, and those that it holds, once each."""
    waiting, visited = [value for value in vars(world).values() if isinstance(value, models.Model)], set()
    while waiting:
        instance = waiting.pop()
        if id(instance) not in visited:
            visited.add(id(instance))
            yield instance
            waiting += [value for value in instance._state.fields_cache.values() if isinstance(value, models.Model)]


def keep() -> None:
    """Write the world into a database without people, and put its rows aside."""
    global _kept
    with transaction.atomic(), connection.cursor() as cursor:
        before = counts()
        world = make_world()
        tables = [model for model, n in counts().items() if n != before[model]]
        assert not any(before[model] for model in tables), "the world adds to a table that has rows without it"
        cursor.execute(f"drop schema if exists {SCHEMA} cascade; create schema {SCHEMA}")
        for model in tables:
            name = model._meta.db_table
            cursor.execute(f"create table {SCHEMA}.{name} as select * from {name}")
        _kept = KeptWorld(world, tables)
        cursor.execute(function_of(tables, _kept.keyed))
        cursor.execute("set constraints all immediate; set local session_replication_role = replica")
        for model in tables:
            cursor.execute(f"delete from {model._meta.db_table}")


def counts() -> dict[type[models.Model], int]:
    tables = {model._meta.db_table: model for model in apps.get_models(include_auto_created=True)}
    with connection.cursor() as cursor:
        there = sorted(set(tables) & set(connection.introspection.table_names(cursor)))
        cursor.execute(" union all ".join(f"select '{name}', count(*) from {name}" for name in there))
        return {tables[name]: n for name, n in cursor.fetchall()}


def function_of(tables: list[type[models.Model]], keyed: list[type[models.Model]]) -> str:
    """Takes a key for each row from the sequence of its table; says how far the keys of each table were moved."""
    first = []
    for number, model in enumerate(keyed):
        name, key = model._meta.db_table, model._meta.pk.column
        sequence = f"pg_get_serial_sequence('{name}', '{key}')"
        first.append(f"""
  moved[{number}] := nextval({sequence}) - (select min({key}) from {SCHEMA}.{name});
  perform setval({sequence}, moved[{number}] + (select max({key}) from {SCHEMA}.{name}));""")
    place = {model: number for number, model in enumerate(keyed)}
    copies = []
    for model in tables:
        columns = {field.column: source_of(field, place) for field in model._meta.concrete_fields}
        name = model._meta.db_table
        copies.append(
            f"insert into {name} ({', '.join(map(quote, columns))}) select {', '.join(columns.values())} "
            f"from {SCHEMA}.{name};"
        )
    return f"""
create function {COPY}(later interval) returns bigint[] language plpgsql as $$
declare
  moved bigint[] := array_fill(0::bigint, array[{len(keyed)}], array[0]);
begin
  perform set_config('session_replication_role', 'replica', true);
{"".join(first)}
  {" ".join(copies)}
  perform set_config('session_replication_role', 'origin', true);
  return moved;
end $$"""


def source_of(field: Any, place: dict[type[models.Model], int]) -> str:
    """What a column of a copied row holds."""
    column = quote(field.column)
    if (number := place.get(owner_of_key(field))) is not None:  # type: ignore[arg-type]
        return f"{column} + moved[{number}]"
    return f"{column} + later" if isinstance(field, models.DateTimeField) else column


def quote(name: str) -> str:
    return connection.ops.quote_name(name)


def copy_world() -> World:
    assert _kept is not None, "the database was not set up by the fixture django_db_setup"
    return _kept.copy()
