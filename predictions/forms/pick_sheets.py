"""The form that makes contact sheets out of a retrieval run."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks.models import Benchmark, Stage
from people.forms.base import StyledFormMixin
from predictions.models import Run
from predictions.services.collections.pick_sheets import NEAREST


class PickSheetsForm(StyledFormMixin, forms.Form):
    run = forms.ModelChoiceField(Run.objects.none(), label=_("Retrieval run"), empty_label=_("Choose"))
    source = forms.ModelChoiceField(Stage.objects.none(), label=_("Sentences of"), empty_label=_("Choose"))
    stage = forms.ModelChoiceField(Stage.objects.none(), label=_("Contact sheets for"), empty_label=_("Choose"))
    most = forms.IntegerField(label=_("Nearest pictures"), min_value=2, max_value=40, initial=NEAREST)

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        runs = Run.objects.filter(benchmark=benchmark, task=Run.Task.RETRIEVAL, complete=True, withdrawn_at=None)
        stages = benchmark.stages.order_by("position", "pk")
        choices = {
            "run": runs.select_related("rater", "collection").order_by("-pk"),
            "source": stages.filter(pictures=Stage.Pictures.NONE),
            "stage": stages.filter(pictures=Stage.Pictures.SET, derivation={}),
        }
        for name, rows in choices.items():
            self.fields[name].queryset = rows  # type: ignore[attr-defined]
            first = rows.first()
            self.fields[name].initial = first.pk if first else None
        self.fields["run"].label_from_instance = run_label  # type: ignore[attr-defined]


def run_label(run: Run) -> str:
    parts = [run.rater.name, run.rater.setting, str(run.collection or ""), run.query_set]
    return " · ".join(part for part in parts if part)
