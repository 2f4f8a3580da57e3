"""A model server that does what a test tells it to; OpenAI's protocol. It counts what it was asked.

In the test's own process, with a function of the request where rules are not enough:

    with serving(offers=("schema", "logprobs")) as server:      # or the fixture `scripted_server`
        server.rules(Rule(TOO_MANY, numbers=(1, 2)), Rule(PROSE, contains="Iran"))
        server.answer_by(lambda asked: Act(text="4") if asked.seen == 1 else None)
        ... Endpoint(base_url=server.base_url) ...
        assert server.counts()["total"] == 3

As a process of its own (`serve_in_process`), with the same methods over `/control`, except `answer_by` and `asked`:

    python -m tests.predictions.model_server --port 0 --delay 1     # prints its address on its first line

One event loop, so that hundreds of connections cost little. Requests are numbered from 1 (model lists are not counted).
"""

import argparse
import asyncio
import hashlib
import json
import subprocess
import sys
import threading
import urllib.request
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.predictions.scripted_replies import *  # noqa: F403
from tests.predictions.scripted_replies import PIXEL, UNAUTHORISED, Act, ReceivedRequest, Rule, body_of, parsed

OFFERS = ("schema", "guided", "logprobs", "continuation", "seed", "images")
PATHS = ("/v1/chat/completions", "/v1/completions", "/v1/images/generations", "/v1/images/edits")


class Script:
    """What is done, and what was counted. Used from the server's loop and from the test at once."""

    def __init__(self, offers: tuple[str, ...] = OFFERS, default: Act | None = None, keep: bool = True) -> None:
        self.offers, self.default, self.keep = offers, default or Act(), keep
        self.models = ["scripted"]
        self.secret = ""
        self.acts: Callable[[ReceivedRequest], Act | None] | None = None
        self.listed: list[Rule] = []
        self.lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        self.total = self.replies = self.in_flight = self.most = self.lists = 0
        self.digests, self.ways, self.statuses = Counter[str](), Counter[str](), Counter[str]()
        self.asked: deque[ReceivedRequest] = deque(maxlen=5000)

    def take(self, path: str, headers: dict[str, str], data: bytes) -> tuple[ReceivedRequest, Act]:
        body = parsed(headers.get("content-type", ""), data)
        digest = hashlib.sha256(data).hexdigest()
        with self.lock:
            self.total += 1
            self.in_flight += 1
            self.most = max(self.most, self.in_flight)
            self.digests[digest] += 1
            asked = ReceivedRequest(self.total, self.digests[digest], path, headers, body, digest)
            self.ways[asked.way] += 1
            if self.keep:
                self.asked.append(asked)
        return asked, self._act(asked)

    def _act(self, asked: ReceivedRequest) -> Act:
        if self.secret and asked.headers.get("authorization") != f"Bearer {self.secret}":
            return UNAUTHORISED
        act = self.acts(asked) if self.acts else None
        act = act or next((rule.act for rule in self.listed if rule.fits(asked)), None)
        if (
            act is None
            and asked.way in ("schema", "guided", "continuation", "logprobs")
            and asked.way not in self.offers
        ):
            return Act(status=400, error=f"{REFUSED_AS[asked.way]} is not supported by this model")
        return act or self.default

    def left(self, status: int, complete: bool) -> None:
        with self.lock:
            self.in_flight -= 1
            self.statuses[str(status)] += 1
            if complete and status == 200:
                self.replies += 1

    def counts(self) -> dict[str, Any]:
        """`repeated`: requests whose very body had come before. `replies`: whole answers with status 200."""
        with self.lock:
            return {
                "total": self.total,
                "replies": self.replies,
                "in_flight": self.in_flight,
                "most_in_flight": self.most,
                "distinct": len(self.digests),
                "repeated": self.total - len(self.digests),
                "lists": self.lists,
                "by_way": dict(self.ways),
                "by_status": dict(self.statuses),
                "by_digest": dict(self.digests),
            }

    def tell(self, command: dict[str, Any]) -> None:
        """Over `/control`: {"rules": [...], "default": {...}, "offers": [...], "models": [...], "clear": true}."""
        with self.lock:
            if command.get("clear"):
                self.clear()
            if "rules" in command:
                self.listed = [_rule(rule) for rule in command["rules"]]
            if "default" in command:
                self.default = Act(**command["default"])
            self.offers = tuple(command.get("offers", self.offers))
            self.models = list(command.get("models", self.models))
            self.secret = command.get("secret", self.secret)


REFUSED_AS = {
    "schema": "response_format",
    "guided": "structured_outputs",
    "logprobs": "logprobs",
    "continuation": "echo",
}


def _rule(told: dict[str, Any]) -> Rule:
    lists = {key: tuple(told[key]) for key in ("numbers", "seen") if key in told}
    return Rule(**{**told, **lists, "act": Act(**told["act"])})


