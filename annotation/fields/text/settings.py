from django.utils.translation import gettext_lazy as _

from annotation.fields.settings import Setting

SETTINGS = (
    Setting("long", "bool", _("Several lines")),
    Setting("min_length", "int", _("Least characters"), optional=True),
    Setting("max_length", "int", _("Most characters"), optional=True, start=300),
    Setting("language", "line", _("Language it is written in"), _("A code such as ar; empty for any."), short=True),
    Setting(
        "direction",
        "select",
        _("Direction"),
        choices=(("auto", _("As it is written")), ("ltr", _("Left to right")), ("rtl", _("Right to left"))),
        start="auto",
    ),
    Setting("most_words", "int", _("Most words"), optional=True),
    Setting(
        "checks",
        "many",
        _("Show a warning if"),
        _("Said when it is submitted; the person may keep the text as it is."),
        choices=(
            ("words", _("It has more words than set here")),
            ("full_stop", _("It ends in a full stop")),
            ("spelled_number", _("A number is written in words")),
            ("sentence_start", _("It reads like a sentence")),
            ("in_question", _("The question holds the same words")),
            ("question_mark", _("It does not end in a question mark")),
        ),
        optional=True,
    ),
)
START = {"long": False, "max_length": 300}
