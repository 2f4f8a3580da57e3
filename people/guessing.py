"""Under which name and from which address wrong passwords are counted (the callables of AXES in the settings)."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.http import HttpRequest


def name_of(request: HttpRequest, credentials: Mapping[str, Any] | None) -> str | None:
    """The e-mail in small letters: guesses spelled differently are guesses at one account, at every door."""
    typed = (credentials or {}).get("username") or request.POST.get("username") or ""
    return str(typed).strip().lower() or None


def address_of(request: HttpRequest) -> str:
    """Where the request comes from. Behind a proxy (EMIC_PROXY), the last entry is what the proxy itself saw;

    those before it, and the whole header without a proxy, are whatever the sender likes.
    """
    direct = str(request.META.get("REMOTE_ADDR") or "")
    if not settings.PROXY:
        return direct
    last = str(request.META.get("HTTP_X_FORWARDED_FOR", "")).rsplit(",", 1)[-1].strip()
    try:
        return str(ip_address(last))
    except ValueError:
        return direct
