"""A server that speaks the OpenAI protocol: OpenAI, vLLM, SGLang, llama.cpp, Ollama, proxies before others."""

import json
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import httpcore
import httpx

from predictions.backends import failures, lines, shapes
from predictions.backends.contract import Answered, CallError, Decoding, Pictures
from predictions.backends.shapes import Unreadable
from predictions.prompts.contract import Reply, Request, Way

MOST_REPLY = 8 * 1024 * 1024
AGENT = "Emic"
REFUSING = (400, 404, 405, 415, 422, 501)  # with which servers refuse a parameter


@dataclass(frozen=True)
class Came:
    """One answer of the server, read to its end."""

    status: int
    headers: httpx.Headers
    data: bytes
    seconds: float

    @property
    def provider_id(self) -> str:
        named = (self.headers.get(name, "") for name in ("x-request-id", "request-id", "apim-request-id"))
        return shapes.clean(next(filter(None, named), ""), 120)

    def body(self) -> Mapping[str, Any]:
        """Raises Unreadable."""
        try:
            body = json.loads(self.data)
        except (ValueError, RecursionError) as error:
            raise Unreadable from error
        if not isinstance(body, dict):
            raise Unreadable
        return body


class Wire:
    """Requests to one server within time and bytes, with its secret. Used from many threads at once."""

    def __init__(self, base_url: str, secret: str, seconds: float, resolve: lines.Resolve = lines.resolved) -> None:
        self.base_url, self.seconds, self._secret = base_url.rstrip("/"), seconds, secret
        in_clear = bool(secret) and urlsplit(base_url).scheme != "https"
        headers = {"user-agent": AGENT, "accept": "application/json", "accept-encoding": "identity"}
        if secret:
            headers["authorization"] = f"Bearer {secret}"
        self.client = httpx.Client(
            transport=lines.Transport(in_clear=in_clear, resolve=resolve),
            headers=headers,
            timeout=httpx.Timeout(seconds, connect=min(seconds, lines.CONNECT_SECONDS)),
            follow_redirects=False,
            trust_env=False,
        )

    def __repr__(self) -> str:
        return f"<Wire to {self.base_url}>"

    def ask(self, method: str, path: str, *, most: int = MOST_REPLY, **sent: Any) -> Came:
        """Raises CallError only where no whole answer came. `sent`: as httpx takes it."""
        begun = time.monotonic()
        try:
            request = self.client.build_request(method, f"{self.base_url}{path}", **sent)
            with lines.within(self.seconds):
                response = self.client.send(request, stream=True)
                try:
                    data = self._read(response, most)
                finally:
                    response.close()
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
            raise failures.of_line(error, self.seconds) from None  # the cause's words may hold what was sent
        except (httpx.InvalidURL, UnicodeError, httpcore.UnsupportedProtocol):  # idna's errors are of the second kind
            raise CallError("permanent", failures.WORDS["connection"]) from None
        return Came(response.status_code, response.headers, data, time.monotonic() - begun)

    def _read(self, response: httpx.Response, most: int) -> bytes:
        data = bytearray()
        for block in response.iter_raw():
            data += block
            if len(data) > most:
                raise CallError(
                    "permanent",
                    failures.WORDS["too_large"].format(most=most // 1024**2),
                    status=response.status_code,
                )
        return bytes(data)

    def error(self, came: Came, asked: Sequence[str] = ()) -> CallError:
        """What an answer that is none means."""
        code, told = _error_in(came)
        status = came.status if came.status != 200 else _status_of(code)
        trouble, words = failures.trouble_of(status, code)
        said = failures.WORDS[words].format(status=status)
        own = failures.decent(told, self._secret, asked) if trouble in ("permanent", "transient") else ""
        return CallError(
            trouble,
            f"{said} {own}".strip()[:500],
            status=came.status,
            retry_after=failures.retry_after(came.headers),
            provider_id=came.provider_id,
        )

    def unreadable(self, came: Came) -> CallError:
        words = failures.WORDS["not_json"]
        return CallError("transient", words, status=came.status, provider_id=came.provider_id)

    def close(self) -> None:
        self.client.close()


def _error_in(came: Came) -> tuple[str, str]:
    try:
        return failures.error_of(came.body())
    except Unreadable:
        return "", ""


def _status_of(code: str) -> int:
    """Some proxies answer 200 and put the status into the body."""
    return int(code) if re.fullmatch("[45][0-9]{2}", code) else 500


class OpenAI:
    """See predictions.backends.contract.Backend. A way that the server refuses is not tried again for that model;
    the next one is taken, and the reply says which it was."""

    def __init__(
        self,
        base_url: str,
        secret: str = "",
        *,
        offers: Sequence[str] = (),
        seconds: float = 120.0,
        resolve: lines.Resolve = lines.resolved,
    ) -> None:
        self.offers = tuple(offers)
        self.wire = Wire(base_url, secret, seconds, resolve)
        self._lock = threading.Lock()
        self._refused: set[tuple[str, str]] = set()  # (model, way or habit)

    def __repr__(self) -> str:
        return f"<OpenAI at {self.wire.base_url}>"

    def close(self) -> None:
        self.wire.close()

    def answer(self, request: Request, model: str, decoding: Decoding, pictures: Pictures) -> Answered:
        if shapes.has_pictures(request) and "images" not in self.offers:
            raise CallError("permanent", "This endpoint takes no images.")
        if request.kind == "continuation":
            return self._continuation(request, model, pictures)
        if request.kind != "chat":
            raise CallError("permanent", "This endpoint answers in words: it gives no similarities and no boxes.")
        messages = shapes.messages_of(request.messages, pictures)
        body = {"model": model, "messages": messages, **shapes.decoded(decoding, self.offers)}
        return self._by_ways(request, decoding, body)

    def _by_ways(self, request: Request, decoding: Decoding, body: dict[str, Any]) -> Answered:
        model, tokens = str(body["model"]), shapes.most_tokens(request, decoding)
        ways = shapes.allowed_ways(request, decoding, self.offers)
        open_ways = [way for way in ways if (model, way) not in self._refused] or list(ways[-1:])
        wasted: list[Answered] = []
        refusal: CallError | None = None
        for way in open_ways:
            top = shapes.FEWER_TOP if (model, "top") in self._refused else shapes.MOST_TOP
            extra = shapes.way_of_asking(way, request, tokens, top)
            try:
                answered = self._chat({**body, **extra}, way, failures.texts_of(request))
            except WayRefused as refused:
                self._note(model, way)
                refusal = refused.error
                continue
            if way == "logprobs" and not answered.reply.tokens and answered.reply.text:
                self._note(model, way)  # passed over in silence
                refusal = CallError("permanent", "The server gives no log-probabilities.", status=answered.status)
                wasted.append(answered)
                continue
            return _with(answered, wasted)
        raise _paid(
            refusal or CallError("permanent", "The endpoint offers none of the ways this prompt is asked."), wasted
        )

    def _note(self, model: str, habit: str) -> None:
        with self._lock:
            self._refused.add((model, habit))

    def _chat(self, body: dict[str, Any], way: Way, asked: Sequence[str]) -> Answered:
        """Raises WayRefused where the server refuses the way, CallError for everything else."""
        model = str(body["model"])
        if (model, "max_tokens") in self._refused:
            body["max_completion_tokens"] = body.pop("max_tokens")
        came = self._post("/chat/completions", body)
        if came.status != 200:
            code, told = _error_in(came)
            if failures.is_filter(code):
                reply = Reply(finish="content_filter", refusal=code, way=way)
                return Answered(reply, came.seconds, came.status, provider_id=came.provider_id)
            if came.status in REFUSING and self._other_habit(body, told):
                return self._chat(body, way, asked)
            error = self.wire.error(came, asked)
            if came.status in REFUSING and shapes.names_way(told, way):
                raise WayRefused(error)
            raise error
        return self._answered(came, way, asked)

    def _other_habit(self, body: dict[str, Any], told: str) -> bool:
        """Whether the server takes the same under another name, or fewer of it: then it is asked so from now on."""
        model = str(body["model"])
        if "max_completion_tokens" in told and "max_tokens" in body:
            self._note(model, "max_tokens")
            return True
        if "top_logprobs" in told and body.get("top_logprobs", 0) > shapes.FEWER_TOP:
            self._note(model, "top")
            body["top_logprobs"] = shapes.FEWER_TOP
            return True
        return False

    def _answered(self, came: Came, way: Way, asked: Sequence[str]) -> Answered:
        try:
            body = came.body()
            if body.get("error") and not body.get("choices"):
                raise self.wire.error(came, asked)
            reply = shapes.reply_of(body, way)
        except Unreadable:
            raise self.wire.unreadable(came) from None
        return self._counted(came, body, reply)

    def _counted(self, came: Came, body: Mapping[str, Any], reply: Reply) -> Answered:
        tokens_in, tokens_out = shapes.usage_of(body)
        provider_id = came.provider_id or shapes.clean(body.get("id"), 120)
        return Answered(reply, came.seconds, came.status, tokens_in, tokens_out, provider_id)

    def _post(self, path: str, body: dict[str, Any]) -> Came:
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        return self.wire.ask("POST", path, content=data, headers={"content-type": "application/json"})

    def _continuation(self, request: Request, model: str, pictures: Pictures) -> Answered:
        """The log-probability of each token of the continuation, nothing said anew."""
        if "continuation" not in self.offers:
            raise CallError("permanent", "This endpoint gives no log-probabilities of what it is shown.")
        in_chat = shapes.has_pictures(request)
        if in_chat:
            messages = shapes.messages_of(request.messages, pictures)
            last = {"role": "assistant", "content": request.continuation}
            body = {"model": model, "messages": [*messages, last], "max_tokens": 1, "temperature": 0.0}
            body |= {"prompt_logprobs": 0, "continue_final_message": True, "add_generation_prompt": False}
        else:
            prompt = shapes.text_prompt(request.messages) + request.continuation
            body = {"model": model, "prompt": prompt, "echo": True, "logprobs": 1, "max_tokens": 0, "temperature": 0.0}
        asked = failures.texts_of(request)
        came = self._post("/chat/completions" if in_chat else "/completions", body)
        if came.status != 200:
            raise self.wire.error(came, asked)
        try:
            told = came.body()
            tokens = shapes.prompt_tokens(told) if in_chat else shapes.echoed_tokens(told)
        except Unreadable:
            raise self.wire.unreadable(came) from None
        end = shapes.ending(tokens, request.continuation)
        wasted = []
        if not end:  # tokens that are parts of letters spell nothing: they are counted instead
            before = self._question_alone(body, request, asked)
            wasted = [before]
            end = tuple(tokens[before.tokens_in :]) if before.tokens_in is not None else ()
        if not end:
            words = "The server's tokens do not spell the continuation, so they cannot be told from the question's."
            raise CallError("permanent", words, status=came.status, provider_id=came.provider_id)
        name = shapes.clean(told.get("model"), 200)
        reply = Reply(text=request.continuation, finish="stop", way="logprobs", tokens=end, model=name)
        return _with(self._counted(came, told, reply), wasted)

    def _question_alone(self, body: dict[str, Any], request: Request, asked: Sequence[str]) -> Answered:
        """Asked for its number of tokens."""
        alone: dict[str, Any] = {"model": body["model"], "max_tokens": 1, "temperature": 0.0}
        alone |= {"messages": body["messages"][:-1]} if "messages" in body else {}
        alone |= {"prompt": shapes.text_prompt(request.messages)} if "prompt" in body else {}
        came = self._post("/chat/completions" if "messages" in body else "/completions", alone)
        if came.status != 200:
            raise self.wire.error(came, asked)
        try:
            return self._counted(came, came.body(), Reply())
        except Unreadable:
            raise self.wire.unreadable(came) from None


class WayRefused(Exception):
    """The server does not answer in this way; `error` is what it would be without another."""

    def __init__(self, error: CallError) -> None:
        super().__init__(error.words)
        self.error = error


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [one for one in counts if one is not None]
    return sum(known) if known else None


def _with(answered: Answered, wasted: Sequence[Answered]) -> Answered:
    """What was asked for nothing has been paid for too."""
    if not wasted:
        return answered
    every = [*wasted, answered]
    tokens_in, tokens_out = _sum([one.tokens_in for one in every]), _sum([one.tokens_out for one in every])
    return replace(answered, tokens_in=tokens_in, tokens_out=tokens_out)


def _paid(error: CallError, wasted: Sequence[Answered]) -> CallError:
    error.tokens_in, error.tokens_out = (
        _sum([one.tokens_in for one in wasted]),
        _sum([one.tokens_out for one in wasted]),
    )
    return error
