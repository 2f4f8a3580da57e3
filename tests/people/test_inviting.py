"""Many people at once: a list is shown before anything is sent, each wrong row says why, links are shown once."""

import base64
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from people.models import Cohort, Invitation, OutMail, User
from people.services.inviting import invite_lists
from people.tasks import send_mail
from tests.mailing import SMTP, MailServer, closed_port
from tests.personas import World


def addresses(world: World, text: str) -> list[tuple[int, str, str]]:
    listed = invite_lists.parse_list(text, world.egypt, timezone.now())
    return [(line.number, line.value, line.problem) for line in listed.invalid_rows]


def sends(client: Client, world: World, text: str, **more: Any) -> Any:
    url = reverse("people:invite_list", args=[world.egypt.pk])
    return client.post(url, {"text": text, "key": "k1", "do": "send"} | more)


@pytest.mark.parametrize(
    "text",
    [
        "amina@example.org,Amina\nbayo@example.org,Bayo",
        "email;note\namina@example.org;Amina\nbayo@example.org;Bayo\n",
        "amina@example.org، Amina\nbayo@example.org،Bayo",
        "email؛note\namina@example.org؛Amina\nbayo@example.org؛Bayo",
        "\n\nName\tE-mail\nAmina\tamina@example.org\n\nBayo\tbayo@example.org",
        "amina@example.org,Amina\rbayo@example.org,Bayo\r",
        "amina@example.org,Amina\nbayo@example.org,Bayo\r",
        "amina@example.org,Amina\r\nbayo@example.org,Bayo\r\n",
    ],
)
def test_lists_are_read_as_spreadsheets_write_them(world: World, text: str) -> None:
    listed = invite_lists.parse_list(text, world.egypt, timezone.now())
    assert [(line.email, line.note) for line in listed.valid_rows] == [
        ("amina@example.org", "Amina"),
        ("bayo@example.org", "Bayo"),
    ]
    assert not listed.invalid_rows


def test_each_wrong_row_names_its_line_its_value_and_why(world: World) -> None:
    asked = {"email": "Waits@example.org"}
    world.client(world.manager).post(reverse("people:cohort_invite", args=[world.egypt.pk]), asked)
    long = "x" * 201
    text = "email,note\nnot-an-address,A\n\nNOUR@example.org,B\nok@example.org,C\nOK@example.org,D\n"
    text += f",{long}\nwaits@example.org,"
    assert addresses(world, text) == [
        (2, "not-an-address", "This is not an e-mail address."),
        (4, "NOUR@example.org", "This person is already a member."),
        (6, "OK@example.org", "Line 5 has the same address."),
        (7, long, "The note is longer than 200 characters."),
        (8, "waits@example.org", "An invitation is waiting for this address."),
    ]


def test_an_address_with_a_comma_of_another_script_is_none(world: World) -> None:
    text = "amina@example.org,Amina\nomar@example.org،عمر\nbayo@example.org；Bayo,B"
    wrong = "This is not an e-mail address."
    assert addresses(world, text) == [(2, "omar@example.org،عمر", wrong), (3, "bayo@example.org；Bayo", wrong)]


def test_a_row_that_ends_with_another_line_end_loses_nobody(world: World) -> None:
    text = "amina@example.org\nbayo@example.org\rchidi@example.org\ndela@example.org"
    listed = invite_lists.parse_list(text, world.egypt, timezone.now())
    assert [line.email.partition("@")[0] for line in listed.valid_rows] == ["amina", "bayo", "chidi", "dela"]


def test_a_quotation_mark_without_end_is_an_error_of_its_row(world: World) -> None:
    text = 'amina@example.org,Amina\nbayo@example.org,"Bayo\n' + "person@example.org,Person\n" * 6000
    [(number, value, problem)] = addresses(world, text)
    assert (number, problem) == (2, "The note is longer than 200 characters.")
    assert value.startswith('bayo@example.org,"Bayo\nperson@example.org'), "nobody is left out in silence"


def test_a_list_is_shown_before_it_is_sent_and_nothing_is_sent_by_looking(world: World) -> None:
    client = world.client(world.manager)
    html = sends(client, world, "amina@example.org,Amina\nwrong", do="look").content.decode()
    assert "1 person can be invited" in html and "This is not an e-mail address." in html and "Invite 1 person" in html
    assert "amina@example.org,Amina\nwrong</textarea>" in html, "what was typed stays"
    assert not Invitation.objects.exists() and not OutMail.objects.exists()


