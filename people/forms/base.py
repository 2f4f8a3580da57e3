"""What all forms share: the look of the controls, and the choices of languages and time zones."""

from zoneinfo import available_timezones

from django import forms
from django.utils.translation import gettext_lazy as _

from people.locales.languages import interface_names

DASHES, CHOOSE, NONE = "---------", _("Choose"), _("None")
UNSTYLED = (forms.CheckboxInput, forms.RadioSelect, forms.HiddenInput)


class StyledFormMixin(forms.BaseForm):
    """Give every control the class of the design system."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        for field in self.fields.values():
            if not isinstance(field.widget, UNSTYLED):
                field.widget.attrs.setdefault("class", "in")
            if isinstance(field.widget, forms.TextInput | forms.Textarea):
                field.widget.attrs.setdefault("dir", "auto")
            if isinstance(field.widget, forms.EmailInput):
                field.widget.attrs["dir"] = "ltr"
            if isinstance(field, forms.ModelChoiceField) and field.empty_label == DASHES:
                field.empty_label = CHOOSE if field.required else NONE


def language_choices() -> list[tuple[str, str]]:
    """The languages of the interface, each in its own name, drafts marked."""
    return interface_names()


def zone_choices(keep: str = "") -> list[tuple[str, str]]:
    """Places with a clock, and `keep`, which was chosen before. Left out: old names such as GMT+5 or EST."""
    areas = (
        "Africa",
        "America",
        "Antarctica",
        "Arctic",
        "Asia",
        "Atlantic",
        "Australia",
        "Europe",
        "Indian",
        "Pacific",
    )
    zones = sorted(zone for zone in available_timezones() if zone.split("/")[0] in areas)
    wanted = ["UTC", *zones] if keep in ("", "UTC", *zones) else [keep, "UTC", *zones]
    return [(zone, zone.replace("_", " ")) for zone in wanted]


def is_zone(name: str) -> bool:
    return name in available_timezones()


AGREE = _("I have read this and agree")
