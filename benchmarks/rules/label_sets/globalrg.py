"""The regions that GlobalRG puts its countries in: versioned, so that a number says which grouping it used.

Source: Bhatia et al. (2024), GlobalRG, Tables 1 and 4. Table 1 names 49 countries; the fiftieth of the results is
Somalia, which they count as Africa.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from benchmarks.rules.label_sets.contract import LabelSetSpec
from benchmarks.rules.label_sets.countries import country_code, country_label

SOURCE = "Bhatia et al. (2024), GlobalRG"


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


def label_set(regions: Regions, name: str, table: str) -> LabelSetSpec:
    """The countries of a grouping as a label set, in the order of its regions."""
    labels = [country_label(code, region=region) for region, codes in regions.countries.items() for code in codes]
    return LabelSetSpec(regions.key, name, "countries", tuple(labels), source=f"{SOURCE}, {table}")


SETS = (
    label_set(RETRIEVAL, "Countries of GlobalRG, retrieval", "Table 1"),
    label_set(GROUNDING, "Countries of GlobalRG, grounding", "Table 4"),
)
