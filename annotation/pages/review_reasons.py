"""What pages say about decisions of reviewers: to them, and to authors."""

from typing import Any

from django.utils.translation import gettext_lazy

from annotation.services.review.reviews import REASONS
from annotation.sheets.sheet import localise
from benchmarks.models import Stage

DEFAULTS: dict[str, Any] = dict(
    zip(
        REASONS,
        (
            gettext_lazy("It does not follow the rules"),
            gettext_lazy("It is not clear"),
            gettext_lazy("It has a mistake"),
            gettext_lazy("Something else: see the comment"),
        ),
        strict=True,
    )
)
REFUSED: dict[str, Any] = {
    "own": gettext_lazy("You contributed to this item, so someone else must review it."),
    "judged": gettext_lazy("You judged an earlier revision of this item, so someone else must review it."),
    "decided": gettext_lazy("Someone else has just reviewed this answer. Here is the next one."),
    "newer": gettext_lazy("The author has submitted a new version. It is in the queue."),
    "gone": gettext_lazy("This answer is not waiting any more."),
    "closed": gettext_lazy("The campaign is closed, so its author cannot correct it. Accept it or reject it."),
    "no_reason": gettext_lazy("Choose a reason, so that the author knows what to do."),
    "not_yours": gettext_lazy("Only the reviewer, or a person who runs the benchmark, can undo this decision."),
    "checked": gettext_lazy(
        "A second reviewer has decided on this answer. A person who runs the benchmark can undo it."
    ),
    "yours": gettext_lazy("You have reviewed this answer already, perhaps in another window. Here is the next one."),
    "settled": gettext_lazy("A third person has decided on this answer, so the second review stays."),
    "first": gettext_lazy("You have decided on this answer already, so someone else must decide now."),
}
REFUSED_IN_LIST: dict[str, Any] = {
    "decided": gettext_lazy("Someone else has just reviewed this answer."),
    "yours": gettext_lazy("You have reviewed this answer already, perhaps in another window."),
    "newer": gettext_lazy("The author has submitted a new version. Load the list again to see it."),
}


def reason_choices(stage: Stage, language: str) -> list[tuple[str, str]]:
    """Code and words: those of the stage, else the usual ones."""
    if stage.review_reasons:
        return [(str(row["code"]), localise(row["label"], language)) for row in stage.review_reasons]
    return [(code, str(words)) for code, words in DEFAULTS.items()]


def reason_label(stage: Stage, code: str, language: str) -> str:
    return dict(reason_choices(stage, language)).get(code, code)
