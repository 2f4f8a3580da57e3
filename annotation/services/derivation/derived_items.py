"""What was accepted becomes the items of later stages, and stops being so when it no longer is.

Worked off from the outbox, a stage at a time and under its lock. A derived item never changes: other content is another
item, and the first one is withdrawn. So everything here can be done twice, or be broken off and done again.
See docs/explanation/acceptance.md.
"""

# ruff: noqa: S608  (only constants of this file are put into the statements)

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial

from django.db import transaction
from django.db.models import Exists, F, OuterRef

from annotation.models import Campaign, ItemSource
from annotation.queries.resolutions import settles_disputes
from annotation.services.derivation import outbox
from annotation.services.derivation.accepted_results import results_for
from annotation.services.derivation.group_scope import concerned_items, with_known_parts
from annotation.services.derivation.item_matching import NewItem, match_items, match_versions
from annotation.services.derivation.item_withdrawal import BECAUSE, withdraw_and_restore
from annotation.services.derivation.judge_exclusion import follow_late_answers
from annotation.services.derivation.model_proposals import load_proposals
from annotation.services.derivation.outside_items import find_outside, mark_outside
from annotation.services.derivation.run_choice import run_choice
from annotation.services.queue import full_cells, slot_creation, slots
from annotation.services.review import outcomes, resolutions
from annotation.services.transactions import in_transaction
from benchmarks.images.perceptual_hash import TooManyPictures
from benchmarks.models import Item, ItemImage, Stage
from benchmarks.queries.availability import is_kept
from benchmarks.rules.derivations import Derivation, DerivationError, ItemDraft
from benchmarks.rules.derivations.registry import KINDS
from benchmarks.services.intake.judging import lock_stage
from benchmarks.services.picture_arrangement import arrange
from jobs.queries.statements import execute, fetch

log = logging.getLogger(__name__)
BATCH = 500
MOST_ROUNDS = 10_000  # a worker that finds more to do leaves the rest to the next one

TAKE = """DELETE FROM annotation_due WHERE id IN (
  SELECT id FROM annotation_due WHERE stage_id = %s ORDER BY id LIMIT %s) RETURNING source_id"""
FED = """benchmarks_item i JOIN benchmarks_stage st ON st.id = i.stage_id JOIN benchmarks_stage later
  ON later.benchmark_id = st.benchmark_id AND jsonb_exists(later.derivation -> 'from', st.key)"""
NOTE = "INSERT INTO annotation_due (stage_id, source_id, at) SELECT later.id, i.id, clock_timestamp() FROM"
# Stages that take from these their items, the names that were merged, or what models propose.
HAND_ON = f"""{NOTE} benchmarks_item i JOIN benchmarks_stage st ON st.id = i.stage_id JOIN benchmarks_stage later
  ON later.benchmark_id = st.benchmark_id AND (jsonb_exists(later.derivation -> 'from', st.key)
    OR later.derivation #>> '{{params,rename,by}}' = st.key
    OR later.derivation #>> '{{params,proposals,stage}}' = st.key) WHERE i.id = ANY(%s)"""
RENEW = f"{NOTE} {FED} WHERE later.id = %s"
# New items that a later stage takes as such, answered or not.
HAND_ON_NEW = f"""{NOTE} {FED}
WHERE i.id = ANY(%s) AND i.intake IN ('', 'kept') AND later.derivation ->> 'of' IN ('items', 'kept') RETURNING 1"""
# Authors of the answers that were used, and everybody who had a part in the sources. An item is no own one of those
# whose answers are only its references.
CONTRIBUTORS = """
INSERT INTO annotation_itemcontributor AS known (item_id, rater_id, own)
SELECT item_id, rater_id, bool_or(own) FROM (
  SELECT s.item_id, an.rater_id, s.role <> 'reference' AS own
  FROM annotation_itemsource s JOIN annotation_annotation an ON an.id = s.annotation_id
  WHERE s.item_id = ANY(%(items)s)
  UNION SELECT s.item_id, k.rater_id, k.own FROM annotation_itemsource s
    JOIN annotation_itemcontributor k ON k.item_id = s.source_id WHERE s.item_id = ANY(%(items)s)
) parts GROUP BY item_id, rater_id
ON CONFLICT (item_id, rater_id) DO UPDATE SET own = true WHERE NOT known.own AND EXCLUDED.own
RETURNING item_id
"""
# What was withdrawn or brought back, or came in, by a way that tells nobody: imports lie below this app.
UNNOTICED = f"""
INSERT INTO annotation_due (stage_id, source_id, at)
SELECT DISTINCT d.stage_id, i.id, clock_timestamp() FROM benchmarks_item i
  JOIN annotation_itemsource s ON s.source_id = i.id JOIN benchmarks_item d ON d.id = s.item_id
WHERE i.withdrawn_at IS NOT NULL AND i.withdrawn_because <> 'source' AND d.withdrawn_at IS NULL
UNION SELECT later.id, i.id, clock_timestamp() FROM {FED} WHERE i.completed_at > %(since)s
UNION SELECT later.id, i.id, clock_timestamp() FROM {FED}
WHERE later.derivation ->> 'of' IN ('items', 'kept') AND i.intake IN ('', 'kept') AND i.created_at > %(since)s
  AND NOT EXISTS (SELECT FROM annotation_itemsource s JOIN benchmarks_item d ON d.id = s.item_id
    WHERE s.source_id = i.id AND d.stage_id = later.id)
"""


