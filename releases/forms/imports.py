from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from benchmarks.forms.benchmarks import TAKEN, free_slug
from benchmarks.models import Benchmark
from people.forms.base import StyledFormMixin
from people.models import Team
from releases.queries.imported_versions import ImportedVersions
from releases.services.imports import ReleasePreview

NEW = "new"


class ReleaseFileForm(StyledFormMixin, forms.Form):
    """The zip file of a release."""

    file = forms.FileField(
        label=_("Zip file of the release"),
        widget=forms.FileInput(attrs={"accept": ".zip"}),
        help_text=_("As it was downloaded. Nothing is imported until you have seen what it holds."),
    )

    def clean_file(self) -> UploadedFile[bytes]:
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        if (file.size or 0) > settings.IMPORT_MAX_BYTES:
            text = _("The file is larger than %(most)s MB.")
            raise forms.ValidationError(text, params={"most": settings.IMPORT_MAX_BYTES // 1024**2})
        return file


class ReleaseImportForm(StyledFormMixin, forms.Form):
    """Where the release goes: a new benchmark of a team, or over the benchmark that an earlier version became."""

    over = forms.ChoiceField(label=_("Import as"), widget=forms.RadioSelect, required=False)
    name = forms.CharField(label=_("Name"), max_length=120, required=False)
    slug = forms.SlugField(
        label=_("Address"),
        max_length=50,
        required=False,
        help_text=_("Small letters, digits and hyphens. If empty, it is derived from the name."),
    )
    team = forms.ModelChoiceField(label=_("Team"), queryset=Team.objects.none(), empty_label=None)

    def __init__(
        self, *args: Any, teams: QuerySet[Team], known: ImportedVersions, preview: ReleasePreview, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.earlier, self.preview = {str(row.pk): row for row in known.earlier}, preview
        names = [(pk, _("A later version of “%(name)s”") % {"name": row.name}) for pk, row in self.earlier.items()]
        self.fields["over"].choices = [(NEW, _("A new benchmark")), *names]  # type: ignore[attr-defined]
        self.fields["over"].initial = NEW
        self.fields["name"].initial = preview.name[:120]
        self.fields["slug"].initial = free_slug(slugify(preview.slug)[:40] or "benchmark")
        self.fields["slug"].widget.attrs |= {"dir": "ltr", "autocapitalize": "none"}
        self.fields["team"].queryset = teams  # type: ignore[attr-defined]
        self.fields["team"].initial = teams.order_by("-pk").first()
        if len(teams) == 1:
            self.fields["team"].widget = forms.HiddenInput()
            self.fields["team"].initial = teams[0].pk

    @property
    def over_benchmark(self) -> Benchmark | None:
        """The benchmark that a later version is imported over; None for a new one."""
        return self.earlier.get(str(self.cleaned_data.get("over") or NEW))

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        if self.over_benchmark is None:
            data["name"] = str(data.get("name") or "").strip() or self.preview.name[:120] or "Release"
            slug = str(data.get("slug") or "").lower()
            if slug and Benchmark.objects.filter(slug=slug).exists():
                self.add_error("slug", TAKEN)
            data["slug"] = slug or free_slug(slugify(data["name"])[:40] or "benchmark")
        return data
