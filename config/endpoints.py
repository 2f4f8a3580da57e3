"""Where models may answer from, besides the open internet."""

from collections.abc import Sequence

LOCAL_HOSTS = {"localhost", "127.0.0.1", "[::1]", "testserver"}
# This machine, home and office networks, carriers' and overlay networks, and IPv6's own.
LAN = ["127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"]

# Where clouds tell their guests secrets. Nobody is asked there, whatever is allowed: links of this machine (most
# clouds), Azure, Alibaba, Oracle, Amazon over IPv6, Google over IPv6.
METADATA = [
    "169.254.0.0/16",
    "fe80::/10",
    "168.63.129.16/32",
    "100.100.100.200/32",
    "192.0.0.192/32",
    "fd00:ec2::/32",
    "fd20:ce::254/128",
]


def networks(setting: str, hosts: Sequence[str]) -> list[str]:
    """Private networks in which endpoints may be: all for "1", none for "0", or those that are named, with commas
    between. Where nothing is told, all on a site that is reached from its own machine only."""
    setting = setting.strip().lower()
    if setting in ("1", "true", "yes", "on"):
        return LAN
    if setting in ("0", "false", "no", "off"):
        return []
    if setting:
        return [network.strip() for network in setting.split(",") if network.strip()]
    return LAN if set(hosts) <= LOCAL_HOSTS else []
