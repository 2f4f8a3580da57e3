from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from benchmarks.forms.imports import check_upload_size
from benchmarks.models import Benchmark
from people.forms.base import StyledFormMixin
from predictions.forms.model_info import about_in
from predictions.models import Collection, Query, Run
from predictions.services.runs.result_runs import RunFileInfo

TASKS = [(one.value, one.label) for one in (Run.Task.RETRIEVAL, Run.Task.FORCED_CHOICE, Run.Task.EMBEDDING)]
FILES = {"accept": ".csv,.tsv,.jsonl,.ndjson", "class": "in"}


class CollectionForm(StyledFormMixin, forms.Form):
    """What models search, and what they are asked."""

    name = forms.CharField(label=_("Name"), max_length=120)
    version = forms.CharField(
        label=_("Version"), max_length=40, initial="1", help_text=_("Every result says of which version it is.")
    )
    licence = forms.CharField(label=_("Licence"), max_length=120, required=False)
    file = forms.FileField(
        label=_("File of entries and queries"),
        help_text=_("A table or JSON Lines; the trials of 3XCM as they were published."),
        widget=forms.ClearableFileInput(attrs=FILES),
    )

    def clean_name(self) -> str:
        if not slugify(self.cleaned_data["name"]):
            raise forms.ValidationError(_("Use some Latin letters or digits, so that the name can be a key."))
        return str(self.cleaned_data["name"])

    def clean_file(self) -> "UploadedFile[Any]":
        return check_upload_size(self.cleaned_data["file"], settings.IMPORT_MAX_BYTES)

    def collection_values(self) -> dict[str, str]:
        data = self.cleaned_data
        names = {name: data[name].strip() for name in ("name", "version", "licence")}
        return {**names, "key": slugify(data["name"])[:60]}


class RunForm(StyledFormMixin, forms.Form):
    """What one model found."""

    collection = forms.ModelChoiceField(label=_("Collection"), queryset=Collection.objects.none(), empty_label=None)
    task = forms.ChoiceField(label=_("Task"), choices=[("", _("Choose what it was asked")), *TASKS])
    query_set = forms.ChoiceField(label=_("Query set"), required=False)
    model = forms.CharField(label=_("Model"), max_length=200)
    setting = forms.CharField(
        label=_("Setting"), max_length=60, required=False, help_text=_("How it was asked, where that differs: main.")
    )
    system_prompt = forms.CharField(
        label=_("System prompt"), max_length=60, required=False, help_text=_("Its name, where several were tried.")
    )
    score_kind = forms.CharField(
        label=_("Kind of score"), max_length=40, required=False, help_text=_("Such as cosine or matching.")
    )
    about = forms.CharField(
        label=_("Model details"),
        required=False,
        help_text=_('As JSON, such as {"family": "CLIP", "parameters": "0.4 B", "open": true}.'),
        widget=forms.Textarea(attrs={"rows": 2, "dir": "ltr"}),
    )
    file = forms.FileField(
        label=_("File of the run"), help_text=_("A table or JSON Lines."), widget=forms.ClearableFileInput(attrs=FILES)
    )
    some_missing = forms.BooleanField(label=_("Count the run despite missing queries"), required=False)

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        collections = Collection.objects.filter(benchmark=benchmark).order_by("-pk")
        self.fields["collection"].queryset = collections  # type: ignore[attr-defined]
        sets = Query.objects.filter(collection__in=collections).order_by("query_set")
        names = sets.values_list("query_set", flat=True).distinct()
        choices = [(name, name or _("without a name")) for name in names] or [("", _("without a name"))]
        self.fields["query_set"] = forms.ChoiceField(
            label=_("Query set"), choices=choices, required=False, widget=forms.Select(attrs={"class": "in"})
        )

    def clean_about(self) -> dict[str, Any]:
        return about_in(self.cleaned_data["about"])

    def clean_file(self) -> "UploadedFile[Any]":
        return check_upload_size(self.cleaned_data["file"], settings.IMPORT_MAX_BYTES)

    def run_info(self) -> RunFileInfo:
        data = self.cleaned_data
        embedding = data["task"] == Run.Task.EMBEDDING
        words = {name: data[name].strip() for name in ("model", "setting", "system_prompt", "score_kind")}
        return RunFileInfo(
            collection=data["collection"],
            about=data["about"],
            task=data["task"],
            query_set="" if embedding else data["query_set"],  # entries have vectors, whatever is asked of them
            some_missing=data["some_missing"],
            **words,
        )
