from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from people.forms.base import StyledFormMixin

LONGEST = 2000


class SettingsForm(StyledFormMixin, forms.Form):
    """What a benchmark says of itself. Its address stays."""

    name = forms.CharField(label=_("Name"), max_length=120)
    purpose = forms.CharField(
        label=_("What it is for"),
        max_length=LONGEST,
        required=False,
        help_text=_("It appears on the overview and in every export."),
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    citation = forms.CharField(
        label=_("How to cite it"),
        max_length=LONGEST,
        required=False,
        help_text=_("As it should appear in a list of references."),
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    licence = forms.CharField(
        label=_("Licence"),
        max_length=120,
        required=False,
        help_text=_("Licence of the data, such as CC BY 4.0."),
    )
    answers_by_api = forms.BooleanField(
        label=_("Answers by API"),
        required=False,
        help_text=_("People of the cohorts may answer with programs of their own. Their time cannot be measured."),
    )
    is_public = forms.BooleanField(
        label=_("Public page"),
        required=False,
        help_text=_(
            "Everybody can see a page with the purpose, the number of answers, agreement by cohort, published releases"
            " and one picture whose licence allows it, with how people of one cohort answered. Only an owner changes"
            " this."
        ),
    )

    def __init__(self, *args: Any, owns: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["is_public"].disabled = not owns
