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

from benchmarks.services.safe_fetch import resolve_name
from predictions.backends import connections, failures, payloads
from predictions.backends.contract import BackendReply, CallError, Decoding, Pictures
from predictions.backends.payloads import MalformedResponse
from predictions.prompts.contract import AnswerMethod, Reply, Request

MOST_REPLY = 8 * 1024 * 1024
AGENT = "Emic"
REFUSING = (400, 404, 405, 415, 422, 501)  # with which servers refuse a parameter


@dataclass(frozen=True)
class ServerResponse:
    """One answer of the server, read to its end."""

    status: int
    headers: httpx.Headers
    data: bytes
    seconds: float

    @property
    def provider_id(self) -> str:
        named = (self.headers.get(name, "") for name in ("x-request-id", "request-id", "apim-request-id"))
        return payloads.clean(next(filter(None, named), ""), 120)

    def body(self) -> Mapping[str, Any]:
        """Raises MalformedResponse."""
        try:
            body = json.loads(self.data)
        except (ValueError, RecursionError) as error:
            raise MalformedResponse from error
        if not isinstance(body, dict):
            raise MalformedResponse
        return body


class ServerClient:
    """Requests to one server within time and bytes, with its secret. Used from many threads at once."""

    def __init__(self, base_url: str, secret: str, seconds: float, resolve: connections.Resolve = resolve_name) -> None:
        self.base_url, self.seconds, self._secret = base_url.rstrip("/"), seconds, secret
        in_clear = bool(secret) and urlsplit(base_url).scheme != "https"
        headers = {"user-agent": AGENT, "accept": "application/json", "accept-encoding": "identity"}
        if secret:
            headers["authorization"] = f"Bearer {secret}"
        self.client = httpx.Client(
            transport=connections.Transport(in_clear=in_clear, resolve=resolve),
            headers=headers,
            timeout=httpx.Timeout(seconds, connect=min(seconds, connections.CONNECT_SECONDS)),
            follow_redirects=False,
            trust_env=False,
        )

    def __repr__(self) -> str:
        return f"<Wire to {self.base_url}>"

    def send(self, method: str, path: str, *, most: int = MOST_REPLY, **sent: Any) -> ServerResponse:
        """Raises CallError only where no whole answer came. `sent`: as httpx takes it."""
        begun = time.monotonic()
        try:
            request = self.client.build_request(method, f"{self.base_url}{path}", **sent)
            with connections.deadline(self.seconds):
                response = self.client.send(request, stream=True)
                try:
                    data = self._read(response, most)
                finally:
                    response.close()
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
            raise failures.from_connection_error(
                error, self.seconds
            ) from None  # the cause's words may hold what was sent
        except (httpx.InvalidURL, UnicodeError, httpcore.UnsupportedProtocol):  # idna's errors are of the second kind
            raise CallError("permanent", failures.WORDS["connection"]) from None
        return ServerResponse(response.status_code, response.headers, data, time.monotonic() - begun)

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

    def error(self, response: ServerResponse, asked: Sequence[str] = ()) -> CallError:
        """What an answer that is none means."""
        code, server_message = _error_in(response)
        status = response.status if response.status != 200 else _status_of(code)
        trouble, words = failures.classify_status(status, code)
        sentence = failures.WORDS[words].format(status=status)
        own = failures.redact(server_message, self._secret, asked) if trouble in ("permanent", "transient") else ""
        return CallError(
            trouble,
            f"{sentence} {own}".strip()[:500],
            status=response.status,
            retry_after=failures.retry_after(response.headers),
            provider_id=response.provider_id,
        )

    def unreadable(self, response: ServerResponse) -> CallError:
        words = failures.WORDS["not_json"]
        return CallError("transient", words, status=response.status, provider_id=response.provider_id)

    def close(self) -> None:
        self.client.close()


