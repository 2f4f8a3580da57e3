"""Rows of items that a program sends in one request: taken as an import takes them, at once and without a file."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from benchmarks.images.perceptual_hash import TooManyPictures
from benchmarks.imports.problems import RowProblem
from benchmarks.imports.records import FACT, LENGTHS, Defaults, Row, from_manifest
from benchmarks.imports.vocabulary import Vocabulary, vocabulary_of
from benchmarks.models import Image, Item, ItemImage, Stage
from benchmarks.models.items import RETURNED
from benchmarks.queries.revisions import newest_revisions
from benchmarks.services.picture_arrangement import arrange
from benchmarks.services.row_import import WITH_PICTURE, PreparedRow, import_batch
from jobs.models import JobRow, record
from people.models import User

log = logging.getLogger(__name__)
MOST_ROWS = 1000
MOST_SET_ROWS = 200  # each picture of a set is read to lay it beside similar ones
MOST_FACT_ROWS = 5000
STEP = 500
OWN = ("picture", "file", "context", "facts")
OF_PICTURE = ("alt", "source", "licence")


@dataclass(frozen=True)
class BatchRow:
    """What became of a row: `item` is the number of its item, None where there is none."""

    outcome: str
    item: int | None
    code: str = ""
    message: str = ""

    @property
    def is_error(self) -> bool:
        return self.outcome == JobRow.Outcome.ERROR


def import_rows(
    stage: Stage, actor: User, rows: Sequence[Mapping[str, Any]], *, complete: bool = False,
    correct_facts: bool = False, arranges: bool = True,
) -> list[BatchRow]:  # fmt: skip
    """Take the rows of a batch in their order. Needs a transaction.

    A row has the columns of a manifest as members, the SHA-256 of a picture that the team has as `picture`, and
    `context` and `facts` as objects. `arranges`: False where no row changes a picture, for every picture of a set is
    read to lay it beside similar ones.
    """
    words = vocabulary_of(stage)
    wanted = {str(row["picture"]) for row in rows if row.get("picture")}
    images = {image.sha256: image for image in Image.objects.filter(team=stage.benchmark.team, sha256__in=wanted)}
    prepared = [_prepare(number, row, stage, words, images) for number, row in enumerate(rows, start=1)]
    written = _write(stage, prepared, complete=complete, correct_facts=correct_facts)
    results = _results(stage, prepared, written)
    if arranges and stage.pictures == Stage.Pictures.SET:
        _arrange(sorted({row.item for row in results if row.item and not row.is_error}))
    counts: dict[str, int] = {}
    for row in results:
        counts[row.outcome] = counts.get(row.outcome, 0) + 1
    record(actor, "items.imported", scope=stage.benchmark.scope, target=stage.key, counts=counts)
    return results


def _prepare(
    number: int, row: Mapping[str, Any], stage: Stage, words: Vocabulary, images: Mapping[str, Image]
) -> PreparedRow:
    sha = str(row.get("picture") or "")
    image = images.get(sha)
    name = str(row.get("key") or "")
    problem = _row_problem(row, stage, sha, image)
    if problem is not None:
        return PreparedRow(Row(number, name, problem))
    read = from_manifest(number, _columns(row, sha), words, Defaults())
    return PreparedRow(read, image if not isinstance(read.found, RowProblem) else None)


def _row_problem(row: Mapping[str, Any], stage: Stage, sha: str, image: Image | None) -> RowProblem | None:
    misplaced = sorted(name for name in row.get("context", {}) if name in LENGTHS or name.startswith(FACT))
    if misplaced:
        text = _("Write “%(name)s” as a member of the row, not in its context.")
        return RowProblem("bad_context", text % {"name": misplaced[0][:80]})
    if sha and image is None:
        text = _("The team has no picture with the SHA-256 “%(sha)s…”. Send its bytes first.")
        return RowProblem("missing_picture", text % {"sha": sha[:12]})
    if not sha and stage.pictures in WITH_PICTURE:
        return RowProblem("no_picture", _("Items of this stage have a picture. Name it by its SHA-256 in “picture”."))
    return None


def _columns(row: Mapping[str, Any], sha: str) -> dict[str, Any]:
    """The row as a manifest has it."""
    own = {name: value for name, value in row.items() if name not in OWN}
    facts = {f"{FACT}{name}": value for name, value in row.get("facts", {}).items()}
    return {**row.get("context", {}), **facts, **own, "file": (row.get("file") or sha) if sha else ""}


def _write(stage: Stage, prepared: Sequence[PreparedRow], **options: bool) -> list[JobRow]:
    written: list[JobRow] = []
    for start in range(0, len(prepared), STEP):
        written += import_batch(stage, prepared[start : start + STEP], **options)
    return written


def _results(stage: Stage, prepared: Sequence[PreparedRow], written: Sequence[JobRow]) -> list[BatchRow]:
    keys = {row.row.found.key for row in prepared if not isinstance(row.row.found, RowProblem)}
    numbers = {key: item.pk for key, item in items_by_key(stage, sorted(keys)).items()}
    results = []
    for row, result in zip(prepared, written, strict=True):
        key = "" if isinstance(row.row.found, RowProblem) else row.row.found.key
        results.append(BatchRow(result.outcome, numbers.get(key), result.reason, result.message))
    return results


def items_by_key(stage: Stage, keys: Sequence[str]) -> dict[str, Item]:
    """The items that rows with these keys are about: of several revisions the newest one."""
    items = list(stage.items.filter(key__in=keys))
    newest = newest_revisions(item for item in items if item.withdrawn_because == RETURNED)
    return {item.key: newest.get(item.pk, item) for item in items}


def _arrange(item_ids: Sequence[int]) -> None:
    """Place the pictures of sets beside similar ones, as an import does at its end."""
    for item in Item.objects.filter(pk__in=item_ids, withdrawn_at=None).select_related("stage").order_by("pk"):
        try:
            arrange(item)
        except TooManyPictures as error:
            log.warning("item %s is shown as its pictures came: %s", item.pk, error)


# ---- items that are there already ------------------------------------------------------------------------------------


def fill_in(item: Item, actor: User, change: Mapping[str, Any]) -> BatchRow:
    """Fill in what an item lacks. A value that is there is never replaced. Needs a transaction."""
    uses = {use.role: use for use in item.images.select_related("image").order_by("role")}
    role = str(change.get("role", ""))
    if (role and role not in uses) or (len(uses) > 1 and not role and {*OF_PICTURE, "context"} & set(change)):
        text = _("Name the role of the picture that this is about. There are: %(names)s.")
        return BatchRow(JobRow.Outcome.ERROR, item.pk, "no_role", text % {"names": ", ".join(uses)[:500]})
    named = {name: value for name, value in change.items() if name != "role" or role}
    row = {**_row_of(item, uses.get(role) or next(iter(uses.values()), None)), **named}
    return import_rows(item.stage, actor, [row], complete=True)[0]


def set_facts(stage: Stage, actor: User, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> list[BatchRow]:
    """Facts of items by key. One that differs holds from now on; the earlier value stays beside it. Needs a
    transaction."""
    items = items_by_key(stage, [key for key, _facts in rows])
    uses: dict[int, ItemImage] = {}
    for use in ItemImage.objects.filter(item__in=items.values()).select_related("image").order_by("-role"):
        uses[use.item_id] = use
    results: list[BatchRow | None] = []
    taken: list[dict[str, Any]] = []
    for key, facts in rows:
        problem = _fact_row_problem(items.get(key), key)
        results.append(problem)
        if problem is None:
            taken.append({**_row_of(items[key], uses.get(items[key].pk)), "facts": facts})
    options = {"complete": True, "correct_facts": True, "arranges": False}
    written = iter(import_rows(stage, actor, taken, **options) if taken else ())
    return [result or next(written) for result in results]


def _fact_row_problem(item: Item | None, key: str) -> BatchRow | None:
    if item is None:
        text = _("The stage has no item “%(key)s”.") % {"key": key}
        return BatchRow(JobRow.Outcome.ERROR, None, "unknown_item", text)
    if item.withdrawn_because == RETURNED:
        text = _("“%(key)s” was returned and has no next revision yet. Import the revision first.") % {"key": key}
        return BatchRow(JobRow.Outcome.ERROR, item.pk, "returned", text)
    return None


def _row_of(item: Item, use: ItemImage | None) -> dict[str, Any]:
    """The row that names an item and what its stage asks of every row."""
    row = {"key": item.key, "concept": item.concept, "origin": item.origin, "condition": item.condition}
    if use is not None:
        row |= {"picture": use.image.sha256, "file": use.file_name, "role": use.role}
    return row
