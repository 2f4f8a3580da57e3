from django.db import models


class RequestCount(models.Model):
    """How many requests somebody made in a short span of time: what limits are counted by, for all processes together.

    The table is not logged: after a crash of the database server it is empty, and costs no disk while it is written.
    """

    key = models.CharField(max_length=100, help_text="Whose they are: person:5, token:7, team:2, failures:<address>.")
    span = models.BigIntegerField(help_text="When the span begins, in seconds since 1970.")
    n = models.IntegerField()
    until = models.BigIntegerField(help_text="When it counts for nothing any more.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key", "span"], name="request_count_once")]
        indexes = [models.Index(fields=["until"], name="request_count_age")]

    def __str__(self) -> str:
        return f"{self.n} of {self.key}"
