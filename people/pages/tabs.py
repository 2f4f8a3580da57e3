"""The top bar's tabs on pages that belong to no benchmark."""

from typing import TypedDict

from django.urls import reverse
from django.utils.translation import gettext as _

from people.models import User


class Tab(TypedDict):
    url: str
    label: str
    current: bool


def tabs_for(user: User, current: str = "") -> list[Tab]:
    """What this person has use for: work for members, benchmarks for researchers, teams for those who manage."""
    in_team = user.is_staff or user.team_memberships.exists()
    manages = in_team or user.managed_cohorts.exists()
    works = user.cohort_memberships.filter(left_at__isnull=True).exists() or not manages
    tabs = [
        ("work", "annotation:work", _("Work"), works),
        ("history", "annotation:history", _("History"), works),
        ("benchmarks", "benchmarks:list", _("Benchmarks"), in_team),
        ("teams", "people:teams", _("Teams and cohorts"), manages),
        ("status", "evaluation:status", _("Status"), user.is_staff),
        ("me", "people:me", _("Me"), True),
    ]
    return [Tab(url=reverse(name), label=label, current=key == current) for key, name, label, shown in tabs if shown]
