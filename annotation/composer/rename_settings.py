"""The form of names that people merged: items of a stage take the name that stays."""

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


def tidy_rename(params: dict[str, Any]) -> None:
    """What was not chosen is left out."""
    rename = params.get("rename")
    if isinstance(rename, dict):
        chosen = {key: value for key, value in rename.items() if value not in ("", [], None)}
        params["rename"] = chosen if chosen.get("by") else {}
