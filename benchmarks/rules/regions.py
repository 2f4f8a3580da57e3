"""Countries by one code, and the regions that papers put them in: versioned, so that a number says which it used.

Names vary inside one paper ("srilanka", "phillippines", "us"): they are counted by their ISO 3166-1 alpha-2 code.
Source of both tables: Bhatia et al. (2024), GlobalRG, Tables 1 and 4. Table 1 names 49 countries; the fiftieth of the
results is Somalia, which they count as Africa.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

_NAMES = """
AR argentina | AU australia | BG bulgaria | BR brazil | CA canada | CL chile | CN china | DE germany | EG egypt
ES spain | ET ethiopia | FJ fiji | FR france | GB united kingdom, uk, great britain, britain | GH ghana | GR greece
HU hungary | ID indonesia | IL israel | IN india | IR iran | IT italy | JM jamaica | JP japan | KE kenya
KR south korea, korea, republic of korea | LB lebanon | MA morocco | MX mexico | NG nigeria | NL netherlands
NZ new zealand | PE peru | PH philippines, phillippines, the philippines | PK pakistan | PL poland | PT portugal
RU russia, russian federation | SA saudi arabia | SE sweden | SG singapore | SO somalia | TH thailand | TN tunisia
TR turkey, turkiye | TZ tanzania | UG uganda | US united states, us, usa, america, united states of america
VN vietnam, viet nam | ZA south africa | LK sri lanka
"""


def _squeezed(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().casefold()
    return "".join(letter for letter in plain if letter.isalnum())


def _codes() -> dict[str, str]:
    codes: dict[str, str] = {}
    for entry in _NAMES.replace("\n", "|").split("|"):
        code, _space, names = entry.strip().partition(" ")
        codes |= {_squeezed(name): code for name in (code, *names.split(",")) if code}
    return codes


_CODES: Mapping[str, str] = MappingProxyType(_codes())


def country_code(name: str) -> str:
    """The ISO code of a country, by any of its spellings or by the code; another name stays as it is, trimmed.

    >>> [country_code(name) for name in ("srilanka", "Sri Lanka", "LK", " Ruritania")]
    ['LK', 'LK', 'LK', 'Ruritania']
    """
    return _CODES.get(_squeezed(name), name.strip())


@dataclass(frozen=True)
class Regions:
    """One paper's grouping: region names to codes of countries."""

    key: str
    version: str
    countries: Mapping[str, tuple[str, ...]]

    def of(self, country: str) -> str | None:
        """The region of a country, by any spelling; None where the table does not name it."""
        code = country_code(country)
        return next((region for region, codes in self.countries.items() if code in codes), None)


RETRIEVAL = Regions(
    "globalrg-table-1",
    "1",
    MappingProxyType(
        {
            "East Asia": ("CN", "KR", "JP"),
            "Southeast Asia": ("VN", "TH", "PH", "ID", "SG"),
            "South Asia": ("IN", "PK", "LK"),
            "Middle East Asia": ("SA", "IR", "TR", "LB", "EG"),
            "Europe": ("IT", "GR", "FR", "DE", "NL", "PT", "ES", "GB", "PL", "SE", "HU", "BG", "RU"),
            "Africa": ("TZ", "KE", "UG", "GH", "NG", "ET", "ZA", "MA", "TN", "SO"),
            "Latin America": ("BR", "PE", "CL", "AR", "MX"),
            "Caribbean": ("JM",),
            "Oceania": ("AU", "NZ", "FJ"),
            "North America": ("US", "CA"),
        }
    ),
)
GROUNDING = Regions(
    "globalrg-table-4",
    "1",
    MappingProxyType(
        {
            "Latin America": ("AR", "BR", "MX"),
            "North America": ("CA",),
            "East Asia": ("CN", "KR"),
            "South Asia": ("IN", "PK"),
            "Middle East Asia": ("IL",),
            "Southeast Asia": ("PH", "VN"),
            "Africa": ("NG", "ZA"),
            "Europe": ("PL", "RU"),
        }
    ),
)
