"""Messages to a cohort: on the home of each member until it was read, by mail, and taken back."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from jobs.models import Event
from people.models import CohortMember, Message, OutMail
from people.services import links, memberships, messages
from people.tasks import send_mail
from tests.mailing import MailServer
from tests.personas import World

TEXT = "Two days are left.\nThe <b>market</b> pictures come first."


@pytest.fixture
def message(world: World) -> Message:
    return messages.send(world.egypt, world.manager, TEXT, timezone.now())


def home(world: World, user: Any) -> str:
    return world.client(user).get(reverse("annotation:work")).content.decode()


def test_members_see_it_until_they_have_read_it(world: World, message: Message) -> None:
    html = home(world, world.nour)
    assert "Two days are left.<br>The &lt;b&gt;market" in html and "Manager" in html
    assert "Two days are left." not in home(world, world.bia)
    read = reverse("people:message_read", args=[message.pk])
    for user in (world.bia, world.rival, world.stranger, world.manager):
        assert world.client(user).post(read).status_code == 404
    assert world.client(world.nour).post(read).url == reverse("annotation:work")
    world.client(world.nour).post(read)
    assert "Two days are left." not in home(world, world.nour) and "Two days are left." in home(world, world.tarek)
    html = world.client(world.manager).get(reverse("people:messages", args=[world.egypt.pk])).content.decode()
    assert "read by 1 person" in html


def test_message_time_is_shown_in_the_readers_time_zone(world: World) -> None:
    """A person's own zone, else the cohort's: at 23:30 in London it is the next day in Cairo."""
    since = datetime(2025, 1, 1, tzinfo=UTC)
    CohortMember.objects.filter(user=world.nour).update(joined_at=since)
    messages.send(world.egypt, world.manager, TEXT, datetime(2025, 1, 14, 23, 30, tzinfo=UTC))
    managers = reverse("people:messages", args=[world.egypt.pk])
    for user, page in ((world.nour, reverse("annotation:work")), (world.manager, managers)):
        assert "15 Jan 2025, 01:30</time>" in world.client(user).get(page).content.decode()
        user.time_zone = "America/Sao_Paulo"
        user.save()
        assert "14 Jan 2025, 20:30</time>" in world.client(user).get(page).content.decode()


def test_who_joined_later_or_left_is_not_spoken_to(world: World, message: Message) -> None:
    CohortMember.objects.filter(user=world.nour).update(joined_at=timezone.now() + timedelta(minutes=1))
    CohortMember.objects.filter(user=world.tarek).update(left_at=timezone.now())
    assert not messages.unread(world.nour) and not messages.unread(world.tarek)
    read = reverse("people:message_read", args=[message.pk])
    assert world.client(world.tarek).post(read).status_code == 404


def test_it_goes_by_mail_to_active_members_each_in_their_language(world: World, mail_server: MailServer) -> None:
    world.tarek.is_active = False
    world.tarek.save()
    world.nour.language = "ar"
    world.nour.save()
    message = messages.send(world.egypt, world.manager, TEXT, timezone.now())
    page = reverse("people:messages", args=[world.egypt.pk])
    assert "1 waiting" in world.client(world.manager).get(page).content.decode()
    assert send_mail() == 1
    [letter] = OutMail.objects.filter(target=f"message:{message.pk}")
    assert mail_server.recipients == ["nour@example.org"]
    assert TEXT in mail_server.text().replace("\r\n", "\n")
    assert "مصر" in letter.subject
    assert "mail: 1 accepted by the mail server" in world.client(world.manager).get(page).content.decode()


def test_one_taken_back_is_on_no_page_and_not_mailed(world: World, mail_server: MailServer) -> None:
    message = messages.send(world.egypt, world.manager, TEXT, timezone.now())
    url = reverse("people:message_withdraw", args=[message.pk])
    for user in (world.mara, world.nour, world.rival):
        assert world.client(user).post(url).status_code == 404
    world.client(world.manager).post(url)
    assert "Two days are left." not in home(world, world.nour) and send_mail() == 0
    assert Event.objects.filter(verb="message.withdrawn").count() == 1


def test_managers_write_messages_and_an_empty_one_is_not_sent(world: World) -> None:
    url = reverse("people:messages", args=[world.egypt.pk])
    for user in (world.mara, world.nour, world.rival, world.stranger):
        assert world.client(user).post(url, {"body": TEXT}).status_code == 404
    assert "Write a few words first." in world.client(world.manager).post(url, {"body": " "}).content.decode()
    too_long = world.client(world.manager).post(url, {"body": "x" * 4001}).content.decode()
    assert "x" * 4001 in too_long and not Message.objects.exists(), "what was typed stays"
    assert world.client(world.manager).post(url, {"body": TEXT}).status_code == 302
    assert Message.objects.get().author == world.manager


def test_who_comes_back_by_an_invitation_does_not_see_messages_sent_meanwhile(world: World) -> None:
    """Who was ended by mistake finds everything as it was."""
    for user, ended_by in ((world.nour, world.nour), (world.tarek, world.manager)):
        memberships.end_membership(CohortMember.objects.get(user=user), ended_by, timezone.now())
    messages.send(world.egypt, world.manager, TEXT, timezone.now())
    _invitation, token = links.invite(world.team, world.manager, timezone.now(), cohort=world.egypt)
    assert world.client(world.nour).post(reverse("people:invitation", args=[token]), {"agree": "on"}).status_code == 302
    assert memberships.reactivate(CohortMember.objects.get(user=world.tarek), world.manager)
    assert "Two days are left." not in home(world, world.nour) and "Two days are left." in home(world, world.tarek)
    messages.send(world.egypt, world.manager, "One day is left.", timezone.now())
    assert "One day is left." in home(world, world.nour)
