from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from people.forms.base import StyledFormMixin
from people.models import User


class SpeakerForm(StyledFormMixin, forms.Form):
    """Names a speaker by the e-mail of an account."""

    email = forms.EmailField(label=_("E-mail of the account"), max_length=254)

    def clean_email(self) -> Any:
        email = self.cleaned_data["email"]
        user = User.objects.filter(email__iexact=email, sign_in=User.SignIn.ACCOUNT, is_active=True).first()
        if user is None:
            raise forms.ValidationError(_("Nobody has an account with this e-mail. Invite the person to a team first."))
        self.user = user
        return email
