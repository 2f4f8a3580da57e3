from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from benchmarks.imports.manifest import MOST_BYTES
from benchmarks.imports.records import Defaults
from benchmarks.imports.vocabulary import pictures_of
from benchmarks.models import Stage
from benchmarks.recipes.registry import find
from benchmarks.templatetags.texts import say
from people.forms.base import Styled


class ImportForm(Styled, forms.Form):
    """A zip, perhaps a manifest beside it, and what to assume where rows say nothing."""

    stage = forms.ModelChoiceField(label=_("Stage"), queryset=Stage.objects.none(), empty_label=None)
    archive = forms.FileField(
        label=_("Pictures, as a zip"),
        required=False,
        help_text=_("JPEG, PNG, WebP, GIF or AVIF. The zip may hold its own manifest.csv or manifest.jsonl."),
    )
    manifest = forms.FileField(
        label=_("Manifest"), required=False, help_text=_("Only if it is not inside the zip. CSV or JSON Lines.")
    )
    condition = forms.CharField(label=_("Condition"), max_length=60, required=False)
    source = forms.CharField(label=_("Source"), max_length=500, required=False)
    licence = forms.CharField(label=_("Licence"), max_length=120, required=False)

    def __init__(self, *args: Any, stages: list[Stage], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        benchmark = stages[0].benchmark
        self.fields["stage"].queryset = benchmark.stages.all()  # type: ignore[attr-defined]
        if len(stages) == 1:
            self.fields["stage"].widget = forms.HiddenInput()
            self.fields["stage"].initial = stages[0].pk
        recipe = find(benchmark.recipe)
        if recipe and recipe.conditions:
            known = [(one.key, say(one.name)) for one in recipe.conditions]
            choices = [("", _("As each row says")), *known]
            self.fields["condition"] = forms.ChoiceField(
                label=_("Condition"), choices=choices, required=False, widget=forms.Select(attrs={"class": "in"})
            )
            self.order_fields(["stage", "archive", "manifest", "condition", "source", "licence"])
        self.fields["archive"].widget.attrs["accept"] = ".zip,application/zip"
        self.fields["manifest"].widget.attrs["accept"] = ".csv,.tsv,.jsonl,.ndjson"

    def clean(self) -> dict[str, Any]:
        """Items without pictures come as a manifest alone."""
        said = super().clean() or self.cleaned_data
        stage = said.get("stage")
        if stage and "archive" not in self.errors and not said.get("archive"):
            if pictures_of(stage) != "none":
                self.add_error("archive", _("Choose a zip with the pictures."))
            elif not said.get("manifest"):
                self.add_error("manifest", _("Choose a manifest. Items of this stage have no pictures."))
        return said

    def clean_archive(self) -> UploadedFile[Any] | None:
        given = self.cleaned_data["archive"]
        return bounded(given, settings.IMPORT_MAX_BYTES) if given else None

    def clean_manifest(self) -> UploadedFile[Any] | None:
        given = self.cleaned_data["manifest"]
        return bounded(given, MOST_BYTES) if given else None

    def defaults(self) -> Defaults:
        said = self.cleaned_data
        return Defaults(condition=said["condition"], source=said["source"], licence=said["licence"])


def bounded(upload: UploadedFile[Any], most: int) -> UploadedFile[Any]:
    """The upload, if it has at most so many bytes; ValidationError otherwise."""
    if (upload.size or 0) > most:
        megabytes = most // 1024**2
        raise forms.ValidationError(_("This file is larger than %(most)s MB. Split it.") % {"most": megabytes})
    return upload
