"""A form that makes items of words: concepts crossed with the labels of a set, in a sentence."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.core.files.base import ContentFile
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from benchmarks.imports.records import LENGTHS
from benchmarks.models import Stage
from benchmarks.queries.label_sets import newest_sets, offered_sets, set_for_tables
from benchmarks.queries.saved_recipes import recipe_of
from benchmarks.rules.crossing import crossed_rows, missing_placeholders
from benchmarks.rules.label_sets.contract import LabelSpec, fold
from people.forms.base import StyledFormMixin

MOST_ROWS = 20_000
LINES = forms.Textarea(attrs={"rows": 6, "dir": "auto"})


class CrossingForm(StyledFormMixin, forms.Form):
    """Concepts and labels, one a line each; the recipe's are proposed."""

    prefix = "cross"
    concepts = forms.CharField(label=_("Concepts"), help_text=_("One a line."), widget=LINES, max_length=400_000)
    label_set = forms.ChoiceField(label=_("Label set"))
    labels = forms.CharField(
        label=_("Only these labels (optional)"), required=False, max_length=100_000,
        help_text=_("One a line, as the set names them. Empty: all."), widget=LINES,
    )  # fmt: skip
    sentence = forms.CharField(
        label=_("Sentence"), max_length=2000, widget=forms.TextInput(attrs={"dir": "auto"}),
        help_text=_("{concept} and {origin} are replaced by the concept and the label."),
    )  # fmt: skip

    def __init__(self, *args: Any, stage: Stage, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stage, self.team = stage, stage.benchmark.team
        recipe = recipe_of(stage.benchmark)
        names = {row.key: row.name for row in newest_sets(self.team)}
        names |= {spec.key: spec.name for spec in offered_sets() if spec.key not in names}
        self.fields["label_set"].choices = [("", _("Choose")), *names.items()]  # type: ignore[attr-defined]
        if recipe is not None:
            self.fields["concepts"].initial = "\n".join(recipe.concepts)
            self.fields["label_set"].initial = recipe.own_label_set if recipe.own_label_set in names else ""
            self.fields["sentence"].initial = recipe.prompt

    def clean_concepts(self) -> list[str]:
        concepts = _lines(self.cleaned_data["concepts"])
        longest = max(concepts, key=len)
        if len(longest) > LENGTHS["concept"]:
            text = _("“%(text)s…” is too long. A concept has at most %(most)s letters.")
            raise forms.ValidationError(text % {"text": longest[:40], "most": LENGTHS["concept"]})
        return concepts

    def clean_sentence(self) -> str:
        sentence = str(self.cleaned_data["sentence"]).strip()
        if missing := missing_placeholders(sentence):
            text = _("The sentence does not have %(missing)s. Add it, so that every item differs.")
            raise forms.ValidationError(text % {"missing": ", ".join(missing)})
        return sentence

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if self.errors:
            return data
        data["chosen"] = self._chosen_labels(data["label_set"], _lines(data["labels"]))
        n = len(data["concepts"]) * len(data["chosen"])
        if n > MOST_ROWS:
            text = _("These are %(n)s items. Make at most %(most)s at once.")
            self.add_error("concepts", text % {"n": f"{n:,}", "most": f"{MOST_ROWS:,}"})
        return data

    def _chosen_labels(self, key: str, named: list[str]) -> list[LabelSpec]:
        spec = set_for_tables(self.team, key)
        labels = list(spec.labels) if spec else []
        known = {fold(label.text): label for label in labels}
        unknown = [text for text in named if fold(text) not in known]
        if unknown:
            text = _("“%(text)s” is no label of this set. Correct it, or choose another set.")
            self.add_error("labels", text % {"text": unknown[0]})
            return []
        if not labels:
            self.add_error("label_set", _("This set has no labels. Choose another one."))
        return [known[fold(text)] for text in named] or labels

    def manifest(self) -> ContentFile[bytes]:
        """The rows of the valid form, for the import of items."""
        data = self.cleaned_data
        rows = list(crossed_rows(data["concepts"], data["chosen"], data["sentence"]))
        lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        name = ngettext("%(n)s sentence", "%(n)s sentences", len(rows)) % {"n": len(rows)}
        return ContentFile(lines.encode(), name=f"{name}.jsonl")


def _lines(text: str) -> list[str]:
    """Lines that say something, each once."""
    return list(dict.fromkeys(" ".join(line.split()) for line in text.splitlines() if line.strip()))
