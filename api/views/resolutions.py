"""What settles disagreement: a list for those who work on the benchmark, and the decisions of those who are asked.

Whoever answers an item in dispute resolves it, by the services and rules of the sheet.
"""

from typing import Any

from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import assignment_for, benchmark_of_own_answers
from annotation.models import Annotation, Assignment, Resolution
from annotation.queries.answers import is_left_out
from annotation.queries.resolutions import settles_disputes
from annotation.services.answers import submit
from api.protocol.contents import refused
from api.protocol.operations import PAGING, operation
from api.protocol.paging import page_of
from api.protocol.preconditions import check_match, tag_of, with_etag
from api.protocol.problems import Conflict, Refused
from api.schemas import resolutions as shapes
from api.schemas.pages import page_of_shape
from api.views.answers import check_allowed, submit_answers
from api.views.base import ResourceView
from api.views.campaigns import rater_name
from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark


class ResolutionList(ResourceView):
    @operation("resolutions", "What holds where answers disagreed", scope="export", parameters=PAGING,
               reply=page_of_shape(shapes.ResolutionLine))  # fmt: skip
    def get(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        return page_of(
            request, readable_resolutions(benchmark).filter(live=True), "resolutions",
            lambda page: [resolution_json(row, benchmark) for row in page], benchmark.pk,
        )  # fmt: skip

    @operation("resolution_create", "Settle an item in dispute that the person has in hand", scope="answer",
               body=shapes.NewResolution, reply=shapes.ResolutionDone, status=201, parameters=(),
               own_transactions=True)  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_of_own_answers(request.user, slug)
        content = self.content
        assignment = assignment_for(request.user, content["assignment"])
        if assignment.campaign.stage.benchmark_id != benchmark.pk:
            raise Http404
        check_allowed(benchmark)
        if not settles_disputes(assignment.campaign.stage):
            raise refused("assignment", _("This item is not in dispute. Send its answers to its submissions."))
        done = submit_answers(assignment, content)
        return settled_reply(benchmark, done, 201)


class OwnResolutionView(ResourceView):
    """Changes to a decision are those of whoever made it."""

    def own(self, request: Request, slug: str, resolution_id: int) -> tuple[Resolution, Assignment]:
        """A decision of the person that holds. Raises Http404 and Conflict."""
        benchmark = benchmark_of_own_answers(request.user, slug)
        own = resolutions_in(benchmark).filter(annotation__rater__user=request.user)
        row = resolution_of(own, resolution_id)
        check_allowed(benchmark)
        if not row.live:
            raise Conflict(_("This decision does not hold any more."))
        return row, assignment_for(request.user, row.annotation.assignment_id)


class ResolutionDetail(OwnResolutionView):
    @operation("resolution", "What settled one question, also where it does not hold any more", scope="export",
               reply=shapes.ResolutionLine)  # fmt: skip
    def get(self, request: Request, slug: str, resolution_id: int) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        return with_etag(
            request, resolution_json(resolution_of(readable_resolutions(benchmark), resolution_id), benchmark)
        )

    @operation("resolution_update", "Decide otherwise: the next version, which has a number of its own",
               scope="answer", body=shapes.ResolutionChange, reply=shapes.ResolutionDone,
               own_transactions=True)  # fmt: skip
    def patch(self, request: Request, slug: str, resolution_id: int) -> Response:
        row, assignment = self.own(request, slug, resolution_id)
        benchmark = assignment.campaign.stage.benchmark
        check_match(request, resolution_json(row, benchmark))
        content, rater = self.content, assignment.rater
        was_begun = getattr(assignment, "draft", None) is not None
        try:
            work = submit.reopen(assignment, rater, timezone.now())
        except submit.AssignmentStateError as error:
            raise Conflict(
                _("The decision can no longer be changed: %(reason)s.") % {"reason": error.reason}
            ) from error
        assert work.current is not None
        try:
            done = submit_answers(work.current, content)
        except (Refused, Conflict):
            if not was_begun:
                submit.cancel_change(assignment, rater, timezone.now())
            raise
        return settled_reply(benchmark, done, 200)


class ResolutionWithdraw(OwnResolutionView):
    @operation("resolution_withdraw", "Take back a decision of the last seconds: the item is in hand again",
               scope="answer", reply=shapes.ResolutionLine, own_transactions=True)  # fmt: skip
    def post(self, request: Request, slug: str, resolution_id: int) -> Response:
        row, assignment = self.own(request, slug, resolution_id)
        self.content  # noqa: B018  (a body that is wrong is refused before anything is taken back)
        try:
            submit.undo(assignment, assignment.rater, timezone.now(), row.annotation.version)
        except submit.AssignmentStateError as error:
            text = _("It is too late to take this back: %(reason)s. Decide otherwise instead.")
            raise Conflict(text % {"reason": error.reason}) from error
        benchmark = assignment.campaign.stage.benchmark
        return Response(resolution_json(resolution_of(resolutions_in(benchmark), row.pk), benchmark))


def resolutions_in(benchmark: Benchmark) -> Any:
    rows = Resolution.objects.filter(unit__item__stage__benchmark=benchmark)
    return rows.select_related("unit__item__stage__benchmark", "by", "annotation")


def readable_resolutions(benchmark: Benchmark) -> Any:
    """Without those of people who withdrew their consent, as no file has them."""
    rows = resolutions_in(benchmark)
    left_out = Annotation.objects.filter(is_left_out(benchmark.team_id), pk__in=rows.values("annotation"))
    return rows.exclude(annotation__in=list(left_out.values_list("pk", flat=True)))


def resolution_of(rows: Any, resolution_id: int) -> Resolution:
    """Raises Http404."""
    row: Resolution | None = rows.filter(pk=resolution_id).first()
    if row is None:
        raise Http404
    return row


def settled_reply(benchmark: Benchmark, done: submit.SubmitResult, status: int) -> Response:
    """With the resolution that came of an answer, and its tag for a change of it."""
    answer = done.annotation
    row: Resolution | None = resolutions_in(benchmark).filter(annotation=answer, live=True).first()
    line = resolution_json(row, benchmark) if row else None
    data = {
        "annotation": answer.pk, "counted": answer.counted, "uncounted_because": answer.uncounted_because,
        "repeated": done.repeated, "resolution": line,
    }  # fmt: skip
    headers = {"Location": address_of(row), "ETag": tag_of(line)} if row else {}
    return Response(data, status=status, headers=headers)


def address_of(row: Resolution) -> str:
    return reverse("api:resolution", args=[row.unit.item.stage.benchmark.slug, row.pk])


def resolution_json(row: Resolution, benchmark: Benchmark) -> dict[str, Any]:
    names = ("field", "code", "answer", "reason", "at", "version", "ended_at")
    return {
        "id": row.pk, "item": row.unit.item.key, "target": row.unit.target,
        **{name: getattr(row, name) for name in names},
        "chosen_annotation": row.chosen_annotation_id, "annotation": row.annotation_id,
        "by": rater_name(row.by, benchmark.pseudonym),
    }  # fmt: skip
