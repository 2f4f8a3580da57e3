"""The forms of recipes: what one is called, and the file that one is loaded from."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks.imports.recipe_file import MOST_BYTES, FileProblem, RecipeFileError
from benchmarks.recipes.contract import ConditionSpec
from benchmarks.services.recipes.saved_recipes import read_file
from people.forms.base import StyledFormMixin

LONGEST_CONCEPT, MOST_CONDITIONS = 120, 30


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
    concepts = forms.CharField(
        label=_("Concepts of its items (optional)"), max_length=200_000, required=False,
        help_text=_("One in each line. An import refuses others. Empty: any."),
        widget=forms.Textarea(attrs={"rows": 4}),
    )  # fmt: skip

    def clean_concepts(self) -> tuple[str, ...]:
        lines = [line.strip() for line in str(self.cleaned_data["concepts"]).splitlines() if line.strip()]
        long_line = next((line for line in lines if len(line) > LONGEST_CONCEPT), None)
        if long_line is not None:
            text = _("“%(concept)s” is too long. Shorten it to %(most)s characters.")
            raise forms.ValidationError(text, params={"concept": long_line[:60], "most": LONGEST_CONCEPT})
        return tuple(dict.fromkeys(lines))


class PictureConditionForm(StyledFormMixin, forms.Form):
    """A picture condition: the key that files and tables have, and its name. An empty row is none."""

    key = forms.SlugField(label=_("Key"), max_length=40, required=False)
    name = forms.CharField(label=_("Name"), max_length=120, required=False)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if bool(cleaned.get("key")) != bool(cleaned.get("name")) and not self.errors:
            raise forms.ValidationError(_("Write a key and a name, or empty both."))
        return cleaned


class _ConditionRows(forms.BaseFormSet):  # type: ignore[type-arg]
    def clean(self) -> None:
        keys = [row.cleaned_data.get("key") for row in self.forms if not row.errors]
        for key in filter(None, keys):
            if keys.count(key) > 1:
                raise forms.ValidationError(_("The key “%(key)s” occurs twice. Change one."), params={"key": key})


ConditionRows = forms.formset_factory(
    PictureConditionForm, formset=_ConditionRows, extra=2, max_num=MOST_CONDITIONS, absolute_max=MOST_CONDITIONS
)


def condition_rows(data: Any, conditions: Iterable[ConditionSpec]) -> Any:
    """Rows of the conditions that there are, with room for two more."""
    initial = [{"key": spec.key, "name": spec.name.get("en", spec.key)} for spec in conditions]
    return ConditionRows(data, prefix="conditions", initial=initial)


def conditions_of(rows: Any, conditions: Iterable[ConditionSpec]) -> tuple[ConditionSpec, ...]:
    """Out of valid rows; a name in other languages stays while the English one does."""
    known = {(spec.key, spec.name.get("en")): spec for spec in conditions}
    filled = [row.cleaned_data for row in rows if row.cleaned_data.get("key")]
    return tuple(
        known.get((data["key"], data["name"])) or ConditionSpec(data["key"], {"en": data["name"]}) for data in filled
    )


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
