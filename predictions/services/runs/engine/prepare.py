"""Second step: what a claimed call asks. Scene, requests and their keys, cached replies, and the most it may cost."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from annotation.fields.contract import Shown
from annotation.models import Unit
from jobs.queries.statements import fetch
from predictions.backends.contract import Decoding
from predictions.backends.payloads import has_pictures
from predictions.prompts.contract import MissingInput, PromptRequests, Reply, Request, Scene
from predictions.queries.scenes import Scenes
from predictions.requests.keys import Digest, RequestIdentity, answer_methods, request_key
from predictions.requests.serialization import image_shas, reply_from_json, request_json
from predictions.services.runs.engine.budgets import Rates, token_bounds
from predictions.services.runs.engine.claim import ClaimedCall
from predictions.services.runs.unit_selection import scene_seed

CACHED = """
SELECT DISTINCT ON (key) key, id, body FROM predictions_reply
WHERE team_id = %(team)s AND key = ANY(%(keys)s) AND created_at >= %(since)s ORDER BY key, number DESC
"""


@dataclass
class CallTask:
    """A claimed call with its requests.

    Attributes:
        keys: of each request; empty until `add_keys`.
        sent: each request as it is stored with its reply.
        replies: by request, the stored reply's id and the reply.
    """

    call: ClaimedCall
    scene: Scene
    shown: Shown
    asked: PromptRequests
    keys: list[str] = field(default_factory=list)
    sent: list[dict[str, Any]] = field(default_factory=list)
    replies: dict[int, tuple[int, Reply]] = field(default_factory=dict)

    @property
    def requests(self) -> tuple[Request, ...]:
        return self.asked.requests

    @property
    def missing(self) -> list[int]:
        """The requests that have no reply yet."""
        return [part for part in range(len(self.requests)) if part not in self.replies]

    @property
    def has_images(self) -> bool:
        return any(image_shas(request) for request in self.requests)

    def add_keys(self, identity: RequestIdentity, digest: Digest) -> None:
        """Read the images and name the requests. Raises OSError or NotAPicture where an image cannot be read."""
        self.keys = request_keys(self.requests, identity, self.call.repeat, digest)
        self.sent = [request_json(request, digest) for request in self.requests]

    def add_reply(self, part: int, reply_id: int, reply: Reply) -> None:
        self.replies[part] = (reply_id, reply)

    def max_costs(self, rates: Rates, max_image_side: int, decoding: Decoding) -> dict[int, Decimal]:
        """The most that each request without a reply may cost, in US dollars; 0 where no price is known."""
        sizes = {image.sha: (image.width, image.height) for image in self.scene.images}
        costs = {}
        for part in self.missing:
            request = self.requests[part]
            tokens_in, tokens_out = token_bounds(request, sizes, max_image_side, decoding)
            costs[part] = rates.cost(tokens_in.high, tokens_out.high, len(image_shas(request))) or Decimal(0)
        return costs


def build_task(call: ClaimedCall, unit: Unit, scenes: Scenes, seed: int, identity: RequestIdentity) -> CallTask:
    """Raises MissingInput where the item lacks what the prompt needs, or the endpoint cannot take the requests."""
    scene, shown = scenes.of(unit)
    asked = scenes.build_requests(scene, shown, scene_seed(seed, scene, scenes.prompt))
    can_send(asked, identity)
    return CallTask(call, scene, shown, asked)


def can_send(asked: PromptRequests, identity: RequestIdentity) -> None:
    """Check that the endpoint takes images, where there are some, and offers an answer method that the prompt and the
    run allow. Raises MissingInput."""
    for request in asked.requests:
        if request.kind in ("chat", "continuation") and has_pictures(request) and "images" not in identity.offers:
            raise MissingInput("no_pictures")
        if request.kind == "continuation" and "continuation" not in identity.offers:
            raise MissingInput("no_continuation")
        if request.kind == "chat" and not answer_methods(request, identity):
            raise MissingInput("no_way")


def decoding_for_repeat(decoding: Decoding, repeat: int) -> Decoding:
    """With another seed for each repeat: with the same one a model would give the same reply again."""
    return decoding if decoding.seed is None or not repeat else replace(decoding, seed=decoding.seed + repeat)


def request_keys(requests: Sequence[Request], identity: RequestIdentity, repeat: int, digest: Digest) -> list[str]:
    """Return the key of each request of a call. Reads the images; raises OSError or NotAPicture."""
    own = replace(identity, decoding=decoding_for_repeat(identity.decoding, repeat))
    return [request_key(request, own, repeat=repeat, part=part, digest=digest) for part, request in enumerate(requests)]


def cached_replies(team: int, keys: Iterable[str], since: datetime) -> dict[str, tuple[int, Reply]]:
    """Return the newest reply to each request that has one: its id, and the reply."""
    wanted = list(keys)
    if not wanted:
        return {}
    rows = fetch(CACHED, {"team": team, "keys": wanted, "since": since})
    return {key: (pk, reply_from_json(_load_json(body))) for key, pk, body in rows}


def _load_json(body: Any) -> Any:
    return json.loads(body) if isinstance(body, str | bytes) else body


def use_cached_replies(tasks: Sequence[CallTask], team: int, since: datetime) -> None:
    """Give the tasks the replies that are cached, except those that were read for the same call before."""
    cached = cached_replies(team, {key for task in tasks for key in task.keys}, since)
    for task in tasks:
        for part, key in enumerate(task.keys):
            if key in cached and cached[key][0] not in task.call.read:
                task.add_reply(part, *cached[key])
