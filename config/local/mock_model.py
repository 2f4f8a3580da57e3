"""A practice model for the demo: it speaks the OpenAI protocol, looks at nothing, draws simple pictures, and costs
nothing.

    cd config; python -m local.mock_model --port 8117

What it says hangs on what it is asked, so the same question has the same answer. Now and then it chats, or declines,
as real models do: what became of that is on the page of a run.
"""

import argparse
import base64
import hashlib
import json
import re
import threading
import time
from collections import Counter
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any

from .mock_builder import PairAnswers, is_slow
from .mock_images import DECLINED, draw_scene, edit_scene

MODELS = ("practice-heron", "practice-wren")
CHATS = 0.04
DECLINES = 0.02
MOST_BYTES = 32 * 1024 * 1024
CHATTER = "What a lovely picture. I would not like to put it into one word."
NO = "I cannot say anything about people in pictures."
SLOW_SECONDS = 1.0
PAIR_ANSWERS = PairAnswers()
LETTER = "Answer with A or B"  # how a prompt asks for one of two
MATCH = '"image_1"'  # how a prompt asks which of two pictures shows which answer
LEVEL = re.compile(r"^(\d{1,2}): ", re.MULTILINE)  # a level of a scale that a prompt explains in words
RATING = "rating=X"  # how a prompt says that the chosen level is to be stated
LENGTH = re.compile(r"^At (least|most) (\d+) characters\.", re.MULTILINE)  # how a sheet asks for a text
WORD = re.compile(r"^The word (.+) stands in it exactly as it is written here", re.MULTILINE)  # of a search query
BOX = re.compile(r"four numbers of the box in this order: ([a-z, ]+); (.+)\. Write them as \[n, n, n, n\]")
WHOLE = re.compile(r"whole numbers from 0 to (\d+)")
PIXELS = re.compile(r"(\d+) pixels wide and (\d+) pixels high")
SENTENCES = (
    "A practice model wrote this.", "It looked at nothing.", "People would say more about it.",
    "Replace it by a real model.",
)  # fmt: skip


def chat_completion(asked: dict[str, Any]) -> dict[str, Any]:
    """A chat completion."""
    digest_source = json.dumps([asked.get("model"), asked.get("messages"), asked.get("seed")], sort_keys=True)
    dice = Random(hashlib.sha256(digest_source.encode()).digest())
    of_builder = builder_text(asked)
    message: dict[str, Any] = {"role": "assistant", "content": of_builder or completion_text(asked, dice)}
    if of_builder is None and dice.random() < DECLINES:
        message |= {"content": None, "refusal": NO}
    words = {
        "prompt_tokens": len(digest_source) // 400 + 50,
        "completion_tokens": len(message["content"] or NO) // 4 + 1,
    }
    return {
        "id": f"practice-{dice.getrandbits(48):012x}",
        "object": "chat.completion",
        "model": asked.get("model") or MODELS[0],
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {**words, "total_tokens": sum(words.values())},
    }


class Declined(Exception):
    """The practice model is told not to make this picture."""


class DrawnBefore:
    """What was drawn without a seed: the first time as with an empty one, later with the number of the time."""

    def __init__(self) -> None:
        self._times: Counter[bytes] = Counter()
        self._lock = threading.Lock()

    def count(self, *parts: bytes) -> str:
        """In place of a seed, for a request of these parts that comes now."""
        digest = hashlib.sha256(b"\0".join(parts)).digest()
        with self._lock:
            times = self._times[digest]
            self._times[digest] += 1
        return str(times or "")


DRAWN = DrawnBefore()


def make_images(asked: dict[str, Any]) -> dict[str, Any]:
    """Pictures from a prompt, the same for the same prompt and seed; without a seed other ones each time."""
    prompt = str(asked.get("prompt") or "")
    _check_prompt(prompt)
    seed = asked["seed"] if "seed" in asked else DRAWN.count(prompt.encode())
    count = max(1, min(10, int(asked.get("n") or 1)))
    return _images([draw_scene(prompt, f"{seed}{number or ''}") for number in range(count)])


def edit_images(content_type: str, body: bytes) -> dict[str, Any]:
    """The first picture of a form of several parts, changed in one place."""
    fields = _form_fields(content_type, body)
    prompt = fields["prompt"].decode()
    _check_prompt(prompt)
    original = fields.get("image") or fields["image[]"]
    seed = fields["seed"].decode() if "seed" in fields else DRAWN.count(prompt.encode(), original)
    return _images([edit_scene(original, prompt, seed)])


def _check_prompt(prompt: str) -> None:
    if not prompt.strip():
        raise ValueError("there is no prompt")
    if DECLINED in prompt:
        raise Declined


def _images(pictures: list[bytes]) -> dict[str, Any]:
    return {"created": 0, "data": [{"b64_json": base64.b64encode(picture).decode()} for picture in pictures]}


def _form_fields(content_type: str, body: bytes) -> dict[str, bytes]:
    """The parts of a multipart form by name; of several of one name the first."""
    message = BytesParser(policy=HTTP).parsebytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body)
    fields: dict[str, bytes] = {}
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        payload = part.get_payload(decode=True)
        fields.setdefault(str(name), payload if isinstance(payload, bytes) else b"")
    return fields


def builder_text(asked: dict[str, Any]) -> str | None:
    """What is said to the pair builder; None where somebody else asks."""
    text = prompt_text(asked)
    model = str(asked.get("model") or "")
    if is_slow(text, model):
        time.sleep(SLOW_SECONDS)
    pictures = hashlib.sha256(json.dumps(prompt_images(asked)).encode()).hexdigest()
    return PAIR_ANSWERS.reply(model, text, pictures)


