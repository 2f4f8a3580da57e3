"""The revision loop: items that were returned with a comment, and who judged earlier revisions of an item."""

from django.conf import settings
from django.db import models
from django.db.models import Q

BY_IMPORT = "import"
"""The maker of items that were imported: an import under the same key makes their next revision."""


class ItemReturn(models.Model):
    """A reviewer, or a filter, returned an item with a comment; its next revision replaces it. Until its maker was
    called, this row is the outbox for that call."""

    item = models.ForeignKey("benchmarks.Item", models.PROTECT, related_name="returns")
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+", help_text="None: a filter returned it."
    )
    comment = models.TextField()
    maker = models.CharField(max_length=40, help_text="Key of the maker that writes the next revision.")
    at = models.DateTimeField()
    called_at = models.DateTimeField(null=True, blank=True, help_text="When the maker was called.")
    problem = models.CharField(max_length=40, blank=True, default="", help_text="Why the maker could not begin.")
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item"], condition=Q(undone_at=None), name="item_return_live_once")
        ]
        indexes = [models.Index(fields=["at"], condition=Q(called_at=None, undone_at=None), name="item_return_to_call")]

    def __str__(self) -> str:
        return f"return of {self.item_id}"


class FormerJudge(models.Model):
    """A person who judged an earlier revision of this item, and is not asked to judge this one."""

    item = models.ForeignKey("benchmarks.Item", models.PROTECT, related_name="former_judges", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "user"], name="former_judge_once")]

    def __str__(self) -> str:
        return f"{self.user_id} judged an earlier revision of {self.item_id}"
