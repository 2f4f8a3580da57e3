"""Frozen, versioned releases: what was selected, the rows that were frozen, and the files that were written; and the
releases that a team imports."""

from releases.models.imports import ImportedRow, ReleaseImport
from releases.models.releases import Release, ReleaseFile, ReleaseItem, ReleaseRow, WithheldFile
from releases.models.selections import ReleaseSelection

__all__ = [
    "ImportedRow",
    "Release",
    "ReleaseFile",
    "ReleaseImport",
    "ReleaseItem",
    "ReleaseRow",
    "ReleaseSelection",
    "WithheldFile",
]
