"""A team's endpoints: made, changed, priced, tried out, retired; and the back end that asks them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from importlib import import_module
from threading import BoundedSemaphore
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.debug import sensitive_variables

from jobs.models import record
from jobs.queries.read_once import read_once
from people.models import Team, User
from predictions.backends import capability_probes, torch_setup
from predictions.backends.contract import Backend, CallError, Encoder
from predictions.backends.image_generation import ImageMaker
from predictions.backends.openai import OpenAI
from predictions.models import Endpoint, Prices, Run
from predictions.services.endpoints import image_prices, secrets

OFFERS = ("images", "schema", "guided", "logprobs", "continuation", "seed")
FIELDS = ("kind", "name", "base_url", "offers", "most_in_flight", "per_minute", "timeout_seconds")
LONGEST_SECRET = 4000
MOST_IN_FLIGHT = 512
MOST_SECONDS = 3600
CHECK_SECONDS, TRY_SECONDS = 15, 40
_SEATS = BoundedSemaphore(2)  # a process answers people with a few threads: slow servers may hold two of them
PRICED = ("in", "out", "image", "request")
PRICED_IMAGES = ("generated", "edited")  # of an image that is made: one price, or one for each size
FREE = {"*": dict.fromkeys(("in", "out", *PRICED_IMAGES), "0")}
DEAREST = Decimal(1_000_000)
LOCAL = {
    Endpoint.Kind.OPEN_CLIP.value: "clip",
    Endpoint.Kind.DETECTOR.value: "detector",
    Endpoint.Kind.GROUNDING.value: "grounding",
}


class EndpointRefused(Exception):
    """What was asked for cannot be done; `words` say what to do."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words


class SecretUnreadable(EndpointRefused):
    """The endpoint has a key, and this site cannot read it."""


def create(team: Team, actor: User, at: datetime, **fields: Any) -> Endpoint:
    """`fields`: of FIELDS. The practice model of this machine costs nothing, and its prices say so. Raises
    EndpointRefused."""
    endpoint = Endpoint(team=team, created_by=actor, **_fields(fields))
    _checked(endpoint)
    _save_endpoint(endpoint)
    record(actor, "endpoint.created", scope=scope_of(endpoint), target=target_of(endpoint), **_event_data(endpoint))
    if endpoint.base_url and endpoint.base_url == settings.PRACTICE_MODEL:
        set_prices(endpoint, FREE, actor, at)
    return endpoint


def change(endpoint: Endpoint, actor: User, at: datetime, **fields: Any) -> Endpoint:
    """Another address takes the secret away, be it another path of one server, which may be another customer's: who
    cannot see it cannot have it sent elsewhere either. Raises EndpointRefused.
    """
    with transaction.atomic():
        now = Endpoint.objects.select_for_update().get(pk=endpoint.pk)
        _check_not_retired(now)
        before, was = _event_data(now), urlsplit(now.base_url)
        for name, value in _fields(fields).items():
            setattr(now, name, value)
        if now.kind != before["kind"]:
            raise EndpointRefused(_("The kind of an endpoint cannot be changed. Create a new endpoint."))
        _checked(now)
        if now.base_url != before["base_url"]:
            _check_unused(now)
        if now.secret and _server_address(was) != _server_address(urlsplit(now.base_url)):
            now.secret, now.secret_set_at = "", None
        _save_endpoint(now)
        after = _event_data(now)
        changed: dict[str, Any] = {name: [before[name], after[name]] for name in after if before[name] != after[name]}
        if changed:
            record(actor, "endpoint.changed", scope=scope_of(now), target=target_of(now), **changed)
    return now


def _fields(values: Mapping[str, Any]) -> dict[str, Any]:
    unknown = set(values) - set(FIELDS)
    if unknown:
        raise TypeError(f"an endpoint has no {sorted(unknown)}")
    fields = dict(values)
    if "offers" in fields:
        fields["offers"] = [name for name in OFFERS if name in set(fields["offers"])]
    if "base_url" in fields:
        fields["base_url"] = str(fields["base_url"]).strip().rstrip("/")
    if "name" in fields:
        fields["name"] = " ".join(str(fields["name"]).split())
    return fields


