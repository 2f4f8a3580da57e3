"""What each demo account shows, and a way through the site in 90 seconds.

docs/tutorial/ninety-seconds.md has the same steps.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.urls import reverse

from annotation.models import Campaign
from benchmarks.models import Benchmark
from people.models import Cohort, User

TEAM = "demo"
RATING, REVIEWED = "caire-demo", "culturalvqa-demo"
RATED_STAGE = "relevance"


@dataclass(frozen=True)
class Address:
    """A page by its route. `at` finds what the route needs; None while the demo is still loading it."""

    route: str
    at: Callable[[], str | int | None] | None = None
    query: str = ""

    def resolve(self) -> str:
        """Return the address; empty while there is no such page."""
        if self.at is None:
            return reverse(self.route) + self.query
        place = self.at()
        return "" if place is None else reverse(self.route, args=[place]) + self.query


@dataclass(frozen=True)
class TourStep:
    """A page, and what to look at there."""

    title: str
    look: str
    page: Address


@dataclass(frozen=True)
class Guide:
    """An account of the demo. `one_press`: the front page signs in with it; others need the password."""

    key: str
    name: str
    role: str
    shows: str
    steps: tuple[TourStep, ...]
    one_press: bool = True

    @property
    def email(self) -> str:
        return f"{self.key}@demo.emic"


def _benchmark(slug: str) -> Callable[[], str | None]:
    return lambda: slug if Benchmark.objects.filter(slug=slug).exists() else None


def _cohort(label: str) -> Callable[[], int | None]:
    return lambda: Cohort.objects.filter(team__slug=TEAM, label=label).values_list("pk", flat=True).first()


def _rating() -> int | None:
    """The open campaign in which pictures are rated from 1 to 5."""
    campaigns = Campaign.objects.filter(stage__benchmark__slug=RATING, stage__key=RATED_STAGE)
    return campaigns.filter(state=Campaign.State.OPEN).order_by("pk").values_list("pk", flat=True).first()


ANNOTATOR = (
    TourStep("Work", "What is open, and how far the cohort is.", Address("annotation:work")),
    TourStep(
        "Rate a picture", "Choose a level, then Submit. The next picture is there at once.",
        Address("annotation:sheet", _rating),
    ),
    TourStep("History", "What you answered. Each answer can be edited.", Address("annotation:history")),
    TourStep("Me", "Language, dark colours, and leaving the study.", Address("people:me")),
)  # fmt: skip
MANAGER = (
    TourStep("The cohort", "Who is at work, and what is left to do.", Address("annotation:cohort", _cohort("Egypt"))),
    TourStep(
        "Invite people", "One link, several, or a list from a spreadsheet.",
        Address("people:cohort_invite", _cohort("Egypt")),
    ),
    TourStep("Messages", "Write to everybody in the cohort.", Address("people:messages", _cohort("Egypt"))),
)  # fmt: skip
RESEARCHER = (
    TourStep("Benchmarks", "Six benchmarks of five papers, and what waits in each.", Address("benchmarks:list")),
    TourStep("The chain", "Stages by cohorts: done, stuck, next.", Address("benchmarks:detail", _benchmark(RATING))),
    TourStep("Agreement", "How far people of one country agree.", Address("evaluation:agreement", _benchmark(RATING))),
    TourStep("Models", "Models answer the same sheets as people.", Address("evaluation:models", _benchmark(RATING))),
    TourStep(
        "Review", "Questions that people wrote wait for a decision.",
        Address("annotation:review_queue", _benchmark(REVIEWED)),
    ),
)  # fmt: skip
ADMIN = (
    TourStep("Status", "Whether the site works, and what to do if not.", Address("evaluation:status")),
    TourStep("Team", "Members, cohorts, model endpoints and programs.", Address("people:team", lambda: TEAM)),
    TourStep("Mail", "Whether letters leave, and what became of each.", Address("people:mail")),
    TourStep("Translations", "Languages, and what speakers confirmed.", Address("people:languages")),
)
GUIDES = (
    Guide("nour", "Nour", "Annotator, Egypt", "Rates, boxes and writes, in Arabic.", ANNOTATOR),
    Guide("bia", "Bia", "Annotator, Brazil", "The same work in English. Try it on a phone.", ANNOTATOR),
    Guide("wei", "Wei", "Annotator, China", "The third cohort, with work of its own.", ANNOTATOR),
    Guide("salma", "Salma", "Cohort manager, Egypt", "Invites people and sees who is at work, in Arabic.", MANAGER),
    Guide("mara", "Mara", "Researcher", "Runs the benchmarks of five papers: agreement, models, releases.", RESEARCHER),
    Guide("admin", "Ada", "Admin", "Looks after the site: status, teams, mail.", ADMIN, one_press=False),
)  # fmt: skip
BY_KEY: Mapping[str, Guide] = {guide.key: guide for guide in GUIDES}


def guide_of(user: User) -> Guide | None:
    """The guide of a demo account; None of any other."""
    return next((guide for guide in GUIDES if guide.email == user.email), None)
