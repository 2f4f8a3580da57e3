from django.conf import settings
from django.db import models
from django.db.models import Q

# Why an answer does not count: see annotation.services.inclusion.
CONSENT_WITHDRAWN = "consent_withdrawn"


class Draft(models.Model):
    """What a person has typed and not yet submitted. `version` grows with every save; an older one is refused."""

    assignment = models.OneToOneField("annotation.Assignment", models.PROTECT, related_name="draft")
    answers = models.JSONField(default=dict)
    trace = models.JSONField(default=dict, help_text="As Annotation.trace, so far.")
    version = models.PositiveIntegerField(default=0)
    saved_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"draft of {self.assignment_id}, version {self.version}"


class Annotation(models.Model):
    """One rater's answers to one sheet for one unit. Never edited, only superseded by a new version.

    `live` is false when it was superseded or taken back. `counted` is apart from any state: surplus and excluded
    answers are kept and are not counted. annotation.services.answers.inclusion decides which answers count.
    """

    assignment = models.ForeignKey("annotation.Assignment", models.PROTECT, related_name="annotations", db_index=False)
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="annotations", db_index=False)
    version = models.PositiveSmallIntegerField()
    client_key = models.CharField(max_length=64)
    answers = models.JSONField()
    sheet_version = models.ForeignKey("annotation.SheetVersion", models.PROTECT, related_name="+", db_index=False)
    instruction_version = models.ForeignKey(
        "annotation.InstructionVersion", models.PROTECT, null=True, related_name="+", db_index=False
    )
    rule_version = models.CharField(max_length=20, blank=True)
    cohort = models.ForeignKey("people.Cohort", models.PROTECT, null=True, related_name="+", db_index=False)
    language = models.CharField(max_length=12)
    shown_at = models.DateTimeField()
    submitted_at = models.DateTimeField()
    active_seconds = models.FloatField(null=True, help_text="Idle time removed; as the browser measured it.")
    confirmed = models.JSONField(default=list, help_text="Warnings the person confirmed.")
    trace = models.JSONField(default=dict, help_text="What was opened, and when: see annotation.trace.")
    live = models.BooleanField(default=True)
    counted = models.BooleanField(default=True)
    uncounted_because = models.CharField(max_length=20, blank=True)
    at_submit = models.CharField(
        max_length=20,
        blank=True,
        db_default="",
        default="",
        help_text="Why it could not count when it came (closed, no_consent, ...). Never changes.",
    )
    run = models.BigIntegerField(
        null=True,
        help_text="Id of the run that a model's answer comes from; no foreign key, since runs lie above. Null: a person"
        " answered, or the answer came in a file of a campaign.",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "version"], name="annotation_version_once"),
            models.UniqueConstraint(fields=["assignment"], condition=Q(live=True), name="annotation_live_once"),
            models.UniqueConstraint(fields=["rater", "client_key"], name="annotation_submit_once"),
            models.CheckConstraint(name="annotation_counted_is_live", condition=Q(live=True) | Q(counted=False)),
            models.CheckConstraint(
                name="annotation_uncounted_has_reason", condition=Q(counted=True) | ~Q(uncounted_because="")
            ),
        ]
        indexes = [
            models.Index(fields=["rater", "-submitted_at"], name="annotation_history"),
            # Few rows: pages of numbers ask how many answers were left out.
            models.Index(
                fields=["assignment"],
                condition=Q(uncounted_because__in=["consent_withdrawn", "no_consent"]),
                name="annotation_not_selected",
            ),
        ]

    def __str__(self) -> str:
        return f"annotation {self.pk}, version {self.version}"


class Rating(models.Model):
    """The narrow row every measure reads. `value` is the code as a number where the level is ordered."""

    annotation = models.ForeignKey(Annotation, models.PROTECT, related_name="ratings", db_index=False)
    campaign = models.ForeignKey("annotation.Campaign", models.PROTECT, related_name="+", db_index=False)
    cohort = models.ForeignKey("people.Cohort", models.PROTECT, null=True, related_name="+", db_index=False)
    unit = models.ForeignKey("annotation.Unit", models.PROTECT, related_name="ratings", db_index=False)
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="ratings", db_index=False)
    field = models.CharField(max_length=60)
    code = models.CharField(max_length=120)
    value = models.FloatField(null=True)
    live = models.BooleanField(default=True)
    counted = models.BooleanField(default=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["annotation", "field"], name="rating_once")]
        indexes = [models.Index(fields=["campaign", "field", "cohort"], name="rating_read")]

    def __str__(self) -> str:
        return f"{self.field}={self.code}"


class ProblemReport(models.Model):
    """A person says that something is wrong with an item."""

    assignment = models.ForeignKey("annotation.Assignment", models.PROTECT, related_name="problems")
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="+")
    text = models.TextField()
    at = models.DateTimeField(auto_now_add=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    answered_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    answer = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"problem {self.pk} on assignment {self.assignment_id}"
