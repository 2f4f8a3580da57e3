"""The forms of recipes: what one is called, and the file that one is loaded from."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks.imports.recipe_file import MOST_BYTES, FileProblem, RecipeFileError
from benchmarks.services.recipes.saved_recipes import read_file
from people.forms.base import StyledFormMixin


class SaveRecipeForm(StyledFormMixin, forms.Form):
    """What people choose it by."""

    name = forms.CharField(
        label=_("Name of the recipe"), max_length=120,
        help_text=_("Saved again under the same name it becomes the next version."),
    )  # fmt: skip
    summary = forms.CharField(
        label=_("What it is for"), max_length=2000, required=False,
        help_text=_("One or two sentences, such as: Proverbs of each culture, how common they are, and which match."),
        widget=forms.Textarea(attrs={"rows": 3}),
    )  # fmt: skip


class RecipeFileForm(StyledFormMixin, forms.Form):
    """A recipe file, read and checked. `problems`: what is wrong with the file, beside those of the form."""

    file = forms.FileField(
        label=_("Recipe file"), help_text=_("A file from “Save as recipe”, of this site or of another one.")
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].widget.attrs["accept"] = ".json,application/json"
        self.problems: list[FileProblem] = []
        self.content: dict[str, Any] = {}

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        try:
            self.content = read_file(file.read(MOST_BYTES + 1))
        except RecipeFileError as error:
            self.problems = error.problems
            text = _("“%(file)s” was not loaded. Correct what is listed, or save the recipe again where it comes from.")
            raise forms.ValidationError(text, params={"file": str(file.name)[:120]}) from None
        return file
