"""Stages: created, written as a draft, checked and published as in the composer."""

from collections.abc import Sequence
from typing import Any

from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.composer.form_parser import MAP
from annotation.composer.paths import parse_path
from annotation.composer.validation import StageProblem
from annotation.models import StageVersion
from annotation.services.sheets import sheet_versions
from annotation.services.sheets import stages as services
from api.protocol.contents import problem, step
from api.protocol.operations import PAGING, operation
from api.protocol.paging import page_of
from api.protocol.preconditions import Stale, check_match, with_etag
from api.protocol.problems import Conflict, Refused
from api.schemas import stages as shapes
from api.schemas.pages import page_of_shape
from api.views.base import ResourceView
from benchmarks.access import Can, benchmark_for
from benchmarks.imports.recipe_file import read_stage_members
from benchmarks.models import Benchmark, Stage

CODE = "stage-problem"


class StageList(ResourceView):
    @operation("stages", "Stages with their sheets", parameters=PAGING, reply=page_of_shape(shapes.StageSerializer))
    def get(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        rows = Stage.objects.filter(benchmark=benchmark).select_related("draft")
        return page_of(request, rows, "stages", lambda page: [stage_json(row) for row in page], benchmark.pk)

    @operation("stage_create", "Create a last stage, blank or like another", scope="write", body=shapes.NewStage,
               reply=shapes.StageSerializer, status=201)  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        like = services.content_of(_like(benchmark, self.content["like"])) if "like" in self.content else None
        stage = services.create(benchmark, self.content["name"], request.user, like)
        return with_etag(request, stage_json(stage), 201, reverse("api:stage", args=[slug, stage.key]))


def _like(benchmark: Benchmark, key: str) -> Stage:
    """Raises Refused."""
    stage = benchmark.stages.filter(key=key).first()
    if stage is None:
        text = _("The benchmark has no such stage.")
        raise Refused(text, errors=[problem("/like", "unknown", text)])
    return stage


class OneStageView(ResourceView):
    """A view of one stage."""

    def stage(self, request: Request, slug: str, key: str, can: Can = "work_on") -> Stage:
        """Raises Http404."""
        benchmark = benchmark_for(request.user, slug, can=can)
        stage = benchmark.stages.filter(key=key).first()
        if stage is None:
            raise Http404
        stage.benchmark = benchmark
        return stage


class StageDetail(OneStageView):
    @operation("stage", "One stage as it is published", reply=shapes.StageSerializer)
    def get(self, request: Request, slug: str, key: str) -> Response:
        return with_etag(request, stage_json(self.stage(request, slug, key)))


class DraftView(OneStageView):
    @operation("stage_draft", "The draft of a stage and what is wrong with it", reply=shapes.DraftSerializer)
    def get(self, request: Request, slug: str, key: str) -> Response:
        return with_etag(request, draft_json(self.stage(request, slug, key)))

    @operation("stage_draft_put", "Write the draft; what is not sent is as published", scope="write",
               body=shapes.StageContent, reply=shapes.DraftSerializer)  # fmt: skip
    def put(self, request: Request, slug: str, key: str) -> Response:
        stage = self.stage(request, slug, key)
        revision = services.revision(stage, services.draft_of(stage))
        check_match(request, draft_json(stage))
        content = {**services.content_of(stage), **read_content(self.content)}
        refuse([entry for entry in services.draft_problems(stage, content) if entry.blocks])
        try:
            services.save_draft(stage, content, revision, request.user, timezone.now())
        except services.DraftOutdated as error:
            raise Stale(_("This was changed since you read it. Read it again.")) from error
        return with_etag(request, draft_json(stage))

    @operation("stage_draft_discard", "Discard the draft", scope="write", reply=shapes.DraftSerializer)
    def delete(self, request: Request, slug: str, key: str) -> Response:
        stage = self.stage(request, slug, key)
        check_match(request, draft_json(stage))
        services.discard(stage, request.user)
        return with_etag(request, draft_json(stage))


class PublishView(OneStageView):
    @operation("stage_publish", "Publish the draft; campaigns that run keep their sheet", scope="write",
               body=shapes.Publishing, reply=shapes.StageSerializer)  # fmt: skip
    def post(self, request: Request, slug: str, key: str) -> Response:
        stage = self.stage(request, slug, key)
        draft = services.draft_of(stage)
        if draft is None:
            raise Conflict(_("There is no draft to publish."))
        chosen = self.content.get("campaigns", [])
        try:
            services.publish(stage, services.revision(stage, draft), request.user, timezone.now())
        except services.NotPublishable as error:
            refuse(error.problems)
        except services.DraftOutdated as error:
            raise Conflict(_("The draft was changed at this moment. Try again.")) from error
        stage = self.stage(request, slug, key)
        sheet_versions.update_running_campaigns(stage, chosen, request.user) if chosen else None
        return with_etag(request, stage_json(stage))


class VersionList(OneStageView):
    @operation(
        "stage_versions", "What was published", parameters=PAGING, reply=page_of_shape(shapes.StageVersionSerializer)
    )
    def get(self, request: Request, slug: str, key: str) -> Response:
        stage = self.stage(request, slug, key)
        rows = StageVersion.objects.filter(stage=stage)
        return page_of(request, rows, "versions", lambda page: [version_json(row) for row in page], stage.pk)


def read_content(content: dict[str, Any]) -> dict[str, Any]:
    """The members that the composer writes, each of its type. Raises Refused."""
    values, problems = read_stage_members(content, services.COLUMNS)
    if problems:
        errors = [problem(step(entry.place) if entry.place else "", CODE, entry.reason) for entry in problems]
        raise Refused(_("The composer would refuse this."), errors=errors)
    return values


def refuse(problems: Sequence[StageProblem]) -> None:
    """Raises Refused with every problem, at its place."""
    if problems:
        errors = [problem(pointer_of(entry.path), CODE, entry.words) for entry in problems]
        raise Refused(_("The composer would refuse this."), errors=errors)


def pointer_of(path: str) -> str:
    """By RFC 6901. Rows of a form that stand for an object's members are the object."""
    pointer = ""
    for part in parse_path(path):
        if isinstance(part, str) and part.endswith(MAP):
            return pointer + step(part.removesuffix(MAP))
        pointer += step(part)
    return pointer


def stage_json(stage: Stage) -> dict[str, Any]:
    head = {name: getattr(stage, name) for name in ("key", "position", "version", "filters")}
    return {"id": stage.pk, **head, **services.content_of(stage), "has_draft": hasattr(stage, "draft")}


def draft_json(stage: Stage) -> dict[str, Any]:
    draft = services.draft_of(stage)
    written = {key: value for key, value in draft.content.items() if key in services.COLUMNS} if draft else {}
    content = {**services.content_of(stage), **written}
    problems = services.problems(stage, content)
    return {
        "revision": services.revision(stage, draft),
        "saved_at": draft.saved_at if draft else None,
        "content": content,
        "problems": [{**problem(pointer_of(row.path), CODE, row.words), "blocks": row.blocks} for row in problems],
    }


def version_json(row: StageVersion) -> dict[str, Any]:
    return {"number": row.number, "published_at": row.published_at, "content": row.content}
