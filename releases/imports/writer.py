"""Rows of one kind into the database, some at a time: references are looked up, objects written, and each remembered.

A row that cannot be taken is reported and left out, and so is what refers to it. Everything of a step is written in one
transaction with the memory of it, so that a step that is repeated after a kill adds nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import DataError, IntegrityError, models, transaction
from django.db.models.fields import DateField
from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem
from releases.imports import hooks
from releases.imports.state import ImportState, PendingRow
from releases.imports.values import digest, filled_values, key_text, parse_line, plain_values, row_key
from releases.models import ImportedRow
from releases.rows.site.kinds import SiteKind

GONE = UUID(int=0)
"""The digest of a row that a later version lacks: whatever comes back is another one."""
_SHA = re.compile(rb"[0-9a-f]{64}")


class KindWriter:
    """Writes rows of a kind. `write` needs a transaction."""

    def __init__(self, state: ImportState, kind: SiteKind) -> None:
        self.state, self.kind = state, kind

    def write(self, lines: Sequence[tuple[int, bytes]]) -> list[PendingRow]:
        """What became of each. A row with a problem was not taken."""
        rows = [self._parse(number, line) for number, line in lines]
        self._find_known(rows)
        todo = [row for row in self._usable(rows) if row.known is None or row.known.digest != row.digest]
        self._set_values(todo)
        todo = self._usable(todo)
        if self.kind.shared:
            self._find_shared(todo)
        hook = hooks.PREPARE.get(self.kind.key)
        if hook is not None and todo:
            hook(self.state, todo)
        self._save(self._usable(todo))
        self._remember(self._usable(rows))
        self._mark_seen(rows)
        return rows

    @staticmethod
    def _usable(rows: Sequence[PendingRow]) -> list[PendingRow]:
        return [row for row in rows if row.problem is None]

    def _parse(self, number: int, line: bytes) -> PendingRow:
        try:
            row = parse_line(self.kind, line)
            here = line if self.kind.key == "images" else _SHA.sub(self._own_sha, line)
            content = row if here == line else parse_line(self.kind, here)
            return PendingRow(number, row_key(self.kind, row), digest(line), row, content)
        except RowProblem as problem:
            return PendingRow(number, "", GONE, {}, {}, problem=problem)

    def _own_sha(self, match: re.Match[bytes]) -> bytes:
        sha = match[0].decode()
        return self.state.shas.get(sha, sha).encode()

    def _find_known(self, rows: Sequence[PendingRow]) -> None:
        if self.state.release_import.benchmark_id is None:
            return
        stored = ImportedRow.objects.filter(
            benchmark=self.state.benchmark, kind=self.kind.key, key__in={row.key for row in rows if row.key}
        )
        known = {row.key: row for row in stored}
        keys = set()
        for row in self._usable(rows):
            row.known = known.get(row.key)
            row.object_id = row.known.object_id if row.known else None
            if row.key in keys:
                row.problem = RowProblem("twice", _("Another row has the same key."))
            keys.add(row.key)

    def _set_values(self, rows: Sequence[PendingRow]) -> None:
        wanted: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            try:
                row.values = plain_values(self.kind, row.content)
                if row.is_new:
                    row.values |= filled_values(self.kind, self.state.sources, row.number)
                for name, target in self.kind.references.items():
                    if row.row.get(name) is not None:
                        wanted[target].add(key_text(row.row[name]))
            except RowProblem as problem:
                row.problem = problem
        objects = {target: self.state.objects_of(target, keys) for target, keys in wanted.items()}
        for row in self._usable(rows):
            for name, target in self.kind.references.items():
                if target != self.kind.key:
                    self._set_reference(row, name, objects.get(target, {}))

    def _set_reference(self, row: PendingRow, name: str, objects: dict[str, int]) -> None:
        model_field: Any = self.kind.model._meta.get_field(name)
        value = row.row.get(name)
        target = None if value is None else objects.get(key_text(value))
        missing = (
            target is None if value is not None else not model_field.null and isinstance(model_field, models.ForeignKey)
        )
        if missing:
            text = _("It refers to %(kind)s that are not in the release, or were rejected: %(key)s.")
            shown = {"kind": self.kind.references[name], "key": str(value)[:100]}
            row.problem = RowProblem("missing_reference", text % shown)
        row.values[model_field.attname] = (
            target if target is not None or model_field.null else model_field.get_default()
        )

    def _find_shared(self, rows: Sequence[PendingRow]) -> None:
        """What the team has under the same key."""
        for row in rows:
            names = [self.kind.model._meta.get_field(name) for name in self.kind.identity]
            if row.object_id is None and names:
                wanted = {model_field.attname: row.values.get(model_field.attname) for model_field in names}  # type: ignore[union-attr]
                wanted |= {"team_id": self.state.team.pk} if "team" in self.kind.filled else {}
                row.object_id = self.kind.model._base_manager.filter(**wanted).values_list("pk", flat=True).first()

    def _save(self, rows: Sequence[PendingRow]) -> None:
        new = [row for row in rows if row.object_id is None]
        changed = [row for row in rows if not row.is_new and not self.kind.shared]
        for row in changed:  # first: what is no longer live makes room for what takes its place
            self._alone(row, self._update)
        try:
            with transaction.atomic():
                self._insert(new)
        except (IntegrityError, DataError):
            for row in new:
                self._alone(row, self._insert)
        written = self._usable([*new, *changed])
        self._set_own_references(written)
        hook = hooks.AFTER.get(self.kind.key)
        if hook is not None and written:
            hook(self.state, written)

    def _make_room(self, rows: Sequence[PendingRow]) -> None:
        hook = hooks.REPLACE.get(self.kind.key)
        if hook is not None and rows:
            hook(self.state, rows)

    @staticmethod
    def _alone(row: PendingRow, write: Any) -> None:
        """One by one, so that the row that the database refuses is known."""
        try:
            with transaction.atomic():
                write([row])
        except (IntegrityError, DataError) as error:
            row.object_id = row.known.object_id if row.known else None
            words = _("The database does not take it: %(why)s")
            row.problem = RowProblem("refused", words % {"why": str(error).splitlines()[0][:200]})

    def _insert(self, rows: Sequence[PendingRow]) -> None:
        """With their times as they are: `bulk_create` would write the time of now."""
        if not rows:
            return
        self._make_room(rows)
        model = self.kind.model
        stored = [
            model_field
            for model_field in model._meta.concrete_fields
            if not model_field.primary_key and not isinstance(model_field, models.GeneratedField)
        ]
        objects = [model(**row.values) for row in rows]
        for each in objects:
            for model_field in stored:
                automatic = isinstance(model_field, DateField) and (model_field.auto_now or model_field.auto_now_add)
                if automatic and getattr(each, model_field.attname) is None:
                    setattr(each, model_field.attname, self.state.at)
        manager: Any = model._base_manager
        back = manager._insert(objects, fields=stored, returning_fields=[model._meta.pk], raw=True, using="default")
        for row, (pk,) in zip(rows, back, strict=True):
            row.object_id = pk

    def _update(self, rows: Sequence[PendingRow]) -> None:
        self._make_room(rows)
        for row in rows:
            values = {name: value for name, value in row.values.items() if name != "client_key"}
            if values:
                self.kind.model._base_manager.filter(pk=row.object_id).update(**values)

    def _set_own_references(self, rows: Sequence[PendingRow]) -> None:
        """Rows that refer to rows of their kind, once all of the step are there."""
        for name in (name for name, target in self.kind.references.items() if target == self.kind.key):
            model_field: Any = self.kind.model._meta.get_field(name)
            self._remember(rows)
            wanted = {row.key: key_text(row.row[name]) for row in rows if row.row.get(name) is not None}
            objects = self.state.objects_of(self.kind.key, wanted.values())
            for row in rows:
                if row.key in wanted and wanted[row.key] in objects:
                    target = objects[wanted[row.key]]
                    self.kind.model._base_manager.filter(pk=row.object_id).update(**{model_field.attname: target})

    def _remember(self, rows: Sequence[PendingRow]) -> None:
        newest = self.state.release_import
        written = [
            ImportedRow(
                benchmark=self.state.benchmark, kind=self.kind.key, key=row.key, object_id=row.object_id,
                digest=row.digest, seen=newest,
            )
            for row in rows
            if row.object_id is not None
        ]  # fmt: skip
        ImportedRow.objects.bulk_create(
            written, update_conflicts=True, unique_fields=["benchmark", "kind", "key"],
            update_fields=["object_id", "digest", "seen"],
        )  # fmt: skip

    def _mark_seen(self, rows: Sequence[PendingRow]) -> None:
        """Rows that were rejected are in this version all the same: what they became earlier stays."""
        rejected = [row.known.pk for row in rows if row.problem is not None and row.known is not None]
        if rejected:
            ImportedRow.objects.filter(pk__in=rejected).update(seen=self.state.release_import)
