"""All kinds of site rows in the order in which an import writes them, with those of plugins last."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from releases.rows.site import answers, predictions, structure
from releases.rows.site.kinds import RATERS, SiteKind

_BEFORE_RUNS = (
    *("images", "items", "item_images", "facts", "filter_results", RATERS, "model_details", "units", "slots"),
    "participations",
)
_BY_KEY = {kind.key: kind for kind in answers.KINDS}
KINDS: tuple[SiteKind, ...] = (
    *structure.KINDS,
    *(_BY_KEY[key] for key in _BEFORE_RUNS),
    *predictions.BEFORE_ANSWERS,
    *(kind for kind in answers.KINDS if kind.key not in _BEFORE_RUNS),
    *predictions.AFTER_ANSWERS,
)
ALSO = "{also}"


@dataclass(frozen=True)
class SitePart:
    """What a plugin adds. `also`: a kind of this app to SQL of further rows of it that the plugin's rows refer to."""

    kinds: tuple[SiteKind, ...]
    also: Mapping[str, str] = field(default_factory=dict)


class DuplicateKind(ValueError):
    """Two files of one release would have one name."""


BY_RECIPE: dict[str, SitePart] = {}  # filled by `register_site_part` only


def register_site_part(recipe: str, part: SitePart) -> None:
    """Raises DuplicateKind."""
    keys = [kind.key for kind in (*KINDS, *part.kinds)]
    if recipe in BY_RECIPE or len(set(keys)) < len(keys):
        raise DuplicateKind(f"recipe {recipe!r} has two kinds of site rows of one key")
    BY_RECIPE[recipe] = part


def site_kinds(recipe: str) -> dict[str, SiteKind]:
    """By key, in the order in which an import writes them."""
    part = BY_RECIPE.get(recipe, SitePart(()))
    kinds: Sequence[SiteKind] = (*KINDS, *part.kinds)
    return {kind.key: replace(kind, where=_with(kind, part)) for kind in kinds}


def _with(kind: SiteKind, part: SitePart) -> str:
    more = part.also.get(kind.key, "")
    return kind.where.replace(ALSO, f" OR {more}" if more else "")
