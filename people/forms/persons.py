from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth import password_validation
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, SetPasswordForm
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from people.forms.base import AGREE, StyledFormMixin, is_zone, language_choices, zone_choices
from people.models import EmailConfirmation, User
from people.services.limits import login_throttle_keys, sign_in_limit


class CountingForm(AuthenticationForm):
    """A form of a name and a password whose failures count for the address that sends it."""

    def clean(self) -> dict[str, Any]:
        try:
            return super().clean()
        except forms.ValidationError:
            if self.request is not None:
                name = str(self.cleaned_data.get("username", ""))
                sign_in_limit.note_failure(login_throttle_keys.client_address(self.request), name, timezone.now())
            raise


class SignInForm(StyledFormMixin, CountingForm):
    error_messages = {
        "invalid_login": _("Wrong e-mail or password. Passwords are case-sensitive."),
        "inactive": _("This account is deactivated. Ask the person who invited you."),
    }


class PasswordResetRequestForm(StyledFormMixin, forms.Form):
    email = forms.EmailField(
        label=_("E-mail"), max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )


class PasswordSetForm(StyledFormMixin, SetPasswordForm):  # type: ignore[type-arg]
    pass


class ChangePasswordForm(StyledFormMixin, PasswordChangeForm):
    pass


class ProfileForm(StyledFormMixin, forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = ["name", "language", "time_zone"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        languages = [("", _("As in my browser")), *language_choices()]
        self.fields["language"] = forms.ChoiceField(label=_("Language"), choices=languages, required=False)
        zones = [("", _("As in my cohort")), *zone_choices(self.instance.time_zone)]
        self.fields["time_zone"] = forms.ChoiceField(label=_("Time zone"), choices=zones, required=False)
        for name in ("language", "time_zone"):
            self.fields[name].widget.attrs["class"] = "in"


class JoinForm(StyledFormMixin, forms.Form):
    """For a person who is signed in. With a consent text in force, agreeing is part of joining."""

    agree = forms.BooleanField(label=AGREE, error_messages={"required": _("To join, agree to the text above.")})

    def __init__(self, *args: Any, asks_consent: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not asks_consent:
            del self.fields["agree"]


class PasswordForm(JoinForm):
    """For a person whose account is made with the password that they choose here."""

    password = forms.CharField(
        label=_("Password"), strip=False, widget=forms.PasswordInput, help_text=_("At least 8 characters.")
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].widget.attrs["autocomplete"] = "new-password"

    def future_user(self, cleaned: dict[str, Any]) -> User:
        """Whose password it will be, not saved: a password must not be the name or the address."""
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        password = cleaned.get("password")
        if password:
            try:
                password_validation.validate_password(password, self.future_user(cleaned))
            except forms.ValidationError as problem:
                self.add_error("password", problem)
        return cleaned


class ConfirmForm(PasswordForm):
    """For the owner of an address that somebody gave with an invitation to another one."""

    field_order = ["password", "agree"]

    def __init__(self, *args: Any, confirmation: EmailConfirmation, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.confirmation = confirmation

    def future_user(self, cleaned: dict[str, Any]) -> User:
        return User(email=self.confirmation.email, name=self.confirmation.name)


class RegisterForm(PasswordForm):
    """For a person who has no account yet."""

    name = forms.CharField(label=_("Name"), max_length=120, help_text=_("As your team may call you."))
    email = forms.EmailField(label=_("E-mail"), help_text=_("You sign in with it."))
    time_zone = forms.CharField(required=False, widget=forms.HiddenInput(attrs={"data-zone": ""}))
    field_order = ["name", "email", "password", "agree"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].widget.attrs["autocomplete"] = "name"
        self.fields["email"].widget.attrs["autocomplete"] = "email"

    def clean_email(self) -> str:
        return str(self.cleaned_data["email"]).lower()

    def clean_time_zone(self) -> str:
        """The browser's guess; a name this machine does not know is dropped."""
        zone = str(self.cleaned_data["time_zone"])
        return zone if len(zone) <= 60 and is_zone(zone) else ""

    def future_user(self, cleaned: dict[str, Any]) -> User:
        return User(email=cleaned.get("email", ""), name=cleaned.get("name", ""))


class SetupForm(RegisterForm):
    """For the first admin of a site."""

    key = forms.CharField(label=_("Setup key"), max_length=60, help_text=_("Printed where the site was started."))
    field_order = ["key", "name", "email", "password"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, asks_consent=False, **kwargs)
        del self.fields["time_zone"]
        self.fields["key"].widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}


def interface_language(code: str) -> str:
    """A language code the interface has, or nothing."""
    return code if code in dict(settings.LANGUAGES) else ""
