from django.conf import settings
from django.db import models


class ConsentVersion(models.Model):
    """One version of what people of a team agree to. Published versions never change; a new text is a new version."""

    team = models.ForeignKey("people.Team", models.PROTECT, related_name="consent_versions")
    number = models.PositiveIntegerField()
    published_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "number"], name="consent_version_once")]

    def __str__(self) -> str:
        return f"{self.team} consent {self.number}"


class ConsentText(models.Model):
    version = models.ForeignKey(ConsentVersion, models.PROTECT, related_name="texts")
    language = models.CharField(max_length=12)
    body = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "language"], name="consent_text_once")]

    def __str__(self) -> str:
        return f"{self.version} ({self.language})"


class Consent(models.Model):
    """A person agreed to one version, in one language."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="consents")
    version = models.ForeignKey(ConsentVersion, models.PROTECT, related_name="consents")
    language = models.CharField(max_length=12)
    given_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    counts_earlier = models.BooleanField(
        db_default=False, default=False, help_text="Answers from before an earlier withdrawal count again."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "version"], condition=models.Q(withdrawn_at__isnull=True), name="consent_live_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.user} agreed to {self.version}"
