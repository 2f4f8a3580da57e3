"""The way on after choosing a language and after agreeing: a path of this site, or the default; never an error."""

from urllib.parse import urlsplit

import pytest

from people.models import Consent
from tests.personas import World

# What is asked, and whether it is a path of this site.
SPELLINGS = [
    ("/work/history/", True),
    ("/me?x=1#y", True),
    ("/نور", True),
    ("/a b", True),
    ("/%2F%2Fevil.example", True),
    ("/x\r\nSet-Cookie: a=b", True),
    ("/" + "x" * 3000, False),
    ("", False),
    ("abc", False),
    ("people:me", False),
    ("home", False),
    ("evil.example", False),
    ("//evil.example", False),
    ("///evil.example", False),
    ("/\\evil.example", False),
    ("\\\\evil.example", False),
    ("http://evil.example/", False),
    ("https:evil.example", False),
    ("javascript:alert(1)", False),
    ("http://testserver/me", False),
    ("http://[", False),
    (" /me", False),
    ("\t//evil.example", False),
    ("?next=/me", False),
]


def redirects_to(reply: object) -> str:
    assert getattr(reply, "status_code", 0) == 302
    return str(reply["Location"])  # type: ignore[index]


@pytest.mark.parametrize(("spelling", "fine"), SPELLINGS)
def test_the_way_on_is_a_path_of_this_site(world: World, spelling: str, fine: bool) -> None:
    assert len(SPELLINGS) == 24
    reply = world.client(world.nour).post("/language/", {"language": "en", "next": spelling})
    consented = {"version": str(world.consent_version.pk), "language": "en", "next": spelling}
    Consent.objects.filter(user=world.nour).delete()
    agreed = world.client(world.nour).post(f"/consent/{world.team.pk}", consented)
    for answer, default in ((reply, "/"), (agreed, "/work/")):
        to = redirects_to(answer)
        parts = urlsplit(to)
        assert (parts.scheme, parts.netloc) == ("", "") and to.startswith("/") and not to.startswith(("//", "/\\"))
        assert "\n" not in to and "\r" not in to
        assert (to == default) is not fine
    assert world.client(world.nour).get(f"/consent/{world.team.pk}", {"next": spelling}).status_code == 200
    assert world.client().post("/language/", {"language": "en", "next": spelling}).status_code == 302
