"""How samples of authors' answers are drawn."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.services.review.batches import SampleSize
from people.forms.base import StyledFormMixin

LARGEST = 100_000


class SecondReviewForm(StyledFormMixin, forms.Form):
    """How many decisions are drawn for a second reviewer."""

    percent = forms.FloatField(
        label=_("Decisions with a second review, in percent"), min_value=0, max_value=100,
        help_text=_("0: none. A higher number adds to those that were drawn before."),
    )  # fmt: skip


class SampleForm(StyledFormMixin, forms.Form):
    """So many answers, or so many percent, of each author."""

    size = forms.IntegerField(
        label=_("Answers per author"), min_value=1, max_value=LARGEST, initial=5,
        error_messages={"required": _("Write how many answers of each author are drawn.")},
    )  # fmt: skip
    unit = forms.ChoiceField(
        label=_("Counted in"), choices=[("answers", _("answers")), ("percent", _("percent of the waiting answers"))]
    )
    limit = forms.FloatField(
        label=_("Highest rejected share, in percent"), min_value=0, max_value=100, initial=10,
        help_text=_(
            "Up to this share of rejected or returned answers in a sample, the author's other answers may be accepted"
            " together."
        ),
    )  # fmt: skip
    author = forms.CharField(label=_("Author"), required=False, max_length=64)
    seed = forms.IntegerField(
        label=_("Seed (optional)"), required=False, min_value=0, max_value=2**31 - 1,
        help_text=_("The same seed and the same answers give the same sample. Empty: a new one."),
    )  # fmt: skip

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("unit") == "percent" and data.get("size", 0) > 100:
            self.add_error("size", _("A sample has at most 100 percent of the answers."))
        return data

    @property
    def size_of_sample(self) -> SampleSize:
        number = self.cleaned_data["size"]
        return SampleSize(percent=number) if self.cleaned_data["unit"] == "percent" else SampleSize(number=number)
