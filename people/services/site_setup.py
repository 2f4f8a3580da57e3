"""The first account of a site: an admin, made once by whoever has the key that the start of the site prints."""

import base64

from django.conf import settings
from django.db import connection, transaction
from django.utils.crypto import constant_time_compare, salted_hmac

from jobs.models import Event, record
from people.models import User
from people.services.accounts import create_account

SCOPE, VERB = "site", "site.set_up"
LOCK = 0x656D_6963_02  # a number that nothing else locks
LETTERS, GROUP = 20, 5  # of base32: 100 bits


class WrongSetupKey(Exception):
    """It is not the key that the start of the site prints."""


class AlreadySetUp(Exception):
    """The site has an account, or had one that was made here."""


def setup_key() -> str:
    """The key in four groups of five letters and digits. It follows from the secret key of the site, so that no process
    has to store it or pass it on.
    """
    digest = salted_hmac("people.site_setup", VERB, algorithm="sha256").digest()
    letters = base64.b32encode(digest).decode()[:LETTERS]
    return "-".join(letters[start : start + GROUP] for start in range(0, LETTERS, GROUP))


def is_setup_key(typed: str) -> bool:
    """Whether this is the key, with or without hyphens, in capitals or not."""
    letters = "".join(sign for sign in typed.upper() if sign.isalnum())
    return constant_time_compare(letters, setup_key().replace("-", ""))


def is_set_up() -> bool:
    """Whether the site has an account, or will have those of the demo. Once an account was made by `set_up` this stays
    true, for events are never deleted.
    """
    return settings.DEMO or User.objects.exists() or Event.objects.filter(scope=SCOPE, verb=VERB).exists()


@transaction.atomic
def set_up(key: str, email: str, name: str, password: str, language: str) -> User:
    """Create the first admin. Of two people who do so at once the second one waits, and gets AlreadySetUp.

    Raises WrongSetupKey and AlreadySetUp.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
    if is_set_up():
        raise AlreadySetUp
    if not is_setup_key(key):
        raise WrongSetupKey
    user = create_account(email, name, password, language=language, site_admin=True)
    record(user, VERB, scope=SCOPE, target=f"user:{user.pk}")
    return user