def _checked(endpoint: Endpoint) -> None:
    try:
        endpoint.clean_fields(exclude=["team", "created_by", "offers", "secret"])
    except ValidationError as error:
        raise EndpointRefused(
            " ".join(f"{_name_of(name)}: {' '.join(problems)}" for name, problems in error.message_dict.items())
        ) from error
    if endpoint.kind == Endpoint.Kind.OPENAI:
        _address(endpoint.base_url)
    else:
        endpoint.base_url, endpoint.offers = "", []
    if not 1 <= endpoint.most_in_flight <= MOST_IN_FLIGHT:
        raise EndpointRefused(_("At least one request at once, and at most %(most)s.") % {"most": MOST_IN_FLIGHT})
    if not 1 <= endpoint.timeout_seconds <= MOST_SECONDS:
        raise EndpointRefused(_("Wait at least a second, and at most %(most)s.") % {"most": MOST_SECONDS})
    if endpoint.per_minute is not None and endpoint.per_minute < 1:
        raise EndpointRefused(_("At least one request a minute; leave it empty for no limit."))


def _name_of(field: str) -> str:
    """As people read it."""
    return str(getattr(Endpoint._meta.get_field(field), "verbose_name", field))


def _address(url: str) -> None:
    """What it leads to is looked up when it is asked, each time."""
    sentence = _("This is not a web address. It begins with https:// or http:// and often ends with /v1.")
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError as error:
        raise EndpointRefused(sentence) from error
    if not known or re.search(r"[\x00-\x20\x7f\\]", url):
        raise EndpointRefused(sentence)
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise EndpointRefused(
            _("The address contains a name, a password or a question mark. Remove them; the API key has its own field.")
        )


def _server_address(parts: SplitResult) -> tuple[str, str, int, str]:
    """The same for an address with and without a final /v1."""
    usual = 443 if parts.scheme == "https" else 80
    path = parts.path.rstrip("/").removesuffix("/v1").rstrip("/")
    return parts.scheme, parts.hostname or "", parts.port or usual, path


def _save_endpoint(endpoint: Endpoint) -> None:
    try:
        with transaction.atomic():
            endpoint.save()
    except IntegrityError as error:
        raise EndpointRefused(_("There is an endpoint of this name already. Take another name.")) from error


def _check_unused(endpoint: Endpoint) -> None:
    """A run is asked of one server from its first call to its last."""
    if endpoint.runs.filter(state__in=[Run.State.RUNNING, Run.State.PAUSED], withdrawn_at=None).exists():
        raise EndpointRefused(_("Runs at this endpoint are not over. Stop them first, or make a new endpoint."))


def _check_not_retired(endpoint: Endpoint) -> None:
    if endpoint.retired_at:
        raise EndpointRefused(_("This endpoint was retired."))


def _event_data(endpoint: Endpoint) -> dict[str, Any]:
    """For events: everything that people set, but never the secret."""
    return {**{name: getattr(endpoint, name) for name in FIELDS}, "has_secret": bool(endpoint.secret)}


def scope_of(endpoint: Endpoint) -> str:
    return f"team:{endpoint.team_id}"


def target_of(endpoint: Endpoint) -> str:
    return f"endpoint:{endpoint.pk}"


@sensitive_variables("secret", "kept")
def set_secret(endpoint: Endpoint, secret: str, actor: User, at: datetime) -> None:
    """Encrypted, and never shown again; "" takes it away. Raises EndpointRefused."""
    secret = secret.strip()
    if len(secret) > LONGEST_SECRET or not (secret.isascii() and (secret.isprintable() or not secret)):
        raise EndpointRefused(_("This is not an API key: a key has letters, digits and signs only, on one line."))
    try:
        encrypted = secrets.encrypt(secret) if secret else ""
    except secrets.MissingKey as problem:
        raise EndpointRefused(str(problem)) from problem
    with transaction.atomic():
        now = Endpoint.objects.select_for_update().get(pk=endpoint.pk)
        _check_not_retired(now)
        Endpoint.objects.filter(pk=now.pk).update(secret=encrypted, secret_set_at=at if encrypted else None)
        verb = "endpoint.secret_set" if encrypted else "endpoint.secret_removed"
        record(actor, verb, scope=scope_of(now), target=target_of(now))
    endpoint.secret, endpoint.secret_set_at = encrypted, at if encrypted else None


def rotate_secrets() -> tuple[int, list[int]]:
    """Encrypt every secret with the first key; how many there were, and the endpoints whose no key opens.

    Raises NoKey.
    """
    renewed, unopened = 0, []
    for pk in Endpoint.objects.exclude(secret="").order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():
            endpoint = Endpoint.objects.select_for_update().get(pk=pk)
            try:
                encrypted = secrets.reencrypt(endpoint.secret) if endpoint.secret else ""
            except secrets.WrongKey:
                unopened.append(pk)
                continue
            renewed += Endpoint.objects.filter(pk=pk).exclude(secret="").update(secret=encrypted)
    return renewed, unopened


