"""Answers of a model that were made elsewhere: a file of another program becomes a run, as on its page."""

import json
from contextlib import ExitStack
from typing import Any

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import campaign_for
from annotation.models import Campaign
from annotation.services.sheets.sheet_versions import sheet_of
from api.protocol.contents import check_form, form_data, refused
from api.protocol.problems import Conflict
from benchmarks.imports.problems import SourceProblem
from benchmarks.models import Benchmark
from jobs.models import Job
from people.models import User
from predictions.forms.answer_import import AnswerFileDetailsForm
from predictions.services.files import answer_import, answer_preview
from predictions.services.files.answer_preview import FilePreview
from predictions.services.files.answer_samples import AnswerFile

LOOKED = ("keys", "targets", "cultures", "only", "models", "settings")


def start_predictions(benchmark: Benchmark, user: User, content: dict[str, Any], table: Any, names: Any) -> Job:
    """Raises Refused, Conflict, FileRunRefused and Http404."""
    campaign, file, looked = look_at(benchmark, user, content, table, names)
    form = _form(content, looked)
    check_form(form)
    title, description = str(content["table_name"])[:150], form.file_description()
    job = answer_import.start(campaign, user, file, description, form.model_of(), title=title)
    if job is None:
        raise Conflict(_("This file is here already. Nothing was changed."))
    return job


def predictions_preview_json(
    benchmark: Benchmark, user: User, content: dict[str, Any], table: Any, names: Any
) -> dict[str, Any]:
    """Raises Refused and Http404."""
    campaign, file, looked = look_at(benchmark, user, content, table, names)
    form = _form(content, looked)
    description = form.file_description()
    rows = answer_preview.preview_rows(file, looked, description, campaign, timezone.now())
    return {
        "format": file.format, "encoding": "", "separator": "", "sheet": "", "needs_mapping": False, "columns": [],
        "mapping": {},
        "rows": [
            {"row": str(row.number), "item": row.item, "target": row.target, "reply": row.text,
             "answers": json.dumps(row.answers, ensure_ascii=False), "problem": row.wrong or row.unread}
            for row in rows
        ],
        "predictions": {
            **{name: _plain(getattr(looked, name)) for name in LOOKED}, "questions": dict(looked.fields),
        },
    }  # fmt: skip


def look_at(
    benchmark: Benchmark, user: User, content: dict[str, Any], table: Any, names: Any
) -> tuple[Campaign, AnswerFile, FilePreview]:
    """The file is kept for the job. Raises Refused and Http404."""
    if table is None or "campaign" not in content:
        member = "campaign" if table is not None else "table"
        raise refused(member, _("Answers need a campaign and the upload with their table."))
    campaign = campaign_for(user, benchmark, content["campaign"])
    try:
        with ExitStack() as stack:
            opened = [stack.enter_context(default_storage.open(one.stored, "rb")) if one else None
                      for one in (table, names)]  # fmt: skip
            parts = [File(one.file, "answers") if one is not None else None for one in opened]
            assert parts[0] is not None
            file = answer_import.store_upload(parts[0], parts[1])
        return campaign, file, answer_preview.inspect_file(file, campaign, sheet_of(campaign.sheet_version))
    except SourceProblem as error:
        raise refused("table", str(error)) from error


def _form(content: dict[str, Any], looked: FilePreview) -> AnswerFileDetailsForm:
    values = dict(content.get("described", {}))
    values.setdefault("model", looked.models[0] if len(looked.models) == 1 else "")
    if "about" in values:
        values["about"] = json.dumps(values["about"])
    return AnswerFileDetailsForm(form_data(values), looked=looked)


def _plain(value: Any) -> Any:
    return dict(value) if hasattr(value, "items") else list(value)
