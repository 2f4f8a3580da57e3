"""Items of two cultures in a stage where each cohort gets only its own: what the board and the next action say of them.

Such an item is no cohort's own, so nobody is asked about it; see decision 17.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Campaign
from annotation.pages.unpaired import pair_settings_address
from annotation.queries.opened_stages import RUNNING
from benchmarks.models import Benchmark, Item, Stage
from benchmarks.pages.board import address
from benchmarks.queries.availability import is_available
from benchmarks.rules.derivations.cultures import SEPARATOR
from jobs.queries.read_together import read_for_each


@dataclass(frozen=True)
class MixedItems:
    """`n` of the `items` of an open stage are about two cultures."""

    stage: Stage
    n: int
    items: int

    @property
    def text(self) -> str:
        return mixed_text(self.stage, self.n)


def mixed_text(stage: Stage, n: int) -> str:
    if is_pairing(stage):
        text = ngettext(
            "%(n)s pair compares answers of two cultures: nobody may answer it",
            "%(n)s pairs compare answers of two cultures: nobody may answer them",
            n,
        )
    else:
        text = ngettext(
            "%(n)s item is about answers of two cultures: nobody may answer it",
            "%(n)s items are about answers of two cultures: nobody may answer them",
            n,
        )
    return text % {"n": number_format(n, use_l10n=True)}


def is_pairing(stage: Stage) -> bool:
    return bool((stage.derivation or {}).get("kind") == "pair")


def remedy_text(stage: Stage) -> str:
    if is_pairing(stage):
        return _("Let both sides of a pair share the culture. Or close the campaign and let all cohorts answer.")
    return _("Close the campaign and let all cohorts answer.")


def remedy_address(benchmark: Benchmark, stage: Stage) -> str:
    """Where is chosen what both sides of a pair share; of other items who answers."""
    return pair_settings_address(benchmark, stage) if is_pairing(stage) else who_answers_address(benchmark, stage)


def who_answers_address(benchmark: Benchmark, stage: Stage) -> str:
    return address("annotation:compose", benchmark, stage.pk, at="own_items_only") + "#s-people"


def open_stages_with_mixed_items(benchmark: Benchmark) -> list[MixedItems]:
    """In the order of the stages. One query, and one more where there are any."""
    counts = read_for_each(benchmark, _mixed_of_each) or {}
    stages = benchmark.stages.all() if counts else ()
    return [MixedItems(stage, *counts[stage.pk]) for stage in stages if stage.pk in counts]


def _mixed_of_each(benchmarks: Sequence[Benchmark]) -> Mapping[int, Mapping[int, tuple[int, int]]]:
    """Mixed items and all items of each stage that has some."""
    running = Campaign.objects.filter(state__in=RUNNING)
    items = Item.objects.filter(
        is_available(), stage__benchmark__in=benchmarks, stage__own_items_only=True, stage__in=running.values("stage")
    ).order_by()
    mixed = Count("pk", filter=Q(answer_target__contains=SEPARATOR))
    rows = items.values_list("stage__benchmark", "stage").annotate(mixed=mixed, items=Count("pk")).filter(mixed__gt=0)
    counts: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
    for benchmark, stage, n, total in rows:
        counts[benchmark][stage] = (n, total)
    return counts
