"""What the annotator's home shows: the day, what is open, the last answers. Nothing is claimed.

Its work does not grow with the campaigns, only with what the person answered.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from statistics import median
from zoneinfo import ZoneInfo

from django.db.models import Count, Q
from django.db.models.functions import TruncDate
from django.utils.formats import date_format
from django.utils.text import Truncator
from django.utils.translation import get_language

from annotation.fields.contract import localise
from annotation.models import Annotation, Assignment, Campaign, CampaignCohort, Participation
from annotation.pages.history import UNSEEN, HistoryRow, history_page
from annotation.pages.packs import PackOffer, offer_for
from annotation.pages.recipe_names import recipe_name
from annotation.pages.status_text import NoWorkText, duration, greeting, no_work_text, time_zone_for
from annotation.queries.first_items import first_items, first_pictures
from annotation.queries.gate import check_gates
from annotation.queries.packs import PackCount, packs_of
from annotation.queries.progress import Progress, progress_of
from annotation.services.answers.submit import ANSWERED
from annotation.services.campaigns import readiness
from annotation.services.queue.next_work import NoWork, no_work_reasons
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.models import Item, ItemImage
from people.models import Cohort, CohortMember, Message, Rater, User
from people.services import messages
from people.services.memberships import active_cohorts
from people.services.raters import rater_of

MOST = 2000
LAST = 6
MOST_RETURNED = 20
WIDTH, MARGIN = 1200, 10
FEW = 3
WEEK = 7
MOST_MARKS = 16
MOST_WORDS = 40
BEFORE_WORK = ("no_consent", "not_ready")  # reasons that the person ends: consent, instructions


@dataclass(frozen=True)
class DayTimeline:
    """Today's answers on a ruler of hours. Positions are in the units of the drawing."""

    answers: int
    worked: str
    marks: str
    ticks: str
    now: float
    hours: list[str]


@dataclass(frozen=True)
class WeekDay:
    """One of the last seven days: how many answers, and as many marks, or fewer where one mark stands for several."""

    name: str
    answers: int
    marks: str


@dataclass(frozen=True)
class OpenCampaign:
    """One campaign, as it is for this person now."""

    campaign_id: int
    benchmark: str
    name: str
    summary: str
    pace: str
    cohort_name: str
    progress: Progress
    picture: ItemImage | None
    words: str
    """What stands in place of a picture: the text or concept of an item."""
    why: NoWorkText | None
    begun: bool
    own: int
    consent_team: int | None
    unread: bool = False
    """Instructions that they have not seen yet come first."""
    pack: PackOffer = field(default_factory=PackOffer)

    @property
    def waits_for_person(self) -> bool:
        """Whether there is something to do: work, or what comes before it."""
        return self.why is None or self.why.reason in BEFORE_WORK


@dataclass(frozen=True)
class HomePage:
    greeting: str
    zone: ZoneInfo
    cohorts: list[Cohort]
    messages: list[Message]
    left: bool
    day: DayTimeline
    week: list[WeekDay]
    open: list[OpenCampaign]
    past: list[HistoryRow]
    more: bool
    returned: list[HistoryRow]

    @property
    def is_returned_by_checks(self) -> bool:
        """Whether no reviewer has returned any of them."""
        return all(row.review is not None and row.review.automatic for row in self.returned)

    @property
    def offers_packs(self) -> bool:
        return any(row.pack.n or row.pack.hours for row in self.open)

    @property
    def waiting(self) -> list[OpenCampaign]:
        return [row for row in self.open if row.waits_for_person]

    @property
    def idle(self) -> list[OpenCampaign]:
        """Campaigns in which this person can do nothing now."""
        return [row for row in self.open if not row.waits_for_person]

    @property
    def can_work(self) -> int:
        return sum(campaign.why is None for campaign in self.open)


Given = tuple[datetime, float | None, int, bool]


def home_of(user: User, at: datetime) -> HomePage:
    cohorts = list(active_cohorts(user))
    zone = time_zone_for(user, cohorts[0] if cohorts else None)
    today = answers_today(user, at.astimezone(zone))
    past, more = history_page(user, LAST)
    returned, _more = history_page(user, MOST_RETURNED, states=(Assignment.State.RETURNED,))
    return HomePage(
        greeting=greeting(at.astimezone(zone).hour),
        zone=zone,
        cohorts=cohorts,
        messages=list(messages.unread(user)),
        left=not cohorts and CohortMember.objects.filter(user=user).exists(),
        day=day_of(today, at.astimezone(zone)),
        week=week_of(answers_by_day(user, at.astimezone(zone)), at.astimezone(zone)),
        open=open_campaigns(user, cohorts, today, zone, at),
        past=past,
        more=more is not None,
        returned=returned,
    )


