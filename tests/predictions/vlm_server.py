"""A real model server: a tiny vision-language model with random weights, by transformers on the CPU, OpenAI's protocol.

It looks at every byte it is sent: the answer depends on the pictures and the words. What it says means nothing, so it
is made to say it as an instructed model does: `prefers` are the letters it begins with, and then it ends. Guided choice
masks what cannot follow. JSON schemas are refused unless `schemas`, as many servers do.

    with serving_vlm() as server:
        ... Endpoint(base_url=server.base_url, offers=["images", "logprobs", "guided", "schema", "continuation"]) ...
"""

import base64
import io
import json
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

IMAGE = "<image>"
SIDE, PATCHES = 32, 16
MOST_TEXT = 6000  # bytes, each a token; of longer prompts the end counts, where the question is


class Refused(Exception):
    """Answered with status 400 and these words."""


@dataclass
class Model:
    """Two layers of Llama over bytes, and a small CLIP that looks at pictures of 32 x 32."""

    prefers: str = "12345"
    bias: float = 12.0
    lock: Any = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        from predictions.backends import torch_setup

        self.torch = torch_setup.torch()
        from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig, LlavaForConditionalGeneration

        self.end, self.image, vocabulary = 256, 257, 258
        vision = CLIPVisionConfig(
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            image_size=SIDE,
            patch_size=8,
        )
        language = LlamaConfig(
            hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2,
            vocab_size=vocabulary, max_position_embeddings=MOST_TEXT + 8 * PATCHES + 600,
        )  # fmt: skip
        self.torch.manual_seed(11)
        config = LlavaConfig(
            vision_config=vision, text_config=language, image_token_index=self.image, image_seq_length=PATCHES
        )
        self.model = LlavaForConditionalGeneration(config).eval()

    def tokens(self, text: str) -> list[int]:
        return list(text.encode())

    def prompt(self, messages: Sequence[Any]) -> tuple[list[int], list[Any]]:
        """A plain chat template: each message under its role; a picture stands where it is."""
        ids: list[int] = []
        pictures: list[Any] = []
        for message in messages:
            ids += self.tokens(f"\n{message['role']}: ")
            content = message["content"]
            for piece in [{"type": "text", "text": content}] if isinstance(content, str) else content:
                if piece["type"] == "text":
                    ids += self.tokens(piece["text"])
                else:
                    ids += [self.image] * PATCHES
                    pictures.append(self.pixels(piece["image_url"]["url"]))
        text = sum(one != self.image for one in ids)
        drop = max(0, text - MOST_TEXT)
        tokens = []
        for token in ids:
            if token != self.image and drop:
                drop -= 1
            else:
                tokens.append(token)
        return tokens, pictures

    def pixels(self, url: str) -> Any:
        import numpy as np
        from PIL import Image

        with Image.open(io.BytesIO(base64.b64decode(url.partition("base64,")[2]))) as picture:
            small = picture.convert("RGB").resize((SIDE, SIDE))
        return self.torch.from_numpy(np.asarray(small, np.float32).transpose(2, 0, 1).copy() / 127.5 - 1)

    def logits(self, ids: Sequence[int], pictures: Sequence[Any]) -> Any:
        """(length, vocabulary)."""
        more = {"pixel_values": self.torch.stack(list(pictures))} if pictures else {}
        with self.lock, self.torch.inference_mode():
            return self.model(input_ids=self.torch.tensor([list(ids)]), **more).logits[0].double()

    def say(self, ids: list[int], pictures: Sequence[Any], most: int, choices: Sequence[str]) -> list[Any]:
        """Tokens with the log-probabilities of their places, greedily; of `choices` where there are some."""
        allowed = [[*self.tokens(one), self.end] for one in choices]
        chosen: list[tuple[int, Any]] = []
        while len(chosen) < most:
            row = self.logits([*ids, *(token for token, _row in chosen)], pictures)[-1].clone()
            row[self.image] = -1e9
            for letter in self.prefers.encode() if not chosen else [self.end]:
                row[letter] += self.bias
            if allowed:
                so_far = [token for token, _row in chosen]
                open_ones = {
                    one[len(chosen)] for one in allowed if one[: len(chosen)] == so_far and len(one) > len(chosen)
                }
                masked = self.torch.full_like(row, -1e9)
                for token in open_ones:
                    masked[token] = row[token]
                row = masked
            shares = self.torch.log_softmax(row, -1)
            token = int(shares.argmax())
            if token == self.end:
                return chosen
            chosen.append((token, shares))
        return chosen

    def spelt(self, token: int) -> str:
        return "" if token >= 256 else bytes([token]).decode("utf-8", "replace")


