"""What an item's page says while a rule waits: how many answers are missing in each open campaign, and of whom."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import F
from django.utils.translation import gettext_lazy, ngettext

from annotation.models import Campaign, Slot
from benchmarks.models import Item
from benchmarks.pages.panels import Panel


@dataclass(frozen=True)
class AwaitedAnswers:
    """Of a unit in a campaign; `cohorts`: name and number."""

    campaign: Campaign
    target: str
    cohorts: Sequence[tuple[str, int]]

    @property
    def text(self) -> str:
        n = sum(number for _cohort, number in self.cohorts)
        return ngettext("Waits for %(n)s more answer", "Waits for %(n)s more answers", n) % {"n": n}


def missing_answers(item: Item) -> list[AwaitedAnswers] | None:
    """Of campaigns whose answers a rule judges. One query; None where nothing is missing."""
    slots = Slot.objects.filter(
        unit__item=item, retired=False, cell_full=False, wanted__gt=F("submitted"),
        cohort__campaign__state__in=(Campaign.State.OPEN, Campaign.State.PAUSED),
        cohort__campaign__rule_version__isnull=False,
    ).select_related("unit", "cohort__campaign", "cohort__cohort")  # fmt: skip
    by_unit: dict[tuple[int, int], list[Slot]] = {}
    for slot in slots.order_by("-cohort__campaign", "unit", "cohort__cohort__label"):
        by_unit.setdefault((slot.cohort.campaign_id, slot.unit_id), []).append(slot)
    return [_of_unit(rows) for rows in by_unit.values()] or None


def _of_unit(slots: Sequence[Slot]) -> AwaitedAnswers:
    cohorts = [(slot.cohort.cohort.label, slot.wanted - slot.submitted) for slot in slots]
    return AwaitedAnswers(slots[0].cohort.campaign, slots[0].unit.target, cohorts)


PANEL = Panel(
    "annotation/missing_answers.html", missing_answers, anchor="missing-answers",
    title=gettext_lazy("Answers that the rule waits for"),
)  # fmt: skip
