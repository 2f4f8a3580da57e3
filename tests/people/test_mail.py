"""Mail: written with its cause, sent by the worker alone, and never called sent before the mail server took it."""

import re
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.core import mail as django_mail
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from people import tasks
from people.models import Invitation, OutMail, User
from people.services import outgoing
from people.tasks import send_mail
from tests.mailing import SMTP, MailServer, closed_port
from tests.people.test_joining import shown_link
from tests.personas import World

FORGOTTEN = reverse("people:password_forgotten")
CONSOLE, DUMMY, FILE, MEMORY = (
    f"django.core.mail.backends.{name}.EmailBackend" for name in ("console", "dummy", "filebased", "locmem")
)


def ask(world: World, email: str = "nour@example.org") -> Any:
    return world.client().post(FORGOTTEN, {"email": email})


def letter() -> OutMail:
    return OutMail.objects.get()


def due_now() -> None:
    """The time of the next try has come."""
    OutMail.objects.filter(next_at__isnull=False).update(next_at=timezone.now())


def invite(world: World, email: str = "salma@example.org") -> Any:
    url = reverse("people:cohort_invite", args=[world.egypt.pk])
    return world.client(world.manager).post(url, {"email": email}, follow=True)


def invitations_page(world: World) -> str:
    return world.client(world.manager).get(reverse("people:cohort_invite", args=[world.egypt.pk])).content.decode()


# States and words


def test_a_letter_waits_until_the_server_accepts_it_and_its_link_is_deleted(
    world: World, mail_server: MailServer
) -> None:
    page = invite(world)
    link = shown_link(page)
    assert "Mail to <bdi>salma@example.org</bdi>: Waiting." in page.content.decode()
    assert link in letter().body, "the worker needs it"
    assert not mail_server.letters, "no request sends mail"
    assert send_mail() == 1
    assert mail_server.recipients == ["salma@example.org"]
    assert link in mail_server.text()
    assert (letter().state, letter().reply) == ("accepted", "250 2.0.0 Ok: queued as 1")
    assert letter().body == "", "a link that opens a door is not kept"
    assert re.search(r"Mail: Accepted by the mail server at \d\d:\d\d", invitations_page(world))
    assert send_mail() == 0, "once"


def test_an_address_that_is_refused_has_failed_and_says_why(world: World, mail_server: MailServer) -> None:
    mail_server.mode = "refuses"
    invite(world)
    assert send_mail() == 0
    assert (letter().state, letter().body, letter().next_at) == ("failed", "", None)
    assert "Mail: Not accepted: 550 5.1.1 No such user here" in invitations_page(world)


def test_a_busy_server_gets_the_letter_a_minute_later(world: World, mail_server: MailServer) -> None:
    mail_server.mode = "busy"
    invite(world)
    send_mail()
    assert (letter().state, letter().attempts) == ("retry", 1)
    assert timedelta(seconds=50) < (letter().next_at or letter().at) - letter().at < timedelta(seconds=70)
    page = invitations_page(world)
    assert re.search(r"Mail: Tried 1 time, next at \d\d:\d\d: 451 4.3.0 Try again later", page)
    mail_server.mode = "accepts"
    assert send_mail() == 0, "not before its time"
    due_now()
    assert send_mail() == 1
    assert letter().state == "accepted"


def test_a_line_that_closes_after_the_letter_makes_no_second_one(world: World, mail_server: MailServer) -> None:
    """The server has the letter, and we cannot know: it comes again under the same Message-ID, which servers drop."""
    mail_server.mode = "closes"
    invite(world)
    send_mail()
    assert letter().state == "retry"
    assert "the mail server closed the connection" in invitations_page(world)
    mail_server.mode = "accepts"
    due_now()
    send_mail()
    assert letter().state == "accepted"
    assert {sent["Message-ID"] for sent in mail_server.letters} == {letter().message_id}
    assert len(mail_server.letters) == 2


def test_one_letter_that_breaks_the_line_does_not_keep_the_others(world: World, mail_server: MailServer) -> None:
    invite(world, "a@example.org")
    invite(world, "b@example.org")
    broken = OutMail.objects.get(to="a@example.org")
    OutMail.objects.filter(pk=broken.pk).update(subject="two\nlines")
    assert send_mail() == 1
    broken.refresh_from_db()
    assert (broken.state, broken.reply) == ("failed", "unsendable")
    assert mail_server.recipients == ["b@example.org"]


