"""Frozen, versioned releases: what was selected, the rows that were frozen, and the files that were written."""

from releases.models.releases import Release, ReleaseFile, ReleaseRow
from releases.models.selections import ReleaseSelection

__all__ = ["Release", "ReleaseFile", "ReleaseRow", "ReleaseSelection"]
