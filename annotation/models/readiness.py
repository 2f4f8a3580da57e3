from django.db import models


class Readiness(models.Model):
    """How far a person is with the instructions they must go through before they work."""

    participation = models.ForeignKey("annotation.Participation", models.PROTECT, related_name="readiness")
    version = models.ForeignKey("annotation.InstructionVersion", models.PROTECT, related_name="+")
    seen = models.JSONField(default=dict, help_text="{material key: seconds it was open}")
    answers = models.JSONField(default=dict, help_text="{question key: code}, the last try.")
    tries = models.PositiveSmallIntegerField(default=0)
    passed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["participation", "version"], name="readiness_once")]

    def __str__(self) -> str:
        return f"readiness of {self.participation_id} for {self.version_id}"
