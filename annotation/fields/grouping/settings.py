from django.utils.translation import gettext_lazy as _

from annotation.fields.settings import Setting

SETTINGS = (
    Setting(
        "roles",
        "rows",
        _("Relations to the kept picture"),
        _("Such as a crop or a zoom; and what is kept too, such as another time of day."),
        row=(
            Setting("code", "line", _("Code"), short=True),
            Setting("label", "words", _("Label")),
            Setting("keeps", "bool", _("Also kept")),
        ),
        add=_("Add relation"),
        optional=True,
    ),
    Setting("not_sure", "bool", _("People may say that they are not sure"), start=True),
    Setting("keep_one", "words", _("Rule for keeping one"), optional=True),
    Setting("keep_both", "words", _("Rule for keeping both"), optional=True),
)
START = {
    "roles": [
        {"code": "crop", "label": {"en": "Crop"}, "keeps": False},
        {"code": "zoom", "label": {"en": "Zoom"}, "keeps": False},
        {"code": "shift", "label": {"en": "Shift"}, "keeps": False},
        {"code": "time", "label": {"en": "Other time of day"}, "keeps": True},
        {"code": "angle", "label": {"en": "Other angle"}, "keeps": True},
    ],
    "not_sure": True,
}
