from django.conf import settings
from django.db import models


class ApiRequest(models.Model):
    """A request that carried an `Idempotency-Key`, with its reply: written in the transaction of its effect, so that
    there is a row exactly where there is an effect. Kept for 48 hours."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    key = models.CharField(max_length=200)
    method = models.CharField(max_length=6)
    path = models.TextField(help_text="With its query.")
    body_sha256 = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(default=0, help_text="0 only inside the transaction.")
    response = models.TextField(blank=True, help_text="JSON as it was sent; secrets are null.")
    headers = models.JSONField(default=dict)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="api_request_once")]
        indexes = [models.Index(fields=["at"], name="api_request_age")]

    def __str__(self) -> str:
        return f"{self.method} {self.path} ({self.status})"
