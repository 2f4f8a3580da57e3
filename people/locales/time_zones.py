import zoneinfo
from functools import cache, lru_cache
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

COUNTRIES = "zone.tab"  # beside the zones of a machine: country code, coordinates, zone, remarks


@lru_cache(maxsize=512)
def zone_named(name: str) -> ZoneInfo | None:
    """The zone, or none where this machine does not know it: then UTC is shown."""
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError):
        return None


@cache
def zones_by_country() -> dict[str, list[str]]:
    """The zones of each country, by its ISO code; empty where this machine has no such list."""
    tables = (Path(folder) / COUNTRIES for folder in zoneinfo.TZPATH)
    table = next(filter(Path.is_file, tables), None)
    zones: dict[str, list[str]] = {}
    for line in table.read_text(encoding="utf-8").splitlines() if table else ():
        if not line.startswith("#") and line.count("\t") >= 2:
            country, _place, zone = line.split("\t")[:3]
            zones.setdefault(country, []).append(zone)
    return zones
