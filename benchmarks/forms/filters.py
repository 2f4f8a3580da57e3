"""One form for each kind of filter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks.rules.filters import FilterRule, aspect, blocked_words, near_duplicate, not_in_base, shortest_side
from benchmarks.rules.filters.contract import within_of
from people.forms.base import StyledFormMixin

NAMES = {
    "aspect": _("Aspect ratio"),
    "shortest_side": _("Shortest side"),
    "blocked_words": _("Blocked words"),
    "fact": _("Value of a fact"),
    "same_picture": _("Same file"),
    "near_duplicate": _("Near duplicate"),
    "not_in_base": _("Not in a knowledge base"),
}
TEXT_NAMES = {
    "file": _("file name"),
    "source": _("source"),
    "alt": _("alt text"),
    "title": _("title"),
    "text": _("text"),
    "concept": _("concept"),
}
GROUP_NAMES = {"origin": _("origin"), "concept": _("concept"), "condition": _("condition")}
LARGEST = 10**9


class FilterForm(StyledFormMixin, forms.Form):
    """The params of a filter. Limits of single values are checked here, the rest by the filter itself."""

    kind = ""

    @classmethod
    def initial_of(cls, params: Mapping[str, Any]) -> dict[str, Any]:
        """What the fields hold for these params."""
        return dict(params)

    def params(self) -> dict[str, Any]:
        """The params of a valid form: fields that have a value. `returns` is no param, but the filter's own."""
        values = {name: value for name, value in self.cleaned_data.items() if name != "returns"}
        return {name: _plain(value) for name, value in values.items() if value not in (None, "")}

    @property
    def returns(self) -> bool:
        """Whether what the filter drops goes back to the person who brought the picture."""
        return bool(self.cleaned_data.get("returns"))

    def name(self) -> str:
        """What the key of a new filter is made from."""
        return self.kind


