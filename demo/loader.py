"""Load the demo: a team, three cohorts, simulated people and models (named so), CulturalVQA, and a job for the rest.

Everything is written by the services that the pages use. What the first start waits for is one transaction: an
interrupted start leaves nothing.
"""

import os
import secrets
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from demo import loading, people
from demo.context import Report
from demo.steps import run_step
from jobs.models import Job
from people.models import Team

WORDS = ("brass", "enamel", "needle", "ruler", "tick")


def exists() -> bool:
    return Team.objects.filter(slug="demo").exists()


def load(report: Report, *, now: datetime | None = None) -> tuple[str, Job]:
    """Load what visitors see first and return the text that lists the accounts, and the job that loads the rest.

    The password is random, one for each data folder. `report` is called with short texts such as "CulturalVQA: models".
    """
    now = now or timezone.now()
    password = f"{secrets.choice(WORDS)}-{secrets.randbelow(900000) + 100000}"
    with transaction.atomic():
        report("people")
        demo, _users = people.create_team(password, now, report)
        for step in loading.FIRST:
            report(step.title)
            run_step(step, demo)
        job = loading.start(demo, os.environ.get("EMIC_PRACTICE", ""))
    lines = [f"  {user}@demo.emic   {sees}" for user, _, _, sees, _ in people.ACCOUNTS]
    return "\n".join([f"Demo accounts, all with the password  {password}", *lines]) + "\n", job


def write_accounts(text: str) -> None:
    path = settings.DATA_DIR / "demo-accounts.txt"
    path.write_text(text)
    path.chmod(0o600)
