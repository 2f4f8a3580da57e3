"""How many decisions of a stage a second reviewer makes, too: looked at by reviewers, set by who runs the benchmark."""

import random
from dataclasses import asdict
from typing import Any

from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.forms.review_samples import SecondReviewForm
from annotation.pages.review_samples import SEEDS
from annotation.queries.second_reviews import second_progress
from annotation.services.review.second_draws import set_share
from api.protocol.contents import check_form, form_data
from api.protocol.operations import operation
from api.protocol.preconditions import check_match, with_etag
from api.protocol.problems import Conflict
from api.schemas import second_reviews as shapes
from api.views.base import ResourceView
from benchmarks.access import Can, benchmark_for
from benchmarks.models import Stage


class SecondReviewShareView(ResourceView):
    @operation("stage_second_reviews", "How many decisions are made a second time, and how far that is",
               scope="export", reply=shapes.SecondReviewProgress)  # fmt: skip
    def get(self, request: Request, slug: str, key: str) -> Response:
        return with_etag(request, progress_json(self.stage(request, slug, key, can="review")))

    @operation("stage_second_reviews_put", "Set the share of decisions that are made a second time", scope="write",
               body=shapes.SecondReviewShare, reply=shapes.SecondReviewProgress)  # fmt: skip
    def put(self, request: Request, slug: str, key: str) -> Response:
        stage = self.stage(request, slug, key, can="work_on")
        if stage.acceptance != Stage.Acceptance.BY_REVIEW:
            raise Conflict(_("Nobody reviews answers of this stage."))
        check_match(request, progress_json(stage))
        data = check_form(SecondReviewForm(form_data(self.content)))
        set_share(stage, data["percent"], random.SystemRandom().randrange(SEEDS), request.user, timezone.now())
        return with_etag(request, progress_json(stage))

    def stage(self, request: Request, slug: str, key: str, *, can: Can) -> Stage:
        """Raises Http404."""
        benchmark = benchmark_for(request.user, slug, can=can)
        stage = benchmark.stages.filter(key=key).first()
        if stage is None:
            raise Http404
        stage.benchmark = benchmark
        return stage


def progress_json(stage: Stage) -> dict[str, Any]:
    return asdict(second_progress(stage))