def _plain(value: Any) -> Any:
    """Whole numbers without a fraction, so that they are shown as they were typed."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _limit(label: Any, help_text: Any = "", *, initial: float | None = None, **limits: Any) -> forms.FloatField:
    return forms.FloatField(label=label, help_text=help_text, initial=initial, **limits)


def _fact_field() -> forms.CharField:
    return forms.CharField(label=_("Fact"), max_length=60)


def _within_field() -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(
        label=_("Compare items with the same"),
        choices=list(GROUP_NAMES.items()),
        initial=["origin", "concept"],
        required=False,
        help_text=_("None selected: all items of the stage are compared."),
        widget=forms.CheckboxSelectMultiple,
    )


class AspectForm(FilterForm):
    kind = "aspect"
    least = _limit(_("Width divided by height, at least"), initial=aspect.LEAST, min_value=0.001, max_value=LARGEST)
    most = _limit(_("At most"), initial=aspect.MOST, min_value=0.001, max_value=LARGEST)

    def clean(self) -> dict[str, Any]:
        return _clean_limits(self, super().clean())


class ShortestSideForm(FilterForm):
    kind = "shortest_side"
    least = forms.IntegerField(
        label=_("Pixels of the shortest side, at least"), initial=shortest_side.LEAST, min_value=1, max_value=LARGEST
    )


class BlockedWordsForm(FilterForm):
    kind = "blocked_words"
    words = forms.CharField(
        label=_("Blocked words"),
        help_text=_("One in each line. Upper and lower case are equal, and parts of words count."),
        widget=forms.Textarea(attrs={"rows": 6}),
        max_length=20_000,
    )
    texts = forms.MultipleChoiceField(
        label=_("Read"),
        choices=list(TEXT_NAMES.items()),
        initial=list(blocked_words.TEXTS),
        widget=forms.CheckboxSelectMultiple,
    )

    @classmethod
    def initial_of(cls, params: Mapping[str, Any]) -> dict[str, Any]:
        return {"words": "\n".join(params["words"]), "texts": list(params.get("in", blocked_words.TEXTS))}

    def clean_words(self) -> list[str]:
        lines = dict.fromkeys(line.strip() for line in self.cleaned_data["words"].splitlines() if line.strip())
        if len(lines) > blocked_words.MOST_WORDS:
            raise forms.ValidationError(
                _("There are %(n)s words. The maximum is %(most)s. Remove some."),
                params={"n": len(lines), "most": blocked_words.MOST_WORDS},
            )
        return list(lines)

    def params(self) -> dict[str, Any]:
        """All texts are read where none are named."""
        words, texts = self.cleaned_data["words"], self.cleaned_data["texts"]
        return {"words": words} if set(texts) == set(blocked_words.TEXTS) else {"words": words, "in": texts}


class FactForm(FilterForm):
    kind = "fact"
    key = _fact_field()
    least = _limit(_("At least"), _("Leave one of the limits empty if there is none."), required=False)
    most = _limit(_("At most"), required=False)

    def clean(self) -> dict[str, Any]:
        data = _clean_limits(self, super().clean())
        if not self.errors and data.get("least") is None and data.get("most") is None:
            self.add_error("least", _("A limit is missing. Enter at least one."))
        return data

    def name(self) -> str:
        return str(self.cleaned_data["key"])


class SamePictureForm(FilterForm):
    kind = "same_picture"
    within = _within_field()


class NearDuplicateForm(FilterForm):
    kind = "near_duplicate"
    least = _limit(
        _("Similarity from which an item is dropped"), initial=near_duplicate.LEAST, min_value=0.01, max_value=1
    )
    within = _within_field()
    fact = forms.CharField(
        label=_("Fact with the similarities"),
        max_length=60,
        required=False,
        help_text=_("Empty: the perceptual hash of the pictures is compared."),
    )


class NotInBaseForm(FilterForm):
    kind = "not_in_base"
    fact = _fact_field()
    similarity = _limit(
        _("Similarity from which an item is dropped"), initial=not_in_base.SIMILARITY, min_value=0.01, max_value=1
    )


FORMS: dict[str, type[FilterForm]] = {
    form.kind: form
    for form in (
        AspectForm,
        ShortestSideForm,
        BlockedWordsForm,
        FactForm,
        SamePictureForm,
        NearDuplicateForm,
        NotInBaseForm,
    )
}


class DecisionForm(forms.Form):
    """A decision about one item by hand."""

    state = forms.ChoiceField(choices=[("kept", ""), ("dropped", ""), ("", "")], required=False)
    reason = forms.CharField(max_length=500, required=False)


def build_form(
    kind: str, data: Any, rule: FilterRule | None, facts: Sequence[str], *, can_return: bool = False
) -> FilterForm:
    """The form of a kind, for a new filter or for this one. Names the facts that the stage has.

    `can_return`: the stage's pictures may be brought by people.
    """
    cls = FORMS[kind]
    initial = None if rule is None else with_defaults(cls, cls.initial_of(rule.params)) | {"returns": rule.returns}
    form = cls(data, initial=initial)
    if can_return:
        form.fields["returns"] = forms.BooleanField(
            label=_("Return dropped pictures to the people who brought them, with the reason"),
            required=False,
            help_text=_("Only pictures that nobody has answered. The finder can submit another picture."),
        )
    field = form.fields.get("key") or (form.fields.get("fact") if kind == "not_in_base" else None)
    if field is not None:
        listed = ", ".join(facts)
        field.help_text = _("Facts of this stage: %(facts)s.") % {"facts": listed} if facts else _("No facts yet.")
    return form


def with_defaults(cls: type[FilterForm], initial: dict[str, Any]) -> dict[str, Any]:
    """Params that are not written have the default of their kind."""
    if "within" in cls.base_fields:
        initial = {**initial, "within": list(within_of(initial))}
    return initial


def _clean_limits(form: FilterForm, data: dict[str, Any] | None) -> dict[str, Any]:
    limits = data or form.cleaned_data
    least, most = limits.get("least"), limits.get("most")
    if least is not None and most is not None and most < least:
        form.add_error("most", _("The upper limit is below the lower limit. Enter a larger number."))
    return limits


def new_key(name: str, used: Sequence[str]) -> str:
    """A key for a new filter, from its name, that no other filter of the stage has."""
    base = re.sub(r"[^a-z0-9_:.-]+", "-", name.lower()).strip("-")[:50] or "filter"
    candidates = [base, *(f"{base}-{number}" for number in range(2, len(used) + 3))]
    return next(key for key in candidates if key not in used and key != "by_hand")
