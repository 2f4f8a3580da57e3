"""What a filter drops goes back to the person who brought the picture, with the reason, where the filter says so.

Nothing is noted when a filter drops an item: what is to be returned follows from the results of the filters. So a
killed worker loses nothing, and doing it twice changes nothing.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.utils import translation
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_lazy

from annotation.models import Annotation, ItemSource
from annotation.services.revisions.finder import brought_answer
from annotation.services.revisions.makers import maker_of
from annotation.services.revisions.returns import withdraw_for_revision
from annotation.services.transactions import in_transaction
from benchmarks.models import FilterResult, FilterVersion, Item, ItemReturn, Stage
from benchmarks.models.revisions import BY_IMPORT
from benchmarks.rules.filters import FilterError, FilterRule, parse_filters
from benchmarks.rules.filters.registry import BY_HAND
from benchmarks.services.intake.judging import current_version, lock_stage

REASONS: dict[str, Any] = {
    "too_low": gettext_lazy("“%(name)s” of your picture is %(value)s. At least %(limit)s is needed."),
    "too_high": gettext_lazy("“%(name)s” of your picture is %(value)s. At most %(limit)s is possible."),
    "too_small": gettext_lazy(
        "The shorter side of your picture has %(value)s pixels. At least %(limit)s pixels are needed."
    ),
    "too_narrow": gettext_lazy("Your picture is too narrow for its height."),
    "too_wide": gettext_lazy("Your picture is too wide for its height."),
    "same_picture": gettext_lazy("The same picture is there already."),
    "near_duplicate": gettext_lazy("A picture that is nearly the same is there already."),
}
"""By the reason of the filter's result."""
FEW_OBJECTS = gettext_lazy(
    "A program found %(value)s things in your picture. At least %(limit)s are needed: what is asked must not be alone."
)
OBJECTS = "objects"


def returning_stages() -> QuerySet[Stage]:
    return Stage.objects.filter(filters__contains=[{"returns": True}])


def return_dropped(at: datetime) -> int:
    """Return all items that wait for it; says how many. Each is a transaction of its own."""
    return sum(_return(item, at) for stage in returning_stages().order_by("pk") for item in _dropped(stage))


def _rules(stage: Stage) -> dict[str, FilterRule]:
    """The filters that return what they drop, by key."""
    try:
        return {rule.key: rule for rule in parse_filters(stage.filters) if rule.returns}
    except FilterError:
        return {}


def _waiting(stage: Stage) -> QuerySet[Item]:
    """Dropped items that nobody has answered, returned or decided on by hand."""
    answers = Annotation.objects.filter(live=True, assignment__unit__item=OuterRef("pk"))
    decisions = FilterResult.objects.filter(key=BY_HAND, item=OuterRef("pk"))
    returns = ItemReturn.objects.filter(item=OuterRef("pk"))
    brought = ItemSource.objects.filter(item=OuterRef("pk"), annotation__isnull=False)
    dropped = stage.items.filter(Exists(brought), intake=Item.Intake.DROPPED, withdrawn_at=None)
    return dropped.exclude(Exists(answers) | Exists(decisions) | Exists(returns))


def _dropped(stage: Stage) -> list[int]:
    keys = list(_rules(stage))
    return list(_waiting(stage).filter(_by(keys)).order_by("pk").values_list("pk", flat=True)) if keys else []


def _by(keys: Collection[str]) -> Exists:
    """Whether one of these filters, as it is now, drops the item."""
    newest = FilterVersion.objects.filter(stage=OuterRef(OuterRef("stage"))).order_by("-number").values("pk")[:1]
    results = FilterResult.objects.filter(
        item=OuterRef("pk"), key__in=keys, state=FilterResult.State.DROPPED, version=Subquery(newest)
    )
    return Exists(results)


@in_transaction
def _return(item_id: int, at: datetime) -> bool:
    """Whether the item was returned: in the meantime somebody may have been first. Locks the stage."""
    stage = lock_stage(Stage.objects.select_related("benchmark").get(items=item_id))
    rules = _rules(stage)
    item = _waiting(stage).filter(_by(list(rules)), pk=item_id).first()
    maker = maker_of(item) if item is not None else None
    if item is None or maker is None or maker.key == BY_IMPORT:
        return False
    results = FilterResult.objects.filter(
        item=item, key__in=rules, state=FilterResult.State.DROPPED, version=current_version(stage)
    )
    brought = brought_answer(item)
    with translation.override(brought.language if brought is not None else "en"):
        order = list(rules)
        sentences = [reason_text(row, rules[row.key]) for row in sorted(results, key=lambda row: order.index(row.key))]
    withdraw_for_revision(stage, item, maker, " ".join(sentences), None, at)
    return True


def reason_text(result: FilterResult, rule: FilterRule) -> str:
    """Why the picture came back, for the person who brought it."""
    text = FEW_OBJECTS if rule.needs == OBJECTS and result.reason == "too_low" else REASONS.get(result.reason)
    name = rule.needs or rule.key
    if text is None:
        return gettext("Your picture does not pass the check “%(name)s”.") % {"name": name}
    return str(text) % {"name": name, "value": _number(result.value), "limit": _number(result.limit)}


def _number(value: Any) -> str:
    return number_format(value) if isinstance(value, int | float) else str(value or "")
