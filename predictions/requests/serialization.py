"""Requests and replies as JSON that the database can keep, and back."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from predictions.prompts.contract import DetectedBox, ImagePart, Reply, Request, Token
from predictions.requests.keys import Digest, sent_request_json

LONGEST = 100_000  # characters of a reply, and a fifth as many tokens with what else was likely


def truncate_reply(reply: Reply) -> tuple[Reply, int]:
    """What is read and kept of a reply that never ends, and how many characters it had."""
    shortened = replace(
        reply, text=reply.text[:LONGEST], refusal=reply.refusal[:LONGEST], tokens=reply.tokens[: LONGEST // 5]
    )
    return shortened, max(len(reply.text), len(reply.refusal))


def storable(value: Any) -> Any:
    """Without what PostgreSQL's JSON refuses: the character 0, and halves of characters."""
    if isinstance(value, str):
        if "\x00" in value or not value.isascii():
            value = value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
        return value
    if isinstance(value, Mapping):
        return {storable(str(key)): storable(one) for key, one in value.items()}
    return [storable(one) for one in value] if isinstance(value, list | tuple) else value


def reply_to_json(reply: Reply) -> dict[str, Any]:
    body: dict[str, Any] = {"text": reply.text, "finish": reply.finish, "way": reply.way, "model": reply.model}
    if reply.refusal:
        body["refusal"] = reply.refusal
    if reply.tokens:
        body["tokens"] = [[token.text, token.logprob, dict(token.top)] for token in reply.tokens]
    if reply.similarities:
        body["similarities"] = list(reply.similarities)
    if reply.boxes:
        body["boxes"] = [[box.label, box.score, list(box.box)] for box in reply.boxes]
    found: dict[str, Any] = storable(body)
    return found


def reply_from_json(body: Mapping[str, Any]) -> Reply:
    return Reply(
        text=str(body.get("text", "")),
        finish=str(body.get("finish", "")),
        refusal=str(body.get("refusal", "")),
        way=body.get("way", "text"),
        tokens=tuple(Token(text, logprob, top) for text, logprob, top in body.get("tokens", ())),
        similarities=tuple(body.get("similarities", ())),
        boxes=tuple(DetectedBox(label, score, tuple(box)) for label, score, box in body.get("boxes", ())),
        model=str(body.get("model", "")),
    )


def request_json(request: Request, digest: Digest | None = None) -> dict[str, Any]:
    """As it is kept with its reply, and shown: images by their sha. With `digest` also by that of the bytes sent."""
    data = sent_request_json(request, digest or (lambda sha: ""))
    image = data.pop("image", None)
    if image:
        data |= {"image": image["sha"], "sent": image["sent"]}
    return data


def image_shas(request: Request) -> list[str]:
    """The sha of each image that is sent, in order."""
    shas = [piece.sha for message in request.messages for piece in message.pieces if isinstance(piece, ImagePart)]
    return [*shas, request.image] if request.image else shas
