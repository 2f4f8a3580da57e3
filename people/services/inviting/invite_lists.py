"""Many invitations at once: from a list of addresses, or as so many links to pass on by hand."""

import csv
import io
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils.translation import gettext as _

from people.models import Cohort, Invitation, Team, User
from people.services import links, mail, memberships

MOST = 300  # at once
NOTE = 200
SEPARATORS = ",;\t\u060c\u061b\uff0c\uff1b"  # also the commas and semicolons of Arabic and of Chinese
HEADS = {
    "email": ("email", "e-mail", "mail", "e-mail address", "email address"),
    "note": ("note", "name", "full name", "comment"),
}


@dataclass(frozen=True)
class InviteRow:
    """One row of a list. `number` counts the lines of the list as its author sees them, a heading included."""

    number: int
    email: str
    note: str
    problem: str = ""
    value: str = ""


@dataclass(frozen=True)
class InviteList:
    """`problem`: why nothing at all can be read."""

    lines: list[InviteRow]
    problem: str = ""

    @property
    def valid_rows(self) -> list[InviteRow]:
        return [line for line in self.lines if not line.problem]

    @property
    def invalid_rows(self) -> list[InviteRow]:
        return [line for line in self.lines if line.problem]


def decode_upload(content: bytes) -> str:
    """A file as spreadsheets write it: UTF-8, or UTF-16 with its mark. Raises UnicodeDecodeError."""
    return content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")


def parse_list(text: str, cohort: Cohort, at: datetime) -> InviteList:
    """The rows of a list: e-mail, then a note; a heading may say otherwise. Each wrong row says why."""
    rows = _rows(text)
    heads = _header_columns(rows[0][1]) if rows else None
    if heads is not None:
        rows = rows[1:]
    if not rows:
        return InviteList([], _("The list is empty. Write one e-mail address per line."))
    if len(rows) > MOST:
        return InviteList(
            [],
            _("You can invite at most %(most)s people at once. This list has %(n)s.") % {"most": MOST, "n": len(rows)},
        )
    columns = heads or {"email": 0, "note": 1}
    known = _existing_people(cohort, at)
    lines_by_email: dict[str, int] = {}
    lines = [_line(number, row, columns, known, lines_by_email) for number, row in rows]
    return InviteList(lines)


def check_people(people: Sequence[tuple[str, str]], cohort: Cohort, at: datetime) -> list[InviteRow]:
    """E-mails with notes as the rows of a list, numbered from 0. Each wrong one says why."""
    known, lines_by_email = _existing_people(cohort, at), dict[str, int]()
    return [_line(place, row, {"email": 0, "note": 1}, known, lines_by_email) for place, row in enumerate(people)]


def _rows(text: str) -> list[tuple[int, list[str]]]:
    """The rows that are not empty, with their line numbers; separated by comma, semicolon or tab of any script."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    separator = max(SEPARATORS, key=first.count)
    lines = io.StringIO(text.replace("\x00", ""), newline=None)  # also of a file that ends its lines as old Macs did
    reader = csv.reader(lines, delimiter=separator)
    table, end = list[tuple[int, list[str]]](), 0
    try:
        for row in reader:
            cells, end = [cell.strip() for cell in row], reader.line_num
            if any(cells):
                table.append((end, cells))
    except csv.Error:  # a quotation mark without its second one: all that follows is one cell, longer than any may be
        rest = "\n".join(lines.getvalue().split("\n")[end:])
        table.append((end + 1, ["", rest[: NOTE + 1]]))
    return table


def _header_columns(row: Sequence[str]) -> dict[str, int] | None:
    """Where the columns are, if the first row says so."""
    places: dict[str, int] = {}
    for place, cell in enumerate(row):
        for key, names in HEADS.items():
            if cell.casefold() in names:
                places.setdefault(key, place)
    return places or None


def _existing_people(cohort: Cohort, at: datetime) -> dict[str, str]:
    """Addresses that need no invitation, and why."""
    waiting = Invitation.objects.filter(cohort=cohort, used_at=None, revoked_at=None, expires_at__gt=at)
    asked = waiting.exclude(email="").values_list("email", flat=True)
    known = {email.casefold(): _("An invitation is waiting for this address.") for email in asked}
    members = memberships.active_members(cohort).values_list("user__email", flat=True)
    return known | {email.casefold(): _("This person is already a member.") for email in members}


def _line(
    number: int, row: Sequence[str], columns: dict[str, int], known: dict[str, str], lines_by_email: dict[str, int]
) -> InviteRow:
    email, note = (_cell(row, columns.get(name)) for name in ("email", "note"))
    value, problem = _problem(email, note, known, lines_by_email)
    lines_by_email.setdefault(email.casefold(), number)
    return InviteRow(number, email, note, problem, value)


def _cell(row: Sequence[str], place: int | None) -> str:
    return row[place] if place is not None and place < len(row) else ""


def _problem(email: str, note: str, known: dict[str, str], lines_by_email: dict[str, int]) -> tuple[str, str]:
    """The value that cannot be, and why."""
    if len(note) > NOTE:
        return note, _("The note is longer than %(most)s characters.") % {"most": NOTE}
    if any(unicodedata.category(sign) == "Cc" for sign in note):
        return note, _("The note has control characters.")
    if not email:
        return ("", "") if note else ("", _("The row is empty. Add an e-mail address or a note."))
    if set(email) & set(SEPARATORS):  # letters of any script may stand in a domain, and Django takes these for some
        return email, _("This is not an e-mail address.")
    try:
        validate_email(email)
    except ValidationError:
        return email, _("This is not an e-mail address.")
    if len(email) > User._meta.get_field("email").max_length:  # type: ignore[operator]
        return email, _("This e-mail address is too long.")
    if email.casefold() in lines_by_email:
        return email, _("Line %(n)s has the same address.") % {"n": lines_by_email[email.casefold()]}
    return (email, known[email.casefold()]) if email.casefold() in known else ("", "")


@transaction.atomic
def invite_all(
    cohort: Cohort, actor: User, people: Sequence[tuple[str, str]], link: mail.Link, at: datetime
) -> list[tuple[Invitation, str]]:
    """An invitation for each e-mail and note, either of which may be empty; each with its address.

    Those with an e-mail get a letter. `link` makes the address of a token, which is not kept.
    """
    team = cohort.team
    invitations = [links.invite(team, actor, at, cohort=cohort, email=email, note=note) for email, note in people]
    mail.mail_invitations(invitations, link, at)
    return [(invitation, link(token)) for invitation, token in invitations]


@transaction.atomic
def invite_to_team(
    team: Team, actor: User, role: str, person: tuple[str, str], link: mail.Link, at: datetime
) -> tuple[Invitation, str]:
    """An invitation to the team, for an e-mail and a note, either of which may be empty; and its address."""
    email, note = person
    invitation, token = links.invite(team, actor, at, team_role=role, email=email, note=note)
    mail.mail_invitations([(invitation, token)], link, at)
    return invitation, link(token)
