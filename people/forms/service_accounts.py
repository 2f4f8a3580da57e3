"""The form of a service account."""

from django import forms
from django.utils.translation import gettext_lazy as _

from people.forms.base import StyledFormMixin


class ServiceAccountForm(StyledFormMixin, forms.Form):
    name = forms.CharField(
        label=_("Name"), max_length=120, help_text=_("Such as what it does: it stands beside all that it changes.")
    )
