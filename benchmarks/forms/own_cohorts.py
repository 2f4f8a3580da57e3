"""Several cohorts at once, a row for each: what most cohorts need. The rest can be changed on a cohort's own page."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks.recipes.registry import RECIPES
from benchmarks.rules.label_sets.countries import NAMES
from benchmarks.services.recipe_cohorts import data_of
from people.forms.base import StyledFormMixin, zone_choices
from people.forms.teams import CohortForm
from people.locales.time_zones import zones_by_country
from people.models import Cohort, Team
from people.services.cohorts import CohortData

ROWS, MOST_ROWS = 2, 30
MOST_LINKS = 50
RIGHT_TO_LEFT = frozenset({"ar", "arc", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})


class OwnCohortForm(CohortForm):
    """One row. An empty row is no cohort. What a recipe says of a country is taken where the row leaves it open."""

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, team=team, naming=True, **kwargs)
        del self.fields["direction"]
        self.fields["label"].required = False
        self.fields["label"].help_text = _("Empty: the name of the country.")
        countries = sorted(NAMES.items(), key=lambda row: row[1])
        self.fields["country"] = forms.ChoiceField(
            label=_("Country (optional)"), required=False, choices=[("", _("No country")), *countries]
        )
        self.fields["country"].widget.attrs["class"] = "in"
        self.fields["languages"].help_text = _("For example “ar en”.")
        self.fields["names"].widget.attrs["rows"] = 2
        self.fields["names"].label = _("Names in other languages")
        self.fields["names"].help_text = _("One per line, such as “pt: Brasil”. Empty: those that recipes have.")
        self.fields["time_zone"] = forms.ChoiceField(
            label=_("Time zone"), required=False, choices=[("", _("That of the country")), *zone_choices()], initial="",
            help_text=_("Days and limits are counted in it. Without a country: UTC."),
        )  # fmt: skip
        self.fields["time_zone"].widget.attrs["class"] = "in"
        self.initial["time_zone"] = ""
        self.order_fields(["label", "country", "languages", "time_zone", "names"])

    def clean(self) -> dict[str, Any]:
        """A row of a country alone is named after it."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if "label" in data and not data["label"]:
            data["label"] = NAMES.get(data.get("country", ""), "")
            if not data["label"]:
                self.add_error("label", _("Write a label, or choose a country."))
            elif Cohort.objects.filter(team=self.team, label=data["label"]).exists():
                self.add_error("label", _("The team has a cohort with this label. Choose another."))
        country = data.get("country", "")
        known = next(
            (spec for recipe in RECIPES for spec in recipe.cohorts if country and spec.country == country), None
        )
        if known is not None and not data.get("names") and data.get("label") in (known.label, NAMES.get(country)):
            data["names"] = data_of(known)["names"]
        if not data.get("time_zone") and "time_zone" not in self.errors:
            data["time_zone"] = known.time_zone if known is not None else self._only_zone_of(country)
        return data

    def _only_zone_of(self, country: str) -> str:
        """Of a country with several zones none is guessed."""
        zones = zones_by_country().get(country, [])
        if len(zones) > 1:
            text = _("%(country)s has several time zones. Choose one.") % {"country": NAMES.get(country, country)}
            self.add_error("time_zone", text)
        return zones[0] if zones else "UTC"

    @property
    def data_for_service(self) -> CohortData:
        data = self.cleaned_data
        direction = Cohort.Direction.RTL if set(data["languages"][:1]) & RIGHT_TO_LEFT else Cohort.Direction.LTR
        return CohortData(
            label=data["label"], names=data["names"], country=data["country"], languages=data["languages"],
            direction=direction, time_zone=data["time_zone"],
        )  # fmt: skip


class _OwnCohorts(forms.BaseFormSet):  # type: ignore[type-arg]
    def clean(self) -> None:
        labels = [form.cleaned_data["label"] for form in self.filled if form.cleaned_data.get("label")]
        for label in labels:
            if labels.count(label) > 1:
                raise forms.ValidationError(_("“%(label)s” is written twice."), params={"label": label})
        if not any(self.errors) and not self.filled:
            raise forms.ValidationError(_("Write the name of at least one cohort."))

    @property
    def filled(self) -> list[OwnCohortForm]:
        return [form for form in self.forms if form.has_changed()]

    @property
    def cohorts(self) -> list[CohortData]:
        return [form.data_for_service for form in self.filled]


OwnCohorts = forms.formset_factory(
    OwnCohortForm, formset=_OwnCohorts, extra=ROWS, max_num=MOST_ROWS, absolute_max=MOST_ROWS, validate_max=True
)


class LinksForm(StyledFormMixin, forms.Form):
    """How many people each of the new cohorts begins with."""

    count = forms.IntegerField(
        label=_("Invitation links for each cohort"), min_value=1, max_value=MOST_LINKS, initial=3,
        help_text=_("One link lets one person join. More can be made later."),
    )  # fmt: skip
