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
        _("Remarks while writing"),
        _("The person may keep the text as it is."),
        choices=(
            ("words", _("more words than allowed")),
            ("full_stop", _("no full stop at the end")),
            ("spelled_number", _("numbers written in digits")),
            ("sentence_start", _("a phrase, not a sentence")),
            ("in_question", _("words that are not in the question")),
            ("question_mark", _("a question mark at the end")),
        ),
        optional=True,
    ),
)
START = {"long": False, "max_length": 300}
