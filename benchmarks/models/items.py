from django.db import models
from django.utils.translation import gettext_lazy as _

# Why an item is withdrawn: it was returned with a comment, and its next revision takes its place.
RETURNED = "revision"
# A person withdrew it; only a person brings it back.
BY_HAND = "by_hand"


class Item(models.Model):
    """One thing shown. `key` is its deterministic name in the stage: importing twice adds nothing.

    Several items may have the same picture. `concept`, `origin` (the prompt's country) and `condition` are what numbers
    are cut by; the rest is `context`. The table has one more column, `search`, which no object loads: see
    benchmarks.queries.item_words.
    """

    class Intake(models.TextChoices):
        KEPT = "kept", _("Kept")
        DROPPED = "dropped", _("Dropped")
        WAITING = "waiting", _("Waiting")

    stage = models.ForeignKey("benchmarks.Stage", models.PROTECT, related_name="items", db_index=False)
    key = models.CharField(max_length=200)
    concept = models.CharField(max_length=120, blank=True)
    origin = models.CharField(max_length=120, blank=True)
    condition = models.CharField(max_length=60, blank=True)
    answer_target = models.CharField(
        max_length=250,
        blank=True,
        default="",
        db_default="",
        help_text="The culture that the answer is about which the item is made of. It is written once and is no "
        "content, so the item stays the same item.",
    )
    text = models.TextField(blank=True)
    context = models.JSONField(default=dict)
    intake = models.CharField(
        max_length=8,
        choices=Intake,
        blank=True,
        default="",
        db_default="",
        help_text="Empty in a stage without filters.",
    )
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_because = models.CharField(max_length=20, blank=True, help_text='"source": brought back with its source.')
    outside_since = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When filters or a draw took it no longer; it stays, since it has an answer.",
    )
    revision = models.PositiveSmallIntegerField(
        default=1, db_default=1, help_text="Revision n > 1 has the key <key>.v<n>: see benchmarks.rules.revisions."
    )
    replaces = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="replaced_by", db_index=False,
        help_text="The earlier revision, which was returned with a comment.",
    )  # fmt: skip
    answers_withheld = models.BooleanField(
        default=False,
        db_default=False,
        help_text="The release that it was imported from has its answers withheld, which is not the same as no answer.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    completed_at = models.DateTimeField(null=True, blank=True, help_text="When an import filled in what it lacked.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stage", "key"], name="item_key_once"),
            # A comment makes one revision, however often the step that makes it is repeated after a kill.
            models.UniqueConstraint(
                fields=["replaces"], condition=models.Q(replaces__isnull=False), name="item_replaced_once"
            ),
            models.CheckConstraint(
                condition=models.Q(replaces=None) | models.Q(revision__gt=1), name="item_revision_has_number"
            ),
        ]
        indexes = [
            models.Index(fields=["stage", "id"], name="item_order"),
            models.Index(fields=["stage", "condition", "concept"], name="item_cut"),
            models.Index(fields=["stage", "concept"], name="item_concept"),
            models.Index(fields=["stage", "origin"], name="item_origin"),
            models.Index(
                fields=["stage", "intake"], condition=models.Q(intake__in=["dropped", "waiting"]), name="item_intake"
            ),
            models.Index(
                fields=["stage"],
                condition=models.Q(withdrawn_at__isnull=False) | models.Q(intake__in=["dropped", "waiting"]),
                name="item_unusable",
            ),
            models.Index(fields=["stage"], condition=models.Q(outside_since__isnull=False), name="item_outside"),
            models.Index(fields=["stage"], condition=models.Q(answers_withheld=True), name="item_withheld"),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def culture(self) -> str:
        """The label of the cohort whose own item it is; the same for queries: benchmarks.queries.cultures."""
        return self.answer_target or self.origin


class ItemImage(models.Model):
    item = models.ForeignKey(Item, models.PROTECT, related_name="images")
    image = models.ForeignKey("benchmarks.Image", models.PROTECT, related_name="uses")
    role = models.CharField(max_length=30, default="image")
    alt = models.CharField(max_length=300, blank=True)
    source = models.CharField(max_length=500, blank=True)
    licence = models.CharField(max_length=120, blank=True)
    file_name = models.CharField(max_length=500, blank=True, help_text="Path in the import that brought it.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "role"], name="item_image_role_once")]

    def __str__(self) -> str:
        return f"{self.role} of {self.item}"


class ItemFact(models.Model):
    """What a detector, a filter or a judge found about an item."""

    item = models.ForeignKey(Item, models.PROTECT, related_name="facts")
    key = models.CharField(max_length=60)
    value = models.JSONField()
    source = models.CharField(max_length=120)
    version = models.CharField(max_length=60, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "key", "source", "version"], name="item_fact_once")]

    def __str__(self) -> str:
        return f"{self.key} of {self.item}"
