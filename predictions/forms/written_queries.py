"""Which stage's accepted queries a collection takes."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks.models import Stage
from people.forms.base import StyledFormMixin
from predictions.models import Collection
from predictions.services.collections import written_queries


class WrittenQueriesForm(StyledFormMixin, forms.Form):
    stage = forms.ModelChoiceField(Stage.objects.none(), label=_("Queries written in"), empty_label=None)

    def __init__(self, *args: Any, collection: Collection, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stages = written_queries.writing_stages(collection)
        self.fields["stage"].queryset = Stage.objects.filter(pk__in=[stage.pk for stage in stages])  # type: ignore[attr-defined]
        self.fields["stage"].initial = stages[-1].pk if stages else None
