"""An endpoint as a team's admin describes it. The key is taken and never given back."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from people.forms.base import StyledFormMixin
from people.forms.teams import validate_single_line
from predictions.models import Endpoint, Prices
from predictions.texts.call_reasons import OFFERS

LONGEST_KEY = 4000


def practice_values() -> dict[str, Any]:
    """Of the model that answers on this machine for practice; nothing where none does."""
    if not settings.PRACTICE_MODEL:
        return {}
    offers = ["images", "guided", "schema"]
    return {
        "name": _("Practice model"), "base_url": settings.PRACTICE_MODEL, "offers": offers, "most_in_flight": 4,
        "timeout_seconds": 30,
    }  # fmt: skip


class EndpointForm(StyledFormMixin, forms.Form):
    """What is known of an endpoint, except its key."""

    kind = forms.ChoiceField(label=_("Kind"), choices=Endpoint.Kind.choices)
    name = forms.CharField(label=_("Name"), max_length=80, help_text=_("As your team calls it."))
    base_url = forms.CharField(
        label=_("Address"),
        max_length=500,
        required=False,
        help_text=_("Up to /v1, such as https://models.example.org/v1."),
        widget=forms.TextInput(attrs={"dir": "ltr", "inputmode": "url", "spellcheck": "false"}),
    )
    offers = forms.MultipleChoiceField(
        label=_("Capabilities"),
        required=False,
        choices=[(key, label) for key, label, _words in OFFERS],
        widget=forms.CheckboxSelectMultiple,
    )
    most_in_flight = forms.IntegerField(
        label=_("Maximum parallel requests"), min_value=1, max_value=512, initial=8,
        help_text=_("Shared by all runs. Reduced after rate-limit errors."),
    )  # fmt: skip
    per_minute = forms.IntegerField(
        label=_("Maximum requests per minute"), min_value=1, max_value=1_000_000, required=False,
        help_text=_("Leave empty for no limit."),
    )  # fmt: skip
    timeout_seconds = forms.IntegerField(label=_("Seconds to wait"), min_value=1, max_value=3600, initial=120)

    def __init__(
        self, *args: Any, endpoint: Endpoint | None = None, kind: str = Endpoint.Kind.OPENAI, **kwargs: Any
    ) -> None:
        """Of an endpoint that is there, or of a new one of a kind."""
        if endpoint:
            kwargs["initial"] = {name: getattr(endpoint, name) for name in FIELDS}
        super().__init__(*args, **kwargs)
        self.fields["kind"].disabled = endpoint is not None  # it stays what it is
        self.fields["kind"].widget.attrs["data-submits"] = ""
        self.shown_kind = endpoint.kind if endpoint else kind
        if self.shown_kind != Endpoint.Kind.OPENAI:
            for name in OF_SERVERS:  # it runs here, and has but one way
                del self.fields[name]

    def clean_name(self) -> str:
        return validate_single_line(str(self.cleaned_data["name"]))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if "base_url" in self.fields and not cleaned.get("base_url") and "base_url" not in self.errors:
            self.add_error("base_url", _("Give the address that answers, such as https://models.example.org/v1."))
        return cleaned

    def endpoint_values(self) -> dict[str, Any]:
        """As `services.endpoints` takes it."""
        return {name: self.cleaned_data[name] for name in FIELDS if name in self.fields}

    def limits(self) -> list[Any]:
        """How much is asked at once, and how long a server is waited for."""
        return [self[name] for name in LIMITS if name in self.fields]

    def offer_boxes(self) -> list[tuple[Any, Any]]:
        """Each thing it may offer: its box, and a plain sentence."""
        labels = {key: words for key, _label, words in OFFERS}
        return [(box, labels[box.data["value"]]) for box in self["offers"]] if "offers" in self.fields else []


FIELDS = ("kind", "name", "base_url", "offers", "most_in_flight", "per_minute", "timeout_seconds")
OF_SERVERS, LIMITS = ("base_url", "offers", "per_minute", "timeout_seconds"), FIELDS[4:]


class SecretForm(StyledFormMixin, forms.Form):
    """A key goes in and is never shown. What was typed is not sent back, not even after an error."""

    secret = forms.CharField(
        label=_("Key"),
        max_length=LONGEST_KEY,
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "dir": "ltr", "spellcheck": "false"}),
    )

    def clean_secret(self) -> str:
        return validate_single_line(str(self.cleaned_data["secret"]).strip())


def _dollars(label: Any) -> forms.DecimalField:
    return forms.DecimalField(label=label, min_value=Decimal(0), max_digits=14, decimal_places=8, required=False)


class PriceForm(StyledFormMixin, forms.Form):
    """What one model costs."""

    model = forms.CharField(label=_("Model"), max_length=200, required=False, help_text=_("* is for all others"))
    price_in = _dollars(_("$ per million tokens in"))
    price_out = _dollars(_("$ per million tokens out"))
    image = _dollars(_("$ per picture"))
    request = _dollars(_("$ per request"))
    generated = forms.CharField(
        label=_("$ per generated picture"), max_length=200, required=False,
        help_text=_("One price, or by size: 512x512=0.02, 1024x1024=0.04"),
    )  # fmt: skip
    edited = forms.CharField(label=_("$ per edited picture"), max_length=200, required=False)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if any(cleaned.get(name) not in (None, "") for name in PARTS.values()) and not cleaned.get("model"):
            self.add_error("model", _("Say which model costs this, or * for all others."))
        return cleaned


PARTS = {"in": "price_in", "out": "price_out", "image": "image", "request": "request", "generated": "generated",
         "edited": "edited"}  # fmt: skip
PRICE_ROWS = forms.formset_factory(PriceForm, extra=2, max_num=200, absolute_max=250)


def price_rows(data: Any, prices: Prices | None) -> Any:
    """The price list as rows, with room for two more."""
    rows = [
        {"model": model} | {name: price.get(key) for key, name in PARTS.items()}
        for model, price in (prices.table if prices else {}).items()
    ]
    return PRICE_ROWS(data, initial=rows, prefix="price")


def table_of(rows: Any) -> dict[str, Mapping[str, str]]:
    """The price list out of valid rows, as `Prices.table` keeps it: numbers as strings."""
    filled_rows = [row.cleaned_data for row in rows if row.cleaned_data.get("model")]
    return {
        row["model"].strip(): {
            key: _price_text(row[name]) for key, name in PARTS.items() if row[name] not in (None, "")
        }
        for row in filled_rows
    }


def _price_text(price: Decimal | str) -> str:
    return price if isinstance(price, str) else f"{price:f}"