def test_the_tries_grow_rarer_and_end(world: World, settings: Any) -> None:
    settings.EMAIL_BACKEND, settings.EMAIL_HOST, settings.EMAIL_PORT = SMTP, "127.0.0.1", closed_port()
    invite(world)
    waits = []
    for _ in range(7):
        send_mail()
        assert letter().state == "retry"
        waits.append(round(((letter().next_at or letter().at) - letter().changed_at).total_seconds() / 60))
        due_now()
    assert waits == [1, 5, 30, 120, 360, 720, 1440]
    send_mail()
    assert (letter().state, letter().reply, letter().body) == ("failed", "refused", "")
    assert "Not accepted: connection refused" in invitations_page(world)


def test_the_letter_of_a_worker_that_died_is_sent_by_another(world: World, mail_server: MailServer) -> None:
    invite(world)
    now = timezone.now()
    claimed = outgoing.claim(now)
    assert claimed
    assert send_mail() == 0, "one worker has it"
    assert outgoing.claim(now + timedelta(minutes=4)) is None
    again = outgoing.claim(now + timedelta(minutes=6))
    assert again
    assert (again.pk, again.message_id, again.attempts) == (claimed.pk, claimed.message_id, 2)


def test_a_silent_server_holds_one_worker_and_not_all(world: World, mail_server: MailServer) -> None:
    invite(world, "a@example.org")
    invite(world, "b@example.org")
    now = timezone.now()
    assert outgoing.claim(now), "one worker sends"
    assert send_mail() == 0
    assert not mail_server.letters
    OutMail.objects.filter(state="sending").update(changed_at=now - timedelta(seconds=31))
    assert send_mail() == 1, "that worker is gone, and the others go on without its letter"
    assert mail_server.recipients == ["b@example.org"]


def test_what_was_taken_back_is_not_sent(world: World, mail_server: MailServer) -> None:
    invite(world)
    revoke = reverse("people:invitation_revoke", args=[Invitation.objects.get().pk])
    world.client(world.manager).post(revoke)
    assert send_mail() == 0
    assert not mail_server.letters
    assert (letter().state, letter().body) == ("suppressed", "")
    assert "Mail: Not sent: no longer needed" in invitations_page(world)


def test_texts_and_rows_do_not_stay_for_ever(world: World, mail_server: MailServer) -> None:
    from people.services import messages

    messages.send(world.egypt, world.manager, "Two days are left.", timezone.now())
    send_mail()
    ask(world, "nobody@example.org")
    send_mail()
    now = timezone.now()
    assert outgoing.delete_old(now + timedelta(hours=1)) == 0
    assert outgoing.delete_old(now + timedelta(days=2)) == 1, "the address without an account"
    assert OutMail.objects.exclude(body="").count() == 2
    outgoing.delete_old(now + timedelta(days=31))
    assert OutMail.objects.count() == 2
    assert not OutMail.objects.exclude(body="").exists()
    assert outgoing.delete_old(now + timedelta(days=366)) == 2


# A mail server that hangs


