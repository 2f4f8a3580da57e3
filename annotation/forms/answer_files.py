from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from benchmarks.forms.imports import check_upload_size
from people.forms.base import StyledFormMixin


class AnswersForm(StyledFormMixin, forms.Form):
    """A file of answers, as an export makes it, or of ratings made elsewhere."""

    file = forms.FileField(
        label=_("File of answers"),
        help_text=_("An unchanged export (zip), its ratings.csv or ratings.jsonl, or your own table."),
        widget=forms.ClearableFileInput(attrs={"accept": ".zip,.csv,.tsv,.jsonl,.ndjson", "class": "in"}),
    )
    makes_items = forms.BooleanField(
        label=_("Create missing items"),
        help_text=_("For ratings of items that are not here, without their pictures. The columns below describe them."),
        required=False,
    )

    def clean_file(self) -> "UploadedFile[Any]":
        return check_upload_size(self.cleaned_data["file"], settings.IMPORT_MAX_BYTES)

    def refuse_handing_out(self) -> None:
        """People at work would be given items without a picture."""
        self.add_error("makes_items", _("The campaign is open, so people would be given these items. Pause it first."))
