"""A campaign, an endpoint and a prompt of the tests' own, to run models over."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from annotation.models import Campaign
from annotation.services.campaigns import lifecycle
from jobs.models import Job
from jobs.services import runner
from predictions.models import Endpoint, Prices, Run
from predictions.prompts import registry
from predictions.prompts.contract import (
    ImagePart,
    Message,
    MissingInput,
    ParsedReply,
    Prompt,
    PromptOption,
    PromptRequests,
    Reply,
    Request,
    Scene,
    TextPart,
    UnparsedReply,
)
from predictions.services.runs import answer_runs
from predictions.services.runs.answer_runs import RunPlan
from tests.personas import World


@dataclass(frozen=True)
class Plainly:
    """Asks for the code of a sheet's first question; the item's key is in the words."""

    key: str = "plainly"
    version: str = "1"
    name: str = "Plainly"
    setting: str = "plain"
    source: str = "the tests"
    kind: str = "chat"
    options: Sequence[PromptOption] = ()
    needs_images: bool = False
    ways: tuple[str, ...] = ("text",)
    parts: int = 1

    def fits(self, scene: Scene) -> bool:
        return True

    def ask(self, scene: Scene, seed: int) -> PromptRequests:
        if scene.concept == "lacking":
            raise MissingInput("no_article")
        pictures = tuple(ImagePart(image.sha) for image in scene.images) if self.needs_images else ()
        question = scene.questions[0]

        def request(part: int) -> Request:
            words = TextPart(f"{scene.item} for {scene.target}, part {part}:\n{question.words}")
            return Request(
                messages=(Message("user", (*pictures, words)),), ways=self.ways, choices=question.codes, max_tokens=8
            )  # type: ignore[arg-type]

        return PromptRequests(tuple(request(part) for part in range(self.parts)), order=question.codes)

    def read(self, scene: Scene, asked: PromptRequests, replies: Sequence[Reply]) -> ParsedReply | UnparsedReply:
        text = replies[-1].text.strip()
        if replies[-1].refusal or replies[-1].finish == "content_filter":
            return UnparsedReply("refused", "said_no")
        if not text:
            return UnparsedReply("no_response", "empty")
        if not text.isdigit():
            return UnparsedReply("unparseable", "no_number", {"length": len(text)})
        return ParsedReply({scene.questions[0].key: text}, {"way": replies[-1].way})


def use(monkeypatch: Any, *prompts: Prompt) -> None:
    """Have the registry know these, too; one that was known by the same key is forgotten."""
    own = {one.key for one in prompts}
    others = (one for one in registry.PROMPTS if one.key not in own)
    monkeypatch.setattr(registry, "PROMPTS", (*prompts, *others))


def a_campaign(world: World, items: int = 3, *, images: bool = False) -> Campaign:
    """Open, for Egypt alone."""
    world.add_items(items, images=images)
    campaign = lifecycle.create(world.stage, "Round 1", world.mara, {world.egypt: 2}, seed=7)
    lifecycle.open_campaign(campaign, world.mara, timezone.now())
    campaign.refresh_from_db()
    return campaign


def an_endpoint(world: World, base_url: str, prices: Mapping[str, Any] | None = None, **more: Any) -> Endpoint:
    fields = {"most_in_flight": 4, "timeout_seconds": 5, "name": "Scripted", "offers": ["images"]} | more
    endpoint = Endpoint.objects.create(team=world.team, base_url=base_url, created_by=world.mara, **fields)
    if prices is not None:
        Prices.objects.create(endpoint=endpoint, number=1, table=prices)
    return endpoint


def a_plan(campaign: Campaign, endpoint: Endpoint, prompt: Prompt, **more: Any) -> RunPlan:
    told = {"campaign": campaign, "endpoint": endpoint, "model": "scripted", "prompt": prompt, "seed": 3}
    return RunPlan(**(told | more))


def start_run(world: World, plan: RunPlan) -> Run:
    """Started by somebody who was shown how many units cannot be asked, and confirmed it."""
    missing = sum(answer_runs.estimate(plan).missing_input.values())
    return answer_runs.open_run(plan, world.mara, timezone.now(), confirmed=missing)


def drive_run(run: Run, *, most: int = 50) -> Run:
    """By a worker, slice after slice, until its job is over."""
    run.refresh_from_db()
    for _slice in range(most):
        assert run.job_id is not None
        Job.objects.filter(pk=run.job_id, state="queued").update(lease_until=None)
        runner.run(run.job_id)
        run.refresh_from_db()
        if Job.objects.get(pk=run.job_id).state != "queued":
            break
    return run


def states(run: Run) -> dict[str, int]:
    counts: dict[str, int] = {}
    for state in run.calls.values_list("state", flat=True):
        counts[state] = counts.get(state, 0) + 1
    return counts


Make = Callable[..., Run]
