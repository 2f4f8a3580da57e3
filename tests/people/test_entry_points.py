"""Doors under pressure: proxies, circles, strange bodies, oracles, and links that are shown once."""

import io
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as real
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from people.forms.teams import ConsentTextsForm
from people.models import Cohort, CohortManager, Invitation, OutMail, SignInLink, User
from people.services import memberships
from people.services.limits import login_throttle_keys
from people.tasks import send_mail
from tests.mailing import MailServer
from tests.people.test_joining import shown_link, signed_in
from tests.people.test_signing_in import SIGN_IN, try_password
from tests.people.test_team_pages import COHORT
from tests.personas import World

# Where wrong passwords come from


def test_behind_a_proxy_a_guesser_locks_out_only_themselves(world: World, settings: Any) -> None:
    settings.PROXY = True
    guesser = world.client(headers={"x-forwarded-for": "10.9.9.9, 203.0.113.7"})
    for _ in range(real.AXES_FAILURE_LIMIT):
        answer = try_password(guesser, "nour@example.org", "wrong")
    assert answer.status_code == 429
    disguised = world.client(headers={"x-forwarded-for": "198.51.100.1, 203.0.113.7"})
    assert try_password(disguised, "nour@example.org").status_code == 429, "only the last entry counts"
    nour = world.client(headers={"x-forwarded-for": "198.51.100.1"})
    assert try_password(nour, "nour@example.org").status_code == 302


@pytest.mark.parametrize(
    ("proxy", "forwarded", "address"),
    [
        (False, "203.0.113.7", "127.0.0.1"),
        (True, "203.0.113.7", "203.0.113.7"),
        (True, "203.0.113.7, 2001:db8::1", "2001:db8::1"),
        (True, "203.0.113.7, unknown", "127.0.0.1"),
        (True, "", "127.0.0.1"),
    ],
)
def test_the_forwarded_address_is_believed_only_behind_a_proxy(
    settings: Any, proxy: bool, forwarded: str, address: str
) -> None:
    settings.PROXY = proxy
    assert (
        login_throttle_keys.client_address(RequestFactory().post(SIGN_IN, headers={"x-forwarded-for": forwarded}))
        == address
    )


# Requests that no page of ours makes


@pytest.mark.parametrize("way", ["/sign-in", "/sign-in?next=/sign-in", "http://testserver/sign-in", "/sign%2Din"])
def test_who_is_signed_in_is_not_sent_in_a_circle(world: World, way: str) -> None:
    client = world.client(world.nour)
    assert client.get(SIGN_IN, {"next": way}).url == reverse("home")
    assert client.get(SIGN_IN, {"next": "/me"}).url == "/me"


@pytest.mark.parametrize("charset", ["utf-7", "hex", "latin-1"])
@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_another_character_set_is_refused_and_not_a_crash(world: World, kind: str, charset: str) -> None:
    client = world.client()
    client.raise_request_exception = False
    body = b'--x\r\nContent-Disposition: form-data; name="username"\r\n\r\nnour\r\n--x--\r\n'
    answer = client.generic("POST", SIGN_IN, body, f"{kind}; charset={charset}")
    assert answer.status_code == 400 and "could not be read" in answer.content.decode()
    assert client.generic("POST", SIGN_IN, body, f"{kind}; charset=utf-8").status_code == 200


@pytest.mark.parametrize(
    "kind", ["text/plain; charset=hex", "multipart/form-data; boundary*=nosuch''%41", "x; charset=?"]
)
def test_a_content_type_that_cannot_be_read_is_refused_by_the_server(world: World, kind: str) -> None:
    """Through the web server's own entrance: with an address that asks something, Django reads it very early."""
    from config.wsgi import application

    def status(content_type: str) -> str:
        statuses: list[str] = []
        environ = RequestFactory()._base_environ(PATH_INFO=SIGN_IN, QUERY_STRING="next=/me", CONTENT_TYPE=content_type)
        list(application(environ, lambda line, headers, *rest: statuses.append(line)))
        return statuses[0]

    assert status(kind) == "400 Bad Request"
    assert status("text/plain; charset=utf-8") == "200 OK"


def test_a_huge_body_is_refused_unread_except_for_an_import_by_somebody(world: World, settings: Any) -> None:
    settings.BODY_MAX_BYTES = 1000
    large = {"username": "x" * 2000}
    for path in (SIGN_IN, reverse("benchmarks:import", args=["sea-and-river"])):
        answer = world.client().post(path, large)
        assert answer.status_code == 413 and "upload is too large" in answer.content.decode()
    assert world.client().post(SIGN_IN, {"username": "x" * 200}).status_code == 200
    imports = reverse("benchmarks:import", args=["sea-and-river"])
    assert world.client(world.owner).post(imports, large).status_code == 200
    assert world.client(world.owner).post(reverse("people:me"), large).status_code == 413