def completion_text(asked: dict[str, Any], dice: Random) -> str:
    if dice.random() < CHATS:
        return CHATTER
    text = prompt_text(asked)
    schema = (asked.get("response_format") or {}).get("json_schema", {}).get("schema")
    if declared := BOX.search(text):
        numbers = box_numbers(declared[1].split(", "), declared[2], dice)
        return json.dumps({"box": numbers} if schema else numbers)
    if schema:
        return json.dumps(fill_schema(schema, dice))
    choices = asked.get("guided_choice")
    if choices:
        return str(choose_upper_middle(choices, dice))
    if LETTER in text:
        return f"{choose_upper_middle(['A', 'B'], dice)}. A practice model does not look closer."
    if MATCH in text:
        letters = dice.choice(["AB", "AB", "BA"])
        return json.dumps({"image_1": letters[0], "image_2": letters[1]})
    if word := WORD.search(text):
        return f"I would like to see a picture of {word[1]} that somebody took, please."
    if limits := dict(LENGTH.findall(text)):
        return write_text(int(limits.get("least", 0)), int(limits.get("most", 300)), dice)
    level = choose_upper_middle(LEVEL.findall(text) or ["3"], dice)
    return f"A practice model does not look closer. rating={level}" if RATING in text else level


def box_numbers(parts: list[str], units: str, dice: Random) -> list[float]:
    """A box in the parts and units that a prompt declares; whole numbers except for fractions."""
    left, top = dice.uniform(0, 0.5), dice.uniform(0, 0.5)
    width, height = dice.uniform(0.2, 0.5), dice.uniform(0.2, 0.5)
    across = {"left": left, "right": left + width, "width": width, "middle across": left + width / 2}
    down = {"top": top, "bottom": top + height, "height": height, "middle down": top + height / 2}
    if size := PIXELS.search(units):
        wide, high = int(size[1]), int(size[2])
    else:
        wide = high = int(limit[1]) if (limit := WHOLE.search(units)) else 1
    numbers = [across[part] * wide if part in across else down[part] * high for part in parts]
    return [round(number, 3) if wide == 1 else round(number) for number in numbers]


def prompt_text(asked: dict[str, Any]) -> str:
    """All texts of the messages; pictures are left out."""
    contents = [message.get("content") or "" for message in asked.get("messages") or []]
    parts = [part for content in contents for part in ([content] if isinstance(content, str) else content)]
    return "\n".join(part if isinstance(part, str) else str(part.get("text") or "") for part in parts)


def prompt_images(asked: dict[str, Any]) -> list[Any]:
    contents = [message.get("content") for message in asked.get("messages") or []]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    return [part.get("image_url") for part in parts if isinstance(part, dict) and part.get("type") == "image_url"]


def write_text(least: int, most: int, dice: Random) -> str:
    """Sentences of at least and at most so many characters, in one of several orders."""
    sentences = dice.sample(SENTENCES, len(SENTENCES))
    text = sentences[0]
    while len(text) < least:
        sentences.append(sentences.pop(0))
        text = f"{text} {sentences[0]}"
    return re.sub(r"\s$", ".", text[:most])


def choose_upper_middle(choices: list[Any], dice: Random) -> Any:
    """One of them, rather from the upper middle: a model likes most things."""
    return choices[min(len(choices) - 1, int(len(choices) * dice.betavariate(3, 2)))]


def fill_schema(schema: dict[str, Any], dice: Random) -> Any:
    """Something that the schema allows."""
    if schema.get("anyOf"):
        return fill_schema(schema["anyOf"][0], dice)
    if schema.get("enum"):
        return choose_upper_middle(schema["enum"], dice)
    kind = schema.get("type")
    if kind == "object":
        return {name: fill_schema(part, dice) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [fill_schema(schema.get("items", {}), dice) for _ in range(max(1, schema.get("minItems", 1)))]
    if kind in ("integer", "number"):
        low, high = schema.get("minimum", 0), schema.get("maximum", 1)
        return dice.randint(low, high) if kind == "integer" else round(dice.uniform(low, high), 3)
    if kind == "boolean":
        return bool(dice.getrandbits(1))
    return write_text(schema.get("minLength", 0), schema.get("maxLength", 300), dice)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # the body follows the head at once

    def do_GET(self) -> None:
        is_known = self.path.rstrip("/") == "/v1/models"
        listed = {"object": "list", "data": [{"id": name, "object": "model"} for name in MODELS]}
        self._send(200 if is_known else 404, listed if is_known else {"error": {"message": "There is nothing here."}})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > MOST_BYTES:
            self.close_connection = True
            return self._send(413, {"error": {"message": "This is too much."}})
        body = self.rfile.read(length)
        try:
            if self.path == "/v1/chat/completions":
                return self._send(200, chat_completion(json.loads(body)))
            if self.path == "/v1/images/generations":
                return self._send(200, make_images(json.loads(body)))
            if self.path == "/v1/images/edits":
                return self._send(200, edit_images(self.headers.get("Content-Type", ""), body))
        except Declined:
            error = {"message": "The practice model does not make this picture.", "code": "moderation_blocked"}
            return self._send(400, {"error": error})
        except (ValueError, AttributeError, TypeError, KeyError, OSError):
            return self._send(400, {"error": {"message": "This request cannot be read."}})
        return self._send(404, {"error": {"message": "There is nothing here."}})

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """The log of a practice model helps nobody."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    with Server(("127.0.0.1", parser.parse_args().port), Handler) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
