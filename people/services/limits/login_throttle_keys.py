"""Under which name and from which address wrong passwords are counted (the callables of AXES in the settings)."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.http import HttpRequest


def throttle_name(request: HttpRequest, credentials: Mapping[str, Any] | None) -> str | None:
    """The e-mail in small letters: guesses spelled differently are guesses at one account, at every door."""
    typed = (credentials or {}).get("username") or request.POST.get("username") or ""
    return str(typed).strip().lower() or None


def client_address(request: HttpRequest) -> str:
    """Where the request comes from. Each proxy (EMIC_PROXY says how many) adds at the right what it saw itself;

    entries further left, and the whole header without a proxy, are whatever the sender likes.
    """
    direct = str(request.META.get("REMOTE_ADDR") or "")
    if not settings.PROXY:
        return direct
    entries = str(request.META.get("HTTP_X_FORWARDED_FOR", "")).split(",")
    try:
        return str(ip_address(entries[-min(settings.PROXY, len(entries))].strip()))
    except ValueError:
        return direct
