from django.utils.translation import gettext_lazy as _

from annotation.fields.settings import Setting

SETTINGS = (
    Setting("least", "int", _("Minimum number of boxes"), start=1),
    Setting("most", "int", _("Maximum number of boxes"), start=1),
    Setting(
        "labels",
        "rows",
        _("Labels"),
        _("What a box may show. Each box has one label at most."),
        row=(
            Setting("code", "line", _("Code"), short=True),
            Setting("label", "words", _("Label")),
            Setting("definition", "words", _("Definition"), optional=True),
            Setting(
                "key", "optional", _("Key"), _("A digit or a letter. Without one, the position is the key."), short=True
            ),
        ),
        add=_("Add a label"),
        optional=True,
    ),
    Setting("label_required", "bool", _("Each box needs a label"), optional=True),
    Setting("max_area", "number", _("A box is smaller than"), _("A share of the picture, such as 0.3."), optional=True),
    Setting("min_area", "number", _("A box is at least"), _("A share of the picture, such as 0.001."), optional=True),
    Setting(
        "facts",
        "rows",
        _("Required item facts"),
        _("Numbers from a detector. An unknown number does not block an answer."),
        row=(
            Setting("key", "line", _("Name of the fact"), short=True),
            Setting("at_least", "number", _("Minimum")),
            Setting("label", "words", _("Label")),
        ),
        add=_("Add a fact"),
        optional=True,
    ),
)
START = {"least": 1, "most": 1}
