"""A limit that a researcher chooses for a filter."""

import math

from django import forms
from django.utils.translation import gettext_lazy as _

LARGEST = 1e9


class LimitForm(forms.Form):
    """`number`: the version of the filters that the page showed."""

    limit = forms.CharField(label=_("Limit"), max_length=40, error_messages={"required": _("Enter a number.")})
    number = forms.IntegerField(min_value=0, max_value=2**31 - 1)

    def clean_limit(self) -> float:
        number = limit_of(self.cleaned_data["limit"])
        if number is None:
            raise forms.ValidationError(_("“%(text)s” is not a number. Enter one such as 23.5."),
                                        params={"text": self.cleaned_data["limit"]})  # fmt: skip
        return number


def limit_of(text: str) -> float | None:
    """The number that was typed, with a point or a comma; None if it is none that a score can be compared with."""
    try:
        number = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return number if math.isfinite(number) and abs(number) < LARGEST else None
