"""All that a run's calls are asked and read with, put together once."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from annotation.models import Campaign
from annotation.services.machine_answers import Desk
from annotation.services.sheet_versions import sheet_of
from annotation.sheets import Sheet
from predictions.backends.contract import Decoding
from predictions.limiter import Limiter
from predictions.models import Endpoint, Run
from predictions.preprocessing import LONGEST
from predictions.prompts import registry
from predictions.prompts.contract import Prompt
from predictions.requests import Asker as Who
from predictions.scenes import Scenes
from predictions.services import endpoints
from predictions.services.asking import Asker
from predictions.services.budgets import Rates

MOST_THREADS = 128
EVER = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Outfit:
    """`since`: replies that were kept earlier are not taken. `prices`: the price list that is counted by."""

    prompt: Prompt
    sheet: Sheet
    scenes: Scenes
    desk: Desk
    rates: Rates
    prices: int | None
    team: int
    threads: int
    longest: int
    since: datetime
    asker: Asker


def who_of(
    endpoint: Endpoint, model: str, revision: str, prompt: Prompt, options: Mapping[str, Any], decoding: Decoding
) -> Who:
    return Who(
        endpoint=endpoint.pk,
        base_url=endpoint.base_url,
        model=model,
        revision=revision,
        prompt=prompt.key,
        prompt_version=registry.version_of(prompt, options),
        decoding=decoding,
        offers=tuple(endpoint.offers),
    )


def scenes_of(campaign: Campaign, prompt: Prompt, options: Mapping[str, Any]) -> Scenes:
    return Scenes(campaign.stage, sheet_of(campaign.sheet_version), prompt, options)


def decoding_of(stored: Mapping[str, Any]) -> Decoding:
    known = {name: stored[name] for name in Decoding.__dataclass_fields__ if stored.get(name) is not None}
    return Decoding(**{**known, "ways": tuple(stored.get("ways") or ())})


def outfit_of(run: Run, at: datetime) -> Outfit:
    """Raises endpoints.Refused where the endpoint is not asked any more, registry.UnknownPrompt."""
    endpoint, campaign = run.endpoint, run.campaign
    if endpoint is None or campaign is None:
        raise ValueError(f"run {run.pk} asks no endpoint about no campaign")
    prompt = registry.prompt(run.prompt, run.prompt_version)
    prices, row = endpoints.price_of(endpoint, run.model, at)
    longest = int(run.options.get("longest") or LONGEST)
    who = who_of(endpoint, run.model, run.revision, prompt, run.prompt_options, decoding_of(run.decoding))
    return Outfit(
        prompt=prompt,
        sheet=sheet_of(campaign.sheet_version),
        scenes=scenes_of(campaign, prompt, run.prompt_options),
        desk=Desk.of(campaign, run.rater),
        rates=Rates.of(row),
        prices=prices.pk if prices and Rates.of(row).known else None,
        team=run.benchmark.team_id,
        threads=max(1, min(endpoint.most_in_flight, MOST_THREADS)),
        longest=longest,
        since=run.created_at if run.options.get("fresh") else EVER,
        asker=Asker(endpoints.backend_for(endpoint), Limiter(endpoint), who, longest),
    )
