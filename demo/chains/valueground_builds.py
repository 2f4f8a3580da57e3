"""Pairs that the demo's ValueGround builds itself: accepted at once or after edits, sent back, given up, refused.

The practice model plans, draws and judges them. Where it does not answer, nothing is built, and the job's report says
so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.services.campaigns.lifecycle import add_slots
from demo.context import SEED, Demo, DemoError
from demo.simulation import benchmark_of, campaign_of, derive
from jobs.models import Job
from jobs.services import runner
from papers.valueground.builder import states
from papers.valueground.builder.models import Build, BuildPlan
from papers.valueground.builder.services import decisions, plans, review_items
from papers.valueground.builder.services.plans import BuildSettings, SourceChoice
from papers.valueground.survey.models import SurveyQuestion
from predictions.models import Endpoint
from predictions.services.endpoints import endpoints

SLUG = "valueground-demo"
SENT_BACK = "When should a market take place?"
GIVEN_UP = "When should stories be told?"
REFUSED = "When may hunters carry a weapon?"
QUESTIONS = (SENT_BACK, "When should a meal be cooked?", GIVEN_UP, REFUSED)
"""Invented. The practice model accepts the first pair at once, the second after other instructions; it asks for another
plan of the third, which the settings do not allow, so that it stays best effort; the newer of these is given up. It
draws no weapons."""
COMMENT, SIDE = "Picture B could as well show the morning. Make it clear that it is dark outside.", "b"
REASON = "Both pictures could show the evening. The question is left to another survey."
BUDGET, MOST_SLICES = Decimal("5.00"), 6


@dataclass(frozen=True)
class PracticeSource:
    """Who plans and who draws. `key`: a source of the pairs that are imported; another one would be missing there."""

    key: str
    chat_model: str
    image_model: str


SOURCES = (
    PracticeSource("painter", "practice-wren", "practice-painter"),
    PracticeSource("studio", "practice-heron", "practice-studio"),
)
PRICES = {
    "practice-wren": {"in": "0.50", "out": "2.00"},
    "practice-heron": {"in": "1.00", "out": "4.00"},
    "practice-painter": {"generated": "0.008", "edited": "0.006"},
    "practice-studio": {"generated": "0.012", "edited": "0.010"},
}
"""Invented, in US dollars, so that a build has a cost."""


def build_pairs(demo: Demo) -> str:
    """Build the pairs, send one back and give one up; return why nothing was built, or an empty text."""
    if not demo.practice_address:
        return _("No pair was built: there is no practice model here.")
    try:
        with transaction.atomic():
            sources = _sources(demo)
            plan = _plan(demo, [text for text in QUESTIONS if text != REFUSED], sources, replans=0)
            _finish_builds(plan)
            build = plan.builds.filter(question__text=SENT_BACK).earliest("pk")
            review_items.send_back_with_comment(build, COMMENT, demo.actor, timezone.now(), SIDE)
            _finish_builds(plan)
            decisions.give_up(plan.builds.filter(question__text=GIVEN_UP).latest("pk"), REASON, demo.actor, demo.now)
            _finish_builds(_plan(demo, [REFUSED], sources[:1], replans=2))
    except DemoError as error:
        return str(error)
    add_slots(campaign_of(SLUG, review_items.STAGE))
    derive(demo)
    return ""


def _sources(demo: Demo) -> list[SourceChoice]:
    endpoint = endpoints.create(
        demo.team, demo.actor, demo.now, kind=Endpoint.Kind.OPENAI, name="Painter for practice",
        base_url=demo.practice_address, offers=["images", "schema", "seed"], most_in_flight=8, timeout_seconds=30,
    )  # fmt: skip
    endpoints.set_prices(endpoint, PRICES, demo.actor, demo.now)
    return [SourceChoice(source.key, endpoint, source.chat_model, endpoint, source.image_model) for source in SOURCES]


def _plan(demo: Demo, texts: Sequence[str], sources: Sequence[SourceChoice], *, replans: int) -> BuildPlan:
    """A plan of these questions and sources, with its job."""
    benchmark = benchmark_of(SLUG)
    questions = SurveyQuestion.objects.filter(survey__benchmark=benchmark, text__in=texts).order_by("pk")
    settings = BuildSettings(list(questions), sources, replans=replans, base_seed=SEED, budget=BUDGET)
    return plans.plan_builds(benchmark, settings, demo.actor, timezone.now())


def _finish_builds(plan: BuildPlan) -> None:
    """Do the plan's job at once. Raises DemoError if a build has not ended, as where the practice model is off."""
    job = Job.objects.filter(kind=plans.KIND, params__plan=plan.pk).latest("pk")
    for _slice in range(MOST_SLICES):
        runner.run(job.pk)
        job.refresh_from_db()
        if job.state != Job.State.QUEUED:
            break
    if Build.objects.filter(plan=plan).exclude(state__in=states.ENDED).exists():
        raise DemoError(_("No pair was built: the practice model did not answer. %(error)s") % {"error": job.error})


STEPS = (("pairs that are built", build_pairs),)
