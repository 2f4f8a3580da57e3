"""What becomes of a batch of rows, given what the stage has: new items, pictures added to items, or why not.

An item is identified by its stage and key. One picture can serve any number of items. Rows that change an item that was
returned with a comment make its next revision: all rows of the item have to come again, also those of other pictures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem
from benchmarks.imports.records import (
    FACT,
    MOST_EXTRA,
    MOST_LETTERS,
    MOST_PARTS,
    Record,
    Row,
    as_value,
    no_picture,
)
from benchmarks.models import Image, Item, ItemFact, ItemImage, ItemReturn, Stage
from benchmarks.models.items import RETURNED
from benchmarks.models.revisions import BY_IMPORT
from benchmarks.queries.revisions import newest_revisions
from benchmarks.rules.filters.contract import is_number
from benchmarks.rules.revisions import revision_key
from benchmarks.services.images import ImageRefused
from benchmarks.services.intake import arrivals
from benchmarks.services.intake.judging import lock_stage
from benchmarks.services.number_facts import facts_read_as_numbers
from jobs.models import JobRow
from jobs.services.bulk import insert_rows

Outcome = JobRow.Outcome
MEMBERS = ("concept", "origin", "condition", "text")
ITEM_TYPES = {
    "stage_id": "bigint", "key": "text", **dict.fromkeys(MEMBERS, "text"), "context": "jsonb",
    "withdrawn_because": "text", "created_at": "timestamptz", "revision": "smallint", "replaces_id": "bigint",
}  # fmt: skip
OF_PICTURE = ("alt", "source", "licence")
FACT_SOURCE = "import"
MAX_KEY = 200
WITH_PICTURE = (Stage.Pictures.ONE, Stage.Pictures.NAMED, Stage.Pictures.SET)
COLUMN = {"origin": "country"}  # what the column of a manifest is called, where that is another name


@dataclass(frozen=True)
class PreparedRow:
    """A row whose picture is stored, or what is wrong with it. A row without a picture has neither."""

    row: Row
    image: Image | None = None
    problem: RowProblem | ImageRefused | None = None


class RowResult(NamedTuple):
    outcome: str
    reason: str = ""
    message: str = ""


@dataclass
class Known:
    """An item as it is, with what the batch adds to it."""

    item: Item
    returned: bool = False
    """Whether an import makes its next revision: it was returned with a comment, and nothing has replaced it."""
    images: dict[str, ItemImage] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    fact_versions: Counter[str] = field(default_factory=Counter)
    """How many values each fact has had, in the database."""

    def compared_context(self, role: str, mode: str) -> Mapping[str, Any]:
        """The context that a row is compared with. In a set each picture has its own."""
        context: Mapping[str, Any] = self.item.context
        return context.get("pictures", {}).get(role, {}) if mode == "set" else context


@dataclass
class Batch:
    """What the stage has of the rows' items, and what is to be written."""

    stage: Stage
    complete: bool
    correct_facts: bool = False
    known: dict[str, Known] = field(default_factory=dict)
    """By the key that rows name: of several revisions the newest one."""
    revised: set[str] = field(default_factory=set)
    """Keys of returned items that a row changes, until the first of their rows has made the next revision."""
    taken: set[str] = field(default_factory=set)
    """Of the keys that these revisions would have, those of other items."""
    user_of: dict[int, str] = field(default_factory=dict)
    """By picture: the key of an item that has it."""
    items: list[Item] = field(default_factory=list)
    images: list[ItemImage] = field(default_factory=list)
    facts: list[ItemFact] = field(default_factory=list)
    changed: dict[int, Item] = field(default_factory=dict)
    changed_images: dict[int, ItemImage] = field(default_factory=dict)

    @property
    def mode(self) -> str:
        return self.stage.pictures


