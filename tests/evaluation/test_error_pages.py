"""What stands where there is nothing to show: in the look, in the person's language, with a way home."""

import re
from collections.abc import Iterator

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from django.views.defaults import bad_request, permission_denied

from config import urls
from tests.personas import World

HOME = '<a class="btn go" href="/">'


def breaks(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("a fault of ours")


def refuses(request: HttpRequest) -> HttpResponse:
    return permission_denied(request, PermissionError())


def understands_nothing(request: HttpRequest) -> HttpResponse:
    return bad_request(request, ValueError())


urlpatterns = [
    *urls.urlpatterns,
    path("breaks", breaks),
    path("refuses", refuses),
    path("understands-nothing", understands_nothing),
]


@pytest.fixture(autouse=True)
def _these_urls(settings: object) -> Iterator[None]:
    settings.ROOT_URLCONF = __name__  # type: ignore[attr-defined]
    yield


def heading(page: str) -> str:
    found = re.search(r"<h1>(.*?)</h1>", page)
    assert found
    return found[1]


@pytest.mark.parametrize(
    ("address", "status", "title"),
    [
        ("/nowhere", 404, "There is no such page"),
        ("/refuses", 403, "You do not have permission"),
        ("/understands-nothing", 400, "This request could not be read"),
        ("/breaks", 500, "Something went wrong"),
    ],
)
def test_each_says_what_happened_and_leads_home(world: World, address: str, status: int, title: str) -> None:
    client = world.client(world.nour)
    client.raise_request_exception = False
    reply = client.get(address)
    page = reply.content.decode()
    assert (reply.status_code, heading(page)) == (status, title)
    assert HOME in page
    assert "css/emic" in page
    assert "a fault of ours" not in page
    assert client.get("/work/").status_code == 200


def test_a_form_without_its_token_is_told_to_reload(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.nour)
    reply = client.post("/sign-out")
    assert reply.status_code == 403
    assert heading(reply.content.decode()) == "This page has expired"
    assert HOME in reply.content.decode()
    assert client.get("/work/").status_code == 200  # nothing was done


def test_who_is_not_signed_in_gets_the_same_page(world: World) -> None:
    page = world.client().get("/nowhere")
    assert page.status_code == 404
    assert heading(page.content.decode()) == "There is no such page"
    assert "Sign out" not in page.content.decode()
