"""What publishing a version of a stage changes, and where: in running campaigns, or only in those opened later."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.composer.labels import NAMES
from annotation.queries.opened_stages import RUNNING
from benchmarks.models import Stage

AT_ONCE = ("name", "derivation", "layout", "skip_reasons", "review_reasons", "retire_after_skips", "coverage")
"""What a campaign reads from its stage while it runs, whether it has answers or not."""
AT_OPENING = ("sheet", "target_answers", "acceptance_rule", "instructions")
"""What a campaign takes along when it is opened, and keeps."""
QUESTIONS = "sheet"


def published_text(stage: Stage, number: int, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """After version `number` was published: what campaigns make of it. `before` and `after`: the content by column."""
    published = _("Version %(n)s is published.") % {"n": number}
    running = stage.campaigns.filter(state__in=RUNNING).count()
    if not running:
        return f"{published} {_('New campaigns use it.')}"
    changed = [key for key, value in after.items() if before.get(key) != value]
    at_once, later = (_named(key for key in keys if key in changed) for keys in (AT_ONCE, AT_OPENING))
    sentences = [published]
    if at_once:
        text = ngettext(
            "The running campaign uses at once: %(parts)s.",
            "The %(n)s running campaigns use at once: %(parts)s.",
            running,
        )
        sentences.append(text % {"n": running, "parts": at_once})
    if later:
        text = ngettext(
            "Only new campaigns use: %(parts)s. The running campaign keeps what it was opened with.",
            "Only new campaigns use: %(parts)s. The %(n)s running campaigns keep what they were opened with.",
            running,
        )
        sentences.append(text % {"n": running, "parts": later})
    return " ".join(sentences)


def _named(keys: Iterable[str]) -> str:
    names = [_("Questions") if key == QUESTIONS else str(NAMES[key]) for key in keys]
    return get_text_list([f"“{name}”" for name in names], _("and"))