def import_batch(
    stage: Stage, prepared: Sequence[PreparedRow], *, complete: bool = False, correct_facts: bool = False
) -> list[JobRow]:
    """Make what is not there yet. Needs a transaction; locks the stage, so that imports take turns.

    `complete`: fill in what a known item lacks and a row says. A value that is there is never replaced.
    `correct_facts`: a fact that differs is written beside the earlier one, and holds from now on.
    """
    locked = lock_stage(stage)
    prepared = _check_facts(locked, prepared)
    batch = _load_batch(Batch(stage, complete, correct_facts), prepared)
    rows = []
    for prepared_row in prepared:
        judged = _classify(batch, prepared_row)
        rows.append(JobRow(number=prepared_row.row.number, name=prepared_row.row.name[:300], **judged._asdict()))
    _write(batch)
    touched = _touched(batch)
    if touched:  # numbers are cut by what is known of items: see annotation.queries.answers.watermark
        Stage.objects.filter(pk=stage.pk).update(changes=F("changes") + len(touched))
    arrivals.judge_and_notify(locked, sorted(touched))  # in the same transaction
    return rows


def _check_facts(stage: Stage, prepared: Sequence[PreparedRow]) -> Sequence[PreparedRow]:
    """Refuse rows in which a fact is no number that the stage reads as one: their items would wait for ever."""
    if not any(isinstance(row.row.found, Record) and row.row.found.facts for row in prepared):
        return prepared
    keys = facts_read_as_numbers(stage)
    return [row if row.problem else replace(row, problem=_fact_problem(row.row.found, keys)) for row in prepared]


def _fact_problem(record: Record | RowProblem, keys: Collection[str]) -> RowProblem | None:
    facts = record.facts if isinstance(record, Record) else {}
    wrong = next(((key, value) for key, value in facts.items() if key in keys and not is_number(value)), None)
    if wrong is None:
        return None
    text = _("“%(column)s” is “%(value)s”, and this stage needs a number there. Correct it, or leave it empty.")
    return RowProblem("fact_not_number", text % {"column": f"{FACT}{wrong[0]}", "value": str(wrong[1])[:80]})


def _touched(batch: Batch) -> set[int]:
    """Ids of the items that the batch created or changed."""
    touched = {item.pk for item in (*batch.items, *batch.changed.values())}
    touched |= {use.item_id for use in (*batch.images, *batch.changed_images.values())}
    return touched | {fact.item_id for fact in batch.facts}


def _load_batch(batch: Batch, prepared: Sequence[PreparedRow]) -> Batch:
    stage = batch.stage
    keys = {prepared_row.row.found.key for prepared_row in prepared if isinstance(prepared_row.row.found, Record)}
    items = list(Item.objects.filter(stage=stage, key__in=keys))
    newest = newest_revisions(item for item in items if item.withdrawn_because == RETURNED)
    by_id: dict[int, Known] = {}
    for item in items:
        current = newest.get(item.pk, item)
        batch.known[item.key] = by_id.setdefault(current.pk, Known(current))
    if newest:
        returns = ItemReturn.objects.filter(item__in=by_id, maker=BY_IMPORT, undone_at=None, item__replaced_by=None)
        for pk in returns.values_list("item", flat=True):
            by_id[pk].returned = True
    if by_id:
        for use in ItemImage.objects.filter(item__in=by_id):
            by_id[use.item_id].images[use.role] = use
        for fact in ItemFact.objects.filter(item__in=by_id, source=FACT_SOURCE).order_by("pk"):
            by_id[fact.item_id].facts[fact.key] = fact.value
            by_id[fact.item_id].fact_versions[fact.key] += 1
    images = {prepared_row.image.pk for prepared_row in prepared if prepared_row.image}
    if images:
        uses = ItemImage.objects.filter(item__stage=stage, image__in=images).order_by("-pk")
        batch.user_of = dict(uses.values_list("image_id", "item__key"))
    _find_revised(batch, prepared)
    return batch


def _find_revised(batch: Batch, prepared: Sequence[PreparedRow]) -> None:
    """Known before any row is written, since a row that is unchanged may come before the one that is not."""
    for row in prepared:
        record = row.row.found
        known = batch.known.get(record.key) if isinstance(record, Record) and not row.problem else None
        if (
            isinstance(record, Record)
            and known
            and _may_revise(batch, known, row)
            and _changes(batch, known, record, row.image)
        ):
            batch.revised.add(record.key)
    names = [_next_key(batch, key) for key in sorted(batch.revised)]
    if names:
        batch.taken = set(Item.objects.filter(stage=batch.stage, key__in=names).values_list("key", flat=True))


