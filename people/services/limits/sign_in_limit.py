"""Slows the guessing of passwords of many accounts from one address ("spraying"), and notices it from many addresses.

Guesses at one account are counted by axes. Here every failure counts for its address, whatever the account: 100 in
an hour, and 1,000 for a /64 of IPv6, which is what one customer of a provider has.
"""

from datetime import datetime

from django.db import connection, transaction
from django.utils.crypto import salted_hmac

from jobs.models import Event, record
from people.models import FailedSignIn
from people.services.senders import DAY, HOUR, place_of, seconds_to_wait_for_sender

MOST_BY_ADDRESS, MOST_BY_NETWORK = 100, 1_000
ALARM_NAMES = 200  # distinct names in an hour, over the whole site
ALARM, SCOPE = "signin.spray", "site"
ALARM_LOCK = 0x656D_6963_01  # a number that nothing else locks


def seconds_to_wait(address: str, at: datetime) -> int:
    """Seconds until this address may try again; 0 if it may now."""
    return seconds_to_wait_for_sender(FailedSignIn.objects.all(), address, (MOST_BY_ADDRESS, MOST_BY_NETWORK), at)


def note_failure(address: str, name: str, at: datetime) -> None:
    """Count a failed sign-in, and record the alarm once in an hour when too many names were tried."""
    own, network = place_of(address)
    digest = salted_hmac("people.failed_sign_in", name.strip().lower(), algorithm="sha256").hexdigest()
    FailedSignIn.objects.create(at=at, address=own, network=network, name=digest)
    _alarm(at)


def _alarm(at: datetime) -> None:
    recent = FailedSignIn.objects.filter(at__gt=at - HOUR)
    names = recent.values("name").distinct().count()
    if names < ALARM_NAMES or latest_alarm(at - HOUR):
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ALARM_LOCK])
        if not latest_alarm(at - HOUR):
            addresses = recent.values("network").distinct().count()
            record(None, ALARM, scope=SCOPE, implied=True, names=names, addresses=addresses)


def latest_alarm(since: datetime) -> Event | None:
    return Event.objects.filter(scope=SCOPE, verb=ALARM, at__gt=since).order_by("-pk").first()


def delete_old(at: datetime) -> int:
    """Nightly: what is older than a day counts for nothing."""
    deleted, _by_model = FailedSignIn.objects.filter(at__lt=at - DAY).delete()
    return deleted