class Handler(BaseHTTPRequestHandler):
    server: "Server"
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # the body follows the head at once

    def log_message(self, *_anything: Any) -> None:
        """Silence."""

    def do_GET(self) -> None:
        self.reply(200, {"object": "list", "data": [{"id": "tiny-vlm", "object": "model"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        try:
            answer = self.server.chat(body) if self.path.endswith("/chat/completions") else self.server.complete(body)
        except Refused as refused:
            self.reply(400, {"error": {"message": str(refused), "type": "invalid_request_error"}})
        else:
            self.reply(200, answer)

    def reply(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, schemas: bool) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.model, self.schemas = Model(), schemas
        self.ways: Counter[str] = Counter()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def chat(self, body: Any) -> Any:
        choices = (body.get("structured_outputs") or {}).get("choice") or body.get("guided_choice") or []
        if "response_format" in body and not self.schemas:
            self.ways["schema refused"] += 1
            raise Refused("response_format of type json_schema is not supported by this model")
        ids, pictures = self.model.prompt(body["messages"])
        if "prompt_logprobs" in body:
            self.ways["continuation"] += 1
            return {**self.answer("", len(ids), []), "prompt_logprobs": self.listed(ids, pictures)}
        ids += self.model.tokens("\nassistant: ")
        schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
        way = "schema" if schema else "guided" if choices else "logprobs" if body.get("logprobs") else "text"
        self.ways[way] += 1
        if schema:
            return self.answer(self.filled(schema, ids, pictures), len(ids), [])
        chosen = self.model.say(ids, pictures, int(body.get("max_tokens") or 16), choices)
        text = bytes(token for token, _shares in chosen).decode("utf-8", "replace")
        return self.answer(
            text, len(ids), self.content(chosen, int(body.get("top_logprobs") or 0)) if way == "logprobs" else []
        )

    def filled(self, schema: Any, ids: list[int], pictures: Sequence[Any]) -> str:
        """An object of the schema: of an enumeration what the model takes, of words a few of its own."""
        fields: dict[str, Any] = {}
        for name, of in schema["properties"].items():
            asked = [*ids, *self.model.tokens(json.dumps(fields) + name)]
            codes = of.get("enum") or []
            made = self.model.say(asked, pictures, 40 if codes else 3, [str(code) for code in codes])
            text = bytes(token for token, _shares in made).decode("utf-8", "replace")
            fields[name] = next((code for code in codes if str(code) == text), text)
        return json.dumps(fields)

    def content(self, made: Sequence[Any], top: int) -> list[Any]:
        listed = []
        for token, shares in made:
            values, places = shares.topk(max(1, top))
            listed.append({
                "token": self.model.spelt(token), "logprob": float(shares[token]),
                "top_logprobs": [
                    {"token": self.model.spelt(int(place)), "logprob": float(value)}
                    for value, place in zip(values, places, strict=True)
                ],
            })  # fmt: skip
        return listed

    def listed(self, ids: Sequence[int], pictures: Sequence[Any]) -> list[Any]:
        """Of every place of the prompt but the first, the log-probability of what stands there."""
        shares = self.model.torch.log_softmax(self.model.logits(ids, pictures), -1)
        rows: list[Any] = [None]
        for at in range(1, len(ids)):
            told = {"logprob": float(shares[at - 1, ids[at]]), "decoded_token": self.model.spelt(ids[at])}
            rows.append({str(ids[at]): told})
        return rows

    def complete(self, body: Any) -> Any:
        """Texts only, repeated with their log-probabilities."""
        ids = self.model.tokens(body["prompt"])[-MOST_TEXT:]
        self.ways["continuation"] += 1
        rows = self.listed(ids, [])
        tokens = [self.model.spelt(one) for one in ids]
        values = [None, *(next(iter(row.values()))["logprob"] for row in rows[1:])]
        choice = {"index": 0, "text": body["prompt"], "finish_reason": "length",
                  "logprobs": {"tokens": tokens, "token_logprobs": values}}  # fmt: skip
        return {"model": "tiny-vlm", "choices": [choice], "usage": self.usage(len(ids), 0)}

    def answer(self, text: str, asked: int, content: Sequence[Any]) -> Any:
        choice: dict[str, Any] = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "stop",
        }
        if content:
            choice["logprobs"] = {"content": list(content)}
        return {"model": "tiny-vlm", "choices": [choice], "usage": self.usage(asked, len(text.encode()))}

    def usage(self, asked: int, n_tokens: int) -> dict[str, int]:
        return {"prompt_tokens": asked, "completion_tokens": n_tokens, "total_tokens": asked + n_tokens}


@contextmanager
def serving_vlm(*, schemas: bool = False) -> Iterator[Server]:
    server = Server(schemas)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
