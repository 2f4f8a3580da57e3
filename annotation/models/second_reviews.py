"""Second decisions on answers, by reviewers who do not see the first, and a third person's where the two differ."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.outcomes import Review


class SecondReviewShare(models.Model):
    """How many of a stage's first decisions are drawn for a second one. Without a row: none."""

    stage = models.OneToOneField("benchmarks.Stage", models.PROTECT, related_name="second_review_share")
    percent = models.FloatField()
    seed = models.BigIntegerField(help_text="With the id of an answer it decides whether the answer is drawn.")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(name="second_share_is_percent", condition=Q(percent__gte=0, percent__lte=100))
        ]

    def __str__(self) -> str:
        return f"{self.percent} % of stage {self.stage_id}"


class SecondReview(models.Model):
    """A first decision that was drawn, the second one (empty until somebody made it), and the third person's.

    The answer's state follows the first decision until a third person decides: `final` then replaces `first`. The
    module annotation.services.review.second_reviews says which decision stands.
    """

    first = models.OneToOneField(Review, models.PROTECT, related_name="second")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    reviewer_name = models.CharField(
        max_length=40, blank=True, default="", db_default="", help_text="As an imported release names the reviewer."
    )
    decision = models.CharField(max_length=6, choices=Review.Decision, blank=True)
    reason = models.CharField(max_length=40, blank=True)
    comment = models.TextField(blank=True)
    at = models.DateTimeField(null=True)
    final = models.OneToOneField(Review, models.PROTECT, null=True, related_name="settled")

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="second_review_whole",
                condition=Q(decision="", reviewer=None, reviewer_name="", at=None)
                | (~Q(decision="") & (Q(reviewer__isnull=False) | ~Q(reviewer_name="")) & Q(at__isnull=False)),
            ),
            models.CheckConstraint(name="second_review_before_third", condition=Q(final=None) | ~Q(decision="")),
        ]

    def __str__(self) -> str:
        return f"second review of {self.first_id}"
