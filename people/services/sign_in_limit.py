"""Slows the guessing of passwords of many accounts from one address ("spraying"), and notices it from many addresses.

Guesses at one account are counted by axes. Here every failure counts for its address, whatever the account: 100 in
an hour, and 1,000 for a /64 of IPv6, which is what one customer of a provider has.
"""

from datetime import datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.db import connection, transaction
from django.utils.crypto import salted_hmac

from jobs.models import Event, record
from people.models import FailedSignIn

HOUR = timedelta(hours=1)
MOST_BY_ADDRESS, MOST_BY_NETWORK = 100, 1_000
ALARM_NAMES = 200  # distinct names in an hour, over the whole site
ALARM, SCOPE = "signin.spray", "site"
ALARM_LOCK = 0x656D_6963_01  # a number that nothing else locks


def seconds_to_wait(address: str, at: datetime) -> int:
    """Seconds until this address may try again; 0 if it may now."""
    own, network = _places(address)
    limits = [({"address": own}, MOST_BY_ADDRESS)]
    if network != own:
        limits.append(({"network": network}, MOST_BY_NETWORK))
    return max(_wait(place, most, at) for place, most in limits)


def _wait(place: dict[str, str], most: int, at: datetime) -> int:
    """The address is free again when fewer than `most` failures are younger than an hour."""
    recent = FailedSignIn.objects.filter(**place, at__gt=at - HOUR).order_by("-at")
    limiting = recent.values_list("at", flat=True)[most - 1 : most].first()
    return max(1, round((limiting + HOUR - at).total_seconds())) if limiting else 0


def note_failure(address: str, name: str, at: datetime) -> None:
    """Count a failed sign-in, and record the alarm once in an hour when too many names were tried."""
    own, network = _places(address)
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


def _places(address: str) -> tuple[str, str]:
    """The address as it is written once, and its network."""
    try:
        parsed: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    except ValueError:
        return address[:45], address[:45]
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped), str(parsed.ipv4_mapped)
        return str(parsed), str(ip_network((parsed, 64), strict=False))
    return str(parsed), str(parsed)


def delete_old(at: datetime) -> int:
    """Nightly: what is older than a day counts for nothing."""
    deleted, _by_model = FailedSignIn.objects.filter(at__lt=at - timedelta(days=1)).delete()
    return deleted
