"""What becomes of a batch of rows, given what the stage holds: new items, pictures added to items, or why not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem
from benchmarks.imports.records import Record, Row
from benchmarks.imports.vocabulary import Pictures, pictures_of
from benchmarks.models import Image, Item, ItemImage, Stage
from benchmarks.services.images import ImageRefused
from jobs.models import JobRow

Outcome = JobRow.Outcome


@dataclass(frozen=True)
class Prepared:
    """A row whose picture is stored, or what is wrong with it. A row of a stage without pictures has neither."""

    row: Row
    image: Image | None = None
    problem: RowProblem | ImageRefused | None = None


class Judged(NamedTuple):
    outcome: str
    reason: str = ""
    message: str = ""


@dataclass
class Held:
    """What the stage has of a batch's items, and what the batch adds. Roles are roles of pictures in an item."""

    mode: Pictures
    roles: dict[str, dict[str, int]] = field(default_factory=dict)
    key_of: dict[int, str] = field(default_factory=dict)


def settle(stage: Stage, batch: Sequence[Prepared]) -> list[JobRow]:
    """Make what is not there yet. Needs a transaction; locks the stage, so that imports take turns."""
    Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    held = _held(stage, batch)
    rows, added = [], []
    for one in batch:
        role = _role(held, one)
        judged = _judge(held, one, role)
        if judged.outcome == Outcome.CREATED and isinstance(one.row.found, Record):
            added.append((one.row.found, one.image, role))
            _remember(held, one.row.found, one.image, role)
        rows.append(JobRow(number=one.row.number, name=one.row.name[:300], **judged._asdict()))
    _create(stage, held.mode, added)
    return rows


def _held(stage: Stage, batch: Sequence[Prepared]) -> Held:
    held = Held(pictures_of(stage))
    keys = [one.row.found.key for one in batch if isinstance(one.row.found, Record)]
    held.roles = {key: {} for key in Item.objects.filter(stage=stage, key__in=keys).values_list("key", flat=True)}
    uses = ItemImage.objects.filter(item__stage=stage)
    for key, role, image in uses.filter(item__key__in=keys).values_list("item__key", "role", "image_id"):
        held.roles[key][role] = image
    if held.mode == "one":
        images = [one.image.pk for one in batch if one.image]
        known = uses.filter(image__in=images).order_by("-pk")
        held.key_of = dict(known.values_list("image_id", "item__key"))
    return held


def _remember(held: Held, found: Record, image: Image | None, role: str) -> None:
    roles = held.roles.setdefault(found.key, {})
    if image is not None:
        roles[role] = image.pk
        held.key_of[image.pk] = found.key


def _role(held: Held, one: Prepared) -> str:
    """Where the row's picture goes in its item. Pictures of a set are numbered as they come."""
    if held.mode == "one" or not isinstance(one.row.found, Record):
        return "image"
    if one.row.found.role or held.mode != "set":
        return one.row.found.role
    roles = held.roles.get(one.row.found.key, {})
    there = next((role for role, image in roles.items() if one.image and image == one.image.pk), "")
    last = max((int(role[1:]) for role in roles if role[:1] == "p" and role[1:].isdecimal()), default=0)
    return there or f"p{last + 1:03}"


def _judge(held: Held, one: Prepared, role: str) -> Judged:
    found = one.row.found
    if one.problem or isinstance(found, RowProblem):
        problem = one.problem or found
        return Judged(Outcome.ERROR, getattr(problem, "code", ""), getattr(problem, "message", ""))
    roles = held.roles.get(found.key)
    if one.image is None:
        return Judged(Outcome.CREATED if roles is None else Outcome.UNCHANGED)
    if roles is not None and roles.get(role) == one.image.pk:
        return Judged(Outcome.UNCHANGED)
    if held.mode == "one" and roles is not None:
        message = _("“%(key)s” is there with another picture. Give this row a key of its own.") % {"key": found.key}
        return Judged(Outcome.ERROR, "key_taken", message)
    if roles is not None and role in roles:
        message = _("“%(key)s” has another picture as “%(role)s”. Give this row another role.")
        return Judged(Outcome.ERROR, "role_taken", message % {"key": found.key, "role": role})
    if held.mode == "one" and one.image.pk in held.key_of:
        message = _("The same picture is there as “%(key)s”.") % {"key": held.key_of[one.image.pk]}
        return Judged(Outcome.UNCHANGED, "same_picture", message)
    return Judged(Outcome.CREATED)


Added = tuple[Record, Image | None, str]


def _create(stage: Stage, mode: Pictures, added: Sequence[Added]) -> None:
    """The first row of a key makes the item; further rows add their pictures, and what they say that it lacks."""
    keys = list(dict.fromkeys(found.key for found, _image, _role in added))
    items = {item.key: item for item in Item.objects.filter(stage=stage, key__in=keys)}
    fresh = {key: Item(stage=stage, key=key) for key in keys if key not in items}
    rows: dict[str, list[Added]] = defaultdict(list)
    for one in added:
        rows[one[0].key].append(one)
    for key, item in {**items, **fresh}.items():
        for found, _image, role in rows[key]:
            _tell(item, found, role if mode == "set" else "")
    Item.objects.bulk_create(fresh.values())
    Item.objects.bulk_update(items.values(), ["concept", "origin", "condition", "text", "context"])
    items |= fresh
    ItemImage.objects.bulk_create(
        ItemImage(
            item=items[found.key], image=image, role=role, alt=found.alt, source=found.source, licence=found.licence
        )
        for found, image, role in added
        if image is not None
    )


def _tell(item: Item, found: Record, picture: str) -> None:
    """What an item does not say yet. Of a set, what is told of a picture is kept under the picture."""
    for name in ("concept", "origin", "condition", "text"):
        if not getattr(item, name):
            setattr(item, name, getattr(found, name))
    if not picture:
        item.context = {**found.context, **item.context}
    elif found.context:
        told: Mapping[str, Any] = item.context.get("pictures", {})
        item.context = {**item.context, "pictures": {**told, picture: dict(found.context)}}
