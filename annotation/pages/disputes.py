"""The answers in dispute, as the sheet that settles them shows them: numbered, and without names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotation.fields.contract import Shown, ShownImage
from annotation.fields.form import Localiser
from annotation.queries.resolutions import settles_disputes
from annotation.sheets.sheet import Sheet
from benchmarks.models import Stage


@dataclass(frozen=True)
class Dispute:
    """`template` is the field's own for answers of several people; it takes `rows` and `picture`."""

    template: str
    rows: Sequence[Mapping[str, Any]]
    picture: ShownImage | None


def dispute_of(stage: Stage, sheet: Sheet, shown: Shown, speech: Localiser) -> Dispute | None:
    """None where the stage settles nothing, and where its sheet does not ask the question in dispute."""
    if not settles_disputes(stage):
        return None
    asked = next((field for field in sheet.fields if field.key == shown.context.get("field")), None)
    if asked is None:
        return None
    rows = [
        {"who": _("Answer %(number)s") % {"number": number}, "data": asked.form.answered(asked.config, value, speech)}
        for number, value in zip(shown.context["numbers"], shown.context["answers"], strict=True)
    ]
    picture = shown.images[0] if len(shown.images) == 1 else None
    return Dispute(f"annotation/fields/{asked.spec.key}/compare.html", rows, picture)
