"""From an invitation to the first piece of work, and every way in which a link is refused."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from jobs.models import Event
from people.models import Consent, Invitation, SignInLink, TeamMember, User
from people.services import consent, links, memberships
from people.tasks import send_mail
from tests.mailing import SMTP, MailServer, closed_port
from tests.personas import World, make_consent_version

NEW = {"name": "Salma", "email": "Salma@Example.org", "password": "nine quiet herons", "time_zone": "Africa/Cairo"}


def shown_link(page: Any) -> str:
    """The link a page shows once, as a path."""
    found = re.search(r'id="fresh"[^>]* value="https?://testserver([^"]+)"', page.content.decode())
    assert found, "the page shows no link"
    return found[1]


def invite_to_egypt(world: World, **data: str) -> str:
    url = reverse("people:cohort_invite", args=[world.egypt.pk])
    return shown_link(world.client(world.manager).post(url, data, follow=True))


def sign_in_link(world: World, user: User, by: User | None = None) -> Any:
    member = user.cohort_memberships.get(cohort=world.egypt)
    url = reverse("people:sign_in_link", args=[member.pk])
    return world.client(by or world.manager).post(url, follow=True)


def register(client: Client, link: str, world: World, **changes: str) -> Any:
    return client.post(link, NEW | {"agree": "on", "version": str(world.consent_version.pk)} | changes)


def signed_in(client: Client) -> bool:
    return client.get(reverse("people:me")).status_code == 200


def test_a_new_person_joins_agrees_and_goes_to_work(world: World) -> None:
    link = invite_to_egypt(world, note="Salma from the library")
    client = world.client()
    page = client.get(link).content.decode()
    assert "Egypt" in page and "Nile Lab" in page and "We keep your answers. Version 1." in page
    answer = register(client, link, world)
    assert answer.status_code == 302 and answer.url == reverse("home")
    assert client.get(answer.url).url == reverse("annotation:work")
    salma = User.objects.get(email="salma@example.org")
    assert (salma.name, salma.time_zone, salma.language) == ("Salma", "Africa/Cairo", "en")
    assert list(memberships.active_cohorts(salma)) == [world.egypt]
    assert consent.has_consented(salma, world.team)
    assert Invitation.objects.get().used_by == salma
    verbs = set(Event.objects.values_list("verb", flat=True))
    assert {"invitation.made", "invitation.accepted", "cohort.joined", "consent.given"} <= verbs


def test_the_page_and_the_consent_text_speak_the_readers_language(world: World) -> None:
    link = invite_to_egypt(world)
    client = world.client(headers={"accept-language": "ar"})
    page = client.get(link).content.decode()
    assert '<html lang="ar" dir="rtl"' in page
    assert "مصر" in page and "نحتفظ بإجاباتك" in page
    register(client, link, world)
    assert User.objects.get(email="salma@example.org").language == "ar"
    assert Consent.objects.get(user__email="salma@example.org").language == "ar"


def test_nobody_joins_without_agreeing(world: World) -> None:
    link = invite_to_egypt(world)
    client = world.client()
    page = client.post(link, NEW)
    assert "To join, agree to the text above." in page.content.decode()
    assert not User.objects.filter(email__iexact=NEW["email"]).exists()
    assert register(client, link, world).status_code == 302


def test_agreement_is_to_the_text_that_was_shown(world: World) -> None:
    link = invite_to_egypt(world)
    client = world.client()
    client.get(link)
    make_consent_version(world.team, number=2)
    register(client, link, world)
    assert not consent.has_consented(User.objects.get(email="salma@example.org"), world.team)


@pytest.mark.parametrize("raising", [{"is_staff": "on", "is_superuser": "on"}, {"team_role": "admin"}])
def test_nobody_rises_through_an_invitation(world: World, raising: dict[str, str]) -> None:
    register(world.client(), invite_to_egypt(world), world, **raising)
    salma = User.objects.get(email="salma@example.org")
    assert not salma.is_staff and not salma.is_superuser and not salma.team_memberships.exists()


def test_a_person_who_is_signed_in_just_joins(world: World) -> None:
    link = invite_to_egypt(world)
    client = world.client(world.bia)
    assert "Bia" in client.get(link).content.decode()
    assert client.post(link, {"agree": "on"}).status_code == 302
    assert set(memberships.active_cohorts(world.bia)) == {world.egypt, world.brazil}


def test_a_taken_email_must_sign_in_first(world: World) -> None:
    link = invite_to_egypt(world)
    page = register(world.client(), link, world, email="BIA@example.org")
    html = page.content.decode()
    assert "This address cannot be used with this invitation." in html and "There is an account" not in html
    assert links.link_state(Invitation.objects.get(), timezone.now()) == "open"


@pytest.mark.parametrize("password", ["short", "password123", "salma@example.org"])
def test_a_weak_password_is_not_taken(world: World, password: str) -> None:
    page = register(world.client(), invite_to_egypt(world), world, password=password)
    assert page.status_code == 200
    assert not User.objects.filter(email__iexact=NEW["email"]).exists()


def test_an_unknown_time_zone_falls_back_to_the_cohorts(world: World) -> None:
    register(world.client(), invite_to_egypt(world), world, time_zone="Atlantis/Capital")
    assert User.objects.get(email="salma@example.org").time_zone == "Africa/Cairo"


def test_an_invitation_works_once(world: World) -> None:
    link = invite_to_egypt(world)
    register(world.client(), link, world)
    again = register(world.client(), link, world, email="second@example.org")
    assert again.status_code == 410 and "This link was used" in again.content.decode()
    assert not User.objects.filter(email="second@example.org").exists()


def test_both_sides_are_told_that_an_invitation_works_once(world: World) -> None:
    url = reverse("people:cohort_invite", args=[world.egypt.pk])
    page = world.client(world.manager).post(url, {}, follow=True)
    link = shown_link(page)
    assert "It works once, within 14 days, for anyone who opens it." in page.content.decode()
    register(world.client(), link, world)
    late = world.client().get(link)
    assert late.status_code == 410
    html = late.content.decode()
    assert "A link works once. If it was you, sign in; if not, ask for a new one." in html
    assert reverse("people:sign_in") in html[html.index("A link works once") :]


def test_an_invitation_gets_old(world: World) -> None:
    link = invite_to_egypt(world)
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert "expired" in world.client().get(link).content.decode()
    assert register(world.client(), link, world).status_code == 410
    assert not User.objects.filter(email__iexact=NEW["email"]).exists()


def test_an_invitation_lasts_fourteen_days(world: World) -> None:
    invite_to_egypt(world)
    invitation = Invitation.objects.get()
    assert timedelta(days=13, hours=23) < invitation.expires_at - invitation.created_at <= timedelta(days=14)


def test_a_revoked_invitation_is_useless(world: World) -> None:
    link = invite_to_egypt(world)
    revoke = reverse("people:invitation_revoke", args=[Invitation.objects.get().pk])
    assert world.client(world.rival).post(revoke).status_code == 404
    assert world.client().get(link).status_code == 200
    assert world.client(world.manager).post(revoke).url == reverse("people:cohort_invite", args=[world.egypt.pk])
    assert register(world.client(), link, world).status_code == 410
    assert "revoked" in world.client().get(link).content.decode()


def test_a_tampered_link_is_not_found(world: World) -> None:
    link = invite_to_egypt(world)
    changed = link[:-1] + ("A" if link[-1] != "A" else "B")
    assert world.client().get(changed).status_code == 404
    assert register(world.client(), changed, world).status_code == 404


def test_the_link_is_shown_once_and_its_hash_is_stored(world: World) -> None:
    link = invite_to_egypt(world)
    token = link.rsplit("/", 1)[1]
    page = world.client(world.manager).get(reverse("annotation:cohort", args=[world.egypt.pk])).content.decode()
    assert token not in page
    assert Invitation.objects.get().token_hash == links.hash_of(token)


def test_with_an_email_the_link_is_mailed_by_the_worker(world: World, mail_server: MailServer) -> None:
    link = invite_to_egypt(world, email="salma@example.org")
    assert send_mail() == 1
    assert mail_server.recipients == ["salma@example.org"]
    assert link in mail_server.text()
    assert "Manager invites you to Egypt" in mail_server.text()


def test_a_mail_server_that_is_away_does_not_lose_the_link(world: World, settings: Any) -> None:
    settings.EMAIL_BACKEND, settings.EMAIL_HOST, settings.EMAIL_PORT = SMTP, "127.0.0.1", closed_port()
    url = reverse("people:cohort_invite", args=[world.egypt.pk])
    page = world.client(world.manager).post(url, {"email": "salma@example.org"}, follow=True)
    assert "Waiting" in page.content.decode()
    assert send_mail() == 0
    assert world.client().get(shown_link(page)).status_code == 200


def test_a_researcher_is_invited_to_the_team_without_a_consent_text(world: World) -> None:
    url = reverse("people:team_invite", args=[world.team.slug])
    link = shown_link(world.client(world.team_admin).post(url, {"team_role": "member"}, follow=True))
    client = world.client()
    assert "We keep your answers" not in client.get(link).content.decode()
    assert client.post(link, NEW).status_code == 302
    assert TeamMember.objects.get(user__email="salma@example.org").role == "member"
    assert client.get(reverse("people:team", args=[world.team.slug])).status_code == 200


# Sign-in links


def test_a_member_signs_in_by_link_and_only_by_pressing_the_button(world: World) -> None:
    link = shown_link(sign_in_link(world, world.nour))
    preview, client = world.client(), world.client()
    for _ in range(3):
        assert preview.get(link).status_code == 200
        assert preview.head(link).status_code == 200
    assert not signed_in(preview)
    assert "Nour" in client.get(link).content.decode()
    assert client.post(link).url == reverse("home")
    assert client.get(reverse("people:me")).context["request"].user == world.nour
    assert Event.objects.filter(verb="sign_in_link.used", actor=world.nour).count() == 1


def test_a_sign_in_link_works_once(world: World) -> None:
    link = shown_link(sign_in_link(world, world.nour))
    world.client().post(link)
    second = world.client()
    assert second.post(link).status_code == 410
    assert second.get(link).status_code == 410
    assert not signed_in(second)


def test_a_sign_in_link_lasts_a_day(world: World) -> None:
    link = shown_link(sign_in_link(world, world.nour))
    SignInLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    client = world.client()
    assert client.post(link).status_code == 410
    assert not signed_in(client)


@pytest.mark.parametrize("who", ["mara", "team_admin", "manager", "site_admin", "reviewer"])
def test_nobody_with_a_role_gets_a_link(world: World, who: str) -> None:
    person = getattr(world, who)
    memberships.join(world.egypt, person, world.team_admin)
    page = sign_in_link(world, person, by=world.team_admin)
    assert "Sign-in links are for active members who only rate" in page.content.decode()
    assert not SignInLink.objects.exists()


def test_a_link_dies_when_its_person_rises(world: World) -> None:
    link = shown_link(sign_in_link(world, world.nour))
    TeamMember.objects.create(team=world.team, user=world.nour)
    client = world.client()
    assert client.post(link).status_code == 410
    assert not signed_in(client)


def test_a_link_dies_with_the_membership(world: World) -> None:
    link = shown_link(sign_in_link(world, world.nour))
    member = world.nour.cohort_memberships.get()
    world.client(world.manager).post(reverse("annotation:member_end", args=[member.pk]))
    assert world.client().post(link).status_code == 410


def test_only_the_cohorts_own_managers_make_links(world: World) -> None:
    brazilian = world.bia.cohort_memberships.get()
    url = reverse("people:sign_in_link", args=[brazilian.pk])
    for user in (world.manager, world.mara, world.nour, world.rival, world.stranger):
        assert world.client(user).post(url).status_code == 404
    assert not SignInLink.objects.exists()
    assert shown_link(world.client(world.team_admin).post(url, follow=True))


def test_a_browser_that_changes_hands_forgets_the_other_persons_drafts(world: World) -> None:
    link = shown_link(sign_in_link(world, world.nour))
    answer = world.client(world.tarek).post(link)
    assert answer.headers["Clear-Site-Data"] == '"cache"'
