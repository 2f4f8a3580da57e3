"""What items of a stage take from other stages: names that people merged, and what models propose."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from annotation.fields.settings import Setting
from benchmarks.rules.derivations.renaming import NAMES, STAYS


def rename_settings(earlier: Sequence[tuple[str, Any]]) -> Setting:
    """`earlier`: the stages before this one, any of which may have pairs whose accepted answers are merges."""
    note = _("An accepted answer means that both are the same. The name as it was found stays in the context.")
    names = _("Of both names in the context of a pair, one in each line. Empty: %(names)s.") % {
        "names": ", ".join(NAMES)
    }
    stays = _("Its codes are the names of both columns. Empty: %(key)s.") % {"key": STAYS}
    field = _("concept, text or context.<name>")
    return Setting(
        "rename", "object", _("Names that people merged"),
        row=(
            Setting("by", "select", _("Stage of pairs"), note, choices=[("", _("None")), *earlier], start=""),
            Setting("field", "line", _("What is renamed"), field, start="concept", short=True),
            Setting("names", "lines", _("Columns"), names, optional=True),
            Setting("stays", "optional", _("Key of the question which name stays"), stays, short=True),
        ),
    )  # fmt: skip


def proposal_settings(earlier: Sequence[tuple[str, Any]]) -> Setting:
    """`earlier`: the stages before this one, in any of which models may have answered about the same items."""
    note = _("Made of the same items. A model's answer there is chosen already on the sheet; items wait for it.")
    run = _("Empty: the first answer of a model.")
    choices = [("", _("None")), *earlier]
    return Setting(
        "proposals", "object", _("What a model proposes"),
        row=(
            Setting("stage", "select", _("Stage that models answer"), note, choices=choices, start=""),
            Setting("field", "line", _("Key of the question"), start="labels", short=True),
            Setting("run", "int", _("Number of the run"), run, optional=True),
        ),
    )  # fmt: skip


def tidy_references(params: dict[str, Any]) -> None:
    """What was not chosen is left out."""
    for key, reference in (("rename", "by"), ("proposals", "stage")):
        value = params.get(key)
        if isinstance(value, dict):
            chosen = {name: entry for name, entry in value.items() if entry not in ("", [], None)}
            params[key] = chosen if chosen.get(reference) else {}
