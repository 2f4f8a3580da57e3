"""The form of a webhook."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from api.protocol.webhook_types import TYPES
from benchmarks.models import Benchmark
from people.forms.base import StyledFormMixin


class WebhookForm(StyledFormMixin, forms.Form):
    """`benchmarks`: those that can be chosen; `whole_team`: whether all of the team can. Neither of a change."""

    url = forms.CharField(
        label=_("Address of the receiver"),
        max_length=500,
        widget=forms.URLInput(attrs={"dir": "ltr"}),
        help_text=_("It begins with https:// and is reachable from the internet."),
    )
    benchmark = forms.ChoiceField(label=_("Benchmark"), required=False)
    verbs = forms.MultipleChoiceField(
        label=_("Send a message when"),
        choices=[(name, f"{name}: {known.meaning}") for name, known in TYPES.items()],
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *args: Any, benchmarks: list[Benchmark] | None = None, whole_team: bool = False, **kwargs: Any):
        super().__init__(*args, **kwargs)
        if benchmarks is None:
            self.fields.pop("benchmark")
            return
        every = [("", _("All benchmarks of the team"))] if whole_team else []
        choices = [*every, *((benchmark.slug, benchmark.name) for benchmark in benchmarks)]
        self.fields["benchmark"].choices = choices  # type: ignore[attr-defined]
        self.fields["benchmark"].required = not whole_team
