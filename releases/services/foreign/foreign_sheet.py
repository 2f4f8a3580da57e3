"""A stage made from another tool's files: its questions as fields of a sheet, its items as a display shows them."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from annotation.models import Campaign
from annotation.services.campaigns import lifecycle
from annotation.services.files.campaigns import open_for_imports
from annotation.services.sheets import stages
from annotation.services.transactions import in_transaction
from annotation.sheets.sheet import Sheet, SheetError
from benchmarks.models import Benchmark, Stage
from people.models import Cohort, User
from releases.foreign.contract import MAX_OPTION, ForeignField
from releases.foreign.scan import Scan

MOST_POINTS, MOST_BOXES, LONGEST_TEXT = 10, 20, 5000
FREE_TEXT: Mapping[str, Any] = {"kind": "text", "config": {"long": True, "max_length": LONGEST_TEXT}}


def stage_content(scan: Scan) -> dict[str, Any]:
    """What the composer starts with. Nothing is required: the files do not say what their tool required."""
    fields: list[dict[str, Any]] = []
    for question in scan.fields:
        key = _key(question.key, [field["key"] for field in fields])
        label = {"label": {"en": question.label or question.key}, "required": False}
        fields.append({"key": key, **label, **_field(question)})
    if scan.texts:
        shown = {"display": "question", "pictures": "optional" if scan.pictures else "none"}
    else:
        display, pictures = ("image", "one") if scan.pictures else ("question", "none")
        shown = {"display": display, "pictures": pictures}
    return {**stages.BLANK, **shown, "sheet": {"fields": fields}}


def _key(name: str, taken: Sequence[str]) -> str:
    """A question's name as the key of a field: small letters, digits and _.

    >>> _key("Text visible?", []), _key("1st", []), _key("País", ["pais"])
    ('text_visible', 'q_1st', 'pais_2')
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    key = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:50] or "question"
    key = key if key[0].isalpha() else f"q_{key}"
    numbered = (f"{key}_{number}" for number in range(2, len(taken) + 3))
    return key if key not in taken else next(other for other in numbered if other not in taken)


def _field(question: ForeignField) -> dict[str, Any]:
    """The kind and its configuration; a free text where the options are too many or too long for a list."""
    options = [{"code": code, "label": {"en": label or code}} for code, label in question.options]
    labels = {"labels": options} if options else {}
    configs: dict[str, dict[str, Any]] = {
        "single": {"kind": "choice", "config": {"many": False, "options": options}},
        "several": {"kind": "choice", "config": {"many": True, "options": options}},
        "scale": {"kind": "rating", "config": {"level": "ordinal", "points": options[:MOST_POINTS]}},
        "boxes": {"kind": "box", "config": {"least": 1, "most": MOST_BOXES, **labels}},
    }
    candidate = configs.get(question.kind, dict(FREE_TEXT))
    try:
        Sheet.from_json({"fields": [{"key": "q", "label": {"en": "Q"}, "required": False, **candidate}]})
    except SheetError:
        plain = {"kind": "box", "config": {"least": 1, "most": MOST_BOXES}}
        return plain if question.kind == "boxes" else dict(FREE_TEXT)
    return candidate


def too_long_lists(scan: Scan) -> list[str]:
    """Questions whose options make no list here, so that they become free text; for the page."""
    listed = ("single", "several", "scale")
    return [field.key for field in scan.fields
            if field.kind in listed and (len(field.options) > MAX_OPTION or _field(field) == FREE_TEXT)]  # fmt: skip


def create_stage(benchmark: Benchmark, name: str, actor: User, scan: Scan) -> Stage:
    """A last stage with the sheet of the files; the composer opens it."""
    return stages.create(benchmark, name, actor, like=stage_content(scan))


@in_transaction
def campaign_of_imports(stage: Stage, cohort: Cohort, actor: User, at: datetime) -> Campaign:
    """A campaign that answers are imported into, and that assigns nothing. Raises CampaignRefused."""
    campaign = lifecycle.create(stage, _("Imported answers"), actor, {cohort: 1})
    open_for_imports(campaign, actor, at)
    campaign.refresh_from_db()
    return campaign
