"""What the form of a stage needs to know of its benchmark."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.composer.controls import Languages


@dataclass(frozen=True)
class StageContext:
    """What a stage's form needs to know of its benchmark: the stages before it, by key, with their JSON."""

    languages: Languages
    earlier: Mapping[str, Any]
    """key: (name, fields)"""
    context: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """key: names in the context of its items"""
    derived: Sequence[str] = ()
    """What is derived, and how many items result, in sentences."""
    facts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """key: names of the facts of its items"""
    filters: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    """key: its filters, each with its rule in words"""
    examples: Mapping[str, str] = field(default_factory=dict)
    """What a path reads of an item that is there."""
    variants: Sequence[str] = ()
    """Prompt variants that models answer earlier stages with."""
    items: Sequence[tuple[str, str]] = ()
    """Keys of the earlier items, in words, where they are few enough to choose from."""
    label_sets: Sequence[tuple[str, str]] = ()
    """Sets that coverage may have as its rows: value and name."""


def question_title(field: Mapping[str, Any]) -> str:
    """A question by what it asks; by its key where it asks nothing yet."""
    label = field.get("label")
    words = str(label.get("en") or "").strip() if isinstance(label, dict) else ""
    return words or str(field.get("key", ""))
