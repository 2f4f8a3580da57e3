from django.conf import settings
from django.db import models


class InterfaceLanguage(models.Model):
    """What speakers and admins have done for a language of the interface. Its catalogue is a file, not a row.

    `revision` grows whenever a text that the site shows may have changed; each process compares it.
    """

    code = models.CharField(max_length=12, unique=True)
    revision = models.PositiveIntegerField(default=0)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    confirmed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")

    def __str__(self) -> str:
        return self.code


class LanguageSpeaker(models.Model):
    """Who confirms and corrects the texts of a language."""

    language = models.ForeignKey(InterfaceLanguage, models.PROTECT, related_name="speakers")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="spoken_languages")
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    added_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["language", "user"], name="language_speaker_once")]

    def __str__(self) -> str:
        return f"{self.user_id} speaks {self.language_id}"


class TextVersion(models.Model):
    """A translation of one text as a speaker confirmed or suggested it. Never changed, only undone or followed.

    A text is known by its English words: when they change, it is another text, and open again.
    """

    language = models.ForeignKey(InterfaceLanguage, models.PROTECT, related_name="text_versions")
    key = models.CharField(max_length=32, help_text="Digest of the English text, its plural and its context.")
    source = models.TextField()
    plural = models.TextField(blank=True)
    context = models.CharField(max_length=200, blank=True)
    forms = models.JSONField(help_text="The translation: one text, or one for each plural form.")
    draft = models.JSONField(default=list, help_text="What the catalogue had then; empty if nothing.")
    is_confirmed = models.BooleanField()
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField()
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["language", "key", "-id"], name="text_version_latest", condition=models.Q(undone_at=None)
            )
        ]

    def __str__(self) -> str:
        return f"{self.language_id}: {self.source[:60]}"
