"""The events that programs can read: what each means, and which members of its data it shows.

Ids, numbers and codes alone: no name, no text that a person wrote, and nobody's number.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class EventVerb:
    meaning: str
    data: tuple[str, ...] = ()


VERBS: Mapping[str, EventVerb] = {
    "benchmark.created": EventVerb("The benchmark was created.", ("recipe",)),
    "benchmark.changed": EventVerb("What it says of itself was changed.", ("changed",)),
    "campaign.created": EventVerb("A campaign was created as a draft."),
    "campaign.opened": EventVerb("A campaign was opened."),
    "campaign.paused": EventVerb("No new work is assigned."),
    "campaign.resumed": EventVerb("Work is assigned again."),
    "campaign.closed": EventVerb("A campaign was closed."),
    "campaign.pack_hours_changed": EventVerb("Items taken along are kept for another time.", ("hours",)),
    "campaign.cohort_added": EventVerb("One more cohort is asked.", ("cohort", "wanted")),
    "campaign.target_changed": EventVerb("More or fewer answers are wanted.", ("cohort", "old", "new")),
    "answer.submitted": EventVerb("A person submitted an answer.", ("counted", "version")),
    "answer.undone": EventVerb("A person undid an answer.", ("version",)),
    "answer.reopened": EventVerb("A person opened an answer again.", ("version",)),
    "pack.taken": EventVerb("A person took items with them, to answer without a connection.", ("count",)),
    "pack.given_back": EventVerb("A person gave such items back.", ("count",)),
    "assignment.skipped": EventVerb("A person skipped an item.", ("reason",)),
    "items.imported": EventVerb("Items were imported."),
    "item.withdrawn": EventVerb("A person withdrew an item."),
    "item.restored": EventVerb("A person brought an item back."),
    "answers.imported": EventVerb("Answers were imported from a file."),
    "foreign.imported": EventVerb("Files of another tool were imported."),
    "answers.withdrawn": EventVerb("Imported answers were withdrawn."),
    "answer.accepted": EventVerb("A reviewer accepted an answer.", ("version",)),
    "answer.returned": EventVerb("A reviewer returned an answer to its author.", ("version",)),
    "answer.rejected": EventVerb("A reviewer rejected an answer.", ("version",)),
    "answer.review_undone": EventVerb("A reviewer undid a decision.", ("version",)),
    "campaign.complete": EventVerb("All answers that a campaign wants are there.", ("wanted",)),
    "cohort.complete": EventVerb("All answers that a campaign wants of a cohort are there.", ("cohort", "wanted")),
    "job.finished": EventVerb("Long work has ended: done, failed or cancelled.", ("kind", "state")),
    "import.finished": EventVerb("An import has ended: done, failed or cancelled.", ("kind", "state")),
    "run.opened": EventVerb("A run of a model was created.", ("calls", "repeats")),
    "run.paused": EventVerb("A run sends no more requests."),
    "run.resumed": EventVerb("A run was started or goes on."),
    "run.stopped": EventVerb("A run was ended; its answers stay."),
    "run.finished": EventVerb("Every call of a run has ended."),
    "run.withdrawn": EventVerb("A run is counted nowhere.", ("answers",)),
    "release.created": EventVerb("A release was drafted."),
    "release.built": EventVerb("A release was built."),
    "release.published": EventVerb("A release was published."),
    "release.withdrawn": EventVerb("A release was withdrawn."),
}
