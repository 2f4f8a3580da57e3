"""Deployment mistakes are errors with ids: `./emic manage check --deploy` and every start run them."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.core.exceptions import ImproperlyConfigured

LOCAL_HOSTS = {"localhost", "127.0.0.1", "[::1]", "testserver"}


def public_hosts() -> list[str]:
    return [host for host in settings.ALLOWED_HOSTS if host not in LOCAL_HOSTS]


@register()
def default_key(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    if settings.SECRET_KEY == settings.DEFAULT_KEY and public_hosts():
        return [
            Error(
                "EMIC_SECRET_KEY is not set, and EMIC_HOSTS names a public host.",
                hint="Set EMIC_SECRET_KEY to a long random text.",
                id="emic.E001",
            )
        ]
    return []


@register()
def debug_in_public(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    if settings.DEBUG and public_hosts():
        return [
            Error("EMIC_DEBUG is on, and EMIC_HOSTS names a public host.", hint="Unset EMIC_DEBUG.", id="emic.E002")
        ]
    return []


def refuse_mistakes() -> None:
    """The same errors where no command runs the checks: a web server started by a container."""
    for mistake in [*default_key(None), *debug_in_public(None)]:
        raise ImproperlyConfigured(f"{mistake.msg} {mistake.hint}")
