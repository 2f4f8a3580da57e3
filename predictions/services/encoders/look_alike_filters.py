"""A stage's filter drops pictures that an embedding run finds alike: the run's pairs become a fact of its items."""

from collections import defaultdict
from collections.abc import Iterable

from django.db import transaction
from django.utils.translation import gettext as _

from benchmarks.models import Item, ItemFact, Stage
from benchmarks.rules.filters import parse_filters
from benchmarks.services.intake import filter_versions
from benchmarks.services.intake.judging import lock_stage
from people.models import User
from predictions.models import Entry, Run
from predictions.queries.look_alikes import FACT
from predictions.services.encoders import near_duplicates
from predictions.services.encoders.near_duplicates import MOST_PAIRS, EntryPair

KEY = "look_alikes"
WITHIN = ("origin", "concept")
DIGITS = 6  # of a similarity


class FilterRefused(Exception):
    """Nothing was changed; the message says why and what to do."""


def filtered_stage(run: Run) -> Stage | None:
    """The stage that the run's collection was made of; None for a collection of a file."""
    return run.collection.stage if run.collection is not None else None


@transaction.atomic
def drop_look_alikes(run: Run, threshold: float, actor: User, *, number_seen: int) -> Stage:
    """Write the pairs at or above the threshold as facts, and a version of the stage's filters that drops by them.

    Of pictures of one concept and country that are so alike the first by rank and key stays. Pressed again, also for
    another run, it takes the place of what was there. Raises FilterRefused, and FiltersChanged if `number_seen` is not
    the current version of the filters.
    """
    stage = filtered_stage(run)
    if stage is None:
        raise FilterRefused(
            _("This collection came from a file, so there is no stage whose pictures could be dropped.")
        )
    proposals = near_duplicates.search(run, threshold, most=MOST_PAIRS)
    if proposals.cut or proposals.left_out:
        raise FilterRefused(_("There are more pairs than can be compared here. Choose a higher threshold."))
    locked = lock_stage(stage)
    _write_facts(locked, run, proposals.pairs)
    new = {"key": KEY, "kind": "near_duplicate", "params": {"least": threshold, "within": list(WITHIN), "fact": FACT}}
    others = [rule.to_json() for rule in parse_filters(locked.filters) if rule.key != KEY]
    if filter_versions.set_filters(locked, [*others, new], actor, number_seen=number_seen) is None:
        filter_versions.judge_again(locked, actor)
    return locked


def _write_facts(stage: Stage, run: Run, pairs: Iterable[EntryPair]) -> None:
    """Of every item that was compared, also of those that are like no other."""
    entries = Entry.objects.filter(collection=run.collection).values_list("key", "about__item")
    item_keys = {key: str(item or key) for key, item in entries}
    alike: dict[str, dict[str, float]] = defaultdict(dict)
    for pair in pairs:
        first, second = item_keys[pair.first.key], item_keys[pair.second.key]
        if first != second:
            for one, other in ((first, second), (second, first)):
                alike[one][other] = max(alike[one].get(other, 0.0), round(pair.similarity, DIGITS))
    compared = Item.objects.filter(stage=stage, key__in=set(item_keys.values()))
    ItemFact.objects.filter(item__in=compared, key=FACT).delete()
    ItemFact.objects.bulk_create(
        (
            ItemFact(item_id=pk, key=FACT, value=sorted(alike[key].items()), source=f"run {run.pk}"[:120])
            for pk, key in compared.values_list("pk", "key")
        ),
        batch_size=1000,
    )
