"""Requests as a page shows them: the very words, and the pictures by what is sent of them."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.models import Image
from people.models import Team
from predictions.models import Reply
from predictions.prompts.contract import Request
from predictions.requests.serialization import request_json

Pictures = Mapping[str, Image]
LONGEST = 20_000  # characters of a reply on its page; the file of the run's calls has all that is kept


@dataclass(frozen=True)
class RequestView:
    """`messages`: role and pieces; a piece has "text", or "sha" with "image" where the picture is kept here."""

    messages: Sequence[Mapping[str, Any]]
    texts: Sequence[str]
    image: Image | None
    continuation: str
    choices: Sequence[str]
    schema: str

    @property
    def any(self) -> bool:
        """Whether it is known what was sent; of what came in a file it is not."""
        return bool(self.messages or self.texts or self.image)


def request_views(requests: Sequence[Request], team: Team, way: str) -> list[RequestView]:
    """As they are sent in this way. One query for the pictures of all."""
    return [
        _sent_request(stored_request_view, way)
        for stored_request_view in stored_request_views([request_json(request) for request in requests], team)
    ]


def _sent_request(request: RequestView, way: str) -> RequestView:
    """Without the choices and the form of the reply where they are not sent along."""
    choices = request.choices if way in ("guided", "logprobs") else ()
    return replace(request, choices=choices, schema=request.schema if way == "schema" else "")


def stored_request_views(requests: Sequence[Mapping[str, Any]], team: Team) -> list[RequestView]:
    """Requests as `predictions.requests.serialization.request_json` keeps them."""
    pieces = [piece for request in requests for message in request.get("messages", ()) for piece in message["pieces"]]
    named = [piece.get("image") for piece in pieces] + [request.get("image") for request in requests]
    images = pictures_of(team, {sha for sha in named if sha})
    return [
        RequestView(
            messages=[
                {"role": message["role"], "pieces": [_piece(piece, images) for piece in message["pieces"]]}
                for message in request.get("messages", ())
            ],
            texts=request.get("texts", ()),
            image=images.get(request.get("image", "")),
            continuation=request.get("continuation", ""),
            choices=request.get("choices", ()),
            schema=_json(request.get("schema")),
        )
        for request in requests
    ]


@dataclass(frozen=True)
class Exchange:
    """A request and what came back. `rest`: what is not words, as JSON. `left_out`: characters that are not shown."""

    request: RequestView
    reply: Reply
    text: str
    refusal: str
    finish: str
    rest: str
    left_out: int


def exchanges_of_call(replies: Sequence[Reply], team: Team) -> list[Exchange]:
    """Of a call, in the order of its requests."""
    requests = stored_request_views([reply.request for reply in replies], team)
    pairs = zip(requests, replies, strict=True)
    return [_exchange(_sent_request(request, str(reply.body.get("way") or "")), reply) for request, reply in pairs]


def _exchange(request: RequestView, reply: Reply) -> Exchange:
    body: Mapping[str, Any] = reply.body
    rest = {key: body[key] for key in ("tokens", "similarities", "boxes") if body.get(key)}
    whole = [str(body.get("text", "")), str(body.get("refusal", "")), _json(rest)]
    text, refusal, numbers = (one[:LONGEST] for one in whole)
    left_out = sum(max(0, len(one) - LONGEST) for one in whole)
    return Exchange(request, reply, text, refusal, str(body.get("finish", ""))[:LONGEST], numbers, left_out)


def pictures_of(team: Team, shas: Collection[str]) -> dict[str, Image]:
    """The team's pictures with these bytes."""
    return {image.sha256: image for image in Image.objects.filter(team=team, sha256__in=shas)}


def _piece(piece: Mapping[str, Any], kept: Pictures) -> dict[str, Any]:
    sha = piece.get("image")
    return {"sha": sha, "image": kept.get(sha), "alt": ""} if sha else {"text": piece.get("text", "")}


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2) if data else ""
