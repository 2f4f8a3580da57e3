from collections.abc import Collection, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmarks.models import Benchmark
from people.forms.base import StyledFormMixin
from releases.descriptions.authors import Author, AuthorError, author_lines, parse_authors
from releases.descriptions.sections import DescriptionSection, all_sections

LONGEST = 5000


class DescriptionForm(StyledFormMixin, forms.Form):
    """What the descriptions of releases need and nobody can count. `sections`: only these have a box."""

    authors = forms.CharField(
        label=gettext_lazy("Authors"),
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy(
            "One per line: family name, given name; ORCID; affiliation. The last two are optional. Without authors the"
            " team is cited."
        ),
    )
    doi = forms.CharField(
        label=gettext_lazy("DOI"), required=False, max_length=200, help_text=gettext_lazy("Such as 10.5281/zenodo.1.")
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None,
        *,
        benchmark: Benchmark,
        sections: Collection[DescriptionSection] | None = None,
    ) -> None:
        initial = {**benchmark.card, "authors": author_lines(benchmark.authors)}
        super().__init__(data, initial=initial)
        if sections is not None:
            del self.fields["authors"], self.fields["doi"]
        for section in all_sections() if sections is None else sections:
            self.fields[section.key] = forms.CharField(
                label=section.title, required=False, max_length=LONGEST, strip=True,
                widget=forms.Textarea(attrs={"rows": 2, "class": "in", "dir": "auto"}),
            )  # fmt: skip

    def clean_authors(self) -> list[Author]:
        try:
            return parse_authors(self.cleaned_data["authors"])
        except AuthorError as error:
            line, reason = error.args
            texts = {
                "orcid": _("Line %(line)s: this ORCID has a wrong digit. Correct it or remove it."),
                "name": _("Line %(line)s has no name. Write the name first."),
            }
            raise forms.ValidationError(texts[reason] % {"line": line}) from error
