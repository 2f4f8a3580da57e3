"""Sheets are frozen when a campaign takes them."""

from typing import Any

from annotation.models import SheetVersion
from annotation.sheets import Sheet
from benchmarks.models import Stage

_read: dict[int, tuple[Any, Sheet]] = {}
WORDING = frozenset({"label", "help", "definition"})


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
    if last.definition == definition:
        return last
    if bones(last.definition) == bones(definition):
        return SheetVersion.objects.create(stage=stage, major=last.major, minor=last.minor + 1, definition=definition)
    return SheetVersion.objects.create(stage=stage, major=last.major + 1, minor=0, definition=definition)


def bones(definition: Any) -> Any:
    """A definition without its words: two sheets with the same bones store the same codes."""
    if isinstance(definition, dict):
        return {key: bones(value) for key, value in definition.items() if key not in WORDING}
    return [bones(one) for one in definition] if isinstance(definition, list) else definition
