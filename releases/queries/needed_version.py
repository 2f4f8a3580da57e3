"""Which version a release needs at least, by what changed since the release that was published before it."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from releases.models import Release, ReleaseSelection
from releases.queries.differences import TableDifference
from releases.queries.structure import Structure, changed_columns, changed_questions, structure_of

VERSION = re.compile(r"(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})")
_LONGEST_LIST = 5


class Change(StrEnum):
    """Which number of a version a change raises."""

    MAJOR = "major"
    MINOR = "minor"
    PATCH = "patch"


@dataclass(frozen=True)
class VersionNeed:
    """`lowest`: the version that the release must have at least. `reasons` are sentences."""

    change: Change
    lowest: str
    reasons: tuple[str, ...]

    def admits(self, version: str) -> bool:
        return version_order(version) >= version_order(self.lowest)

    def to_json(self) -> dict[str, Any]:
        return {"change": str(self.change), "lowest": self.lowest, "reasons": list(self.reasons)}

    def refusal(self, version: str, earlier: str) -> str:
        """Why a lower version is not taken."""
        text = _("Version %(version)s is too low after %(earlier)s: %(reasons)s Choose %(lowest)s or a higher one.")
        words = {"version": version, "earlier": earlier, "lowest": self.lowest, "reasons": " ".join(self.reasons)}
        return text % words


def version_parts(version: str) -> tuple[int, int, int] | None:
    """Major, minor and patch; None if it is no version."""
    match = VERSION.fullmatch(version)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def version_order(version: str) -> tuple[int, int, int]:
    """What versions are sorted by; what is no version comes first."""
    return version_parts(version) or (0, 0, 0)


def raised(version: str, change: Change) -> str:
    """The next version after this one."""
    major, minor, patch = version_order(version)
    if change is Change.MAJOR:
        return f"{major + 1}.0.0"
    return f"{major}.{minor + 1}.0" if change is Change.MINOR else f"{major}.{minor}.{patch + 1}"


def version_need(
    release: Release, earlier: Release, tables: Sequence[TableDifference], codebooks: Mapping[str, Mapping[str, Any]]
) -> VersionNeed:
    """`tables` are the differences between both, `codebooks` those of the release by stage."""
    before, now = structure_of(stored_codebooks(earlier)), structure_of(codebooks)
    major, minor = _major(before, now, tables), _minor(tables)
    if _splits(release.chosen) != _splits(earlier.chosen):
        minor.append(_("Splits or what is withheld changed."))
    change = Change.MAJOR if major else Change.MINOR if minor else Change.PATCH
    reasons = major + minor or [_("Only texts, metadata and files changed.")]
    return VersionNeed(change, raised(earlier.version, change), tuple(reasons))


def stored_need(release: Release) -> VersionNeed | None:
    """As it was found when its rows were frozen, or when the build stopped for it."""
    stored = release.facts.get("need")
    return VersionNeed(Change(stored["change"]), stored["lowest"], tuple(stored["reasons"])) if stored else None


def stored_codebooks(release: Release) -> dict[str, Any]:
    """By stage, as they were when its rows were frozen."""
    return {stage: json.loads(text) for stage, text in release.facts.get("codebooks", {}).items()}


def _major(before: Structure, now: Structure, tables: Sequence[TableDifference]) -> list[str]:
    reasons = []
    if columns := changed_columns(before, now):
        reasons.append(_("Columns changed in %(tables)s.") % {"tables": _listed(columns)})
    if questions := changed_questions(before, now):
        reasons.append(_("Codes changed of %(questions)s.") % {"questions": _listed(questions)})
    if content := sum(table.content for table in tables):
        text = ngettext("The content of %(n)s item changed.", "The content of %(n)s items changed.", content)
        reasons.append(text % {"n": content})
    return reasons


def _minor(tables: Sequence[TableDifference]) -> list[str]:
    reasons = []
    for kind, words in (("items", _("Items")), ("ratings", _("Answers"))):
        own = [table for table in tables if table.table.endswith(f"/{kind}")]
        counts = {
            _("added"): sum(table.added for table in own),
            _("removed"): sum(table.removed for table in own),
            _("with another state"): sum(table.restated for table in own),
        }
        if kind == "ratings":
            counts[_("with another content")] = sum(table.changed for table in own)
        listed = ", ".join(f"{n} {what}" for what, n in counts.items() if n)
        if listed:
            reasons.append(f"{words}: {listed}.")
    further = [
        table.table
        for table in tables
        if not table.table.endswith(("/items", "/ratings"))
        and (table.added or table.removed or table.restated or table.changed)
    ]
    if further:
        reasons.append(_("Rows changed in %(tables)s.") % {"tables": _listed(further)})
    return reasons


def _splits(chosen: ReleaseSelection) -> tuple[Any, ...]:
    """What decides which item is in which split; the seed says nothing where there is one split."""
    return (chosen.splits, chosen.withheld, chosen.group_by, chosen.seed) if chosen.splits else ()


def _listed(names: Iterable[str]) -> str:
    first = list(names)
    more = [_("%(n)s more") % {"n": len(first) - _LONGEST_LIST}] if len(first) > _LONGEST_LIST else []
    return ", ".join([*first[:_LONGEST_LIST], *more])
