"""Which items of earlier stages are read together when some of them changed: those of the groups concerned."""

from collections.abc import Collection, Sequence

from django.db.models import F, TextField
from django.db.models.expressions import Combinable
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from annotation.queries.item_links import linked_items
from annotation.services.derivation.model_proposals import items_proposed_for
from benchmarks.models import Item, Stage
from benchmarks.queries.availability import is_kept
from benchmarks.rules.derivations import Derivation, Result
from benchmarks.rules.derivations.contract import is_item_field
from benchmarks.rules.derivations.disagree import disputed_field
from benchmarks.rules.derivations.join import needs_every_part, part_of

CONTEXT = "item.context."


def concerned_items(derivation: Derivation, earlier: Sequence[Stage], due: Collection[int]) -> set[int] | None:
    """The items that changed and all of their groups; None: all items of the earlier stages. At most three queries."""
    rename = derivation.rename
    if rename is not None and Item.objects.filter(pk__in=due, stage__key=rename.by).exists():
        return None  # other names stay than before
    due = set(due) | items_proposed_for(derivation, due)
    if derivation.rules.linked:
        first, _field = disputed_field(derivation.params)
        return set(due) | linked_items(due, first=first, earlier=earlier)
    fields = derivation.group_fields
    if fields is None:
        return None
    if not fields:
        return set(due)
    values = {f"group_{number}": _value_of(field) for number, field in enumerate(fields)}
    items = Item.objects.order_by().annotate(**values)
    groups = {row for row in items.filter(pk__in=due).values_list(*values) if all(row)}
    near = {f"{name}__in": {row[place] for row in groups} for place, name in enumerate(values)}
    rows = items.filter(**near, stage__in=earlier).values_list("pk", *values)
    return set(due) | {pk for pk, *row in rows if tuple(row) in groups}


def with_known_parts(derivation: Derivation, earlier: Sequence[Stage], results: Sequence[Result]) -> Derivation:
    """Where items are joined that need all parts: with the parts that there are, accepted or not. One query."""
    if derivation.kind != "join" or not needs_every_part(derivation.params):
        return derivation
    path = derivation.params.get("parts")
    if not path:
        return derivation.with_parts(derivation.sources)
    if is_item_field(path):
        items = Item.objects.filter(is_kept(), stage__in=earlier).order_by().annotate(part=_value_of(path))
        parts = set(items.values_list("part", flat=True).distinct())
    else:
        parts = {part_of(result, derivation.params) for result in results}
    return derivation.with_parts(sorted(part for part in parts if part))


def _value_of(field: str) -> Combinable:
    """As text, like the groups of a derivation."""
    if field.startswith(CONTEXT):
        return Cast(KeyTextTransform(field.removeprefix(CONTEXT), "context"), TextField())
    return F(field.removeprefix("item."))