def post_long_body(client: Client, path: str, length: str, **headers: str) -> tuple[Any, bool]:
    """The answer to a long body that is on its way, and whether any of it was asked for."""

    class Coming(io.BytesIO):
        asked = False

        def read(self, size: int | None = -1) -> bytes:
            self.asked = True
            return b""

    body = Coming()
    environ = {"CONTENT_LENGTH": length, "wsgi.input": body, "CONTENT_TYPE": "multipart/form-data; boundary=b"}
    client.cookies["csrftoken"] = "x" * 32  # so that the token is looked for in the body
    client.handler.enforce_csrf_checks = True
    reply = client.generic("POST", path, "", **{**environ, **headers})  # type: ignore[arg-type]
    return reply, body.asked


IMPORTS = [
    "/b/sea-and-river/import/",
    "/b/no-such-benchmark/import/",
    "/b/sea-and-river/campaigns/1/answers/import/",
    "/b/sea-and-river/predictions/run/",
]


@pytest.mark.parametrize("path", IMPORTS)
def test_who_is_of_no_team_fills_no_disk(world: World, path: str) -> None:
    long = str(200 * 1024**2)
    for user in (None, world.nour, world.manager, world.stranger):
        reply, read = post_long_body(world.client(user), path, long)
        assert (reply.status_code, read) == (413, False), user
        least = "64.0" if user is None else "5.0"
        assert f"The maximum is {least}" in reply.content.decode()
    assert post_long_body(world.client(world.mara), path, long)[1]


def test_nobody_sends_more_than_an_import_may_have_nor_without_saying_how_much(world: World, settings: Any) -> None:
    settings.IMPORT_MAX_BYTES = 10 * 1024**2
    client = world.client(world.owner)
    reply, read = post_long_body(client, IMPORTS[0], str(16 * 1024**2))
    assert (reply.status_code, read) == (413, False)
    assert post_long_body(client, IMPORTS[0], str(14 * 1024**2))[1]
    reply, read = post_long_body(client, IMPORTS[0], "", HTTP_TRANSFER_ENCODING="chunked")
    assert (reply.status_code, read) == (411, False)


def test_what_is_too_much_is_told_by_a_page_with_a_way_back(world: World) -> None:
    def asked(**headers: str) -> Any:
        return post_long_body(world.client(world.nour), IMPORTS[0], str(9 * 1024**2), **headers)[0]

    form = "http://testserver/b/sea-and-river/import/"
    page = asked(HTTP_ACCEPT="text/html,*/*;q=0.8", HTTP_REFERER=form).content.decode()
    assert f'<a class="btn go" href="{form}">Back to the form</a>' in page
    assert "The upload was not accepted</h1>" in page and "The upload is too large. The maximum is 5.0" in page
    page = asked(HTTP_ACCEPT="text/html", HTTP_REFERER="http://elsewhere.example/x").content.decode()
    assert "elsewhere" not in page and '<a class="btn go" href="/">' in page
    assert asked(HTTP_ACCEPT="*/*")["Content-Type"].startswith("text/plain")


# Cohorts


@pytest.mark.parametrize(
    "wrong",
    [
        {"label": "Yo\nBcc: x@example.org"},
        {"label": "Yo\x07ruba"},
        {"label": "Yo\u2028ruba"},
        {"names": "yo: Yor\x07uba"},
        {"languages": "yo-latn-xabcdefg"},
        {"languages": " ".join(f"a{chr(97 + n)}" for n in range(21))},
    ],
)
def test_a_cohort_that_breaks_mails_or_consent_texts_is_not_kept(world: World, wrong: dict[str, str]) -> None:
    url = reverse("people:cohort_new", args=["nile-lab"])
    page = world.client(world.team_admin).post(url, COHORT | wrong)
    assert page.status_code == 200 and 'class="msg err"' in page.content.decode()
    assert not Cohort.objects.filter(country="NG").exists()


def test_twenty_languages_and_long_codes_are_kept(world: World) -> None:
    codes = ["yo-latn-abcd", "aa", *(f"a{chr(97 + n)}" for n in range(1, 19))]
    url = reverse("people:cohort_new", args=["nile-lab"])
    world.client(world.team_admin).post(url, COHORT | {"languages": " ".join([*codes])})
    assert Cohort.objects.get(label="Yoruba").languages == codes


def test_an_old_label_in_two_lines_does_not_lose_the_link(world: World, mail_server: MailServer) -> None:
    Cohort.objects.filter(pk=world.egypt.pk).update(label="Egypt\nBcc: x@example.org", names={})
    url = reverse("people:cohort_invite", args=[world.egypt.pk])
    page = world.client(world.manager).post(url, {"email": "salma@example.org"}, follow=True)
    assert send_mail() == 1 and mail_server.letters[0]["Bcc"] is None
    assert world.client().get(shown_link(page)).status_code == 200


def test_a_code_too_long_to_keep_is_not_asked_for() -> None:
    form = ConsentTextsForm(texts={}, languages=["pt", "yo-latn-xabcdefg"])
    assert "text_pt" in form.fields and "text_yo-latn-xabcdefg" not in form.fields


# What a stranger can make us say or send