def answers_today(user: User, local: datetime) -> list[Given]:
    """When, for how long, in which campaign, and whether it stands: also versions that a newer one replaced."""
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    rows = Annotation.objects.filter(rater__user=user, submitted_at__gte=midnight)
    rows = rows.filter(assignment__participation__isnull=False)  # what came in a file was not done here
    return list(
        rows.order_by("-submitted_at").values_list("submitted_at", "active_seconds", "assignment__campaign_id", "live")[
            :MOST
        ]
    )


def day_of(submissions: Sequence[Given], local: datetime) -> DayTimeline:
    times = [at.astimezone(local.tzinfo) for at, _seconds, _campaign, live in submissions if live]
    hours = [_hour(time) for time in [*times, local]]
    first, last = min(7, int(min(hours))), max(19, int(max(hours)) + 1)
    last += -(last - first) % 4

    def x(hour: float) -> float:
        return round(MARGIN + (WIDTH - 2 * MARGIN) * (hour - first) / (last - first), 1)

    step = (last - first) // 4
    ticks = [(x(hour), 8 if (hour - first) % step == 0 else 4) for hour in range(first, last + 1)]
    return DayTimeline(
        answers=len(times),
        worked=duration(sum(seconds or 0 for _at, seconds, _campaign, _live in submissions)),
        marks="".join(f"M{x(_hour(time))} 8V26" for time in times),
        ticks="".join(f"M{at} 28v{height}" for at, height in ticks),
        now=x(_hour(local)),
        hours=[f"{hour % 24:02}:00" for hour in range(first, last + 1, step)],
    )


def answers_by_day(user: User, local: datetime) -> dict[date, int]:
    """How many answers that stand this person gave on each of the last seven days, in their own zone."""
    first = local.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=WEEK - 1)
    rows = Annotation.objects.filter(rater__user=user, submitted_at__gte=first, live=True)
    rows = rows.filter(assignment__participation__isnull=False)
    days = rows.annotate(day=TruncDate("submitted_at", tzinfo=local.tzinfo)).values("day")
    return dict(days.annotate(answers=Count("pk")).order_by().values_list("day", "answers"))


