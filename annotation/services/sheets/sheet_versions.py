"""Sheets are frozen when a campaign takes them."""

from collections.abc import Iterable
from typing import Any, Literal

from annotation.models import Campaign, SheetVersion
from annotation.services.transactions import in_transaction
from annotation.sheets.sheet import Sheet, SheetError
from benchmarks.models import Stage
from jobs.models import record
from people.models import User

_read: dict[int, tuple[Any, Sheet]] = {}
WORDING = frozenset({"label", "help", "definition", "rules", "words"})
RUNNING = (Campaign.State.OPEN, Campaign.State.PAUSED)
Change = Literal["none", "words", "codes"]


def sheet_of(version: SheetVersion) -> Sheet:
    """The sheet as a type. Read once in a process: a version never changes."""
    known = _read.get(version.pk)
    if known is None or known[0] != version.definition:
        known = _read[version.pk] = (version.definition, Sheet.from_json(version.definition, stored=True))
    return known[1]


def freeze(stage: Stage) -> SheetVersion:
    """The version of the stage's sheet as it is now: the last one again, a minor one for words, else a major one.

    Locks the stage. Raises SheetError when the sheet is written wrongly.
    """
    definition = Sheet.from_json(stage.sheet).to_json()
    Stage.objects.select_for_update().get(pk=stage.pk)
    last = SheetVersion.objects.filter(stage=stage).order_by("-major", "-minor").first()
    if last is None:
        return SheetVersion.objects.create(stage=stage, major=1, minor=0, definition=definition)
    change = compare_definitions(last.definition, definition)
    if change == "none":
        return last
    if change == "words":
        return SheetVersion.objects.create(stage=stage, major=last.major, minor=last.minor + 1, definition=definition)
    return SheetVersion.objects.create(stage=stage, major=last.major + 1, minor=0, definition=definition)


def published_number(stage: Stage, version: SheetVersion) -> int | None:
    """Which published version of the stage has this sheet: the newest; None where none has it."""
    if _frozen_form(stage.sheet) == version.definition:
        return stage.version
    published = stage.versions.order_by("-number").values_list("number", "content__sheet")
    return next((number for number, sheet in published if _frozen_form(sheet) == version.definition), None)


def _frozen_form(sheet: Any) -> Any:
    try:
        return Sheet.from_json(sheet).to_json()
    except SheetError:
        return None


def compare_definitions(before: Any, after: Any) -> Change:
    """What is different between two definitions. Only words: answers and drafts to one are answers to the other."""
    if before == after:
        return "none"
    return "words" if structure(before) == structure(after) else "codes"


def structure(definition: Any) -> Any:
    """A definition without its words: two sheets with the same bones store the same codes."""
    if isinstance(definition, dict):
        return {key: structure(value) for key, value in definition.items() if key not in WORDING}
    return [structure(part) for part in definition] if isinstance(definition, list) else definition


def running_campaigns(stage: Stage) -> list[Campaign]:
    """Campaigns of the stage in which people work now."""
    return list(stage.campaigns.filter(state__in=RUNNING).select_related("sheet_version").order_by("pk"))


@in_transaction
def update_running_campaigns(stage: Stage, campaigns: Iterable[int], actor: User | None) -> int:
    """Give running campaigns the stage's sheet as it is now, where only words differ. Drafts and answers stay.

    Campaigns of other stages, closed ones, and those whose codes differ are left as they are. Says how many changed.
    """
    newest, wanted, moved = freeze(stage), set(campaigns), 0
    locked = Campaign.objects.select_for_update(no_key=True, of=("self",)).select_related("sheet_version")
    for campaign in locked.filter(stage=stage, pk__in=wanted, state__in=RUNNING).order_by("pk"):
        if compare_definitions(campaign.sheet_version.definition, newest.definition) != "words":
            continue
        old = str(campaign.sheet_version)
        campaign.sheet_version = newest
        campaign.save(update_fields=["sheet_version"])
        scope, target = f"benchmark:{stage.benchmark_id}", f"campaign:{campaign.pk}"
        record(actor, "campaign.reworded", scope=scope, target=target, old=old, new=str(newest))
        moved += 1
    return moved
