"""Where problems and the place to be seen are, for the composer's templates."""

from collections.abc import Sequence

from django import template

from annotation.composer.controls import Control
from annotation.composer.paths import parse_path
from annotation.composer.validation import StageProblem

register = template.Library()


@register.filter
def at(wrong: Sequence[StageProblem], path: str) -> list[StageProblem]:
    return [one for one in wrong if one.path == path]


@register.filter
def within(path: str, outer: str) -> bool:
    """Whether a place is inside another, or is it."""
    found = parse_path(outer)
    return bool(path) and bool(found) and parse_path(path)[: len(found)] == found


@register.filter
def inside(wrong: Sequence[StageProblem], path: str) -> bool:
    return any(within(one.path, path) for one in wrong)


@register.filter
def holds(controls: Sequence[Control], path: str) -> bool:
    return any(within(path, one.path) for one in controls if one.input != "hidden")


@register.filter
def any_wrong(controls: Sequence[Control], wrong: Sequence[StageProblem]) -> bool:
    return any(one.blocks and holds(controls, one.path) for one in wrong)
