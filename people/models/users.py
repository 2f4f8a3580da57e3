from collections.abc import Iterator
from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, name: str = "", password: str | None = None, **extra: Any) -> "User":
        user = self.model(email=self.normalize_email(email).lower(), name=name, **extra)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, name: str = "", password: str | None = None, **extra: Any) -> "User":
        return self.create_user(email, name, password, is_staff=True, is_superuser=True, **extra)

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email__iexact=username, sign_in=User.SignIn.ACCOUNT)


class User(AbstractBaseUser, PermissionsMixin):
    """A person who can sign in, or a program of a team. `is_staff` is a site admin."""

    class SignIn(models.TextChoices):
        ACCOUNT = "account", _("Person")
        SERVICE = "service", _("Service account")

    sign_in = models.CharField(
        max_length=10, choices=SignIn, default=SignIn.ACCOUNT, db_default=SignIn.ACCOUNT.value, editable=False,
        help_text="A service account has no e-mail and no password; programs use its tokens.",
    )  # fmt: skip
    email = models.EmailField(_("e-mail"))
    name = models.CharField(_("name"), max_length=120)
    language = models.CharField(_("language"), max_length=12, blank=True)
    time_zone = models.CharField(_("time zone"), max_length=60, blank=True)
    simulated = models.BooleanField(default=False, help_text=_("Not a person: created by the demo or a simulation."))
    is_staff = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    password_mailed_at = models.DateTimeField(null=True, blank=True, editable=False)
    sessions_ended = models.PositiveIntegerField(default=0, editable=False)
    credentials_since = models.DateTimeField(null=True, blank=True, editable=False)

    objects: ClassVar[UserManager] = UserManager()
    USERNAME_FIELD = "email"
    REQUIRED_FIELDS = ["name"]

    class Meta:
        constraints = [
            models.UniqueConstraint(Lower("email"), name="user_email_once", condition=~models.Q(email="")),
            models.CheckConstraint(
                name="user_signs_in_by_email",
                condition=models.Q(sign_in="account") & ~models.Q(email="")
                | models.Q(sign_in="service", email="", is_staff=False, is_superuser=False),
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.email

    @property
    def is_service(self) -> bool:
        """Whether this is a program of a team."""
        return self.sign_in == self.SignIn.SERVICE

    def set_password(self, raw_password: str | None) -> None:
        """Tokens and sign-in links made before a new password stop working, whoever sets it.

        When Django only stores the same password under a newer hash, it saves the password column alone.
        """
        super().set_password(raw_password)
        self.credentials_since = timezone.now()

    def set_unusable_password(self) -> None:
        super().set_unusable_password()
        self.credentials_since = timezone.now()

    def get_session_auth_hash(self) -> str:
        """A session is good while the password and the count of endings stay as they were."""
        return self._add_session_count(super().get_session_auth_hash())

    def get_session_auth_fallback_hash(self) -> Iterator[str]:
        return map(self._add_session_count, super().get_session_auth_fallback_hash())

    def _add_session_count(self, digest: str) -> str:
        return f"{digest}.{self.sessions_ended}" if self.sessions_ended else digest


class Rater(models.Model):
    """Who answers sheets: a person, or a model configuration of a team. Both are the same to every measure.

    A person without a user is one whose answers came in a file.
    """

    class Kind(models.TextChoices):
        PERSON = "person", _("Person")
        MODEL = "model", _("Model")

    kind = models.CharField(max_length=8, choices=Kind)
    user = models.OneToOneField(User, models.PROTECT, null=True, blank=True, related_name="rater")
    team = models.ForeignKey("people.Team", models.PROTECT, null=True, blank=True)
    name = models.CharField(max_length=200, blank=True)
    setting = models.CharField(max_length=60, blank=True, help_text='How a model was asked: "main", "text_only", ...')
    about = models.JSONField(
        default=dict, help_text="Of a model: family, open, released, parameters, multilingual, training_data, ..."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="rater_is_person_or_model",
                condition=models.Q(kind="person", user__isnull=False, team__isnull=True)
                | models.Q(kind="person", user__isnull=True, team__isnull=False)
                | models.Q(kind="model", user__isnull=True, team__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class ModelDetails(models.Model):
    """What a team says of a model, asked once: it holds for every rater of this name, whatever its setting.

    It is written into `Rater.about`, which tables read. An empty text means that nobody has said it.
    """

    class Access(models.TextChoices):
        OPEN = "open", _("Open weights")
        CLOSED = "closed", _("Closed")

    team = models.ForeignKey("people.Team", models.PROTECT, related_name="model_details")
    name = models.CharField(max_length=200)
    access = models.CharField(max_length=6, choices=Access, blank=True)
    released = models.CharField(max_length=10, blank=True, help_text="YYYY, YYYY-MM or YYYY-MM-DD.")
    parameters = models.CharField(max_length=40, blank=True, help_text='As the makers write it: "0.4 B".')
    family = models.CharField(max_length=80, blank=True)
    training_data = models.CharField(max_length=1000, blank=True)
    updated_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="model_details_once")]

    def __str__(self) -> str:
        return self.name

    @property
    def about(self) -> dict[str, str | bool]:
        """What is known, by the keys of `Rater.about`."""
        texts = {name: str(getattr(self, name)) for name in ("released", "parameters", "family", "training_data")}
        known: dict[str, str | bool] = {name: text for name, text in texts.items() if text}
        return known | ({"open": self.access == self.Access.OPEN} if self.access else {})
