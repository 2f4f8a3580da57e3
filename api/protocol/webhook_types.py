"""What webhooks tell: each type of message, the events it is made of, and the members of their data that it shows.

Numbers and codes alone, as in the feed of events.
"""

from collections.abc import Mapping
from dataclasses import dataclass

TEST = "webhook.test"
SUBMITTED = "answer.submitted"
WITHDRAWN_CONSENT = "consent.withdrawn"


@dataclass(frozen=True)
class WebhookType:
    """`verbs`: events that it is made of. `shows`: members of their data."""

    meaning: str
    verbs: tuple[str, ...]
    shows: tuple[str, ...] = ()


TYPES: Mapping[str, WebhookType] = {
    "job.finished": WebhookType("Long work has ended, by its state.", ("job.finished",), ("kind", "state")),
    "import.finished": WebhookType("An import has ended.", ("import.finished",), ("kind", "state")),
    "campaign.opened": WebhookType("A campaign was opened.", ("campaign.opened",)),
    "campaign.closed": WebhookType("A campaign was closed.", ("campaign.closed",)),
    "campaign.complete": WebhookType("A campaign has all answers it wants.", ("campaign.complete",), ("wanted",)),
    "cohort.complete": WebhookType(
        "A campaign has all answers it wants of a cohort.", ("cohort.complete",), ("cohort", "wanted")
    ),
    SUBMITTED: WebhookType(
        "People submitted answers: counts by campaign, at most one message a minute.", ("answer.submitted",)
    ),
    "review.decided": WebhookType(
        "A reviewer decided on an answer.", ("answer.accepted", "answer.returned", "answer.rejected"), ("version",)
    ),
    "run.finished": WebhookType("Every call of a run has ended.", ("run.finished", "linking.done")),
    "release.published": WebhookType("A release was published.", ("release.published",)),
    "release.withdrawn": WebhookType("A release was withdrawn.", ("release.withdrawn",)),
    WITHDRAWN_CONSENT: WebhookType("People of the team withdrew their consent: how many.", ("consent.withdrawn",)),
}


def type_of(verb: str, wanted: list[str]) -> str:
    """The type of message that an event becomes, among those that are wanted; empty for none."""
    return next((name for name in wanted if name in TYPES and verb in TYPES[name].verbs), "")


def verbs_of(wanted: list[str]) -> list[str]:
    return [verb for name in wanted if name in TYPES for verb in TYPES[name].verbs]