class _Line(asyncio.Protocol):
    """One connection, kept alive; requests on it come one after the other."""

    def __init__(self, script: Script) -> None:
        self.script, self.buffer, self.busy = script, bytearray(), False
        self.tasks = set[asyncio.Task[None]]()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if not self.busy:
            self._next()

    def _next(self) -> None:
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        lines = self.buffer[:end].decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        whole = end + 4 + int(headers.get("content-length", "0"))
        if len(self.buffer) < whole:
            return
        data = bytes(self.buffer[end + 4 : whole])
        del self.buffer[:whole]
        method, path, _ = lines[0].split(" ", 2)
        self.busy = True
        task = asyncio.ensure_future(self._serve(method, path, headers, data))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _serve(self, method: str, path: str, headers: dict[str, str], data: bytes) -> None:
        if path in PATHS:
            await self._play(*self.script.take(path, headers, data))
        elif path == "/v1/models":
            self._models(headers)
        elif path == "/control":
            if method == "POST":
                self.script.tell(json.loads(data))
            self._send(200, json.dumps(self.script.counts()).encode())
        elif path == "/pixel.png":
            self._send(200, PIXEL, {"Content-Type": "image/png"})
        else:
            self._send(404, b'{"error": {"message": "no such path"}}')
        self.busy = False
        self._next()

    def _models(self, headers: dict[str, str]) -> None:
        self.script.lists += 1
        if self.script.secret and headers.get("authorization") != f"Bearer {self.script.secret}":
            return self._send(401, b'{"error": {"message": "Incorrect API key provided"}}')
        models = [{"id": name, "object": "model", "owned_by": "tests"} for name in self.script.models]
        return self._send(200, json.dumps({"object": "list", "data": models}).encode())

    async def _play(self, asked: ReceivedRequest, act: Act) -> None:
        complete = False
        try:
            if act.delay:
                await asyncio.sleep(act.delay)
            if act.cut == "before":
                self.transport.abort()
                return
            body = body_of(asked, act)
            if act.cut == "middle":
                self._send(200, body, length=len(body) * 2)
                await asyncio.sleep(0.02)
                self.transport.abort()
                return
            request_id = {"x-request-id": f"req-{asked.number}"}
            if act.dribble:
                await self._dribble(body, act.dribble)
            else:
                self._send(act.status, body, {**request_id, **act.headers})
            complete = not self.transport.is_closing()
        finally:
            self.script.left(act.status if not act.cut else 0, complete)

    async def _dribble(self, body: bytes, seconds: float) -> None:
        self._send(200, b"", length=len(body))
        for place in range(len(body)):
            if self.transport.is_closing():
                return
            self.transport.write(body[place : place + 1])
            await asyncio.sleep(seconds)

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None, length: int | None = None) -> None:
        if self.transport.is_closing():
            return
        lines = {"Content-Type": "application/json", "Content-Length": str(len(body) if length is None else length)}
        lines |= headers or {}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self.transport.write(f"HTTP/1.1 {status} Told\r\n{head}\r\n".encode("latin-1") + body)


class Server:
    """One in a thread of this process. `asked`: the last 5,000 requests."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.loop = asyncio.new_event_loop()
        self.port = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def asked(self) -> list[ReceivedRequest]:
        return list(self.script.asked)

    def rules(self, *rules: Rule) -> None:
        self.script.listed = list(rules)

    def answer_by(self, acts: Callable[[ReceivedRequest], Act | None] | None) -> None:
        """Called in the server's thread for each request, before the rules; None: what the rules say."""
        self.script.acts = acts

    def set(self, **told: Any) -> None:
        """`default` (an Act), `offers`, `models`, `secret` (who asks without it gets 401)."""
        for key, value in told.items():
            setattr(self.script, key, value)

    def clear(self) -> None:
        """Count from nothing."""
        with self.script.lock:
            self.script.clear()

    def counts(self) -> dict[str, Any]:
        return self.script.counts()

    async def listen(self, port: int = 0) -> None:
        server = await self.loop.create_server(lambda: _Line(self.script), "127.0.0.1", port, backlog=512)
        self.port = server.sockets[0].getsockname()[1]

    async def quieten(self) -> None:
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await self.loop.shutdown_asyncgens()


@contextmanager
def serving(*, offers: tuple[str, ...] = OFFERS, default: Act | None = None) -> Iterator[Server]:
    server = Server(Script(offers, default))
    thread = threading.Thread(target=server.loop.run_forever, daemon=True, name="scripted")
    thread.start()  # all of it in there: a browser's loop runs in this thread
    asyncio.run_coroutine_threadsafe(server.listen(), server.loop).result(10)
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.quieten(), server.loop).result(10)
        server.loop.call_soon_threadsafe(server.loop.stop)
        thread.join(5)
        server.loop.close()


class Remote:
    """One that runs as a process of its own; told over `/control`."""

    def __init__(self, address: str, process: "subprocess.Popen[str]") -> None:
        self.address, self.process = address, process
        self.base_url = f"{address}/v1"

    def rules(self, *rules: Rule) -> None:
        self._tell(rules=[asdict(rule) for rule in rules])

    def set(self, **told: Any) -> None:
        default = told.get("default")
        self._tell(**{**told, **({"default": asdict(default)} if default else {})})

    def clear(self) -> None:
        self._tell(clear=True)

    def counts(self) -> dict[str, Any]:
        return self._tell()

    def _tell(self, **told: Any) -> dict[str, Any]:
        request = urllib.request.Request(f"{self.address}/control", json.dumps(told).encode(), method="POST")
        with urllib.request.urlopen(request, timeout=10) as answer:
            counts: dict[str, Any] = json.load(answer)
        return counts


@contextmanager
def serve_in_process(*, delay: float = 0.0, port: int = 0) -> Iterator[Remote]:
    command = [sys.executable, "-m", "tests.predictions.model_server", "--port", str(port), "--delay", str(delay)]
    root = Path(__file__).resolve().parents[2]
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        yield Remote(process.stdout.readline().strip(), process)
    finally:
        process.terminate()
        process.wait(10)


def main() -> None:
    parser = argparse.ArgumentParser(description="A scripted model server; its address is its first line.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    given = parser.parse_args()
    server = Server(Script(default=Act(delay=given.delay), keep=False))
    server.loop.run_until_complete(server.listen(given.port))
    print(server.base_url.removesuffix("/v1"), flush=True)
    with suppress(KeyboardInterrupt):
        server.loop.run_forever()


if __name__ == "__main__":
    main()
