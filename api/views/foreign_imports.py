"""Imports of the files of another tool: what the page previews and starts, from uploads of a program."""

from typing import Any

from django.http import Http404
from django.utils.translation import gettext as _

from annotation.access import campaign_for
from annotation.models import Campaign
from api.protocol.contents import refused
from api.protocol.problems import Conflict
from api.views.uploads import find_upload
from benchmarks.imports.problems import SourceProblem
from benchmarks.models import Benchmark, Stage
from jobs.models import Job
from people.models import User
from releases.foreign.contract import ForeignMapping
from releases.foreign.scan import Scan
from releases.pages.foreign import preview_rows
from releases.services.foreign import foreign_import
from releases.services.foreign.foreign_import import StoredForeign
from releases.services.foreign.foreign_uploads import look_into


def start_foreign(benchmark: Benchmark, stage: Stage, user: User, content: dict[str, Any]) -> Job:
    """Items, and answers where a campaign is named. Raises Refused, Conflict and Http404."""
    _check_stage(stage)
    stored = _stored(user, content)
    _scan, mapping = _look(stored, stage, content)
    campaign = _campaign(benchmark, stage, user, content)
    cohort = _cohort(campaign, content)
    return foreign_import.start(stage, campaign, user, stored, mapping, cohort)


def foreign_preview_json(stage: Stage, user: User, content: dict[str, Any]) -> dict[str, Any]:
    """Raises Refused."""
    _check_stage(stage)
    scan, mapping = _look(_stored(user, content), stage, content)
    roles = {**mapping.roles, mapping.key: "key", mapping.picture: "file", mapping.text: "text"}
    return {
        "format": scan.reader.key, "encoding": "", "separator": "", "sheet": "", "needs_mapping": False,
        "columns": [{"column": name, "role": roles.get(name, ""), "reason": ""} for name in scan.columns],
        "mapping": mapping.to_json(), "rows": [_row_json(row) for row in preview_rows(scan)],
        "program": scan.program.name, "items": scan.items, "answers": scan.answers, "skips": scan.skips,
        "raters": dict(scan.raters), "models": dict(scan.models), "left_out": dict(scan.left_out),
        "questions": [{"question": field.key, "kind": field.kind, "options": [code for code, _label in field.options]}
                      for field in scan.fields],
        "problems": [{"file": row.file, "row": row.row, "code": row.code, "detail": row.message}
                     for row in scan.problems],
        "whole": scan.whole,
    }  # fmt: skip


def _row_json(row: Any) -> dict[str, str]:
    values = {f"answer.{question}": value for question, value in row.values}
    return {"file": row.file, "row": str(row.row), "item": row.item, "rater": row.rater, **values}


def _check_stage(stage: Stage) -> None:
    """The page offers only stages whose items are not derived. Raises Refused."""
    if stage.derivation:
        raise refused("stage", _("Items of this stage are derived. Choose another stage."))


def _stored(user: User, content: dict[str, Any]) -> StoredForeign:
    """Raises Refused for what is not there or not whole."""
    rows = list(enumerate(content.get("files", [])))
    if not rows:
        raise refused("files", _("Name the uploads that hold the files of the tool."))
    files = tuple((row["name"], _whole(user, f"files/{place}/upload", row["upload"])) for place, row in rows)
    archive, pictures = (
        _whole(user, name, content[name]) if content.get(name) else "" for name in ("archive", "pictures")
    )
    return StoredForeign(files, archive, pictures)


def _whole(user: User, member: str, key: str) -> str:
    try:
        upload = find_upload(user, key)
    except Http404 as error:
        raise refused(member, _("There is no such upload. Uploads are kept for a day.")) from error
    if not upload.is_whole:
        text = _("The upload is not whole: %(n)s bytes are missing.")
        raise refused(member, text % {"n": upload.size - upload.offset})
    return upload.stored


def _look(stored: StoredForeign, stage: Stage, content: dict[str, Any]) -> tuple[Scan, ForeignMapping]:
    try:
        chosen = ForeignMapping.from_json({**content.get("mapping", {}), "tool": content["format"]})
    except ValueError as error:
        text = _("The mapping has no member “%(name)s” with such a value.") % {"name": error}
        raise refused(f"mapping/{error}", text) from error
    try:
        scan, mapping = look_into(stored.open_files(), chosen, stage)
    except SourceProblem as error:
        raise refused("files", str(error)) from error
    _check_targets(mapping)
    return scan, mapping


def _check_targets(mapping: ForeignMapping) -> None:
    """The form refuses this as well: of two values only one would stay. Raises Refused."""
    texts = {
        "answers": _("“%(name)s” goes where another question goes already: “%(target)s”. Say in the mapping which."),
        "roles": _("“%(name)s” is what another column is already: “%(target)s”. Say in the mapping which."),
    }
    for member, targets in (("answers", mapping.answers or {}), ("roles", mapping.roles)):
        taken: set[str] = set()
        for name, target in targets.items():
            if target in taken:
                text = texts[member] % {"name": name[:60], "target": target[:60]}
                raise refused(f"mapping/{member}", text)
            taken.add(target)


def _campaign(benchmark: Benchmark, stage: Stage, user: User, content: dict[str, Any]) -> Campaign | None:
    if "campaign" not in content:
        return None
    campaign = campaign_for(user, benchmark, content["campaign"])
    if campaign.stage_id != stage.pk:
        raise refused("campaign", _("The campaign belongs to another stage."))
    if campaign.opened_at is None:
        raise Conflict(_("The campaign has not been opened. Open it for imports first."))
    return campaign


def _cohort(campaign: Campaign | None, content: dict[str, Any]) -> str:
    label = str(content.get("cohort", ""))
    labels = list(campaign.cohorts.values_list("cohort__label", flat=True)) if campaign else []
    if campaign and label and label not in labels:
        raise refused("cohort", _("This campaign does not ask this cohort. It asks: %(names)s.")
                       % {"names": ", ".join(labels)})  # fmt: skip
    return label
