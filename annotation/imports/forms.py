from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from benchmarks.forms.imports import bounded
from people.forms.base import Styled


class AnswersForm(Styled, forms.Form):
    """A file of answers, as an export makes it."""

    file = forms.FileField(
        label=_("File of answers"),
        help_text=_("An export's zip as it came, or its ratings.csv or ratings.jsonl alone."),
        widget=forms.ClearableFileInput(attrs={"accept": ".zip,.csv,.tsv,.jsonl,.ndjson", "class": "in"}),
    )

    def clean_file(self) -> "UploadedFile[Any]":
        return bounded(self.cleaned_data["file"], settings.IMPORT_MAX_BYTES)
