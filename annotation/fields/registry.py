"""Every field kind there is. A new kind: its folder, its templates, and one line here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.fields import unknown
from annotation.fields.box import form as box_form
from annotation.fields.box import settings as box_settings
from annotation.fields.box import spec as box_spec
from annotation.fields.choice import form as choice_form
from annotation.fields.choice import settings as choice_settings
from annotation.fields.choice import spec as choice_spec
from annotation.fields.contract import Spec
from annotation.fields.form import FieldForm
from annotation.fields.grouping import form as grouping_form
from annotation.fields.grouping import settings as grouping_settings
from annotation.fields.grouping import spec as grouping_spec
from annotation.fields.picture import form as picture_form
from annotation.fields.picture import settings as picture_settings
from annotation.fields.picture import spec as picture_spec
from annotation.fields.rating import form as rating_form
from annotation.fields.rating import settings as rating_settings
from annotation.fields.rating import spec as rating_spec
from annotation.fields.settings import Setting
from annotation.fields.text import form as text_form
from annotation.fields.text import settings as text_settings
from annotation.fields.text import spec as text_spec


class UnknownKind(LookupError):
    """No field kind has this name; the message names what is near."""

    def __init__(self, key: str) -> None:
        known = [kind.key for kind in KINDS]
        near = get_close_matches(key, known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
        super().__init__(f"no field kind {key!r}; {hint}")


@dataclass(frozen=True)
class Kind:
    spec: Spec[Any, Any]
    form: FieldForm
    name: Any = ""
    """What the composer calls it."""
    settings: tuple[Setting, ...] = ()
    """The composer's form of its config; what is not among them is edited as JSON."""
    start: Mapping[str, Any] = field(default_factory=dict)
    """The config that a new field begins with."""
    start_of_pairs: Mapping[str, Any] = field(default_factory=dict)
    """The same on a sheet that shows A and B; empty where it is no other."""

    @property
    def key(self) -> str:
        return self.spec.key


KINDS: tuple[Kind, ...] = (
    Kind(rating_spec.SPEC, rating_form.FORM, _("Rating on a scale"), rating_settings.SETTINGS, rating_settings.START),
    Kind(
        choice_spec.SPEC,
        choice_form.FORM,
        _("Choice"),
        choice_settings.SETTINGS,
        choice_settings.START,
        choice_settings.START_OF_PAIRS,
    ),
    Kind(text_spec.SPEC, text_form.FORM, _("Text"), text_settings.SETTINGS, text_settings.START),
    Kind(box_spec.SPEC, box_form.FORM, _("Boxes on the picture"), box_settings.SETTINGS, box_settings.START),
    Kind(
        grouping_spec.SPEC,
        grouping_form.FORM,
        _("Groups of similar pictures"),
        grouping_settings.SETTINGS,
        grouping_settings.START,
    ),
    Kind(
        picture_spec.SPEC,
        picture_form.FORM,
        _("Picture uploaded by the person"),
        picture_settings.SETTINGS,
        picture_settings.START,
    ),
)
UNKNOWN = Kind(unknown.SPEC, unknown.FORM)
BY_KEY = {kind.key: kind for kind in KINDS}


def kind(key: str) -> Kind:
    try:
        return BY_KEY[key]
    except KeyError:
        raise UnknownKind(key) from None


def kind_or_unknown(key: str) -> Kind:
    """For reading what is stored."""
    return BY_KEY.get(key, UNKNOWN)