def _error_in(response: ServerResponse) -> tuple[str, str]:
    try:
        return failures.parse_error_body(response.body())
    except MalformedResponse:
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
        resolve: connections.Resolve = resolve_name,
    ) -> None:
        self.offers = tuple(offers)
        self.wire = ServerClient(base_url, secret, seconds, resolve)
        self._lock = threading.Lock()
        self._refused: set[tuple[str, str]] = set()  # (model, way or habit)

    def __repr__(self) -> str:
        return f"<OpenAI at {self.wire.base_url}>"

    def close(self) -> None:
        self.wire.close()

    def answer(self, request: Request, model: str, decoding: Decoding, pictures: Pictures) -> BackendReply:
        if payloads.has_pictures(request) and "images" not in self.offers:
            raise CallError("permanent", "This endpoint takes no images.")
        if request.kind == "continuation":
            return self._continuation(request, model, pictures)
        if request.kind != "chat":
            raise CallError("permanent", "This endpoint answers in words: it gives no similarities and no boxes.")
        messages = payloads.messages_of(request.messages, pictures)
        body = {"model": model, "messages": messages, **payloads.decoding_parameters(decoding, self.offers)}
        return self._try_methods(request, decoding, body)

    def _try_methods(self, request: Request, decoding: Decoding, body: dict[str, Any]) -> BackendReply:
        model, tokens = str(body["model"]), payloads.max_tokens(request, decoding)
        ways = payloads.allowed_methods(request, decoding, self.offers)
        open_ways = [way for way in ways if (model, way) not in self._refused] or list(ways[-1:])
        wasted: list[BackendReply] = []
        refusal: CallError | None = None
        for way in open_ways:
            top = payloads.FEWER_TOP if (model, "top") in self._refused else payloads.MOST_TOP
            extra = payloads.method_parameters(way, request, tokens, top)
            try:
                answered = self._chat({**body, **extra}, way, failures.request_texts(request))
            except MethodRefused as refused:
                self._remember_refusal(model, way)
                refusal = refused.error
                continue
            if way == "logprobs" and not answered.reply.tokens and answered.reply.text:
                self._remember_refusal(model, way)  # passed over in silence
                refusal = CallError("permanent", "The server gives no log-probabilities.", status=answered.status)
                wasted.append(answered)
                continue
            return _add_wasted(answered, wasted)
        raise _add_usage(
            refusal or CallError("permanent", "The endpoint offers none of the ways this prompt is asked."), wasted
        )

    def _remember_refusal(self, model: str, habit: str) -> None:
        with self._lock:
            self._refused.add((model, habit))

    def _chat(self, body: dict[str, Any], way: AnswerMethod, asked: Sequence[str]) -> BackendReply:
        """Raises MethodRefused where the server refuses the way, CallError for everything else."""
        model = str(body["model"])
        if (model, "max_tokens") in self._refused:
            body["max_completion_tokens"] = body.pop("max_tokens")
        response = self._post("/chat/completions", body)
        if response.status != 200:
            code, server_message = _error_in(response)
            if failures.is_content_filter(code):
                reply = Reply(finish="content_filter", refusal=code, way=way)
                return BackendReply(reply, response.seconds, response.status, provider_id=response.provider_id)
            if response.status in REFUSING and self._adapt_parameters(body, server_message):
                return self._chat(body, way, asked)
            error = self.wire.error(response, asked)
            if response.status in REFUSING and payloads.is_method_error(server_message, way):
                raise MethodRefused(error)
            raise error
        return self._answered(response, way, asked)

    def _adapt_parameters(self, body: dict[str, Any], server_message: str) -> bool:
        """Whether the server takes the same under another name, or fewer of it: then it is asked so from now on."""
        model = str(body["model"])
        if "max_completion_tokens" in server_message and "max_tokens" in body:
            self._remember_refusal(model, "max_tokens")
            return True
        if "top_logprobs" in server_message and body.get("top_logprobs", 0) > payloads.FEWER_TOP:
            self._remember_refusal(model, "top")
            body["top_logprobs"] = payloads.FEWER_TOP
            return True
        return False

    def _answered(self, response: ServerResponse, way: AnswerMethod, asked: Sequence[str]) -> BackendReply:
        try:
            body = response.body()
            if body.get("error") and not body.get("choices"):
                raise self.wire.error(response, asked)
            reply = payloads.reply_of(body, way)
        except MalformedResponse:
            raise self.wire.unreadable(response) from None
        return self._reply_with_usage(response, body, reply)

    def _reply_with_usage(self, response: ServerResponse, body: Mapping[str, Any], reply: Reply) -> BackendReply:
        tokens_in, tokens_out = payloads.usage_of(body)
        provider_id = response.provider_id or payloads.clean(body.get("id"), 120)
        return BackendReply(reply, response.seconds, response.status, tokens_in, tokens_out, provider_id)

    def _post(self, path: str, body: dict[str, Any]) -> ServerResponse:
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        return self.wire.send("POST", path, content=data, headers={"content-type": "application/json"})

    def _continuation(self, request: Request, model: str, pictures: Pictures) -> BackendReply:
        """The log-probability of each token of the continuation, nothing said anew."""
        if "continuation" not in self.offers:
            raise CallError("permanent", "This endpoint gives no log-probabilities of what it is shown.")
        in_chat = payloads.has_pictures(request)
        if in_chat:
            messages = payloads.messages_of(request.messages, pictures)
            last = {"role": "assistant", "content": request.continuation}
            body = {"model": model, "messages": [*messages, last], "max_tokens": 1, "temperature": 0.0}
            body |= {"prompt_logprobs": 0, "continue_final_message": True, "add_generation_prompt": False}
        else:
            prompt = payloads.text_prompt(request.messages) + request.continuation
            body = {"model": model, "prompt": prompt, "echo": True, "logprobs": 1, "max_tokens": 0, "temperature": 0.0}
        asked = failures.request_texts(request)
        response = self._post("/chat/completions" if in_chat else "/completions", body)
        if response.status != 200:
            raise self.wire.error(response, asked)
        try:
            body_data = response.body()
            tokens = payloads.prompt_tokens(body_data) if in_chat else payloads.echoed_tokens(body_data)
        except MalformedResponse:
            raise self.wire.unreadable(response) from None
        end = payloads.trailing_tokens(tokens, request.continuation)
        wasted = []
        if not end:  # tokens that are parts of letters spell nothing: they are counted instead
            before = self._prompt_token_count(body, request, asked)
            wasted = [before]
            end = tuple(tokens[before.tokens_in :]) if before.tokens_in is not None else ()
        if not end:
            words = "The server's tokens do not spell the continuation, so they cannot be told from the question's."
            raise CallError("permanent", words, status=response.status, provider_id=response.provider_id)
        name = payloads.clean(body_data.get("model"), 200)
        reply = Reply(text=request.continuation, finish="stop", way="logprobs", tokens=end, model=name)
        return _add_wasted(self._reply_with_usage(response, body_data, reply), wasted)

    def _prompt_token_count(self, body: dict[str, Any], request: Request, asked: Sequence[str]) -> BackendReply:
        """Asked for its number of tokens."""
        alone: dict[str, Any] = {"model": body["model"], "max_tokens": 1, "temperature": 0.0}
        alone |= {"messages": body["messages"][:-1]} if "messages" in body else {}
        alone |= {"prompt": payloads.text_prompt(request.messages)} if "prompt" in body else {}
        response = self._post("/chat/completions" if "messages" in body else "/completions", alone)
        if response.status != 200:
            raise self.wire.error(response, asked)
        try:
            return self._reply_with_usage(response, response.body(), Reply())
        except MalformedResponse:
            raise self.wire.unreadable(response) from None


class MethodRefused(Exception):
    """The server does not answer in this way; `error` is what it would be without another."""

    def __init__(self, error: CallError) -> None:
        super().__init__(error.words)
        self.error = error


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _add_wasted(answered: BackendReply, wasted: Sequence[BackendReply]) -> BackendReply:
    """What was asked for nothing has been paid for too."""
    if not wasted:
        return answered
    every = [*wasted, answered]
    tokens_in, tokens_out = (
        _sum([backend_reply.tokens_in for backend_reply in every]),
        _sum([backend_reply.tokens_out for backend_reply in every]),
    )
    return replace(answered, tokens_in=tokens_in, tokens_out=tokens_out)


def _add_usage(error: CallError, wasted: Sequence[BackendReply]) -> CallError:
    error.tokens_in, error.tokens_out = (
        _sum([backend_reply.tokens_in for backend_reply in wasted]),
        _sum([backend_reply.tokens_out for backend_reply in wasted]),
    )
    return error