def process_due(at: datetime) -> int:
    """Until nothing is due; says in how many steps. Each is a transaction of its own, and loses nothing if killed."""
    for step in range(MOST_ROUNDS):
        stage_id = _next()
        if stage_id is None:
            return step
        sync_campaign_slots(stage_id, _step(stage_id, at))
    return MOST_ROUNDS


def mark_changed_items(since: datetime) -> int:
    """Note what changed in items themselves. For the beat."""
    return execute(UNNOTICED, {"since": since})


def rederive_stage(stage: Stage) -> None:
    """Look at all the items of a stage again: its derivation is new, or another one."""
    execute(RENEW, [stage.pk])
    outbox.schedule_worker()


def _next() -> int | None:
    """Earlier stages first, so that a chain is settled in one go."""
    rows = fetch(
        """SELECT due.stage_id FROM (SELECT DISTINCT stage_id FROM annotation_due) due
           JOIN benchmarks_stage st ON st.id = due.stage_id ORDER BY st.position, st.id LIMIT 1""",
        [],
    )
    return rows[0][0] if rows else None


@in_transaction
def _step(stage_id: int, at: datetime) -> list[int]:
    """Judge the stage's own items that are due, and derive from those of earlier stages: which items changed."""
    stage = Stage.objects.select_related("benchmark").select_for_update(no_key=True, of=("self",)).get(pk=stage_id)
    kind = KINDS.get(str((stage.derivation or {}).get("kind")))
    due = {source for (source,) in fetch(TAKE, [stage_id, kind.batch if kind else BATCH])}
    own = set(stage.items.filter(pk__in=due).values_list("pk", flat=True))
    if own:
        follow_late_answers(own)
        if stage.acceptance == Stage.Acceptance.BY_RULE:
            outcomes.judge_items(own, at)
        full_cells.follow_cells(stage, own)
        if settles_disputes(stage):
            resolutions.settle(stage, own, at)
            resolutions.note_settled(stage)
        execute(HAND_ON, [list(own)])
    return derive(stage, due - own, at) if due - own else []


def derive(stage: Stage, due: Collection[int], at: datetime) -> list[int]:
    """Make, withdraw and bring back what comes of these items. Needs the stage's lock. Says which items changed."""
    try:
        derivation = Derivation.from_json(stage.derivation)
    except DerivationError as error:
        log.warning("stage %s derives nothing: %s", stage.pk, error)
        return []
    if derivation is None:
        return []
    earlier = list(Stage.objects.filter(benchmark=stage.benchmark_id, key__in=derivation.sources))
    for source_stage in earlier:
        source_stage.benchmark = stage.benchmark
    scope = concerned_items(derivation, earlier, due)
    runs = run_choice(stage, derivation.params) if derivation.rules.all_raters else None
    results = results_for(stage, derivation, earlier, runs, items=scope)
    existing = Item.objects.filter(stage=stage, sources__isnull=False)
    if scope is not None:
        existing = existing.filter(sources__source__in=scope)
    ids = set(existing.values_list("pk", flat=True))
    derivation = with_known_parts(derivation, earlier, results)
    drafts = derivation.derive(results, load_proposals(stage, derivation, results))
    matches = match_versions(stage, drafts, ids) if derivation.rules.versions else match_items(stage, drafts, ids)
    _make(stage, matches[1], matches[0])
    others = Item.objects.filter(pk__in=ids - matches[0].keys(), withdrawn_at=None)
    gone = set(others.values_list("pk", flat=True))
    drafted = {link for draft in matches[0].values() for link in draft.sources}
    outside = find_outside(derivation, earlier, runs, gone, drafted)
    mark_outside(outside, matches[0].keys(), at)
    return _upsert(stage, matches[0], ids, gone - outside, at)


def _upsert(
    stage: Stage, drafts: Mapping[int, ItemDraft], existing: set[int], gone: set[int], at: datetime
) -> list[int]:
    """Bring back the items that are drafted, and withdraw those that are gone."""
    ids = list(drafts)
    _write_sources(drafts)
    back = Item.objects.filter(pk__in=ids, withdrawn_because=BECAUSE, withdrawn_at__isnull=False)
    returned = list(back.values_list("pk", flat=True))
    informed = {item for (item,) in fetch(CONTRIBUTORS, {"items": ids})}
    known_before = list(informed & existing)
    if known_before and stage.staffing == Stage.Staffing.CONTRIBUTORS:
        slots.move_to_end(known_before)
    new = [pk for pk in ids if pk not in existing]
    changed = withdraw_and_restore(stage, gone, returned, at, new=new, due=known_before)
    if new and fetch(HAND_ON_NEW, [new]):
        outbox.schedule_worker()
    return changed


