"""Where problems and the place to be seen are, for the composer's templates."""

from collections.abc import Sequence

from django import template

from annotation.composer.controls import Control
from annotation.composer.paths import parse_path
from annotation.composer.validation import StageProblem

register = template.Library()


@register.filter
def at(wrong: Sequence[StageProblem], path: str) -> list[StageProblem]:
    return [problem for problem in wrong if problem.path == path]


@register.filter
def is_within(path: str, outer: str) -> bool:
    """Whether a place is inside another, or is it."""
    outer_path = parse_path(outer)
    return bool(path) and bool(outer_path) and parse_path(path)[: len(outer_path)] == outer_path


@register.filter
def has_problem_inside(wrong: Sequence[StageProblem], path: str) -> bool:
    return any(is_within(problem.path, path) for problem in wrong)


@register.filter
def has_control_at(controls: Sequence[Control], path: str) -> bool:
    return any(is_within(path, control.path) for control in controls if control.input != "hidden")


@register.filter
def has_blocking_problem(controls: Sequence[Control], wrong: Sequence[StageProblem]) -> bool:
    return any(problem.blocks and has_control_at(controls, problem.path) for problem in wrong)
