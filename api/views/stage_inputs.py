"""The runs of models whose answers a stage judges or rates: looked at and chosen as on their page."""

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.services.derivation import stage_inputs as service
from api.protocol.contents import problem
from api.protocol.operations import operation
from api.protocol.preconditions import check_match, with_etag
from api.protocol.problems import Conflict, Refused
from api.schemas import stage_inputs as shapes
from api.views.stages import OneStageView
from predictions.forms.stage_inputs import StageInputsForm
from predictions.pages.stage_inputs import InputRow, StageInputs, stage_inputs
from predictions.queries.judged_items import InputCounts

COUNTS = ("answers", "waiting", "items", "judged", "unreadable", "renewed", "without_answer")


class StageInputsView(OneStageView):
    @operation("stage_inputs", "Runs whose answers a stage judges, and what became of them",
               reply=shapes.StageInputsReply)  # fmt: skip
    def get(self, request: Request, slug: str, key: str) -> Response:
        return with_etag(request, inputs_json(stage_inputs(self.stage(request, slug, key))))

    @operation("stage_inputs_put", "Choose the runs that a stage judges", scope="write", body=shapes.NewStageInputs,
               reply=shapes.StageInputsReply)  # fmt: skip
    def put(self, request: Request, slug: str, key: str) -> Response:
        stage = self.stage(request, slug, key)
        inputs = stage_inputs(stage)
        if inputs is None:
            raise Conflict(_("This stage judges no answers."))
        check_match(request, inputs_json(inputs))
        chosen, shown = self.content["chosen"], {row.value: row.chosen for row in inputs.rows}
        if unknown := [place for place, value in enumerate(chosen) if value not in shown]:
            text = _("The stage has no such run. Read them again.")
            raise Refused(text, errors=[problem(f"/chosen/{place}", "unknown", text) for place in unknown])
        form = StageInputsForm({"run": chosen}, shown=shown)
        form.is_valid()
        service.choose_runs(stage, form.choices(), request.user, timezone.now())
        return with_etag(request, inputs_json(stage_inputs(stage)))


def inputs_json(inputs: StageInputs | None) -> dict[str, Any]:
    if inputs is None:
        return {"judges": False, "runs": [], "people": None, "by_setting": []}
    return {
        "judges": True,
        "runs": [_row_json(row) for row in inputs.rows],
        "people": _counts_json(inputs.people) if inputs.people else None,
        "by_setting": inputs.by_setting,
    }


def _row_json(row: InputRow) -> dict[str, Any]:
    about = {"model": row.rater.name, "setting": row.rater.setting, "run": row.run.pk if row.run else None}
    return {"id": row.value, **about, "chosen": row.chosen, **_counts_json(row.counts)}


def _counts_json(counts: InputCounts) -> dict[str, Any]:
    return {name: getattr(counts, name) for name in COUNTS}
