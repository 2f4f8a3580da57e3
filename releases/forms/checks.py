from __future__ import annotations

import hashlib
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from people.forms.base import StyledFormMixin
from releases.formats.checksums import Checksum, read_checksums

MOST_LETTERS = 2_000_000
MOST_BYTES = 200_000_000


class ChecksumForm(StyledFormMixin, forms.Form):
    """Checksums of files that somebody has, or one of the files itself."""

    sums = forms.CharField(
        label=gettext_lazy("Checksums"),
        required=False,
        max_length=MOST_LETTERS,
        widget=forms.Textarea(attrs={"rows": 5, "dir": "ltr", "spellcheck": "false"}),
        help_text=gettext_lazy("What one of the commands prints, or a checksum alone."),
    )
    file = forms.FileField(
        label=gettext_lazy("SHA256SUMS, or a file of the release"),
        required=False,
        widget=forms.FileInput(),
        help_text=gettext_lazy("At most 200 MB. It is read and not kept."),
    )

    def clean_file(self) -> UploadedFile[bytes] | None:
        file: UploadedFile[bytes] | None = self.cleaned_data.get("file")
        if file is not None and (file.size or 0) > MOST_BYTES:
            raise forms.ValidationError(_("The file is larger than 200 MB. Use one of the commands instead."))
        return file

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        if not self.errors and not self.checksums:
            raise forms.ValidationError(_("There is no checksum in it. One has 64 digits and letters from a to f."))
        return data

    @cached_property
    def checksums(self) -> list[Checksum]:
        """Those that were pasted, those in the file, and the file's own. The file is read once."""
        pasted = list(read_checksums(self.cleaned_data.get("sums") or ""))
        file: UploadedFile[bytes] | None = self.cleaned_data.get("file")
        return pasted + _of_file(file) if file is not None else pasted


def _of_file(file: UploadedFile[bytes]) -> list[Checksum]:
    digest, text = hashlib.sha256(), b""
    file.seek(0)
    for block in file.chunks():
        digest.update(block)
        if len(text) < MOST_LETTERS:
            text += block
    inside = list(read_checksums(text.decode(errors="replace"))) if (file.size or 0) <= MOST_LETTERS else []
    return [*inside, Checksum(digest.hexdigest(), file.name or "")]
