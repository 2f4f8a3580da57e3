"""What is kept beside an item of people's answers to it, so that pages can sort and filter by it."""

from django.db import models
from django.db.models import Q


class ItemTally(models.Model):
    """How many answers an item has, and how far they differ. Only annotation.services.item_tallies writes it.

    `disagreement` is the share of pairs of people whose answers to the same question and target differ, of the question
    with the highest share; null while no question has two answers.
    """

    item = models.OneToOneField("benchmarks.Item", models.PROTECT, primary_key=True, related_name="tally")
    stage = models.ForeignKey("benchmarks.Stage", models.PROTECT, related_name="+", db_index=False)
    answers = models.PositiveIntegerField(help_text="Of people, those that count.")
    people = models.PositiveIntegerField()
    disagreement = models.FloatField(null=True)
    field = models.CharField(max_length=60, blank=True, help_text="The question with this disagreement.")
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="item_tally_is_share",
                condition=Q(disagreement=None) | Q(disagreement__gte=0, disagreement__lte=1),
            )
        ]
        indexes = [models.Index(fields=["stage", "disagreement", "item"], name="item_tally_order")]

    def __str__(self) -> str:
        return f"{self.answers} answers to {self.item_id}"


class StageTally(models.Model):
    """Up to which state of the answers the tallies of a stage's items are computed."""

    stage = models.OneToOneField("benchmarks.Stage", models.PROTECT, primary_key=True, related_name="tally")
    watermark = models.BigIntegerField(help_text="The sum of the counters of changes of its campaigns.")
    at = models.DateTimeField()
    seconds = models.FloatField(help_text="How long the last computation took: the next one waits accordingly.")

    def __str__(self) -> str:
        return f"tallies of stage {self.stage_id}"
