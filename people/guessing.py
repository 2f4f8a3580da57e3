"""Under which name wrong passwords are counted (AXES_USERNAME_CALLABLE)."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest


def name_of(request: HttpRequest, credentials: Mapping[str, Any] | None) -> str | None:
    """The e-mail in small letters: guesses spelled differently are guesses at one account, at every door."""
    typed = (credentials or {}).get("username") or request.POST.get("username") or ""
    return str(typed).strip().lower() or None
