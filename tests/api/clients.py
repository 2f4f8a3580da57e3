"""Programs with tokens, and readers of pages to the end, for the tests of the API."""

from collections.abc import Iterator
from typing import Any

from django.test import Client
from django.utils import timezone

from api.models import RequestCount
from people.models import User
from people.services import tokens


def program(user: User, *scopes: str) -> Client:
    """A client that shows a token and has no session."""
    _token, text = tokens.create_token(user, "test", timezone.now(), scopes=scopes or ("read",))
    return Client(headers={"authorization": f"Bearer {text}"})


def reset_request_counts() -> None:
    """Nobody has asked before. For tests that send more requests than a person may in a minute."""
    RequestCount.objects.all().delete()


def pages(client: Client, address: str) -> Iterator[Any]:
    """Each page, by the cursor of the one before."""
    url: str | None = address
    while url:
        reply = client.get(url)
        assert reply.status_code == 200, reply.content
        page = reply.json()
        yield page
        url = page["next"]
