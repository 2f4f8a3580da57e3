from django.utils.translation import gettext_lazy as _

from annotation.fields.settings import Setting

SETTINGS = (
    Setting("needs_source", "bool", _("Ask for the source page"), start=True),
    Setting("needs_licence", "bool", _("Ask for its licence"), start=True),
    Setting("least_side", "int", _("Minimum pixels of the shorter side"), _("0 for any."), optional=True),
    Setting(
        "licences",
        "rows",
        _("Licences to choose from"),
        _("None: the usual ones. A licence may always be written in words, too."),
        row=(Setting("code", "line", _("Code"), short=True), Setting("label", "words", _("Label"))),
        add=_("Add a licence"),
        optional=True,
    ),
)
START = {"needs_source": True, "needs_licence": True}
