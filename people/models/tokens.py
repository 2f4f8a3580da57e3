from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _


class ApiToken(models.Model):
    """What a program shows instead of a password. Only its SHA-256 is kept; `prefix` lets its owner tell it apart."""

    class Scope(models.TextChoices):
        READ = "read", _("Read structure, agreement and tables")
        EXPORT = "export", _("Read items and answers, under pseudonyms")
        WRITE = "write", _("Create and change benchmarks, items, campaigns and runs")
        ADMIN = "admin", _("Change members, cohorts, invitations and endpoints; publish releases")
        ANSWER = "answer", _("Answer items as you, where a benchmark allows answers by programs")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="api_tokens")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12)
    scopes = ArrayField(models.CharField(max_length=10), default=list, help_text="Values of Scope, at least one.")
    benchmark_ids = ArrayField(
        models.BigIntegerField(), default=list, blank=True, help_text="Empty: all that its person may see."
    )
    rate = models.PositiveIntegerField(null=True, blank=True, help_text="Requests a minute. Empty: as the site.")
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    warned_at = models.DateTimeField(null=True, blank=True, help_text="When its owner was told that it expires.")

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}...)"

    @property
    def scope_text(self) -> str:
        """What a program may do with it, in words."""
        return ", ".join(str(label) for scope, label in self.Scope.choices if scope in self.scopes)
