"""Frozen, versioned releases: what was selected, the rows that were frozen, and the files that were written."""

from releases.models.releases import Release, ReleaseFile, ReleaseItem, ReleaseRow, WithheldFile
from releases.models.selections import ReleaseSelection

__all__ = ["Release", "ReleaseFile", "ReleaseItem", "ReleaseRow", "ReleaseSelection", "WithheldFile"]