@pytest.mark.usefixtures("mail_server")
def test_no_request_talks_to_the_mail_server(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("a request opened a connection to the mail server")

    monkeypatch.setattr("smtplib.SMTP.connect", refuse)
    ask(world)
    invite(world)
    invite_list = reverse("people:invite_list", args=[world.egypt.pk])
    world.client(world.manager).post(invite_list, {"text": "a@example.org", "key": "k", "do": "send"})
    team = reverse("people:team_invite", args=[world.team.slug])
    world.client(world.team_admin).post(team, {"team_role": "member", "email": "b@example.org"})
    world.client(world.manager).post(reverse("people:messages", args=[world.egypt.pk]), {"body": "Hello"})
    world.client(world.site_admin).post(reverse("people:mail_test"))
    assert sorted(OutMail.objects.values_list("kind", flat=True)) == [
        "invitation", "invitation", "invitation", "message", "message", "password", "test",
    ]  # fmt: skip


def test_a_round_against_a_silent_server_ends_soon_and_keeps_every_letter(
    world: World, mail_server: MailServer
) -> None:
    mail_server.mode = "hangs"
    people = world.add_annotators(world.egypt, 18)
    for person in people:
        User.objects.filter(pk=person.pk).update(password="md5$x$y")
        assert ask(world, person.email).status_code == 302
    assert send_mail() == 0
    rows = OutMail.objects.values_list("state", "reply", "attempts")
    assert set(rows) == {("retry", "timeout", 1)}
    assert len(rows) == 18
    mail_server.mode = "accepts"
    due_now()
    assert send_mail() == 18
    assert len(set(mail_server.recipients)) == 18


def test_a_long_queue_is_sent_in_many_rounds_and_no_letter_counts_as_tried_in_between(
    world: World, mail_server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Letters to a large cohort take longer than one round of the worker."""
    monkeypatch.setattr(tasks, "ROUND", timedelta(0))
    for number in range(3):
        invite(world, f"p{number}@example.org")
    assert [send_mail(), mail_server.recipients] == [1, ["p0@example.org"]]
    waiting = OutMail.objects.exclude(state="accepted")
    assert set(waiting.values_list("state", "attempts")) == {("queued", 0)} and len(waiting) == 2
    assert [send_mail(), send_mail(), send_mail()] == [1, 1, 0]
    assert mail_server.recipients == ["p0@example.org", "p1@example.org", "p2@example.org"]


def test_a_worker_that_is_stopped_in_the_middle_counts_a_try_for_the_letter_in_hand_alone(
    world: World, mail_server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        invite(world, f"p{number}@example.org")
    transmit = tasks.Sender._transmit

    def slow(sender: tasks.Sender, letter: OutMail) -> str:
        if letter.to == "p1@example.org":
            raise SoftTimeLimitExceeded
        return transmit(sender, letter)

    monkeypatch.setattr(tasks.Sender, "_transmit", slow)
    assert send_mail() == 1
    states = {row.to[:2]: (row.state, row.reply, row.attempts) for row in OutMail.objects.all()}
    assert states["p1"] == ("retry", "too_long", 1)
    assert states["p2"] == states["p3"] == ("queued", "", 0)
    assert send_mail() == 2 and "p1@example.org" not in mail_server.recipients


# New passwords


def test_the_link_of_a_new_password_is_made_when_it_is_sent_and_never_stored(
    world: World, mail_server: MailServer
) -> None:
    ask(world, "NOUR@example.org")
    assert (letter().kind, letter().body, letter().user) == ("password", "", None)
    send_mail()
    assert mail_server.recipients == ["nour@example.org"]
    assert re.search(r"http://testserver/password/new/\S+", mail_server.text())
    assert (letter().body, letter().user) == ("", world.nour)


def test_a_request_for_a_known_and_an_unknown_address_is_the_same_to_the_last_query(
    world: World, mail_server: MailServer
) -> None:
    asked = []
    for email in ("nour@example.org", "nobody@example.org"):
        client = world.client()
        client.get(FORGOTTEN)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            reply = client.post(FORGOTTEN, {"email": email})
        shapes = [re.sub(r"'[^']*'|\"s\d+_x\d+\"", "?", query["sql"].replace(email, "?")) for query in queries]
        asked.append((reply.status_code, reply.url, shapes))
    assert asked[0] == asked[1]
    assert sum('INSERT INTO "people_outmail"' in shape for shape in asked[0][2]) == 1
    send_mail()
    assert mail_server.recipients == ["nour@example.org"]
    assert set(OutMail.objects.values_list("to", "kind", "state")) == {
        ("nour@example.org", "password", "accepted"),
        ("nobody@example.org", "none", "suppressed"),
    }


@pytest.mark.parametrize("why", ["inactive", "unusable"])
def test_an_account_that_cannot_sign_in_gets_no_link(world: World, mail_server: MailServer, why: str) -> None:
    world.nour.is_active = why != "inactive"
    if why == "unusable":
        world.nour.set_unusable_password()
    world.nour.save()
    ask(world)
    assert send_mail() == 0
    assert letter().state == "suppressed"


def test_a_waiting_request_gives_way_to_a_later_one(world: World, mail_server: MailServer) -> None:
    """When the server is back after hours, nobody finds five links in the mailbox."""
    mail_server.mode = "busy"
    for minutes in (12, 6, 0):
        ask(world)
        send_mail()
        OutMail.objects.update(at=timezone.now() - timedelta(minutes=6))
        User.objects.update(password_mailed_at=timezone.now() - timedelta(minutes=6))
        assert OutMail.objects.filter(state="retry").count() == 1, minutes
    mail_server.mode = "accepts"
    due_now()
    assert send_mail() == 1


# No mail server


@pytest.mark.parametrize("backend", [CONSOLE, DUMMY, FILE, MEMORY])
def test_without_a_mail_server_nothing_leaves_nothing_is_printed_and_every_page_says_so(
    world: World, settings: Any, backend: str, capfd: pytest.CaptureFixture[str]
) -> None:
    settings.EMAIL_BACKEND = backend
    before = invitations_page(world)
    assert "No mail server is set up. The link is shown here." in before, "said before the form is sent"
    assert "the link is sent there" not in before
    page = invite(world).content.decode()
    assert "No mail server is set up. Share the link yourself." in page
    asked = world.client().post(FORGOTTEN, {"email": "nour@example.org"}, follow=True).content.decode()
    assert "No e-mail can be sent" in asked
    assert "./emic manage password_link" in asked, "on this machine, the command that helps"
    assert send_mail() == 0
    assert set(OutMail.objects.values_list("state", "body")) == {("no_server", "")}
    printed = capfd.readouterr()
    assert "/password/new/" not in printed.out + printed.err
    assert "/invitation/" not in printed.out + printed.err
    assert not getattr(django_mail, "outbox", [])
    for word in (before, page, asked):
        assert not re.search(r"\b(was|were|been) (also )?sent\b", word)


def test_on_a_public_host_the_page_names_people_and_no_command(world: World, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["emic.example.org"]
    client = world.client(headers={"host": "emic.example.org"})
    page = client.post(FORGOTTEN, {"email": "nour@example.org"}, follow=True).content.decode()
    assert "Ask your cohort manager" in page
    assert "password_link" not in page


def test_admins_see_a_banner_and_a_row_and_others_do_not(world: World, settings: Any) -> None:
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "emic.example.org"]
    status = reverse("evaluation:status")
    page = world.client(world.site_admin).get(status).content.decode()
    assert 'id="no-mail-server"' in page
    assert "No mail server is set up: invitations and password links are not sent." in page
    assert 'id="no-mail-server"' in world.client(world.site_admin).get(reverse("people:teams")).content.decode()
    for user in (world.manager, world.nour, world.team_admin):
        assert 'id="no-mail-server"' not in world.client(user).get("/me").content.decode()


def test_with_a_mail_server_there_is_no_banner(world: World, mail_server: MailServer) -> None:
    page = world.client(world.site_admin).get(reverse("evaluation:status")).content.decode()
    assert 'id="no-mail-server"' not in page
    assert "Mail: waiting" in page
    invite(world)
    OutMail.objects.update(at=timezone.now() - timedelta(minutes=11))
    late = world.client(world.site_admin).get(reverse("evaluation:status")).content.decode()
    assert "Mail has been waiting for more than 10 minutes." in late


def test_an_admin_sends_a_test_mail_and_sees_what_the_server_answers(world: World, mail_server: MailServer) -> None:
    client, page = world.client(world.site_admin), reverse("people:mail")
    assert "Waiting" in client.post(reverse("people:mail_test"), follow=True).content.decode()
    send_mail()
    shown = client.get(page).content.decode()
    assert "Accepted by the mail server at" in shown
    assert "250 2.0.0 Ok: queued as 1" in shown
    assert mail_server.recipients == ["siteadmin@example.org"]
    for user in (world.team_admin, world.manager, world.nour, world.stranger):
        assert world.client(user).get(page).status_code == 404
        assert world.client(user).post(reverse("people:mail_test")).status_code == 404


def test_the_mail_page_shows_no_text_of_a_letter(world: World, mail_server: MailServer) -> None:
    link = shown_link(invite(world))
    shown = world.client(world.site_admin).get(reverse("people:mail")).content.decode()
    assert "salma@example.org" in shown
    assert link not in shown


def test_whoever_has_the_machine_prints_a_link_for_a_new_password(world: World) -> None:
    out = StringIO()
    call_command("password_link", "NOUR@example.org", site="http://127.0.0.1:8001", stdout=out)
    assert out.getvalue().startswith("http://127.0.0.1:8001/password/new/")
    client = world.client()
    form = client.get(out.getvalue().strip().removeprefix("http://127.0.0.1:8001")).url
    client.post(form, {"new_password1": "eleven calm ibises", "new_password2": "eleven calm ibises"})
    world.nour.refresh_from_db()
    assert world.nour.check_password("eleven calm ibises")
    with pytest.raises(CommandError, match="No active account"):
        call_command("password_link", "nobody@example.org")
