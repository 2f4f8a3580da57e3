"""What happens to items that an import or a derivation wrote, in its transaction."""

from benchmarks.models import Stage
from benchmarks.services import item_changes
from benchmarks.services.intake import judge_job
from benchmarks.services.intake.judging import judge_items


def judge_and_notify(stage: Stage, item_ids: list[int]) -> None:
    """Judge the items by the filters of their stage, and let the apps above know of them. Needs the stage's lock."""
    if stage.filters:
        judge_items(stage, item_ids)
        judge_job.start_if_hashes_are_missing(stage, item_ids)
    item_changes.notify_arrivals(stage.pk, item_ids)
