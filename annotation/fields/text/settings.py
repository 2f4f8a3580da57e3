from django.utils.translation import gettext_lazy as _

from annotation.fields.settings import Setting

SETTINGS = (
    Setting("long", "bool", _("Several lines")),
    Setting("min_length", "int", _("Minimum characters"), optional=True),
    Setting("max_length", "int", _("Maximum characters"), optional=True, start=300),
    Setting("language", "line", _("Language it is written in"), _("A code such as ar; empty for any."), short=True),
    Setting(
        "direction",
        "select",
        _("Direction"),
        choices=(("auto", _("As it is written")), ("ltr", _("Left to right")), ("rtl", _("Right to left"))),
        start="auto",
    ),
    Setting("most_words", "int", _("Maximum words"), optional=True),
    Setting(
        "checks",
        "many",
        _("Show a warning if"),
        _("Shown on submit. The person can still submit the text unchanged."),
        choices=(
            ("words", _("The answer has more words than set here")),
            ("full_stop", _("The answer ends in a full stop")),
            ("spelled_number", _("A number is written in words")),
            ("sentence_start", _("The answer reads like a sentence")),
            ("in_question", _("The question contains the same words")),
            ("question_mark", _("The answer does not end in a question mark")),
        ),
        optional=True,
    ),
)
START = {"long": False, "max_length": 300}