def _may_revise(batch: Batch, known: Known, row: PreparedRow) -> bool:
    return known.returned and (row.image is not None or batch.mode not in WITH_PICTURE)


def _changes(batch: Batch, known: Known, record: Record, image: Image | None) -> bool:
    role = _role(batch.mode, known, record, image)
    use = known.images.get(role) if image else None
    if image is not None and (use is None or use.image_id != image.pk):
        return True
    return any(_compare(known, record, use, _context(record, image), role, batch.mode))


def _next_key(batch: Batch, key: str) -> str:
    return revision_key(key, batch.known[key].item.revision + 1)


def _classify(batch: Batch, prepared_row: PreparedRow) -> RowResult:
    record = prepared_row.row.found
    if prepared_row.problem or isinstance(record, RowProblem):
        problem = prepared_row.problem or record
        return RowResult(Outcome.ERROR, getattr(problem, "code", ""), getattr(problem, "message", ""))
    if record.key in batch.revised:
        return _create_revision(batch, record, prepared_row.image)
    known = batch.known.get(record.key)
    role = _role(batch.mode, known, record, prepared_row.image)
    if _lacks_picture(batch, known, record, prepared_row.image):
        problem = no_picture()
        return RowResult(Outcome.ERROR, problem.code, problem.message)
    result = (
        _create(batch, record, prepared_row.image, role)
        if known is None
        else _extend(batch, known, record, prepared_row.image, role)
    )
    return _note_shortened(result, record)


def _note_shortened(result: RowResult, record: Record) -> RowResult:
    """A row that was taken without all of its values says so, unless it has another remark."""
    if not record.shortened or result.reason or result.outcome not in (Outcome.CREATED, Outcome.UPDATED):
        return result
    text = _(
        "Shortened or left out: %(columns)s. Of other columns an item keeps %(most)s, with texts of %(letters)s "
        "characters and lists of %(parts)s parts."
    )
    limits = {"most": MOST_EXTRA, "letters": f"{MOST_LETTERS:,}", "parts": MOST_PARTS}
    return RowResult(result.outcome, "shortened", text % {"columns": ", ".join(record.shortened)[:500], **limits})


def _lacks_picture(batch: Batch, known: Known | None, record: Record, image: Image | None) -> bool:
    """Whether a row without a picture speaks of one that is not there: of a new item, a revision or another role."""
    if image is not None or batch.mode not in WITH_PICTURE:
        return False
    if known is None or known.returned:
        return True
    role = record.role if batch.mode in ("named", "set") else "image"
    if role:
        return role not in known.images
    return any(getattr(record, name) for name in OF_PICTURE) or (batch.mode == "set" and bool(record.context))


def _role(mode: str, known: Known | None, record: Record, image: Image | None) -> str:
    """Where the row's picture goes in its item. Pictures of a set are numbered as they come."""
    if mode not in ("named", "set"):
        return "image"
    if record.role or mode != "set":
        return record.role
    images = known.images if known else {}
    same = next((role for role, use in images.items() if image and use.image_id == image.pk), "")
    last = max((int(role[1:]) for role in images if role[:1] == "p" and role[1:].isdecimal()), default=0)
    return same or f"p{last + 1:03}"


def _create(batch: Batch, record: Record, image: Image | None, role: str) -> RowResult:
    item = Item(stage=batch.stage, key=record.key, **{name: getattr(record, name) for name in MEMBERS})
    known = batch.known[record.key] = Known(item)
    batch.items.append(item)
    _fill(batch, known, record, role, _context(record, image))
    return _add_picture(batch, known, record, image, role)


