"""The settings of a stage whose items are those that answers disagree on."""

from django.utils.translation import gettext_lazy

from annotation.fields.settings import Setting

MEASURES = (
    ("share", gettext_lazy("the share of the commonest answer (under 2/3)")),
    ("range", gettext_lazy("the range of codes on a scale (over 1)")),
    ("iou", gettext_lazy("the least overlap of boxes (under 0.5)")),
    ("f1", gettext_lazy("the least F1 of groupings (under 0.8)")),
)
DISAGREEMENT = (
    Setting(
        "between",
        "rows",
        gettext_lazy("Answers that are compared"),
        gettext_lazy("Of the first stage the answers are settled. Items of the others are made of its items."),
        row=(
            Setting("stage", "line", gettext_lazy("Key of the stage"), short=True),
            Setting("field", "line", gettext_lazy("Key of the question"), short=True),
        ),
        add=gettext_lazy("Add a stage"),
    ),
    Setting("measure", "select", gettext_lazy("They disagree by"), choices=MEASURES, start="share"),
    Setting("under", "number", gettext_lazy("Lower limit"), gettext_lazy("Empty: the usual one."), optional=True),
    Setting(
        "labels",
        "select",
        gettext_lazy("Labels of boxes"),
        gettext_lazy("Of overlap only."),
        choices=(("", gettext_lazy("must be the same")), ("ignore", gettext_lazy("are ignored"))),
        optional=True,
    ),
    Setting("over", "number", gettext_lazy("Upper limit"), gettext_lazy("Of a range. Empty: 1."), optional=True),
)
