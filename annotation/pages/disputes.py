"""The answers that a sheet settles or judges, beside each other: answers in dispute, or the gold answer and a model's.

Both without names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.fields.contract import Shown, ShownImage
from annotation.fields.form import Localiser
from annotation.queries.resolutions import settles_disputes
from annotation.sheets.sheet import Field, Sheet, SheetError
from benchmarks.models import Stage


@dataclass(frozen=True)
class Dispute:
    """`template` is the field's own for answers of several people; it takes `rows` and `picture`."""

    heading: str
    note: str
    template: str
    rows: Sequence[Mapping[str, Any]]
    picture: ShownImage | None


def dispute_of(stage: Stage, sheet: Sheet, shown: Shown, speech: Localiser) -> Dispute | None:
    """None where the stage settles nothing, and where its sheet does not ask the question in dispute."""
    if not settles_disputes(stage):
        return _with_gold(stage, shown, speech)
    asked = next((field for field in sheet.fields if field.key == shown.context.get("field")), None)
    if asked is None:
        return None
    names = [_("Answer %(number)s") % {"number": number} for number in shown.context["numbers"]]
    return _dispute(
        ngettext("The answer", "The %(n)s answers", len(names)) % {"n": len(names)},
        _("The numbers below are those of the answers. Their order says nothing about who gave them."),
        asked, list(zip(names, shown.context["answers"], strict=True)), shown, speech,
    )  # fmt: skip


def _with_gold(stage: Stage, shown: Shown, speech: Localiser) -> Dispute | None:
    """A model's answer that was chosen since it differs from the gold one. One query."""
    derivation = stage.derivation or {}
    params = derivation.get("params") or {}
    if not params.get("where") or shown.context.get("gold") is None:
        return None
    asked = _earlier_field(stage, str(derivation["from"][0]), str(params["field"]))
    if asked is None:
        return None
    rows = [(_("Answer of people"), shown.context["gold"])]
    note = _("The model gave no answer.")
    if shown.context.get("candidate") is not None:
        rows.append((_("Answer of the model"), shown.context["candidate"]))
        note = ""
    return _dispute(_("The answer of the model"), note, asked, rows, shown, speech)


def _earlier_field(stage: Stage, earlier: str, key: str) -> Field | None:
    """The question of the earlier stage that was answered; None where it is not asked any more."""
    source = Stage.objects.filter(benchmark=stage.benchmark_id, key=earlier).only("sheet").first()
    try:
        fields = Sheet.from_json(source.sheet, stored=True).fields if source is not None else ()
    except SheetError:
        return None
    return next((field for field in fields if field.key == key), None)


def _dispute(
    heading: str, note: str, asked: Field, answers: Sequence[tuple[str, Any]], shown: Shown, speech: Localiser
) -> Dispute:
    rows = [{"who": name, "data": asked.form.answered(asked.config, value, speech)} for name, value in answers]
    picture = shown.images[0] if len(shown.images) == 1 else None
    return Dispute(heading, note, f"annotation/fields/{asked.spec.key}/compare.html", rows, picture)