def test_a_mailbox_is_not_filled_by_others(world: World, mail_server: MailServer) -> None:
    url = reverse("people:password_forgotten")
    for _ in range(3):
        again = world.client().post(url, {"email": "nour@example.org"})
    assert send_mail() == 1 and mail_server.recipients == ["nour@example.org"]
    assert again.url == reverse("people:password_sent"), "the page says the same"
    world.client().post(url, {"email": "tarek@example.org"})
    assert send_mail() == 1
    OutMail.objects.update(at=timezone.now() - timedelta(minutes=6))
    User.objects.filter(pk=world.nour.pk).update(password_mailed_at=timezone.now() - timedelta(minutes=6))
    world.client().post(url, {"email": "nour@example.org"})
    assert send_mail() == 1 and len(mail_server.letters) == 3


def test_an_e_mail_is_called_the_same_at_both_doors(world: World) -> None:
    for path in (SIGN_IN, reverse("people:password_forgotten")):
        page = world.client().get(path).content.decode()
        assert ">E-mail</label>" in page and ">Email<" not in page


# Links that are shown once


@pytest.fixture(params=["cohort", "member", "team"])
def door(request: Any, world: World) -> tuple[Any, str, str]:
    """Who makes a link, by which address, and the page that shows it."""
    cohort, team = reverse("annotation:cohort", args=[world.egypt.pk]), reverse("people:team", args=["nile-lab"])
    invite = reverse("people:cohort_invite", args=[world.egypt.pk])
    member = world.nour.cohort_memberships.get()
    return {
        "cohort": (world.manager, invite, invite),
        "member": (world.manager, reverse("people:sign_in_link", args=[member.pk]), cohort),
        "team": (world.team_admin, reverse("people:team_invite", args=["nile-lab"]), team),
    }[request.param]


def count_links() -> int:
    return Invitation.objects.count() + SignInLink.objects.count()


def test_loading_again_makes_no_second_link_and_shows_none(world: World, door: tuple[Any, str, str]) -> None:
    user, url, page = door
    client = world.client(user)
    answer = client.post(url, {"team_role": "member"})
    assert (answer.status_code, answer.url) == (302, page)
    first = client.get(page)
    assert shown_link(first) and "no-store" in first.headers["Cache-Control"]
    assert 'id="fresh"' not in client.get(page).content.decode()
    assert page == url or client.get(url).url == page, "the address itself leads back"
    assert count_links() == 1
    assert world.client(world.rival).get(url).status_code == 404


def test_the_link_is_for_this_person_on_this_page_for_a_minute(world: World, door: tuple[Any, str, str]) -> None:
    user, url, page = door
    client = world.client(user)
    cookie = client.post(url, {"team_role": "member"}).cookies["fresh_link"]
    assert (cookie["path"], cookie["max-age"], cookie["httponly"], cookie["samesite"]) == (page, 60, True, "Strict")
    other_page = reverse("people:cohort_invite", args=[world.brazil.pk])
    for reader, where in ((world.team_admin, other_page), (world.site_admin, page)):
        other = world.client(reader)
        other.cookies["fresh_link"] = cookie.value
        assert 'id="fresh"' not in other.get(where).content.decode()
    tampered = world.client(user)
    tampered.cookies["fresh_link"] = cookie.value[:-1] + ("A" if cookie.value[-1] != "A" else "B")
    assert 'id="fresh"' not in tampered.get(page).content.decode()
    assert shown_link(client.get(page))


# Managers who left


def test_a_former_manager_is_named_again_by_e_mail_and_a_stranger_is_not(world: World) -> None:
    CohortManager.objects.filter(user=world.manager).delete()
    memberships.add_manager(world.egypt, world.manager, world.team_admin)
    memberships.remove_manager(world.egypt, world.manager, world.team_admin, timezone.now())
    client, url = world.client(world.team_admin), reverse("people:manager_add", args=[world.egypt.pk])
    counts = []
    for email in ("stranger@example.org", "rival@example.org", "rolf@example.org", "nobody@example.org", ""):
        page = client.post(url, {"email": email}, follow=True).content.decode()
        assert "belongs or belonged to this team" in page
        counts.append(page.count("msg"))
    assert not world.egypt.managers.exists() and len(set(counts)) == 1
    client.post(url, {"email": "manager@example.org", "user": world.tarek.pk})
    assert not world.egypt.managers.exists(), "one person at a time"
    client.post(url, {"email": "MANAGER@example.org"})
    assert world.egypt.managers.get().user == world.manager


def test_a_former_member_of_another_cohort_of_the_team_may_manage(world: World) -> None:
    memberships.end_membership(world.bia.cohort_memberships.get(), world.team_admin, timezone.now())
    client, url = world.client(world.team_admin), reverse("people:manager_add", args=[world.egypt.pk])
    client.post(url, {"email": "bia@example.org"})
    assert world.egypt.managers.filter(user=world.bia).exists()
    User.objects.filter(pk=world.caio.pk).update(is_active=False)
    client.post(url, {"email": "caio@example.org"})
    assert not world.egypt.managers.filter(user=world.caio).exists()
    assert signed_in(world.client(world.bia))
