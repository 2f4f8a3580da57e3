"""Answers that came in a file. They take no place in a campaign, so its tallies and its coverage do not know them."""

from dataclasses import dataclass

from django.db.models import Case, Count, When

from annotation.models import Annotation
from annotation.queries.kept_counts import keep_until_changed
from benchmarks.models import Benchmark
from people.models import Rater


@dataclass(frozen=True)
class FileAnswerCounts:
    """Answers that stand and count, by who gave them."""

    people: int = 0
    models: int = 0


def count_file_answers(benchmark: Benchmark) -> dict[int, FileAnswerCounts]:
    """By campaign; those without any are not in it."""

    def read() -> dict[tuple[int, bool], int]:
        rows = Annotation.objects.filter(
            assignment__campaign__stage__benchmark=benchmark, assignment__participation=None, live=True, counted=True
        )
        is_model = Case(When(rater__kind=Rater.Kind.MODEL, then=True), default=False)
        grouped = rows.order_by().values_list("assignment__campaign", is_model).annotate(n=Count("pk"))
        return {(campaign, of_model): n for campaign, of_model, n in grouped}

    counts = keep_until_changed(benchmark, "files", read)
    return {
        campaign: FileAnswerCounts(counts.get((campaign, False), 0), counts.get((campaign, True), 0))
        for campaign in {campaign for campaign, _is_model in counts}
    }
