"""All that the calls of a run are asked and read with, built once for each slice."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from annotation.models import Campaign
from annotation.services.answers.model_answers import AnswerDestination
from annotation.services.sheets.sheet_versions import sheet_of
from annotation.sheets.sheet import Sheet
from predictions.backends.contract import Decoding
from predictions.models import Endpoint, Run
from predictions.prompts import registry
from predictions.prompts.contract import Prompt
from predictions.queries.scenes import Scenes
from predictions.requests.keys import RequestIdentity
from predictions.requests.preprocessing import LONGEST
from predictions.services.endpoints import endpoints
from predictions.services.runs.engine.budgets import Rates
from predictions.services.runs.engine.limiter import Limiter
from predictions.services.runs.engine.request import Requester

MOST_THREADS = 128
EVER = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class ReadContext:
    """What replies are parsed with, and where answers are written."""

    prompt: Prompt
    sheet: Sheet
    scenes: Scenes
    destination: AnswerDestination
    team: int


@dataclass(frozen=True)
class RunContext(ReadContext):
    """`cache_since`: replies stored earlier are not taken. `prices`: id of the price list that costs are counted by."""

    rates: Rates
    prices: int | None
    threads: int
    max_image_side: int
    cache_since: datetime
    requester: Requester


def request_identity(
    endpoint: Endpoint, model: str, revision: str, prompt: Prompt, options: Mapping[str, Any], decoding: Decoding
) -> RequestIdentity:
    return RequestIdentity(
        endpoint=endpoint.pk,
        base_url=endpoint.base_url,
        model=model,
        revision=revision,
        prompt=prompt.key,
        prompt_version=registry.version_of(prompt, options),
        decoding=decoding,
        offers=tuple(endpoint.offers),
    )


def build_scenes(campaign: Campaign, prompt: Prompt, options: Mapping[str, Any]) -> Scenes:
    return Scenes(campaign.stage, sheet_of(campaign.sheet_version), prompt, options)


def decoding_of(stored: Mapping[str, Any]) -> Decoding:
    known = {name: stored[name] for name in Decoding.__dataclass_fields__ if stored.get(name) is not None}
    return Decoding(**{**known, "ways": tuple(stored.get("ways") or ())})


def build_read_context(run: Run) -> ReadContext:
    """Raises registry.UnknownPrompt."""
    if run.campaign is None:
        raise ValueError(f"run {run.pk} is over no campaign")
    prompt = registry.prompt(run.prompt, run.prompt_version)
    scenes = build_scenes(run.campaign, prompt, run.prompt_options)
    return ReadContext(
        prompt,
        sheet_of(run.campaign.sheet_version),
        scenes,
        AnswerDestination.of(run.campaign, run.rater),
        run.benchmark.team_id,
    )


def build_run_context(run: Run, at: datetime) -> RunContext:
    """With the answer methods that the endpoint offered when the run was opened. Raises endpoints.EndpointRefused where
    the endpoint is retired or its key cannot be read, and registry.UnknownPrompt."""
    endpoint = run.endpoint
    if endpoint is None:
        raise ValueError(f"run {run.pk} asks no endpoint")
    endpoint.offers = run.options.get("offers", endpoint.offers)
    reads = build_read_context(run)
    prices, row = endpoints.price_of(endpoint, run.model, at)
    longest = int(run.options.get("longest") or LONGEST)
    identity = request_identity(
        endpoint, run.model, run.revision, reads.prompt, run.prompt_options, decoding_of(run.decoding)
    )
    return RunContext(
        **vars(reads),
        rates=Rates.of(row),
        prices=prices.pk if prices and Rates.of(row).known else None,
        threads=max(1, min(endpoint.most_in_flight, MOST_THREADS)),
        max_image_side=longest,
        cache_since=run.created_at if run.options.get("fresh") else EVER,
        requester=Requester(
            endpoints.backend_for(endpoint), Limiter(endpoint), identity, longest, is_paid=Rates.of(row).known
        ),
    )
