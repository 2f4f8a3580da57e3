from django.db import models


class Snapshot(models.Model):
    """A report that took long, as it was: shown with "as of" and how many answers came since, until it is made anew.

    `key` is the SHA-256 of everything that was chosen; `watermark` that of `annotation.queries.answers` when reading
    began.
    """

    benchmark = models.ForeignKey("benchmarks.Benchmark", models.PROTECT, related_name="+")
    report = models.CharField(max_length=60)
    key = models.CharField(max_length=64)
    watermark = models.BigIntegerField()
    answers = models.BigIntegerField(default=0, help_text="How many answers there were to read.")
    data = models.JSONField()
    seconds = models.FloatField()
    computed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["benchmark", "report", "key"], name="snapshot_once")]

    def __str__(self) -> str:
        return f"{self.report} of {self.benchmark_id}"
