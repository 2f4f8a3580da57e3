"""Load the demo: a team, three cohorts, pictures, simulated raters and models (named so), and open work for visitors.

Everything is written by the services that the pages use, in one transaction: an interrupted start leaves nothing.
"""

import os
import secrets
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotation.services.queue.leases import release_expired
from benchmarks.models import Role
from benchmarks.services.roles import set_role
from demo import model_answers, people, practice, relevance, workflows
from demo.context import Report
from people.models import Team

WORDS = ("brass", "enamel", "needle", "ruler", "tick")


def exists() -> bool:
    return Team.objects.filter(slug="demo").exists()


def load(report: Report, *, now: datetime | None = None) -> str:
    """Load the demo and return the text that lists its accounts. The password is random, one for each data folder.

    `report` is called with short texts such as "pictures 24 of 118".
    """
    now = now or timezone.now()
    password = f"{secrets.choice(WORDS)}-{secrets.randbelow(900000) + 100000}"
    with transaction.atomic():
        report("people")
        demo, users = people.create_team(password, now, report)
        benchmark = relevance.load(demo)
        set_role(benchmark, users["admin"], Role.Name.RESEARCHER, demo.actor)
        workflows.load(demo)
        relevance.rate(demo, benchmark)
        model_answers.load(demo)
        if address := os.environ.get("EMIC_PRACTICE"):
            practice.load(demo, address)
        release_expired(now)
    lines = [f"  {user}@demo.emic   {sees}" for user, _, _, sees, _ in people.ACCOUNTS]
    return "\n".join([f"Demo accounts, all with the password  {password}", *lines]) + "\n"


def write_accounts(text: str) -> None:
    path = settings.DATA_DIR / "demo-accounts.txt"
    path.write_text(text)
    path.chmod(0o600)