def _create_revision(batch: Batch, record: Record, image: Image | None) -> RowResult:
    """The first row of an item's next revision. Further rows of the item add their pictures to it."""
    replaced, key = batch.known[record.key].item, _next_key(batch, record.key)
    if key in batch.taken or len(key) > MAX_KEY:
        text = _("“%(key)s” was returned, but its next revision cannot have the key “%(next)s”. Use another key.")
        return RowResult(Outcome.ERROR, "key_taken", text % {"key": record.key, "next": key})
    batch.revised.discard(record.key)
    values = {name: getattr(record, name) for name in MEMBERS}
    item = Item(stage=batch.stage, key=key, revision=replaced.revision + 1, replaces=replaced, **values)
    known = batch.known[record.key] = Known(item)
    batch.items.append(item)
    role = _role(batch.mode, known, record, image)
    _fill(batch, known, record, role, _context(record, image))
    _add_picture(batch, known, record, image, role)
    text = _("Revision %(number)s of “%(key)s”.") % {"number": item.revision, "key": record.key}
    return RowResult(Outcome.CREATED, "revision", text)


def _extend(batch: Batch, known: Known, record: Record, image: Image | None, role: str) -> RowResult:
    """A row of an item that exists, perhaps with a further picture of it."""
    use = known.images.get(role) if image or batch.mode in WITH_PICTURE else None
    if image and use and use.image_id != image.pk:
        return _taken_key_result(batch.mode, record.key, role)
    adds = image is not None and use is None
    further = adds and batch.mode in ("named", "set")
    context = record.context if use else _context(record, image)
    missing, other = _compare(known, record, use, context, role, batch.mode)
    wrong = _wrong_facts(batch, known, other)
    other = [name for name in other if name not in wrong]
    if adds and not further:
        missing.insert(0, "file")
    if wrong and adds:
        other += wrong  # a row either adds a picture or corrects
    if other or (missing and not batch.complete and not further):
        return _differing_row_result(record.key, other, missing)
    if further or missing:
        _fill(batch, known, record, role, context)
    if use is not None and missing:
        _fill_picture(batch, use, record)
    if wrong:
        return _correct_facts(batch, known, record, wrong)
    if adds:
        added = _add_picture(batch, known, record, image, role)
        return added if further else added._replace(outcome=Outcome.UPDATED)
    return RowResult(Outcome.UPDATED if missing else Outcome.UNCHANGED)


def _wrong_facts(batch: Batch, known: Known, columns: Sequence[str]) -> list[str]:
    """Of the columns that differ, the facts to be corrected: those that an earlier import wrote."""
    if not batch.correct_facts:
        return []
    written = {f"{FACT}{name}" for name in known.fact_versions}
    return [column for column in columns if column in written]


def _correct_facts(batch: Batch, known: Known, record: Record, columns: Sequence[str]) -> RowResult:
    """Each correction is a row of its own: the newest one holds, and those before it stay."""
    changes = []
    for column in columns:
        name = column.removeprefix(FACT)
        value, version = record.facts[name], str(known.fact_versions.pop(name) + 1)
        changes.append(f"{column}: {known.facts[name]} → {value}")
        known.facts[name] = value
        batch.facts.append(ItemFact(item=known.item, key=name, value=value, source=FACT_SOURCE, version=version))
    return RowResult(Outcome.UPDATED, "fact_corrected", _("Corrected: %(changes)s.") % {"changes": ", ".join(changes)})


def _context(record: Record, image: Image | None) -> dict[str, Any]:
    """What is told of a picture stays with the picture; without one it stays with the item."""
    own = {} if image else {name: getattr(record, name) for name in OF_PICTURE if getattr(record, name)}
    return {**record.context, **own}


def _compare(
    known: Known, record: Record, use: ItemImage | None, context: Mapping[str, Any], role: str, mode: str
) -> tuple[list[str], list[str]]:
    """Columns that the item lacks, and columns that it has with another value. What a row leaves empty differs not."""
    pairs = [(COLUMN.get(name, name), getattr(known.item, name), getattr(record, name)) for name in MEMBERS]
    context_values = known.compared_context(role, mode)
    pairs += [(name, as_value(name, context_values.get(name, "")), value) for name, value in context.items()]
    pairs += [(f"{FACT}{name}", known.facts.get(name, ""), value) for name, value in record.facts.items()]
    if use is not None:
        pairs += [(name, getattr(use, name), getattr(record, name)) for name in OF_PICTURE]
    given_values = [(name, old, new) for name, old, new in pairs if new not in ("", None)]
    missing = [name for name, old, _new in given_values if old in ("", None)]
    return missing, [name for name, old, new in given_values if old not in ("", None) and old != new]


