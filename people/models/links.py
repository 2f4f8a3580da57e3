"""Single-use links. Only a hash of the token is stored."""

from django.conf import settings
from django.db import models


class Link(models.Model):
    token_hash = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True


class Invitation(Link):
    """Brings a new person in: as a member of a cohort, or of the team itself."""

    team = models.ForeignKey("people.Team", models.PROTECT, related_name="invitations")
    cohort = models.ForeignKey("people.Cohort", models.PROTECT, null=True, blank=True, related_name="invitations")
    team_role = models.CharField(max_length=10, blank=True)
    email = models.EmailField(blank=True)
    note = models.CharField(max_length=200, blank=True)
    used_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")

    def __str__(self) -> str:
        return f"invitation {self.pk} to {self.cohort or self.team}"


class EmailConfirmation(Link):
    """Somebody who accepts an invitation gave another address than the one it was mailed to: the account is made when
    the link that was mailed there is opened, with the password that its owner chooses then."""

    created_by = None  # type: ignore[assignment]  # whoever holds the invitation, and nobody known yet
    invitation = models.ForeignKey(Invitation, models.PROTECT, related_name="confirmations")
    email = models.EmailField()
    name = models.CharField(max_length=120)
    language = models.CharField(max_length=12, blank=True)
    time_zone = models.CharField(max_length=60, blank=True)

    def __str__(self) -> str:
        return f"confirmation {self.pk} for {self.invitation_id}"


class SignInLink(Link):
    """Lets one annotator in without e-mail: a manager makes it and passes it on."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="sign_in_links")
    cohort = models.ForeignKey("people.Cohort", models.PROTECT, null=True, related_name="sign_in_links")

    def __str__(self) -> str:
        return f"sign-in link {self.pk}"
