"""Bounds the password mails that one sender can ask for: else one machine could mail every address in the world.

One address gets one mail in five minutes (people.services.mail). Here every request counts for its sender, whatever
the address and whether it has an account: 20 in an hour, and 100 for a /64 of IPv6.
"""

from datetime import datetime

from django.db import connection, transaction

from people.models import PasswordRequest
from people.services.senders import DAY, place_of, seconds_to_wait_for_sender

MOST_BY_ADDRESS, MOST_BY_NETWORK = 20, 100


@transaction.atomic
def note_request(address: str, at: datetime) -> int:
    """Count a request of this sender and return 0; if there were too many, the seconds to wait, and nothing counts.

    Requests of one network wait for each other, so that many at once cannot pass the limit together.
    """
    own, network = place_of(address)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"password_request:{network}"])
    seconds = seconds_to_wait_for_sender(PasswordRequest.objects.all(), address, (MOST_BY_ADDRESS, MOST_BY_NETWORK), at)
    if not seconds:
        PasswordRequest.objects.create(at=at, address=own, network=network)
    return seconds


def delete_old(at: datetime) -> int:
    """Nightly: what is older than a day counts for nothing."""
    deleted, _by_model = PasswordRequest.objects.filter(at__lt=at - DAY).delete()
    return deleted
