"""Who of the world may do something: every persona is asked, so that the refused stand beside the allowed."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import Http404

from tests.personas import World

PEOPLE = (
    "nour", "tarek", "bia", "caio", "reviewer", "manager", "mara", "owner", "team_admin", "site_admin", "stranger",
    "rival", "rival_rater",
)  # fmt: skip


def allowed(world: World, ask: Callable[[Any], Any], *, visitors: bool = True) -> set[str]:
    """The names of those for whom `ask` is neither false nor a 404; "visitor" is nobody's account."""
    people = {name: getattr(world, name) for name in PEOPLE}
    if visitors:
        people["visitor"] = AnonymousUser()
    return {name for name, user in people.items() if is_allowed(ask, user)}


def is_allowed(ask: Callable[[Any], Any], user: Any) -> bool:
    """Whether the answer is yes, or an object or rows of it. None is neither that nor a 404, and so a fault."""
    try:
        answer = ask(user)
    except Http404:
        return False
    assert answer is not None, "refused without a 404"
    return bool(answer)
