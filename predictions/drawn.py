"""Requests as a page shows them: the very words, and the pictures by what is sent of them."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.models import Image
from people.models import Team
from predictions.prompts.contract import Picture, Request, Words

Pictures = Mapping[str, Image]


@dataclass(frozen=True)
class Drawn:
    """`messages`: role and pieces; a piece has "text", or "sha" with "image" where the picture is kept here."""

    messages: Sequence[Mapping[str, Any]]
    texts: Sequence[str]
    image: Image | None
    continuation: str
    choices: Sequence[str]
    schema: str


def drawn(requests: Sequence[Request], team: Team) -> list[Drawn]:
    """One query for the pictures of all."""
    shas = {piece.sha for one in requests for message in one.messages for piece in message.pieces if is_picture(piece)}
    kept = pictures_of(team, shas | {one.image for one in requests if one.image})
    return [
        Drawn(
            messages=[
                {"role": message.role, "pieces": [_piece(piece, kept) for piece in message.pieces]}
                for message in one.messages
            ],
            texts=one.texts,
            image=kept.get(one.image),
            continuation=one.continuation,
            choices=one.choices,
            schema=json.dumps(one.schema, ensure_ascii=False, indent=2) if one.schema else "",
        )
        for one in requests
    ]


def is_picture(piece: Words | Picture) -> bool:
    return isinstance(piece, Picture)


def pictures_of(team: Team, shas: Collection[str]) -> dict[str, Image]:
    """The team's pictures with these bytes."""
    return {image.sha256: image for image in Image.objects.filter(team=team, sha256__in=shas)}


def _piece(piece: Words | Picture, kept: Pictures) -> dict[str, Any]:
    if isinstance(piece, Words):
        return {"text": piece.text}
    return {"sha": piece.sha, "image": kept.get(piece.sha), "alt": ""}
