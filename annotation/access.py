"""The only place where an id from a URL becomes an object of this app, for a person who may have it."""

from django.contrib.auth.models import AnonymousUser
from django.db.models import F, Q
from django.http import Http404
from django.shortcuts import get_object_or_404

from annotation.models import Annotation, Assignment, Campaign, CampaignCohort, Review, ReviewBatch
from annotation.queries import assignments, review_queue
from annotation.queries.answers import is_left_out
from benchmarks.models import Benchmark, Item, ItemReturn
from people.models import User

Person = User | AnonymousUser


def assignment_for(user: Person, assignment_id: int) -> Assignment:
    """One's own assignment, with all that a sheet needs. It outlives membership: late work is never refused."""
    if not user.is_active:
        raise Http404
    assignment = assignments.load_own_assignment(assignment_id, user.pk)
    if assignment is None or not isinstance(user, User):
        raise Http404
    assignment.rater.user = user
    return assignment


def benchmark_of_own_answers(user: Person, slug: str) -> Benchmark:
    """A benchmark of which this person has, or had, an item in hand. Raises Http404."""
    if not user.is_active:
        raise Http404
    own = Assignment.objects.filter(rater__user_id=user.pk, participation__isnull=False)
    stages = own.filter(campaign__stage__benchmark__slug=slug).values("campaign__stage__benchmark")
    return get_object_or_404(Benchmark, pk__in=stages)


def answer_for_review(user: User, benchmark: Benchmark, annotation_id: int) -> Annotation:
    """An answer this person may decide on, whatever its state; their own are not there for them, nor is any version
    of an answer whose author withdrew their consent."""
    joined = review_queue.reviewable(benchmark, user).select_related(
        "assignment__campaign__stage__benchmark",
        "assignment__unit__item",
        "assignment__participation__cohort__cohort",
        "assignment__rater",
        "sheet_version",
        "cohort",
    )
    rows = joined.exclude(is_left_out(benchmark.team_id))
    annotation = rows.filter(pk=annotation_id).first() if user.is_active else None
    if annotation is None:
        raise Http404
    return annotation


def review_for(user: User, benchmark: Benchmark, review_id: int) -> Review:
    """A decision on an answer this person may decide on; who may take it back, the service says."""
    rows = Review.objects.filter(annotation__in=review_queue.reviewable(benchmark, user))
    review = rows.filter(pk=review_id).first() if user.is_active else None
    if review is None:
        raise Http404
    return review


def batch_for(user: User, benchmark: Benchmark, batch_id: int) -> ReviewBatch:
    """A sample of a benchmark that `benchmark_for` opened to this reviewer; never one of their own answers."""
    rows = ReviewBatch.objects.filter(stage__benchmark=benchmark).exclude(author__user=user)
    batch = rows.select_related("stage__benchmark").filter(pk=batch_id).first() if user.is_active else None
    if batch is None:
        raise Http404
    return batch


def item_for(benchmark: Benchmark, item_id: int) -> Item:
    """An item of a benchmark that `benchmarks.access.benchmark_for` has already opened to this person."""
    return get_object_or_404(Item, pk=item_id, stage__benchmark=benchmark)


def item_return_for(benchmark: Benchmark, return_id: int) -> ItemReturn:
    """A return of an item of such a benchmark; who may undo it, the service says."""
    return get_object_or_404(ItemReturn, pk=return_id, item__stage__benchmark=benchmark)


def campaign_for(user: Person, benchmark: Benchmark, campaign_id: int) -> Campaign:
    """A campaign of a benchmark that `benchmarks.access.benchmark_for` has already opened to this person."""
    rows = Campaign.objects.select_related("stage__benchmark", "sheet_version")
    campaign = rows.filter(pk=campaign_id, stage__benchmark=benchmark).first() if user.is_active else None
    if campaign is None:
        raise Http404
    return campaign


def open_work_for(user: Person, campaign_id: int) -> CampaignCohort:
    """The cohort through which a person is in a campaign that was opened; left ones last, so that they learn why."""
    if not user.is_active:
        raise Http404
    rows = CampaignCohort.objects.filter(campaign_id=campaign_id, cohort__members__user_id=user.pk)
    never_open = Q(campaign__state=Campaign.State.DRAFT)
    discarded = Q(campaign__state=Campaign.State.CLOSED, campaign__opened_at=None)
    rows = rows.exclude(never_open | discarded).select_related("campaign", "cohort__team")
    campaign_cohort = rows.order_by(F("cohort__members__left_at").asc(nulls_first=True), "pk").first()
    if campaign_cohort is None:
        raise Http404
    return campaign_cohort
