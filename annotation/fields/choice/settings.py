from django.utils.translation import gettext_lazy as _

from annotation.fields.settings import Setting, options

SETTINGS = (
    options("options", _("Options")),
    Setting("many", "bool", _("Several may be chosen")),
    Setting("least", "int", _("At least"), optional=True),
    Setting("most", "int", _("At most"), optional=True),
    Setting(
        "options_from",
        "optional",
        _("Or options out of the item"),
        _("The name of a list in the item's context; then there are none above."),
        short=True,
    ),
)
START = {
    "many": False,
    "options": [{"code": "yes", "label": {"en": "Yes"}}, {"code": "no", "label": {"en": "No"}}],
}
