"""What a researcher wants asked: looked at, and reckoned up, before anything is sent."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils import timezone

from annotation.models import Campaign, Unit
from benchmarks.images.pictures import NotAPicture
from benchmarks.models import Item
from people.models import Team
from predictions.backends.contract import Decoding
from predictions.models import Endpoint, Reply, Run
from predictions.prompts.contract import MissingInput, Prompt, PromptRequests, Request, Scene
from predictions.requests.keys import answer_methods
from predictions.requests.preprocessing import LONGEST, digest_of
from predictions.requests.serialization import image_shas
from predictions.services.endpoints import endpoints
from predictions.services.runs.engine.budgets import Rates, token_bounds
from predictions.services.runs.engine.context import EVER, build_scenes, request_identity
from predictions.services.runs.engine.prepare import cached_replies, can_send, request_keys
from predictions.services.runs.unit_selection import ItemTarget, scene_seed, select_item_targets, shuffle_units

COUNTED = 200  # units whose cost is reckoned; of more, so many are drawn
LOOKED = 2000  # units of which it is known whether they can be asked
MOST_SECONDS = 5.0  # for reading pictures, whose bytes are part of what is looked up


@dataclass(frozen=True)
class RunPlan:
    """`options`: the prompt's. `selection`: see selecting.spots_of. `name`, `setting`: how the model is called in the
    tables; as the endpoint and the prompt call it where they are empty. `fresh`: replies that are kept are not taken.
    `follows`: items that come later are asked, too; such a run may begin before there is any.
    """

    campaign: Campaign
    endpoint: Endpoint
    model: str
    prompt: Prompt
    revision: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    decoding: Decoding = field(default_factory=Decoding)
    selection: Mapping[str, Any] = field(default_factory=dict)
    repeats: int = 1
    seed: int = 0
    budget: Decimal | None = None
    name: str = ""
    setting: str = ""
    longest: int = LONGEST
    fresh: bool = False
    follows: bool = False

    @property
    def team(self) -> Team:
        return self.campaign.stage.benchmark.team

    @property
    def rater_name(self) -> tuple[str, str]:
        """Name and setting of the rater that answers."""
        return self.name.strip() or self.model.strip(), self.setting.strip() or self.prompt.setting


@dataclass(frozen=True)
class UnitPreview:
    """A unit exactly as the run would send it; `missing_input`: why it would not be sent. `by_set`: how many units each
    label set has, by its id; None counts those of cohorts."""

    unit: Unit
    scene: Scene
    asked: PromptRequests | None
    way: str
    missing_input: str
    total: int
    by_set: Mapping[int | None, int] = field(default_factory=dict)


@dataclass(frozen=True)
class CostEstimate:
    """`tokens_in`, `tokens_out`, `dollars`: of what is to be asked, at least and at most. `dollars` None: nobody has
    said what it costs. `exact`: every unit was looked at. `missing_input`: units that cannot be asked, by reason, of
    `units`; scaled up from LOOKED of them where there are more."""

    units: int
    calls: int
    cached: int
    to_ask: int
    missing_input: Mapping[str, int]
    tokens_in: tuple[int, int]
    tokens_out: tuple[int, int]
    dollars: tuple[Decimal, Decimal] | None
    prices: int | None
    exact: bool


class NothingToAsk(ValueError):
    """The selection has no unit."""


def preview(plan: RunPlan, number: int = 0) -> UnitPreview:
    """The `number`-th unit, from 0; the last one where there are fewer. Raises NothingToAsk."""
    spots = select_item_targets(plan.campaign, plan.selection, plan.seed)
    if not spots:
        raise NothingToAsk
    [(unit, scene, asked, lacking)] = _prepared_units(plan, [spots[max(0, min(number, len(spots) - 1))]])
    way = ""
    if asked is not None and asked.requests:
        ways = answer_methods(asked.requests[0], _plan_identity(plan))
        way = ways[0] if ways else ""
    by_set = Counter(spot.label_set for spot in spots)
    return UnitPreview(unit, scene, asked, way, lacking, len(spots), by_set)


def position_of_item(plan: RunPlan, key: str, after: int) -> int | None:
    """Where an item's next unit stands, from 0; behind the last one its first again. None: it has none here."""
    spots = select_item_targets(plan.campaign, plan.selection, plan.seed)
    places = [at for at, spot in enumerate(spots) if spot.key == key]
    return next((at for at in places if at > after), places[0] if places else None)


def existing_run(plan: RunPlan) -> Run | None:
    """The campaign's run of the same name and setting; a second one is refused."""
    name, setting = plan.rater_name
    rows = Run.objects.filter(campaign=plan.campaign, task=Run.Task.ANSWERS, withdrawn_at=None)
    return rows.filter(rater__name=name, rater__setting=setting).order_by("-pk").first()


