"""Deployment mistakes are errors with ids: `./emic manage check --deploy` and every start run them."""

import re
from ipaddress import ip_network
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.core.exceptions import ImproperlyConfigured

from config import proxies
from config.endpoints import LOCAL_HOSTS
from config.site_footer import parse_links

PROXY_HINT = "Set EMIC_PROXY=1 behind one proxy, 2 behind two, or EMIC_PROXY=0 where visitors reach Emic directly."


def check_hosts() -> list[str]:
    return [host for host in settings.ALLOWED_HOSTS if host not in LOCAL_HOSTS]


@register()
def check_secret_key(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    if settings.SECRET_KEY == settings.DEFAULT_KEY and check_hosts():
        return [
            Error(
                "EMIC_SECRET_KEY is not set, and EMIC_HOSTS names a public host.",
                hint="Set EMIC_SECRET_KEY to a long random text.",
                id="emic.E001",
            )
        ]
    return []


@register()
def check_debug(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    if settings.DEBUG and check_hosts():
        return [
            Error("EMIC_DEBUG is on, and EMIC_HOSTS names a public host.", hint="Unset EMIC_DEBUG.", id="emic.E002")
        ]
    return []


@register()
def check_secrets_key(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    from predictions.services.endpoints.secrets import key_problem

    if key_problem():
        hint = "Set EMIC_SECRETS_KEY to the output of: openssl rand -base64 32"
        return [Error("EMIC_SECRETS_KEY is no key.", hint=hint, id="emic.E003")]
    return []


@register()
def private_networks(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    try:
        [ip_network(network) for network in settings.PRIVATE_ENDPOINTS]
    except ValueError as error:
        hint = "Name networks, such as 10.20.0.0/16, with commas between; or 1, or 0."
        return [Error(f"EMIC_PRIVATE_ENDPOINTS: {error}.", hint=hint, id="emic.E004")]
    return []


@register()
def fetch_networks(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """One that cannot be read would end each fetch, of public addresses as well, with an error."""
    try:
        [ip_network(network) for network in settings.FETCH_ALLOW]
    except ValueError as error:
        hint = "Name networks, such as 10.20.0.0/16, with commas between."
        return [Error(f"EMIC_FETCH_ALLOW: {error}.", hint=hint, id="emic.E008")]
    return []


@register()
def check_footer_links(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    try:
        parse_links(settings.FOOTER_LINKS)
    except ValueError as error:
        hint = "Write Contact <mailto:emic@example.org>, Privacy <https://example.org/privacy>."
        return [Error(f"EMIC_FOOTER_LINKS: not a label and an address: {error}.", hint=hint, id="emic.E007")]
    return []


@register()
def check_api_rate(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    hint = "Write a number of requests and a time, such as 120/min."
    rates = {"EMIC_API_RATE": settings.API_RATE, "EMIC_API_TEAM_RATE": settings.API_TEAM_RATE}
    return [
        Error(f"{name} is no rate: {rate!r}.", hint=hint, id="emic.E006")
        for name, rate in rates.items()
        if not re.fullmatch(r"[1-9]\d*/(s|sec|m|min|h|hour|d|day)", rate)
    ]


@register()
def mail_server(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    from people.queries.mail_status import has_mail_server

    if check_hosts() and not has_mail_server():
        hint = "Set EMAIL_URL to your mail server, such as smtp+tls://user:password@mail.example.org:587."
        words = "EMIC_HOSTS names a public host, and no mail server is set up: no invitation and no link is mailed."
        return [Warning(words, hint=hint, id="emic.W001")]
    return []


@register()
def check_proxy(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Behind a proxy that nobody told us of, all visitors have one address: whoever types wrong passwords locks out
    everybody else."""
    if proxies.count(settings.PROXY_TEXT) is None:
        return [Error("EMIC_PROXY is no number of proxies.", hint=PROXY_HINT, id="emic.E005")]
    if settings.HTTPS and not settings.PROXY_TEXT:
        return [Error("EMIC_HTTPS is set, and EMIC_PROXY is not.", hint=PROXY_HINT, id="emic.E005")]
    return []


@register()
def https(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    if check_hosts() and not settings.HTTPS:
        words = "EMIC_HOSTS names a public host, and EMIC_HTTPS is not set: passwords and cookies travel in the clear."
        hint = "Put a proxy with TLS before the site and set EMIC_HTTPS=1."
        return [Warning(words, hint=hint, id="emic.W002")]
    return []


def run_checks_or_exit() -> None:
    """The same errors where no command runs the checks: a web server started by a container."""
    for check in (
        check_secret_key, check_debug, check_secrets_key, private_networks, fetch_networks, check_proxy, check_api_rate,
    ):  # fmt: skip
        for mistake in check(None):
            raise ImproperlyConfigured(f"{mistake.msg} {mistake.hint}")