def retire(endpoint: Endpoint, actor: User, at: datetime) -> None:
    """Nothing is asked of it any more; what it answered stays. Its secret is forgotten."""
    with transaction.atomic():
        still = Endpoint.objects.filter(pk=endpoint.pk, retired_at=None)
        if still.update(retired_at=at, secret="", secret_set_at=None):
            record(actor, "endpoint.retired", scope=scope_of(endpoint), target=target_of(endpoint))
    endpoint.retired_at, endpoint.secret = at, ""


def set_prices(endpoint: Endpoint, table: Mapping[str, Mapping[str, Any]], actor: User, at: datetime) -> Prices:
    """A new version, unless nothing differs from the newest. Attempts keep the one they were counted by.

    Raises EndpointRefused.
    """
    clean = {str(model).strip(): _prices(str(model).strip(), row) for model, row in table.items()}
    clean = {model: row for model, row in clean.items() if row}
    with transaction.atomic():
        Endpoint.objects.select_for_update().get(pk=endpoint.pk)
        newest = endpoint.prices.order_by("-number").first()
        if newest and newest.table == clean:
            return newest
        number = newest.number + 1 if newest else 1
        prices = Prices.objects.create(endpoint=endpoint, number=number, table=clean, created_by=actor)
        Prices.objects.filter(pk=prices.pk).update(created_at=at)
        data: dict[str, Any] = {"number": number, "table": clean}
        record(actor, "endpoint.priced", scope=scope_of(endpoint), target=target_of(endpoint), **data)
    return prices


def _prices(model: str, row: Mapping[str, Any]) -> dict[str, str]:
    if not model or len(model) > 200 or set(row) - {*PRICED, *PRICED_IMAGES}:
        raise EndpointRefused(_("A price belongs to a model, or to * for all others."))
    prices = {}
    for name, price_text in row.items():
        if price_text in ("", None):
            continue
        if name in PRICED_IMAGES:
            by_size = {size: _price(text) for size, text in image_prices.split_sizes(str(price_text)).items()}
            prices[name] = image_prices.join_sizes(by_size)
        else:
            prices[name] = _price(price_text)
    if ("in" in prices) != ("out" in prices):
        words = _("“%(model)s”: give the price of tokens both in and out; 0 is a price, and an empty field is unknown.")
        raise EndpointRefused(words % {"model": model})
    return prices


def _price(price_text: Any) -> str:
    """A price as it is kept. Raises EndpointRefused."""
    problem = _("“%(told)s” is not a price. Write US dollars with a point, such as 2.50.") % {"told": price_text}
    try:
        price = Decimal(str(price_text).strip())
    except InvalidOperation as error:
        raise EndpointRefused(problem) from error
    if not price.is_finite() or not 0 <= price <= DEAREST:
        raise EndpointRefused(problem)
    return f"{price.normalize():f}"


def price_of(endpoint: Endpoint, model: str, at: datetime) -> tuple[Prices | None, dict[str, Decimal]]:
    """The price list in force, and what it says of a model: "in" and "out" per million tokens, "image", "request".

    Empty where the model has no price: then nobody knows what it costs.
    """
    in_force = Prices.objects.filter(endpoint=endpoint, created_at__lte=at).order_by("-number")
    prices = read_once(("prices", endpoint.pk, at), in_force.first)
    if prices is None:
        return None, {}
    row = _price_row(prices, model)
    return prices, {name: Decimal(price) for name, price in row.items() if name in PRICED}


def image_price_of(
    endpoint: Endpoint, model: str, size: str, at: datetime, *, edited: bool = False
) -> tuple[Prices | None, Decimal | None]:
    """The price list in force, and what it says of one image of this size; None where nobody has said it."""
    prices = Prices.objects.filter(endpoint=endpoint, created_at__lte=at).order_by("-number").first()
    row = _price_row(prices, model) if prices else {}
    price = image_prices.price_for(row.get(PRICED_IMAGES[edited], ""), size)
    if price is None:
        return prices, None
    return prices, price + Decimal(row.get("request", "0"))


def _price_row(prices: Prices, model: str) -> Mapping[str, str]:
    row: Mapping[str, str] = prices.table.get(model) or prices.table.get("*") or {}
    return row


@dataclass(frozen=True)
class ConnectionResult:
    """`models`: as the server names them. `offers`: what was tried with `model` and works; None: nothing was tried.
    `answered`: whether the server said anything, if only no."""

    works: bool
    models: tuple[str, ...]
    words: str
    offers: tuple[str, ...] | None = None
    model: str = ""
    answered: bool = True


