"""Filters of a stage, and what it has of what it wants, cell by cell."""

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.composer.paths import parse_path
from annotation.queries.coverage_cells import WantedCell, coverage_of, stage_cells
from api.protocol.contents import problem, step
from api.protocol.operations import operation
from api.protocol.preconditions import Stale, check_match, with_etag
from api.protocol.problems import Refused
from api.schemas import stages as shapes
from api.views.stages import OneStageView
from benchmarks.models import Stage
from benchmarks.queries.filter_counts import count_by_state
from benchmarks.rules.filters import FilterError
from benchmarks.services.intake import filter_versions, judge_job
from benchmarks.services.intake.judging import version_number

COUNTS = ("accepted", "in_work", "left", "waiting", "retired", "rejected", "counted")


class FiltersView(OneStageView):
    @operation("stage_filters", "Filters of a stage and what they keep", reply=shapes.StageFilters)
    def get(self, request: Request, slug: str, key: str) -> Response:
        return with_etag(request, filters_json(self.stage(request, slug, key)))

    @operation("stage_filters_put", "Set the filters: the next version, carried out by a job", scope="write",
               body=shapes.NewFilters, reply=shapes.StageFilters)  # fmt: skip
    def put(self, request: Request, slug: str, key: str) -> Response:
        stage = self.stage(request, slug, key)
        number = version_number(stage)
        check_match(request, filters_json(stage))
        filters = [dict(entry) for entry in self.content["filters"]]
        if not stage.derivation and any(entry.get("returns") for entry in filters):
            raise Refused(_("Pictures go back to who brought them only in a stage that is derived."))
        try:
            filter_versions.set_filters(stage, filters, request.user, number_seen=number)
        except filter_versions.FiltersChanged as error:
            raise Stale(_("This was changed since you read it. Read it again.")) from error
        except FilterError as error:
            raise _refused(error) from error
        return with_etag(request, filters_json(self.stage(request, slug, key)))


class StageCoverageView(OneStageView):
    @operation("stage_coverage", "What a stage has of what it wants, cell by cell", reply=shapes.StageCoverage)
    def get(self, request: Request, slug: str, key: str) -> Response:
        stage = self.stage(request, slug, key, "see")
        spec = coverage_of(stage)
        if spec is None:
            return with_etag(request, {"cells": [], "wanted": 0, "done": 0, "full": 0, "outside": 0})
        cells = stage_cells(stage, spec, timezone.now())
        sums = {name: getattr(cells, name) for name in ("wanted", "done", "full", "outside")}
        return with_etag(request, {"cells": [cell_json(cell) for cell in cells.cells.values()], **sums})


def _refused(error: FilterError) -> Refused:
    pointer = "".join(step(part) for part in parse_path(error.path))
    return Refused(str(error), errors=[problem(pointer, "filter", error.reason)])


def filters_json(stage: Stage) -> dict[str, Any]:
    counts, job = count_by_state(stage), judge_job.latest_unfinished(stage)
    return {
        "version": version_number(stage),
        "filters": stage.filters,
        **{name: counts.get(name, 0) for name in ("kept", "dropped", "waiting", "by_hand")},
        "job": job.pk if job else None,
    }


def cell_json(cell: WantedCell) -> dict[str, Any]:
    state = cell.row.state
    return {
        "row": cell.row.label.text, "column": cell.column, "cohort": state.cohort.pk if state else None,
        "wanted": cell.wanted, "done": cell.done, "gap": cell.gap,
        **{name: getattr(cell.counts, name) for name in COUNTS},
    }  # fmt: skip
