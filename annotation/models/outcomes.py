"""Acceptance, and what is made of what was accepted."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Review(models.Model):
    """What a reviewer said about one annotation. Every version of an answer keeps its reviews."""

    class Decision(models.TextChoices):
        ACCEPT = "accept", _("Accept")
        RETURN = "return", _("Return to author")
        REJECT = "reject", _("Reject")

    annotation = models.ForeignKey("annotation.Annotation", models.PROTECT, related_name="reviews")
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+",
        help_text="None: a filter returned the picture that came with the answer, or see `reviewer_name`.",
    )  # fmt: skip
    reviewer_name = models.CharField(
        max_length=40, blank=True, default="", db_default="", help_text="As an imported release names the reviewer."
    )
    decision = models.CharField(max_length=6, choices=Decision)
    reason = models.CharField(max_length=40, blank=True)
    comment = models.TextField(blank=True)
    at = models.DateTimeField()
    undone_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True, help_text="When its author saw it.")
    batch = models.ForeignKey(
        "annotation.ReviewBatch", models.PROTECT, null=True, related_name="reviews",
        help_text="Accepted with the other answers of its author, after a sample; nobody looked at this one.",
    )  # fmt: skip

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["annotation"], condition=Q(undone_at=None), name="review_live_once"),
            models.CheckConstraint(name="review_says_why", condition=Q(decision="accept") | ~Q(reason="")),
        ]

    def __str__(self) -> str:
        return f"{self.decision} of annotation {self.annotation_id}"


class Outcome(models.Model):
    """What a rule says of a unit of a campaign once it has the answers it needs. Made anew when they change."""

    class State(models.TextChoices):
        ACCEPTED = "accepted", _("Accepted")
        REJECTED = "rejected", _("Not accepted")
        UNDECIDED = "undecided", _("Not decided")
        WAITING = "waiting", _("Waiting for a fact")

    campaign = models.ForeignKey("annotation.Campaign", models.PROTECT, related_name="outcomes", db_index=False)
    unit = models.ForeignKey("annotation.Unit", models.PROTECT, related_name="outcomes")
    rule_version = models.ForeignKey("annotation.RuleVersion", models.PROTECT, related_name="+", db_index=False)
    state = models.CharField(max_length=10, choices=State)
    failed = models.JSONField(default=list, help_text="Keys of the clauses that failed, the first one first.")
    waits_for = models.JSONField(
        default=list, db_default=models.Value([], models.JSONField()), help_text="Missing facts that are read."
    )
    numbers = models.JSONField(
        default=dict, help_text="What the clauses were decided on; the score, if the rule has one."
    )
    answers = models.PositiveSmallIntegerField(help_text="How many answers it was decided on.")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "unit"], name="outcome_once")]

    def __str__(self) -> str:
        return f"{self.state} of unit {self.unit_id}"


class GoneOutcome(models.Model):
    """An outcome that was taken away, for programs that read what has changed since. A trigger writes it.

    The database has one more column, `xact`: the transaction that took it away.
    """

    outcome = models.BigIntegerField(help_text="Its number.")
    campaign = models.ForeignKey("annotation.Campaign", models.PROTECT, related_name="+", db_index=False)
    unit = models.ForeignKey("annotation.Unit", models.PROTECT, related_name="+", db_index=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "unit"], name="gone_outcome_once")]

    def __str__(self) -> str:
        return f"gone: outcome {self.outcome}"


class ItemAcceptance(models.Model):
    """A person's decision that an item goes on as it is, whatever the rule says of the answers to it."""

    item = models.ForeignKey("benchmarks.Item", models.PROTECT, related_name="acceptances")
    reason = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField()
    undone_at = models.DateTimeField(null=True)
    undone_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item"], condition=Q(undone_at=None), name="item_acceptance_live_once"),
            models.CheckConstraint(name="item_acceptance_says_why", condition=~Q(reason="")),
        ]

    def __str__(self) -> str:
        return f"item {self.item_id} accepted as it is"


class ItemSource(models.Model):
    """What a derived item is made of: an item of an earlier stage, and the accepted answer, if one was used."""

    item = models.ForeignKey("benchmarks.Item", models.PROTECT, related_name="sources")
    source = models.ForeignKey("benchmarks.Item", models.PROTECT, related_name="derived")
    annotation = models.ForeignKey("annotation.Annotation", models.PROTECT, null=True, related_name="derived")
    role = models.CharField(
        max_length=10, blank=True, default="", db_default="", help_text='"item", "candidate" or "reference", or empty.'
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["item", "source", "annotation"], nulls_distinct=False, name="item_source_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.item_id} from {self.source_id}"


class ItemContributor(models.Model):
    """A rater who had a part in an item or in any of its ancestors. Never taken away: what one knows, one knows."""

    item = models.ForeignKey("benchmarks.Item", models.PROTECT, related_name="contributors", db_index=False)
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="+")
    own = models.BooleanField(
        default=True, db_default=True, help_text="False where their answer is only a reference of the item."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "rater"], name="item_contributor_once")]

    def __str__(self) -> str:
        return f"{self.rater_id} in {self.item_id}"


class StageInput(models.Model):
    """Whether a run's answers become items of a stage that judges or rates answers.

    A model answers in several runs, and some of its answers come in a file of a campaign: these are run 0.
    """

    class State(models.TextChoices):
        CHOSEN = "chosen", _("Chosen")
        LEFT_OUT = "left_out", _("Left out")

    stage = models.ForeignKey("benchmarks.Stage", models.PROTECT, related_name="inputs")
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="+")
    run = models.BigIntegerField(default=0, help_text="Id of the run; no foreign key, since runs lie above.")
    state = models.CharField(max_length=8, choices=State)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stage", "rater", "run"], name="stage_input_once")]

    def __str__(self) -> str:
        return f"run {self.run} of {self.rater_id} in {self.stage_id}: {self.state}"


class Due(models.Model):
    """A stage whose derived items must be looked at again, because of one item of an earlier stage.

    Written in the transaction that changed what is accepted; deleted when it was worked off.
    """

    stage = models.ForeignKey("benchmarks.Stage", models.PROTECT, related_name="due")
    source = models.ForeignKey("benchmarks.Item", models.PROTECT, related_name="+")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"stage {self.stage_id} because of {self.source_id}"


class Upload(models.Model):
    """A picture that a person brought for an assignment. Which one is the answer, the annotation says."""

    assignment = models.ForeignKey("annotation.Assignment", models.PROTECT, related_name="uploads")
    image = models.ForeignKey("benchmarks.Image", models.PROTECT, related_name="uploads")
    fetched_from = models.CharField(max_length=2000, blank=True, help_text="Empty when it came as a file.")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["assignment", "image"], name="upload_once")]

    def __str__(self) -> str:
        return f"upload for {self.assignment_id}"


class StageDraft(models.Model):
    """A stage as a researcher is writing it; `content` has the same keys as the stage's columns."""

    stage = models.OneToOneField("benchmarks.Stage", models.PROTECT, related_name="draft")
    content = models.JSONField()
    version = models.PositiveIntegerField(default=0)
    saved_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    saved_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"draft of {self.stage_id}"


class StageVersion(models.Model):
    """A stage as it was published, so that it can be looked at and brought back."""

    stage = models.ForeignKey("benchmarks.Stage", models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    content = models.JSONField()
    published_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    published_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stage", "number"], name="stage_version_once")]

    def __str__(self) -> str:
        return f"version {self.number} of {self.stage_id}"