@in_transaction
def follow_sources(stage: Stage, at: datetime) -> int:
    """Items that a service made of other items, by no derivation: withdraw those of which no source is kept any more,
    bring back those that left so; return how many changed.

    An item that was withdrawn for another reason stays so. Done again, it changes nothing.
    """
    locked = lock_stage(stage)
    is_made = Exists(ItemSource.objects.filter(item=OuterRef("pk")))
    has_source = Exists(ItemSource.objects.filter(is_kept("source__"), item=OuterRef("pk")))
    gone = locked.items.filter(is_made, ~has_source, withdrawn_at=None)
    back = locked.items.filter(has_source, withdrawn_at__isnull=False, withdrawn_because=BECAUSE)
    leaving, returning = (list(items.order_by("pk").values_list("pk", flat=True)) for items in (gone, back))
    changed = [*leaving, *returning]
    if not changed:
        return 0
    withdraw_and_restore(locked, leaving, returning, at)
    transaction.on_commit(partial(sync_campaign_slots, locked.pk, changed), robust=True)
    return len(changed)


def _make(stage: Stage, new_items: Sequence[NewItem], drafts_by_item: dict[int, ItemDraft]) -> None:
    """New items are kept ones from then on."""
    rows = Item.objects.bulk_create(
        Item(
            stage=stage,
            key=new.key,
            concept=new.draft.concept,
            origin=new.draft.origin,
            condition=new.draft.condition,
            answer_target=new.draft.answer_target,
            text=new.draft.text,
            context=dict(new.draft.context),
            revision=new.revision,
            replaces_id=new.replaces,
        )
        for new in new_items
    )
    uses = []
    for item, new in zip(rows, new_items, strict=True):
        drafts_by_item[item.pk] = new.draft
        for role, picture in new.draft.images.items():
            picture_values = {
                "alt": picture.alt,
                "source": picture.source,
                "licence": picture.licence,
                "file_name": picture.file,
            }
            uses.append(ItemImage(item=item, image_id=picture.image, role=role, **picture_values))
    ItemImage.objects.bulk_create(uses, batch_size=2000)


def _write_sources(drafts_by_item: Mapping[int, ItemDraft]) -> None:
    """What each item is made of now. Who had a part in it stays known in its contributors."""
    wanted = {
        (item, source, annotation): draft.roles.get((source, annotation), "")
        for item, draft in drafts_by_item.items()
        for source, annotation in draft.sources
    }
    rows = {
        (row.item_id, row.source_id, row.annotation_id): row
        for row in ItemSource.objects.filter(item__in=drafts_by_item)
    }
    other = {row.pk: row.item_id for link, row in rows.items() if wanted.get(link) != row.role}
    ItemSource.objects.filter(pk__in=other).delete()
    if other:  # for programs that read what has changed: a row that is not there any more says nothing
        Item.objects.filter(pk__in=other.values()).order_by().update(key=F("key"))
    new = (
        ItemSource(item_id=i, source_id=s, annotation_id=a, role=wanted[i, s, a])
        for i, s, a in sorted(wanted, key=str)
        if (i, s, a) not in rows or rows[i, s, a].role != wanted[i, s, a]
    )
    ItemSource.objects.bulk_create(new, batch_size=2000)


def arrange_contact_sheets(stage_id: int | None = None) -> int:
    """Arrange contact sheets that were derived, look-alikes nearest together; says how many.

    Reads every picture, so outside any transaction; the beat does it for those that a killed worker left.
    """
    rows = Item.objects.filter(stage__derivation__kind="cluster", withdrawn_at=None, sources__isnull=False)
    rows = rows.exclude(context__has_key="groups").distinct().order_by("pk")
    items = list(rows if stage_id is None else rows.filter(stage=stage_id))
    for item in items:
        try:
            arrange(item)
        except TooManyPictures as error:
            log.warning("item %s is shown as its pictures came: %s", item.pk, error)
    return len(items)


def sync_campaign_slots(stage_id: int, items: Iterable[int]) -> None:
    """Open what is new to the campaigns under way, and close what was withdrawn. The beat does the same for all."""
    ids = list(items)
    live = (Campaign.State.OPEN, Campaign.State.PAUSED)
    if ids:
        arrange_contact_sheets(stage_id)
        for campaign in Campaign.objects.filter(stage=stage_id, state__in=live).select_related("stage").order_by("pk"):
            slot_creation.create_missing_slots(campaign, ids)
