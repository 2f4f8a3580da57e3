"""What pages say about work and answers: one place for each reason's and state's words."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.models import Annotation, Assignment
from people.locales.time_zones import zone_named
from people.models import Cohort, User

NOTHING: dict[str, tuple[Any, Any]] = {
    "all_done": (
        gettext_lazy("You have answered everything here."),
        gettext_lazy("Thank you. Other people answer the rest. New work appears on your work page."),
    ),
    "for_others": (
        gettext_lazy("The items here are for other people."),
        gettext_lazy("New work appears on your work page."),
    ),
    "nothing_yet": (
        gettext_lazy("There is nothing to answer here yet."),
        gettext_lazy("New work appears on your work page."),
    ),
    "cohort_full": (
        gettext_lazy("Your cohort has given all the answers that were wanted."),
        gettext_lazy("Nothing more is needed here."),
    ),
    "all_reserved": (
        gettext_lazy("Others are working on all open items."),
        gettext_lazy("We show the next item as soon as one is free."),
    ),
    "own_share_done": (
        gettext_lazy("You have given all the answers we asked you for."),
        gettext_lazy("Thank you. Others answer the rest."),
    ),
    "day_done": (
        gettext_lazy("You have given your answers for today."),
        gettext_lazy("Thank you. You can continue tomorrow."),
    ),
    "in_pack": (
        gettext_lazy("You took all the items you may answer with you."),
        gettext_lazy("Answer them on that device, or give them back on your work page."),
    ),
    "cohort_paused": (
        gettext_lazy("Your cohort is paused in this campaign."),
        gettext_lazy("Your answers are saved. You can continue when the researcher resumes the campaign."),
    ),
    "campaign_paused": (
        gettext_lazy("This campaign is paused."),
        gettext_lazy("Your answers are saved. You can continue when the researcher resumes the campaign."),
    ),
    "campaign_closed": (gettext_lazy("This campaign is closed."), gettext_lazy("Your answers are kept.")),
    "not_started": (gettext_lazy("This campaign is not open yet."), gettext_lazy("Come back when it opens.")),
    "ended": (gettext_lazy("The last day of this campaign is over."), gettext_lazy("Your answers are kept.")),
    "no_consent": (
        gettext_lazy("Your consent is needed first."),
        gettext_lazy("Read the text of the team and decide."),
    ),
    "not_ready": (
        gettext_lazy("Read the instructions first."),
        gettext_lazy("Then you can start."),
    ),
    "not_a_member": (
        gettext_lazy("You are no longer in this cohort."),
        gettext_lazy("Your answers are kept. Ask the person who invited you."),
    ),
    "excluded": (
        gettext_lazy("No open work right now."),
        gettext_lazy("Ask the person who invited you."),
    ),
}


@dataclass(frozen=True)
class NoWorkText:
    """Why there is nothing to do."""

    reason: str
    title: str
    advice: str
    retry: bool


def no_work_text(reason: str, until: datetime | None, zone: ZoneInfo) -> NoWorkText:
    title, advice = (str(words) for words in NOTHING[reason])
    if until is not None and reason == "all_reserved":
        title = _("All open items are taken until %(time)s.") % {"time": format_moment(until, zone)}
    return NoWorkText(reason, title, advice, retry=reason in ("all_reserved", "cohort_paused", "campaign_paused"))


@dataclass(frozen=True)
class Chip:
    style: str
    words: str


LOOKS = {
    Assignment.State.SUBMITTED: "wait",
    Assignment.State.RETURNED: "back",
    Assignment.State.ACCEPTED: "ok",
    Assignment.State.REJECTED: "no",
}
UNCOUNTED = {
    "surplus": gettext_lazy("Saved. Enough answers had arrived already, so this one is not counted."),
    "closed": gettext_lazy("Saved. The campaign was already closed, so it is not counted."),
    "no_consent": gettext_lazy("Saved. You had not given consent at that time, so it is not counted."),
    "not_a_member": gettext_lazy("Saved. You had left the cohort before it arrived, so it is not counted."),
    "consent_withdrawn": gettext_lazy("Not counted, because you withdrew your consent."),
}


def state_chip(assignment: Assignment, live: Annotation | None) -> Chip:
    """A state is a dot and a word."""
    if live is not None and not live.counted and assignment.state == Assignment.State.SUBMITTED:
        return Chip("hollow", _("Not counted"))
    return Chip(LOOKS.get(Assignment.State(assignment.state), "hollow"), assignment.get_state_display())


def not_counted_note(live: Annotation | None) -> str:
    return str(UNCOUNTED.get(live.uncounted_because, "")) if live is not None and not live.counted else ""


def format_date(at: datetime, zone: ZoneInfo) -> str:
    """The time today, then yesterday, then the date."""
    local, today = at.astimezone(zone), timezone.now().astimezone(zone).date()
    if local.date() == today:
        return f"{local:%H:%M}"
    if local.date() == today - timedelta(days=1):
        return _("Yesterday")
    return date_format(local.date(), "MONTH_DAY_FORMAT" if local.year == today.year else "DATE_FORMAT")


def format_moment(at: datetime, zone: ZoneInfo) -> str:
    """To stand within a sentence: the time today, else the date and the time."""
    local = at.astimezone(zone)
    same = local.date() == timezone.now().astimezone(zone).date()
    return f"{local:%H:%M}" if same else f"{date_format(local.date(), 'MONTH_DAY_FORMAT')}, {local:%H:%M}"


def time_ago(moment: datetime, at: datetime) -> str:
    """One number and its noun, which every language has a plural for: minutes, hours, days, then the date."""
    minutes = int((at - moment).total_seconds() / 60)
    hours, days = minutes // 60, minutes // 1440
    if minutes < 1:
        return _("a moment ago")
    if minutes < 60:
        return ngettext("%(n)s minute ago", "%(n)s minutes ago", minutes) % {"n": minutes}
    if hours < 48:
        return ngettext("%(n)s hour ago", "%(n)s hours ago", hours) % {"n": hours}
    if days < 60:
        return ngettext("%(n)s day ago", "%(n)s days ago", days) % {"n": days}
    return date_format(timezone.localtime(moment).date(), "DATE_FORMAT")


def time_zone_for(user: User, cohort: Cohort | None = None) -> ZoneInfo:
    """The person's zone, else the cohort's."""
    return zone_named(user.time_zone or (cohort.time_zone if cohort else "")) or ZoneInfo("UTC")


def greeting(hour: int) -> str:
    if 5 <= hour < 12:
        return _("Good morning")
    return _("Good afternoon") if 12 <= hour < 18 else _("Good evening")


def duration(seconds: float) -> str:
    """Rounded as people say it: seconds below two minutes, then minutes, then hours and minutes."""
    if seconds < 120:
        return _("%(s)s s") % {"s": round(seconds)}
    minutes = round(seconds / 60)
    if minutes < 60:
        return _("%(m)s min") % {"m": minutes}
    return _("%(h)s h %(m)s min") % {"h": minutes // 60, "m": minutes % 60}
