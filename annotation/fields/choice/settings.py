from django.utils.translation import gettext_lazy as _

from annotation.fields.settings import Setting, options

SETTINGS = (
    options("options", _("Options")),
    Setting("many", "bool", _("Several may be chosen")),
    Setting("least", "int", _("Minimum"), optional=True),
    Setting("most", "int", _("Maximum"), optional=True),
    Setting(
        "options_from",
        "optional",
        _("Or options from the item"),
        _("Name of a list in the item's context. Leave the options above empty."),
        short=True,
    ),
    options("more", _("Further options"), _("After those from the item.")),
)
START = {
    "many": False,
    "options": [{"code": "yes", "label": {"en": "Yes"}}, {"code": "no", "label": {"en": "No"}}],
}
START_OF_PAIRS = {
    "many": False,
    "options": [{"code": "a", "label": {"en": "A"}}, {"code": "b", "label": {"en": "B"}}],
}
