"""Who sends a request, for limits: its address and its network.

The network of an IPv6 address is its /64, which is what one customer of a provider has.
"""

from datetime import datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

from django.db.models import QuerySet

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def place_of(address: str) -> tuple[str, str]:
    """The address in its usual spelling, and its network: the /64 of an IPv6 address, else the address itself."""
    try:
        parsed: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    except ValueError:
        return address[:45], address[:45]
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped), str(parsed.ipv4_mapped)
        return str(parsed), str(ip_network((parsed, 64), strict=False))
    return str(parsed), str(parsed)


def seconds_to_wait_for_sender(rows: QuerySet[Any], address: str, limits: tuple[int, int], at: datetime) -> int:
    """Seconds until this address may try again; 0 if it may now.

    `rows` have `at`, `address` and `network`; `limits` are how many of an address and of a network count in an hour.
    """
    own, network = place_of(address)
    by_address, by_network = limits
    seconds = _wait(rows.filter(address=own), by_address, at)
    return seconds if network == own else max(seconds, _wait(rows.filter(network=network), by_network, at))


def _wait(rows: QuerySet[Any], most: int, at: datetime) -> int:
    """The sender is free again when fewer than `most` rows are younger than an hour."""
    recent = rows.filter(at__gt=at - HOUR).order_by("-at")
    limiting = recent.values_list("at", flat=True)[most - 1 : most].first()
    return max(1, round((limiting + HOUR - at).total_seconds())) if limiting else 0
