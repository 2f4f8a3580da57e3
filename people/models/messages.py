from django.conf import settings
from django.db import models


class Message(models.Model):
    """What a manager says to a cohort: on each member's home until they have read it, and by mail."""

    cohort = models.ForeignKey("people.Cohort", models.PROTECT, related_name="messages")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    body = models.TextField(max_length=4000)
    sent_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"message {self.pk} to {self.cohort_id}"


class MessageRead(models.Model):
    message = models.ForeignKey(Message, models.PROTECT, related_name="reads")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    read_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["message", "user"], name="message_read_once")]

    def __str__(self) -> str:
        return f"{self.user_id} read {self.message_id}"
