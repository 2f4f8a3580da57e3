from django import forms
from django.utils.translation import gettext_lazy as _


class ReasonForm(forms.Form):
    """Why a person's answers shall not count. It is kept, and shown to those who ask."""

    reason = forms.CharField(
        label=_("Reason"),
        max_length=500,
        widget=forms.Textarea(attrs={"class": "in", "rows": 3, "dir": "auto"}),
    )
