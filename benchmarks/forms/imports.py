from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from benchmarks.imports.manifest import MOST_BYTES
from benchmarks.imports.records import Defaults
from benchmarks.imports.web_addresses import may_name_addresses
from benchmarks.models import Stage
from benchmarks.queries.saved_recipes import recipe_of
from benchmarks.templatetags.texts import localise
from people.forms.base import StyledFormMixin


class ImportForm(StyledFormMixin, forms.Form):
    """A zip, perhaps a manifest beside it, and what to assume where rows say nothing."""

    archive = forms.FileField(
        label=_("Pictures, as a zip"),
        required=False,
        help_text=_("JPEG, PNG, WebP, GIF or AVIF. The zip may hold its own manifest.csv or manifest.jsonl."),
    )
    manifest = forms.FileField(
        label=_("Manifest"),
        required=False,
        help_text=_(
            "Only if it is not in the zip. CSV, JSON, Parquet or .xlsx; what columns of your own mean is asked next."
        ),
    )
    condition = forms.CharField(label=_("Condition"), max_length=60, required=False)
    source = forms.CharField(label=_("Source"), max_length=500, required=False)
    licence = forms.CharField(label=_("Licence"), max_length=120, required=False)
    complete = forms.BooleanField(
        label=_("Fill in missing values"),
        required=False,
        help_text=_("Fill in empty columns of items that exist. A value is never replaced."),
    )
    correct_facts = forms.BooleanField(
        label=_("Correct facts"),
        required=False,
        help_text=_("A fact that differs replaces the earlier one, which is kept. Filters decide again."),
    )

    def __init__(self, *args: Any, stage: Stage, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stage = stage
        benchmark = stage.benchmark
        if stage.pictures == "none":
            del self.fields["archive"]
            self.fields["manifest"].help_text = _(
                "CSV, JSON, Parquet or .xlsx; what columns of your own mean is asked next. Items of this stage have no"
                " picture."
            )
        elif stage.pictures == "optional":
            self.fields["manifest"].help_text = _(
                "CSV, JSON, Parquet or .xlsx; what columns of your own mean is asked next. It may come without a zip."
            )
        recipe = recipe_of(benchmark)
        if recipe and recipe.conditions:
            known = [(condition.key, localise(condition.name)) for condition in recipe.conditions]
            choices = [("", _("As given in each row")), *known]
            self.fields["condition"] = forms.ChoiceField(
                label=_("Condition"), choices=choices, required=False, widget=forms.Select(attrs={"class": "in"})
            )
            self.order_fields(["archive", "manifest", "condition", "source", "licence", "complete", "correct_facts"])
        if "archive" in self.fields:
            self.fields["archive"].widget.attrs["accept"] = ".zip,application/zip"
        self.fields["manifest"].widget.attrs["accept"] = ".csv,.tsv,.txt,.jsonl,.ndjson,.json,.parquet,.xlsx"

    def clean(self) -> dict[str, Any]:
        """Items without pictures come as a manifest alone."""
        data = super().clean() or self.cleaned_data
        if "archive" not in self.errors and not data.get("archive"):
            manifest = data.get("manifest")
            if self.stage.pictures not in ("none", "optional") and not (manifest and self._may_come_alone(manifest)):
                self.add_error("archive", self._zip_wanted(bool(manifest)))
            elif not manifest:
                self.add_error("manifest", _("Choose a manifest."))
        return data

    def _may_come_alone(self, manifest: UploadedFile[Any]) -> bool:
        """Rows of items that exist need no picture; others may name theirs by an address."""
        data = self.cleaned_data
        return bool(data.get("complete") or data.get("correct_facts")) or may_name_addresses(manifest)

    def _zip_wanted(self, has_manifest: bool) -> str:
        wanted = _("Choose a zip with the pictures.")
        if not has_manifest:
            return str(wanted)
        alone = _("Rows of items that exist need none: tick “%(complete)s” or “%(correct)s”.")
        names = {"complete": self.fields["complete"].label, "correct": self.fields["correct_facts"].label}
        return f"{wanted} {alone % names}"

    def clean_archive(self) -> UploadedFile[Any] | None:
        archive = self.cleaned_data["archive"]
        return check_upload_size(archive, settings.IMPORT_MAX_BYTES) if archive else None

    def clean_manifest(self) -> UploadedFile[Any] | None:
        manifest = self.cleaned_data["manifest"]
        return check_upload_size(manifest, MOST_BYTES) if manifest else None

    def defaults(self) -> Defaults:
        data = self.cleaned_data
        return Defaults(condition=data["condition"], source=data["source"], licence=data["licence"])


def check_upload_size(upload: UploadedFile[Any], most: int) -> UploadedFile[Any]:
    """The upload, if it has at most so many bytes; ValidationError otherwise."""
    if (upload.size or 0) > most:
        megabytes = most // 1024**2
        raise forms.ValidationError(_("This file is larger than %(most)s MB. Split it.") % {"most": megabytes})
    return upload
