"""Stages of pairs that have no item though their sources are answered: what the board and the next action share."""

from benchmarks.models import Benchmark, Stage
from benchmarks.pages.board import address


def should_have_pairs(stage: Stage) -> bool:
    """Whether answered sources make pairs. Pairs by likeness may be none."""
    derivation = stage.derivation or {}
    return derivation.get("kind") == "pair" and "similar" not in derivation.get("params", {})


def pair_settings_address(benchmark: Benchmark, stage: Stage) -> str:
    """Where is chosen what pairs must share, or how alike they must be."""
    place = "by" if should_have_pairs(stage) else "similar.least"
    return address("annotation:compose", benchmark, stage.pk, at=f"derivation.params.{place}") + "#s-items"