def week_of(answers: Mapping[date, int], local: datetime) -> list[WeekDay]:
    """The last seven days, today last; none if there was no answer before today."""
    days = [local.date() - timedelta(days=back) for back in reversed(range(WEEK))]
    if not any(answers.get(day) for day in days[:-1]):
        return []
    each = -(-max(answers.values()) // MOST_MARKS)
    return [
        WeekDay(
            name=date_format(day, "D"),
            answers=answers.get(day, 0),
            marks="".join(f"M{6 * mark + 4} 8V26" for mark in range(-(-answers.get(day, 0) // each))),
        )
        for day in days
    ]


def _hour(local: datetime) -> float:
    return local.hour + local.minute / 60 + local.second / 3600


def open_campaigns(
    user: User, cohorts: Iterable[Cohort], submissions: Sequence[Given], zone: ZoneInfo, at: datetime
) -> list[OpenCampaign]:
    """Campaigns of this person's cohorts that are not over. Those with work for them come first."""
    recent = Q(campaign__closed_at__gte=at - timedelta(days=7))
    states = Q(campaign__state__in=(Campaign.State.OPEN, Campaign.State.PAUSED))
    places = list(
        CampaignCohort.objects.filter(states | Q(campaign__state=Campaign.State.CLOSED) & recent, cohort__in=cohorts)
        .select_related("campaign__stage__benchmark", "campaign__sheet_version", "cohort")
        .order_by("-campaign__opened_at", "pk")
    )
    if not places:
        return []
    rater = rater_of(user)
    own = my_answer_counts(rater, places)
    unused = never_started_campaigns(places)
    progress = progress_of(place.pk for place in places)
    unread, packs = readiness.unread(places, rater), packs_of(rater, places)
    shown = [
        place
        for place in places
        if place.pk in own or (place.campaign.state != Campaign.State.CLOSED and place.campaign_id not in unused)
    ]
    reasons = find_no_work_reasons(rater, shown, at)
    samples = find_samples([place.pk for place in shown if not is_hidden(reasons.get(place.pk))])
    rows = [
        _open(
            user,
            place,
            progress[place.pk],
            own.get(place.pk),
            submissions,
            zone,
            reasons.get(place.pk),
            samples.get(place.pk, ItemSample()),
            place.pk in unread,
            packs.get(place.pk, PackCount()),
        )
        for place in shown
    ]
    return sorted(rows, key=lambda row: (row.why is not None, not row.begun))


def never_started_campaigns(places: Sequence[CampaignCohort]) -> set[int]:
    """Paused campaigns that nobody ever began, as those for imports only: there is nothing to tell people of them."""
    paused = {place.campaign_id for place in places if place.campaign.state == Campaign.State.PAUSED}
    if not paused:
        return paused
    seats = Participation.objects.filter(cohort__campaign__in=paused)
    return paused - set(seats.values_list("cohort__campaign", flat=True).distinct())


def my_answer_counts(rater: Rater, places: Sequence[CampaignCohort]) -> dict[int, int]:
    """How much this person has answered in each that they have begun."""
    seats = Participation.objects.filter(rater=rater, cohort__in=places)
    answered = Count("assignments", filter=Q(assignments__state__in=ANSWERED))
    return dict(seats.annotate(answered=answered).values_list("cohort_id", "answered"))


def find_no_work_reasons(rater: Rater, places: Sequence[CampaignCohort], at: datetime) -> dict[int, NoWork]:
    """Why there is no work for this person in some of these places now, as opening them would say."""
    gates = check_gates([place.pk for place in places], rater.pk, at)
    refused = {place: NoWork(gate.refused, gate.until) for place, gate in gates.items() if gate.refused}
    return refused | no_work_reasons(rater, [place for place in places if place.pk not in refused], at)


def is_hidden(nothing: NoWork | None) -> bool:
    return nothing is not None and nothing.reason in UNSEEN


@dataclass(frozen=True)
class ItemSample:
    """What a campaign shows of one of its items: its picture, else its words."""

    picture: ItemImage | None = None
    words: str = ""


def find_samples(place_ids: Collection[int]) -> dict[int, ItemSample]:
    items = first_items(place_ids)
    pictures = first_pictures(list(items.values()))
    return {
        place: ItemSample(pictures[item.pk]) if item.pk in pictures else ItemSample(words=words_of(item))
        for place, item in items.items()
    }


def _open(
    user: User,
    place: CampaignCohort,
    progress: Progress,
    own: int | None,
    submissions: Sequence[Given],
    zone: ZoneInfo,
    nothing: NoWork | None,
    sample: ItemSample,
    unread: bool,
    pack: PackCount,
) -> OpenCampaign:
    return OpenCampaign(
        campaign_id=place.campaign_id,
        benchmark=place.campaign.stage.benchmark.name,
        name=recipe_name(place.campaign.name),
        summary=summary_of(place),
        pace=pace(seconds for _at, seconds, campaign, live in submissions if live and campaign == place.campaign_id),
        cohort_name=place.cohort.name,
        progress=progress,
        picture=sample.picture,
        words=sample.words,
        why=no_work_text(nothing.reason, nothing.until, zone) if nothing else None,
        begun=own is not None,
        own=own or 0,
        consent_team=place.cohort.team_id if nothing and nothing.reason == "no_consent" else None,
        unread=unread,
        pack=offer_for(user, place, pack, is_open=nothing is None and not unread),
    )


def pace(seconds: Iterable[float | None]) -> str:
    """How long one takes this person today; empty while that is not known."""
    known = [second for second in seconds if second is not None and second >= 1]
    return duration(median(known)) if len(known) >= FEW else ""


def summary_of(place: CampaignCohort) -> str:
    """What the campaign says of itself; else its first question, which the sheet has in several languages."""
    if summary := place.campaign.summary:
        return recipe_name(summary).replace("{target}", place.cohort.name)
    fields = sheet_of(place.campaign.sheet_version).fields
    return localise(fields[0].label, get_language() or "en", place.cohort.name) if fields else ""


def words_of(item: Item) -> str:
    return Truncator(item.text or recipe_name(item.concept)).chars(MOST_WORDS)