def test_good_rows_go_through_and_the_links_can_be_taken_along(world: World, mail_server: MailServer) -> None:
    client = world.client(world.manager)
    page = sends(client, world, "amina@example.org,Amina\nwrong\n,=Friend of Bayo\n,＝1+1 of Salma").content.decode()
    assert "3 links created" in page and "Line 2" in page and "1 e-mail is waiting to be sent." in page
    assert send_mail() == 1 and mail_server.recipients == ["amina@example.org"]
    [found] = re.findall(r'href="data:text/csv;charset=utf-8;base64,([^"]+)"', page)
    rows = base64.b64decode(found).decode("utf-8-sig").splitlines()
    assert rows[0] == "email,note,link" and rows[2].startswith(",'=Friend of Bayo,http"), "no formula for a spreadsheet"
    assert rows[3].startswith(",'＝1+1 of Salma,http"), "nor one in the wide forms, which some take for the plain"
    link = rows[1].rsplit(",", 1)[1]
    assert world.client().get(link).status_code == 200
    later = client.get(reverse("people:cohort_invite", args=[world.egypt.pk])).content.decode()
    assert "amina@example.org" in later and link.rsplit("/", 1)[1] not in later
    made = set(Invitation.objects.values_list("cohort__label", "email"))
    assert made == {("Egypt", "amina@example.org"), ("Egypt", "")}


def test_the_same_form_sent_again_makes_no_second_links(world: World) -> None:
    client = world.client(world.manager)
    sends(client, world, ",Friend of Bayo")
    again = sends(client, world, ",Friend of Bayo")
    assert again.status_code == 302 and Invitation.objects.count() == 1
    assert "were already created" in client.get(again.url).content.decode()
    assert sends(client, world, ",Friend of Bayo", key="k2").status_code == 200


def test_links_are_made_by_number_and_numbered(world: World) -> None:
    client, url = world.client(world.manager), reverse("people:invite_links", args=[world.egypt.pk])
    assert "3 links created" in client.post(url, {"count": "3", "label": "Mosque"}).content.decode()
    assert set(Invitation.objects.values_list("note", flat=True)) == {"Mosque 1", "Mosque 2", "Mosque 3"}
    wrong = client.post(url, {"count": "5000", "label": "Kept"}).content.decode()
    assert 'value="Kept"' in wrong and Invitation.objects.count() == 3


def test_files_are_read_in_the_ways_spreadsheets_save_them(world: World) -> None:
    client = world.client(world.manager)
    for content in ("émail@example.org,Zoë".encode("utf-16"), "amina@example.org,Zoë".encode("utf-8-sig")):
        file = SimpleUploadedFile("people.csv", content)
        assert "Zoë" in sends(client, world, "", file=file, do="look").content.decode()
    broken = sends(client, world, "", file=SimpleUploadedFile("x.csv", b"\xe9\xff\xe9,x"), do="look").content.decode()
    assert "This file is not UTF-8 text." in broken
    assert "The list is empty." in sends(client, world, " \n", do="look").content.decode()
    many = "\n".join(f"p{n}@example.org" for n in range(invite_lists.MOST + 1))
    assert (
        "You can invite at most 300 people at once. This list has 301." in sends(client, world, many).content.decode()
    )


def test_a_mail_server_that_is_away_keeps_nobody_waiting(world: World, settings: Any) -> None:
    settings.EMAIL_BACKEND, settings.EMAIL_HOST, settings.EMAIL_PORT = SMTP, "127.0.0.1", closed_port()
    page = sends(world.client(world.manager), world, "a@example.org\nb@example.org").content.decode()
    assert "2 links created" in page and "2 e-mails are waiting to be sent." in page
    assert send_mail() == 0 and OutMail.objects.filter(state="retry", attempts=1).count() == 2


def test_only_who_manages_the_cohort_invites(world: World) -> None:
    before = User.objects.count(), Cohort.objects.count()
    for user in (world.mara, world.nour, world.rival, world.stranger, world.site_admin):
        expected = 200 if user == world.site_admin else 404
        assert sends(world.client(user), world, "a@example.org", do="look").status_code == expected
        links = reverse("people:invite_links", args=[world.egypt.pk])
        assert world.client(user).post(links, {"count": "0"}).status_code == expected
    brazil = reverse("people:invite_list", args=[world.brazil.pk])
    assert world.client(world.manager).post(brazil, {"text": "a@example.org", "do": "send"}).status_code == 404
    assert not Invitation.objects.exists() and before == (User.objects.count(), Cohort.objects.count())