def check(endpoint: Endpoint, actor: User, at: datetime, model: str = "") -> ConnectionResult:
    """Ask for the list of models; with a model, also try every way out by a few tiny questions.

    Raises EndpointRefused.
    """
    checked = (
        _check_local_models() if endpoint.kind in LOCAL else _probe_capabilities(endpoint, model.replace("\0", ""))
    )
    told = {**asdict(checked), "address": endpoint.base_url}
    record(actor, "endpoint.checked", scope=scope_of(endpoint), target=target_of(endpoint), **told)
    return checked


def _check_local_models() -> ConnectionResult:
    if torch_setup.installed():
        names = tuple(torch_setup.known_models())
        text = _("Local models are installed here.")
        none = _(
            "There is no model yet. The operator puts folders into EMIC_MODELS, or lists names in EMIC_HUB_MODELS."
        )
        return ConnectionResult(True, names, text if names else f"{text} {none}")
    return ConnectionResult(False, (), _("Local models are not installed here. Run ./emic models, then restart."))


def _probe_capabilities(endpoint: Endpoint, model: str) -> ConnectionResult:
    backend = _openai(endpoint, offers=OFFERS, seconds=min(endpoint.timeout_seconds, CHECK_SECONDS))
    if not _SEATS.acquire(timeout=2):
        raise EndpointRefused(_("Others are checking their endpoints right now. Try again in a moment."))
    try:
        models = capability_probes.list_models(backend)
        offers = tuple(capability_probes.supported_methods(backend, model, TRY_SECONDS)) if model else None
    except CallError as error:
        words = f"{error.words} {_address_hint(endpoint)}".strip() if error.status == 404 else error.words
        return ConnectionResult(False, (), words, model=model, answered=error.status is not None)
    finally:
        _SEATS.release()
        backend.close()
    if models is None:
        words = _("The server answers, but names no models. Type the name of yours.")
        return ConnectionResult(
            True, (), words if offers else f"{words} {_address_hint(endpoint)}".strip(), offers, model
        )
    words = ngettext(
        "The server answers, and names %(count)s model.", "The server answers, and names %(count)s models.", len(models)
    )
    return ConnectionResult(True, models, words % {"count": len(models)}, offers, model)


def _address_hint(endpoint: Endpoint) -> str:
    """The commonest mistake, where it may have been made."""
    if re.search(r"/v[0-9]", urlsplit(endpoint.base_url).path):
        return ""
    return _("The address does not end in /v1, as most do. If yours should, add it and check again.")


@sensitive_variables()
def _openai(endpoint: Endpoint, *, offers: Sequence[str], seconds: float) -> OpenAI:
    return OpenAI(endpoint.base_url, _secret_of(endpoint), offers=offers, seconds=seconds)


@sensitive_variables()
def _secret_of(endpoint: Endpoint) -> str:
    _check_not_retired(endpoint)
    try:
        return secrets.decrypt(endpoint.secret) if endpoint.secret else ""
    except (secrets.MissingKey, secrets.WrongKey) as problem:
        raise SecretUnreadable(str(problem)) from problem


@sensitive_variables()
def image_maker_for(endpoint: Endpoint) -> ImageMaker:
    """What has this endpoint make and edit pictures; closed by who asked for it. Raises EndpointRefused."""
    if endpoint.kind != Endpoint.Kind.OPENAI:
        raise EndpointRefused(_("This endpoint makes no pictures. Choose a server that speaks the OpenAI protocol."))
    return ImageMaker(endpoint.base_url, _secret_of(endpoint), seconds=endpoint.timeout_seconds)


def backend_for(endpoint: Endpoint) -> Backend:
    """What asks this endpoint; one for a run, closed by who asked for it. Raises EndpointRefused."""
    _check_not_retired(endpoint)
    if endpoint.kind in LOCAL:
        backend: Backend = import_module(f"predictions.backends.{LOCAL[endpoint.kind]}").backend()
        return backend
    return _openai(endpoint, offers=endpoint.offers, seconds=endpoint.timeout_seconds)


def encoder_for(endpoint: Endpoint, model: str) -> Encoder:
    """Loaded on this machine; raises what the module raises where models are not installed."""
    _check_not_retired(endpoint)
    if endpoint.kind != Endpoint.Kind.OPEN_CLIP:
        raise EndpointRefused(_("This endpoint makes no vectors. Choose an encoder of images and texts."))
    encoder: Encoder = import_module("predictions.backends.clip").load(model)
    return encoder
