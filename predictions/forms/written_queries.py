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
    by_models = forms.BooleanField(
        label=_("Also queries that models wrote"), required=False,
        help_text=_("Each model's are query sets of their own, which bear its name. Nobody has reviewed them."),
    )  # fmt: skip

    def __init__(self, *args: Any, collection: Collection, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stages = written_queries.writing_stages(collection.benchmark)
        self.fields["stage"].queryset = Stage.objects.filter(pk__in=[stage.pk for stage in stages])  # type: ignore[attr-defined]
        self.fields["stage"].initial = stages[-1].pk if stages else None
        if not written_queries.has_model_texts(collection.benchmark):
            del self.fields["by_models"]
