from django.utils.translation import gettext_lazy as _

from annotation.fields.settings import Setting, options

SETTINGS = (
    options("points", _("Points"), _("In order, the lowest first. The code is what is stored; it may be a number.")),
    Setting(
        "level",
        "select",
        _("Distances between points"),
        choices=(("ordinal", _("Only their order counts")), ("interval", _("They are equally far apart"))),
        start="ordinal",
    ),
)
START = {
    "level": "ordinal",
    "points": [
        {"code": str(code), "label": {"en": label}}
        for code, label in enumerate(("Not at all", "A little", "Somewhat", "Much", "Very much"), start=1)
    ],
}
