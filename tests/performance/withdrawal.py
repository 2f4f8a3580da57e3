"""What withdrawing a consent costs: `python tests/performance/withdrawal.py [--answers 5000]`.

One person with that many answers, each in a slot of its own; for every fifth, somebody else's surplus answer waits for
the place. Prints seconds to withdraw, and to agree again and count the earlier answers.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.load import server  # noqa: E402


def answer_all(campaign: Any, rater: Any, slots: list[Any], *, surplus: bool) -> None:
    """Answers to these slots as submits would leave them, written in bulk."""
    from django.utils import timezone

    from annotation.models import Annotation, Assignment, Participation, Rating

    at = timezone.now()
    row = campaign.cohorts.get()
    seat = Participation.objects.create(cohort=row, rater=rater, last_seen_at=at)
    fields = {"campaign": campaign, "participation": seat, "rater": rater, "state": "submitted", "in_hand": False}
    moments = {"reserved_at": at, "shown_at": at, "changed_at": at}
    assignments = Assignment.objects.bulk_create(
        Assignment(slot=slot, unit_id=slot.unit_id, **fields, **moments) for slot in slots
    )
    because = "surplus" if surplus else ""
    annotations = Annotation.objects.bulk_create(
        Annotation(
            assignment=assignment, rater=rater, version=1, client_key=f"{assignment.pk}", answers={"relevance": "4"},
            sheet_version=campaign.sheet_version, cohort=row.cohort, language="en", shown_at=at, submitted_at=at,
            counted=not surplus, uncounted_because=because,
        )
        for assignment in assignments
    )  # fmt: skip
    Rating.objects.bulk_create(
        Rating(
            annotation=annotation, campaign=campaign, cohort=row.cohort, unit_id=annotation.assignment.unit_id,
            rater=rater, field="relevance", code="4", value=4.0, counted=not surplus,
        )
        for annotation in annotations
    )  # fmt: skip


def build(answers: int) -> tuple[Any, Any]:
    """A campaign of that many items with its answers, and the person."""
    from django.db.models import F

    from annotation.models import Slot
    from annotation.services.answers import consent
    from annotation.services.queue import recount
    from tests.annotation.queue.factories import a_person, an_open_campaign
    from tests.personas import make_consent_version

    campaign = an_open_campaign(items=answers, target=1)
    version = make_consent_version(campaign.stage.benchmark.team)
    cohort = campaign.cohorts.get().cohort
    person, other = a_person(cohort), a_person(cohort)
    for rater in (person, other):
        consent.agree(rater.user, version, "en")
    slots = list(Slot.objects.filter(cohort__campaign=campaign).order_by("pk"))
    answer_all(campaign, person, slots, surplus=False)
    answer_all(campaign, other, slots[::5], surplus=True)
    Slot.objects.filter(cohort__campaign=campaign).update(submitted=F("submitted") + 1)
    recount.repair()  # tallies
    return campaign, person


def timed(name: str, deed: Callable[[], Any]) -> None:
    began = time.perf_counter()
    result = deed()
    print(f"{name:<32}{time.perf_counter() - began:7.2f} s  {result}", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--answers", type=int, default=5000)
    answers = options.parse_args().answers
    with server.database():
        from django.db import connection
        from django.utils import timezone

        from annotation.services.answers import consent
        from annotation.services.queue import recount
        from people.models import ConsentVersion

        campaign, person = build(answers)
        connection.cursor().execute("ANALYZE")
        team = campaign.stage.benchmark.team
        version = ConsentVersion.objects.get(team=team)
        timed("withdraw", lambda: consent.withdraw(person.user, team, timezone.now()))
        timed("agree and count earlier answers", lambda: consent.agree(person.user, version, "en", count_earlier=True))
        print(f"differences in a recount: {len(recount.find_differences())}")


if __name__ == "__main__":
    main()