def estimate(plan: RunPlan, most_seconds: float = MOST_SECONDS, at: datetime | None = None) -> CostEstimate:
    """What the run would ask, take from what is kept, and cost at `at` (now). `most_seconds`: for reading pictures."""
    spots = select_item_targets(plan.campaign, plan.selection, plan.seed)
    looked = missing_input(plan, spots)
    some = looked.found[:COUNTED]
    askable = [(scene, asked) for _unit, scene, asked, _code in some if asked is not None]
    prices, row = endpoints.price_of(plan.endpoint, plan.model, at or timezone.now())
    cached, read = _count_cached(plan, [asked.requests for _scene, asked in askable], most_seconds)
    sums = _sums(plan, askable, Rates.of(row))
    sent = len(spots) - looked.n
    share = 1.0 - (cached / (read * plan.repeats) if read else 0.0)
    n_cached = round(sent * plan.repeats * (1.0 - share))
    each = sent / len(askable) * plan.repeats * share if askable else 0.0
    return CostEstimate(
        units=len(spots),
        calls=len(spots) * plan.repeats,
        cached=n_cached,
        to_ask=max(0, sent * plan.repeats - n_cached),
        missing_input=looked.counts,
        tokens_in=(round(sums[0] * each), round(sums[1] * each)),
        tokens_out=(round(sums[2] * each), round(sums[3] * each)),
        dollars=_dollars(sums[4], sums[5], each) if Rates.of(row).known else None,
        prices=prices.number if prices and Rates.of(row).known else None,
        exact=len(some) == len(spots) and read == len(askable),
    )


Look = tuple[Unit, Scene, PromptRequests | None, str]  # a unit, its scene, what is asked, or the code of what it lacks


@dataclass(frozen=True)
class MissingInputCounts:
    """Units that cannot be asked, by reason. `found`: those that were looked at."""

    counts: Mapping[str, int]
    found: Sequence[Look]

    @property
    def n(self) -> int:
        return sum(self.counts.values())


def missing_input(plan: RunPlan, spots: Sequence[ItemTarget]) -> MissingInputCounts:
    """Which of these units lack what the prompt needs; of more than LOOKED, scaled up from so many, drawn by the seed:
    the same plan gives the same number."""
    chosen = spots if len(spots) <= COUNTED else shuffle_units(spots, plan.seed)[:LOOKED]
    prepared = _prepared_units(plan, chosen)
    scale = len(spots) / len(chosen) if chosen else 0.0
    counts = Counter(code for *_rest, code in prepared if code)
    return MissingInputCounts({code: max(1, round(n * scale)) for code, n in counts.items()}, prepared)


def _dollars(low: Decimal, high: Decimal, each: float) -> tuple[Decimal, Decimal]:
    factor = Decimal(repr(each))
    return low * factor, high * factor


def _plan_identity(plan: RunPlan) -> Any:
    return request_identity(plan.endpoint, plan.model, plan.revision, plan.prompt, plan.options, plan.decoding)


def _prepared_units(plan: RunPlan, spots: Sequence[ItemTarget]) -> list[Look]:
    """Unit, scene, what is asked, or what it lacks."""
    ids = {spot.item for spot in spots}
    rows = Item.objects.filter(pk__in=ids).prefetch_related("images__image", "facts")
    items = {item.pk: item for item in rows}
    scenes, identity = build_scenes(plan.campaign, plan.prompt, plan.options), _plan_identity(plan)
    scenes.read_articles(items.values())
    looks: list[Look] = []
    for spot in spots:
        unit = Unit(item=items[spot.item], target=spot.target, label_set_id=spot.label_set)
        scene, shown = scenes.of(unit)
        try:
            asked = scenes.build_requests(scene, shown, scene_seed(plan.seed, scene, plan.prompt))
            can_send(asked, identity)
            looks.append((unit, scene, asked, ""))
        except MissingInput as lacking:
            looks.append((unit, scene, None, lacking.code))
    return looks


def _count_cached(plan: RunPlan, asked: Sequence[Sequence[Request]], most_seconds: float) -> tuple[int, int]:
    """Of so many units, how many calls are answered by what is kept; and how many units were looked at."""
    if plan.fresh or not Reply.objects.filter(team=plan.team).exists():
        return 0, len(asked)
    identity, until = _plan_identity(plan), time.monotonic() + most_seconds

    def digest(sha: str) -> str:
        return digest_of(sha, plan.longest)

    calls: list[list[str]] = []
    looked = 0
    for requests in asked:
        if time.monotonic() > until:
            break
        looked += 1
        try:
            calls += [request_keys(requests, identity, repeat, digest) for repeat in range(plan.repeats)]
        except (OSError, NotAPicture):
            continue
    known = cached_replies(plan.team.pk, {key for keys in calls for key in keys}, EVER)
    return sum(all(key in known for key in keys) for keys in calls), looked


def _sums(
    plan: RunPlan, prepared: Sequence[tuple[Scene, PromptRequests]], rates: Rates
) -> tuple[int, int, int, int, Decimal, Decimal]:
    """Tokens in, at least and at most; tokens out; dollars: of each unit once."""
    into, out, dollars = [0, 0], [0, 0], [Decimal(0), Decimal(0)]
    for scene, asked in prepared:
        sizes = {image.sha: (image.width, image.height) for image in scene.images}
        for request in asked.requests:
            bounds = token_bounds(request, sizes, plan.longest, plan.decoding)
            images = len(image_shas(request))
            for at in (0, 1):
                into[at] += bounds[0][at]
                out[at] += bounds[1][at]
                dollars[at] += rates.cost(bounds[0][at], bounds[1][at], images) or 0
    return into[0], into[1], out[0], out[1], dollars[0], dollars[1]