def _taken_key_result(mode: str, key: str, role: str) -> RowResult:
    if mode not in ("named", "set"):
        message = _("“%(key)s” exists with another picture. Give this row a key of its own.") % {"key": key}
        return RowResult(Outcome.ERROR, "key_taken", message)
    message = _("“%(key)s” has another picture as “%(role)s”. Give this row another role.")
    return RowResult(Outcome.ERROR, "role_taken", message % {"key": key, "role": role})


def _differing_row_result(key: str, other: Sequence[str], missing: Sequence[str]) -> RowResult:
    if other:
        text = _("“%(key)s” exists with other values in: %(columns)s. Correct the row, or give it a key of its own.")
    else:
        text = _("“%(key)s” exists without: %(columns)s. To fill it in, choose “Fill in missing values”.")
    message = text % {"key": key, "columns": ", ".join(other or missing)}
    return RowResult(Outcome.ERROR, "key_differs", message)


def _fill(batch: Batch, known: Known, record: Record, role: str, context: Mapping[str, Any]) -> None:
    """What the item does not say yet. In a set, what is told of a picture is kept under the picture."""
    item = known.item
    for name in MEMBERS:
        if not getattr(item, name):
            setattr(item, name, getattr(record, name))
    if batch.mode == "set" and context:
        pictures = item.context.get("pictures", {})
        own = {**context, **_filled_values(pictures.get(role, {}))}
        item.context = {**item.context, "pictures": {**pictures, role: own}}
    elif context:
        item.context = {**context, **_filled_values(item.context)}
    for name, value in record.facts.items():
        if name not in known.facts:
            known.facts[name] = value
            batch.facts.append(ItemFact(item=item, key=name, value=value, source=FACT_SOURCE))
    if item.pk:
        item.completed_at = timezone.now()
        batch.changed[item.pk] = item


def _filled_values(context: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in context.items() if value not in ("", None)}


def _fill_picture(batch: Batch, use: ItemImage, record: Record) -> None:
    for name in OF_PICTURE:
        if not getattr(use, name):
            setattr(use, name, getattr(record, name))
    if use.pk:
        batch.changed_images[use.pk] = use


def _add_picture(batch: Batch, known: Known, record: Record, image: Image | None, role: str) -> RowResult:
    if image is None and not record.unused_file:
        return RowResult(Outcome.CREATED)
    if image is None:
        text = _("Items of this stage have no picture. “%(file)s” was not used.") % {"file": record.unused_file}
        return RowResult(Outcome.CREATED, "picture_not_used", text)
    picture_values = {name: getattr(record, name) for name in OF_PICTURE}
    use = ItemImage(item=known.item, image=image, role=role, file_name=record.file[:500], **picture_values)
    known.images[role] = use
    batch.images.append(use)
    other = batch.user_of.setdefault(image.pk, record.key)
    if other == record.key:
        return RowResult(Outcome.CREATED)
    return RowResult(Outcome.CREATED, "shares_picture", _("“%(key)s” has the same picture.") % {"key": other})


def _insert(batch: Batch) -> None:
    """New items get their numbers, by which pictures and facts name them."""
    at = timezone.now().isoformat()
    rows = [
        {
            "stage_id": batch.stage.pk,
            "withdrawn_because": "",
            "created_at": at,
            "context": item.context,
            "key": item.key,
            "revision": item.revision,
            "replaces_id": item.replaces_id,
        }
        | {name: getattr(item, name) for name in MEMBERS}
        for item in batch.items
    ]
    written = insert_rows(Item._meta.db_table, ITEM_TYPES, rows, returning="id, key")
    by_key = {item.key: item for item in batch.items}
    for number, key in written:
        by_key[key].pk = number


def _write(batch: Batch) -> None:
    _insert(batch)
    if batch.changed:
        Item.objects.bulk_update(batch.changed.values(), [*MEMBERS, "context", "completed_at"])
    if batch.changed_images:
        ItemImage.objects.bulk_update(batch.changed_images.values(), OF_PICTURE)
    ItemImage.objects.bulk_create(batch.images)
    ItemFact.objects.bulk_create(batch.facts)
