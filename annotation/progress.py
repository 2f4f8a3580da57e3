"""How far a cohort is. Reads the tallies, so its work does not grow with the campaign."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Sum

from annotation.models import Tally


@dataclass(frozen=True)
class Progress:
    submitted: int = 0
    wanted: int = 0

    @property
    def given(self) -> str:
        return f"{self.submitted:,}"

    @property
    def asked(self) -> str:
        return f"{self.wanted:,}"

    @property
    def percent(self) -> float:
        return min(100.0, 100 * self.submitted / self.wanted) if self.wanted else 0.0


def progress_of(cohort_ids: Iterable[int]) -> dict[int, Progress]:
    """By campaign cohort; one that was never filled is at nothing of nothing."""
    ids = list(cohort_ids)
    sums = Tally.objects.filter(cohort_id__in=ids).values("cohort_id").annotate(s=Sum("submitted"), w=Sum("wanted"))
    found = {row["cohort_id"]: Progress(row["s"], row["w"]) for row in sums}
    return {one: found.get(one, Progress()) for one in ids}
