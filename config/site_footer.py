"""Who runs the site, and addresses that its operator wants visitors to find: contact, privacy, accessibility.

The operator writes the labels, so they are in the languages of the operator's visitors.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

_LINK = re.compile(r"([^<>]*[^<>\s])\s*<((?:https?://|mailto:)[^<>\s]+)>")
SEPARATOR = re.compile(r"(?<=>)\s*,\s*")


@dataclass(frozen=True)
class FooterLink:
    label: str
    url: str


@dataclass(frozen=True)
class SiteFooter:
    operator: str
    links: Sequence[FooterLink]


def site_footer() -> SiteFooter | None:
    """None where the operator has said nothing of themselves."""
    footer = SiteFooter(settings.OPERATOR.strip(), parse_links(settings.FOOTER_LINKS))
    return footer if footer.operator or footer.links else None


def parse_links(text: str) -> list[FooterLink]:
    """From "Contact <mailto:emic@example.org>, Privacy <https://example.org/privacy>". Raises ValueError."""
    links = []
    for entry in filter(None, SEPARATOR.split(text.strip())):
        match = _LINK.fullmatch(entry.strip())
        if match is None:
            raise ValueError(entry.strip())
        links.append(FooterLink(match[1].strip(), match[2]))
    return links
