"""What reviewers decide, and whose answers do not count."""

from typing import Any

from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import answer_for_review
from annotation.models import Annotation, Exclusion
from annotation.services.answers.exclusions import exclude, lift_exclusion
from annotation.services.review import reviews, second_reviews
from api.protocol.contents import problem
from api.protocol.operations import PAGING, operation
from api.protocol.paging import page_of
from api.protocol.preconditions import check_match, with_etag
from api.protocol.problems import Conflict, Refused
from api.schemas import decisions as shapes
from api.schemas.pages import page_of_shape
from api.views.base import ResourceView
from api.views.campaigns import rater_name
from api.views.rows import RowList
from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark
from evaluation.queries.raters import raters_of
from people.models import Rater
from releases.rows.decisions import REVIEWS

FIRST = "first"


class ReviewRows(RowList):
    """The rows of the export; a reviewer adds a decision."""

    http_method_names = ["get", "head", "post"]
    kind = REVIEWS

    @operation(
        "review_create", "Decide on an answer, as a reviewer", scope="write", body=shapes.NewReview,
        reply=shapes.ReviewDone, status=201, parameters=(),
    )  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="review")
        content = {"reason": "", "comment": "", "turn": FIRST, **self.content}
        answer = answer_for_review(request.user, benchmark, content.pop("annotation"))
        turn, at = content.pop("turn"), timezone.now()
        review = None
        if turn == FIRST:
            review = reviews.decide(answer.pk, request.user, at=at, **content).pk
        else:
            second_reviews.decide_round(answer.pk, turn, request.user, at=at, **content)
        done = {"annotation": answer.pk, "decision": content["decision"], "turn": turn, "review": review}
        return Response(done, status=201)


class ExclusionList(ResourceView):
    @operation("exclusions", "Whose answers do not count, and why", scope="export", parameters=PAGING,
               reply=page_of_shape(shapes.ExclusionLine))  # fmt: skip
    def get(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        rows = exclusions_in(benchmark)
        return page_of(request, rows, "exclusions", lambda page: [exclusion_json(row) for row in page], benchmark.pk)

    @operation("exclusion_create", "Count no answer of somebody; a reason is kept", scope="write",
               body=shapes.NewExclusion, reply=shapes.ExclusionLine, status=201)  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        rater = find_rater(benchmark, self.content["rater"])
        row = exclude(benchmark, rater, self.content["reason"], request.user, timezone.now())
        location = reverse("api:exclusion", args=[slug, row.pk])
        return with_etag(request, exclusion_json(exclusion_of(benchmark, row.pk)), 201, location)


class ExclusionDetail(ResourceView):
    @operation("exclusion", "One exclusion", scope="export", reply=shapes.ExclusionLine)
    def get(self, request: Request, slug: str, exclusion_id: int) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        return with_etag(request, exclusion_json(exclusion_of(benchmark, exclusion_id)))

    @operation("exclusion_update", "Lift an exclusion", scope="write", body=shapes.ExclusionChange,
               reply=shapes.ExclusionLine)  # fmt: skip
    def patch(self, request: Request, slug: str, exclusion_id: int) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        row = exclusion_of(benchmark, exclusion_id)
        check_match(request, exclusion_json(row))
        if not self.content["lifted"] and row.lifted_at is not None:
            raise Conflict(_("A lifted exclusion stays lifted. Exclude the rater again, with a reason."))
        if self.content["lifted"] and row.lifted_at is None:
            lift_exclusion(benchmark, row.rater, request.user, timezone.now())
        return with_etag(request, exclusion_json(exclusion_of(benchmark, exclusion_id)))


def find_rater(benchmark: Benchmark, name: str) -> Rater:
    """Who takes part in the benchmark under this pseudonym, or else this name of one model. Raises Refused."""
    raters = {line.rater.pk: line.rater for line in raters_of(benchmark, timezone.now())}
    for rater in raters.values():
        if benchmark.pseudonym(rater.pk) == name:
            return rater
    named = [rater for rater in raters.values() if rater_name(rater, benchmark.pseudonym) == name]
    if len(named) == 1:
        return named[0]
    code, text = "unknown", _("Nobody of this name answers in the benchmark.")
    if named:
        code, text = "ambiguous", _("Several models have this name. Name the pseudonym.")
    raise Refused(text, errors=[problem("/rater", code, text)])


def exclusions_in(benchmark: Benchmark) -> Any:
    return Exclusion.objects.filter(benchmark=benchmark).select_related("benchmark", "rater")


def exclusion_of(benchmark: Benchmark, exclusion_id: int) -> Exclusion:
    """Raises Http404."""
    row: Exclusion | None = exclusions_in(benchmark).filter(pk=exclusion_id).first()
    if row is None:
        raise Http404
    return row


def has_shared_name(benchmark: Benchmark, rater: Rater) -> bool:
    """Whether another model that answers in the benchmark has the same name, in another setting."""
    if rater.kind != Rater.Kind.MODEL:
        return False
    others = Rater.objects.filter(kind=Rater.Kind.MODEL, team=rater.team_id, name=rater.name).exclude(pk=rater.pk)
    answers = Annotation.objects.filter(rater__in=others, assignment__campaign__stage__benchmark=benchmark)
    return answers.exists()


def exclusion_json(row: Exclusion) -> dict[str, Any]:
    pseudonym = row.benchmark.pseudonym
    name = pseudonym(row.rater_id) if has_shared_name(row.benchmark, row.rater) else rater_name(row.rater, pseudonym)
    return {"id": row.pk, "rater": name, "reason": row.reason, "at": row.at, "lifted_at": row.lifted_at}
