from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class Team(models.Model):
    """Owns benchmarks and cohorts. Nothing is visible across teams."""

    name = models.CharField(_("name"), max_length=120)
    slug = models.SlugField(unique=True)
    researchers_make_cohorts = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Owners and researchers of a benchmark may create the cohorts that its recipe names.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class TeamMember(models.Model):
    """Researchers of a team. An admin of the team manages members, cohorts and consent texts."""

    class Role(models.TextChoices):
        ADMIN = "admin", _("Team admin")
        MEMBER = "member", _("Member")

    team = models.ForeignKey(Team, models.PROTECT, related_name="members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="team_memberships")
    role = models.CharField(max_length=10, choices=Role, default=Role.MEMBER)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "user"], name="team_member_once")]

    def __str__(self) -> str:
        return f"{self.user} in {self.team} ({self.role})"
