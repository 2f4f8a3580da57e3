from django.conf import settings
from django.db import models
from django.utils import translation
from django.utils.translation import gettext_lazy as _

from people.locales.closest_language import closest_language


class Cohort(models.Model):
    """People who share a culture. The label is free text: a country, a region, a faith, a diaspora."""

    class Direction(models.TextChoices):
        LTR = "ltr", _("Left to right")
        RTL = "rtl", _("Right to left")

    team = models.ForeignKey("people.Team", models.PROTECT, related_name="cohorts")
    label = models.CharField(_("label"), max_length=120)
    names = models.JSONField(default=dict, blank=True, help_text=_("The label in other languages: code to text."))
    country = models.CharField(_("country (ISO code)"), max_length=2, blank=True)
    languages = models.JSONField(default=list, blank=True)
    direction = models.CharField(max_length=3, choices=Direction, default=Direction.LTR)
    time_zone = models.CharField(_("time zone"), max_length=60, default="UTC")
    paused_at = models.DateTimeField(null=True, blank=True, help_text="Nobody of the cohort is given new work.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "label"], name="cohort_label_once")]

    def __str__(self) -> str:
        return self.label

    @property
    def name(self) -> str:
        """The label in the language of the page, or as it is."""
        return self.name_in(translation.get_language() or "en")

    def name_in(self, language: str) -> str:
        """The label in a language, or as it is."""
        return self.names.get(closest_language(self.names, language)) or self.label


class CohortManager(models.Model):
    cohort = models.ForeignKey(Cohort, models.PROTECT, related_name="managers")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="managed_cohorts")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cohort", "user"], name="cohort_manager_once")]

    def __str__(self) -> str:
        return f"{self.user} manages {self.cohort}"


class CohortMember(models.Model):
    """Membership is ended by `left_at`, never deleted: old answers keep their cohort."""

    cohort = models.ForeignKey(Cohort, models.PROTECT, related_name="members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="cohort_memberships")
    joined_at = models.DateTimeField(auto_now_add=True)
    left_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", help_text="Empty: they left."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cohort", "user"], name="cohort_member_once")]

    def __str__(self) -> str:
        return f"{self.user} in {self.cohort}"
