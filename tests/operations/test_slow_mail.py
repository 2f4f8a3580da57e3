"""A mail server that never answers stops no page: finding H1, against a real gunicorn of 2 processes x 8 threads."""

import http.cookiejar
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from people.models import OutMail
from people.tasks import send_mail
from tests.mailing import MailServer
from tests.operations.servers import get, gunicorn
from tests.personas import make_user

REQUESTS = 18  # two more than there are threads
SECONDS = 60  # far above what an answer takes on a busy machine, far below what 18 hanging letters would


def ask_for_password(port: int, email: str) -> str:
    """Post the form as a browser does; the page that follows."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
    address = f"http://127.0.0.1:{port}/password/forgotten"
    with browser.open(address, timeout=SECONDS) as page:
        token = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.read().decode())[0]
    data = urllib.parse.urlencode({"email": email, "csrfmiddlewaretoken": token}).encode()
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        try:
            with browser.open(address, data, timeout=SECONDS) as page:
                return str(page.read().decode())
        except urllib.error.HTTPError as error:
            if error.code != 503:  # more bodies at once than are read: its page asks to send it again
                raise
            refusal = error.read().decode()
            time.sleep(float(error.headers["Retry-After"]))
    raise AssertionError(f"refused for {SECONDS} s, at last with: {refusal}")


@pytest.mark.django_db(transaction=True)
def test_eighteen_password_requests_are_answered_while_the_mail_server_hangs(
    mail_server: MailServer, settings: Any
) -> None:
    mail_server.mode = "hangs"
    emails = [make_user(f"person-{number}").email for number in range(REQUESTS)]
    with gunicorn(EMAIL_URL=f"smtp://127.0.0.1:{mail_server.port}", EMIC_EMAIL_TIMEOUT="600") as port:
        with ThreadPoolExecutor(REQUESTS) as pool:
            pages = list(pool.map(lambda email: ask_for_password(port, email), emails))
            assert get(port, "/healthz", SECONDS) == 200
        assert all("we send it a link" in page for page in pages)
        assert set(OutMail.objects.values_list("state", "attempts")) == {("queued", 0)}
        assert send_mail() == 0
        assert get(port, "/healthz", SECONDS) == 200
    assert set(OutMail.objects.values_list("state", "reply")) == {("retry", "timeout")}
    assert OutMail.objects.count() == REQUESTS
    connection.close()
