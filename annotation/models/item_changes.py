"""What bulk actions changed: what undo reads."""

from django.db import models


class ItemChange(models.Model):
    """One item that a bulk action changed. `before`: what undo needs beside the action itself."""

    job = models.ForeignKey("jobs.Job", models.PROTECT, related_name="item_changes", db_index=False)
    item = models.ForeignKey("benchmarks.Item", models.PROTECT, related_name="changes")
    before = models.JSONField(default=dict)
    at = models.DateTimeField()
    undone_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "item"], name="item_change_once")]

    def __str__(self) -> str:
        return f"change of {self.item_id} by job {self.job_id}"
