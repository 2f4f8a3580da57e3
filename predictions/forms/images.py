"""The form that has an endpoint make images: of which sentences, by which model, for how much."""

from decimal import Decimal
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from benchmarks.models import Stage
from people.forms.base import StyledFormMixin
from people.forms.teams import validate_single_line
from predictions.models import Endpoint
from predictions.queries.endpoints import models_of
from predictions.services.images.plans import ImageSettings

CODE = {"dir": "ltr", "autocomplete": "off", "spellcheck": "false"}


class ImagePlanForm(StyledFormMixin, forms.Form):
    source = forms.ModelChoiceField(Stage.objects.none(), label=_("Sentences of"), empty_label=_("Choose"))
    endpoint = forms.ModelChoiceField(Endpoint.objects.none(), label=_("Endpoint"), empty_label=_("Choose"))
    model = forms.CharField(
        label=_("Model"), max_length=200,
        help_text=_("As the endpoint calls it. Models that an endpoint named are offered."),
        widget=forms.TextInput(attrs={**CODE, "list": "models"}),
    )  # fmt: skip
    size = forms.RegexField(
        r"^\d{2,5}x\d{2,5}$", label=_("Size (optional)"), required=False, widget=forms.TextInput(attrs=CODE),
        help_text=_("Such as 1024x1024. Empty: as the server chooses."),
        error_messages={"invalid": _("Give width and height in pixels, such as 1024x1024.")},
    )  # fmt: skip
    quality = forms.CharField(
        label=_("Quality (optional)"), max_length=20, required=False, widget=forms.TextInput(attrs=CODE),
        help_text=_("A word that the server knows, such as high."),
    )  # fmt: skip
    seed = forms.IntegerField(
        label=_("Seed"), min_value=0, max_value=2**31 - 1, initial=0,
        help_text=_("The same seed and sentence ask for the same image."),
    )  # fmt: skip
    budget = forms.DecimalField(
        label=_("Budget in dollars (optional)"), min_value=Decimal("0.0001"), max_digits=12, decimal_places=4,
        required=False, help_text=_("No request is sent that would cost more."),
    )  # fmt: skip

    def __init__(self, *args: Any, stage: Stage, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sources = sources_for(stage)
        self.fields["source"].queryset = sources  # type: ignore[attr-defined]
        self.fields["source"].initial = sources.last()
        self.stage = stage
        self.fields["endpoint"].queryset = self.endpoints().order_by("name")  # type: ignore[attr-defined]

    def endpoints(self) -> QuerySet[Endpoint]:
        """Endpoints of the team that may make images."""
        team = self.stage.benchmark.team
        return Endpoint.objects.filter(team=team, retired_at=None, kind=Endpoint.Kind.OPENAI)

    def known_models(self) -> list[str]:
        """What the endpoints named at their last checks."""
        return sorted({name for endpoint in self.endpoints() for name in models_of(endpoint)})

    def clean_model(self) -> str:
        return validate_single_line(str(self.cleaned_data["model"]).strip())

    def clean_quality(self) -> str:
        return validate_single_line(str(self.cleaned_data["quality"]).strip())

    def image_settings(self) -> ImageSettings:
        names = ("endpoint", "model", "size", "quality", "seed", "budget")
        return ImageSettings(**{name: self.cleaned_data[name] for name in names})


def sources_for(stage: Stage) -> Any:
    """Earlier stages of the benchmark whose items are words alone."""
    rows = Stage.objects.filter(benchmark=stage.benchmark, pictures=Stage.Pictures.NONE)
    return rows.filter(position__lt=stage.position).order_by("position", "pk")
