"""A link is shown once, after a redirect: loading the page again makes no second one, and shows none.

Between the two requests the link travels in a signed cookie of this browser, for a minute and for one page. It is
never written to the database, which knows only hashes of tokens.
"""

import base64
import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any, TypedDict

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.cache import add_never_cache_headers

from jobs.formats.csv_safety import escape_formula
from people.models import ApiToken, CohortMember, Invitation, OutMail
from people.queries import mail_status
from people.views.request_helpers import current_user

COOKIE = "fresh_link"
SECONDS = 60
MADE_FOR: dict[str, Any] = {"invitation": Invitation, "member": CohortMember, "token": ApiToken}


def register_made_for(kind: str, model: Any) -> None:
    """Let an app above show something of its own once."""
    MADE_FOR[kind] = model


class OneTimeLink(TypedDict):
    url: str
    kind: str  # of MADE_FOR
    pk: int


def show_once(request: HttpRequest, page: str, link: OneTimeLink) -> HttpResponse:
    """Go to `page`, which shows the link to this person."""
    response = redirect(page)
    value = signing.dumps([link, current_user(request).pk], salt=page)
    response.set_cookie(
        COOKIE, value, SECONDS, path=page, secure=settings.SESSION_COOKIE_SECURE, httponly=True, samesite="Strict"
    )
    return response


def one_time_context(request: HttpRequest) -> dict[str, Any]:
    """What the page's template needs to show the link; nothing where there is none."""
    try:
        value = request.COOKIES.get(COOKIE, "")
        link, reader = signing.loads(value, salt=request.path, max_age=SECONDS)
    except signing.BadSignature:
        return {}
    if reader != current_user(request).pk:
        return {}
    record = MADE_FOR[link["kind"]].objects.filter(pk=link["pk"]).first()
    if record is None:
        return {}
    return {"fresh": link["url"], "fresh_for": record, "letter": _letter(link)}


def _letter(link: OneTimeLink) -> OutMail | None:
    target = f"{link['kind']}:{link['pk']}"
    return mail_status.letters_of([target]).get(target)


def clear_link(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """The page was shown: the browser forgets the link."""
    if COOKIE in request.COOKIES:
        response.delete_cookie(COOKIE, path=request.path, samesite="Strict")
        add_never_cache_headers(response)
    return response


def links_file(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A CSV file of new links as a data URL, so that no further request has to carry them. The last column is the link;
    the others are escaped for spreadsheets."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows([*map(escape_formula, row[:-1]), row[-1]] for row in rows)
    return "data:text/csv;charset=utf-8;base64," + base64.b64encode(out.getvalue().encode("utf-8-sig")).decode()
