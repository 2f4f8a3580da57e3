"""What a label set holds, wherever it comes from: a built-in list, a recipe, an imported file, typed lines."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

MOST_LABELS = 2000
MOST_LETTERS = 120  # of a label: it becomes the target of a unit
GROUPS = ("region", "continent", "values_zone", "western")  # by which tables group labels
KINDS = ("countries", "regions", "cultures", "religions", "languages", "other")


class LabelSetError(ValueError):
    """`code`: empty, too_many, no_text, too_long, key_twice or text_twice; `value`: the label that is at fault."""

    def __init__(self, code: str, value: str = "") -> None:
        super().__init__(f"{code}: {value}" if value else code)
        self.code, self.value = code, value


@dataclass(frozen=True)
class LabelSpec:
    """One label. `text` is what people and models read, exactly as written; `key` names it inside its set.

    Attributes:
        names: text by language, where it has other names.
        country: ISO 3166-1 alpha-2, or empty: not every culture is a country.
        region: group of the paper or file that the set comes from.
        values_zone: zone of the cultural map of the World Values Survey, or empty.
        western: None where the set does not say.
        aliases: other spellings that a file or a survey may use.
        about: further columns of a file.
    """

    key: str
    text: str
    names: Mapping[str, str] = field(default_factory=dict)
    country: str = ""
    continent: str = ""
    region: str = ""
    values_zone: str = ""
    western: bool | None = None
    aliases: tuple[str, ...] = ()
    about: Mapping[str, str] = field(default_factory=dict)

    def group(self, by: str) -> str:
        """Its group by one of GROUPS: "yes", "no" or "" for `western`."""
        if by == "western":
            return {True: "yes", False: "no", None: ""}[self.western]
        return str(getattr(self, by))


@dataclass(frozen=True)
class LabelSetSpec:
    """A set of labels in their order. `version` is the team's number; 0 while the team has no row of it."""

    key: str
    name: str
    kind: str
    labels: tuple[LabelSpec, ...]
    source: str = ""
    licence: str = ""
    version: int = 0

    @property
    def digest(self) -> str:
        """Of the content: equal for equal labels in an equal order, whatever the version."""
        content = [self.name, self.kind, self.source, self.licence, [asdict(label) for label in self.labels]]
        return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=True).encode()).hexdigest()

    def find(self, text: str) -> LabelSpec | None:
        """The label with this key, text, alias or name in another language; the first in the order of the set."""
        wanted = fold(text)
        return next((label for label in self.labels if wanted in spellings(label)), None)


def fold(text: str) -> str:
    """Spellings that differ in case and white space only are one."""
    return " ".join(text.split()).casefold()


def spellings(label: LabelSpec) -> set[str]:
    return {fold(text) for text in (label.key, label.text, *label.aliases, *label.names.values()) if text.strip()}


def problems(labels: Sequence[LabelSpec]) -> Iterator[LabelSetError]:
    """What keeps these labels from being a set."""
    if not labels:
        yield LabelSetError("empty")
    if len(labels) > MOST_LABELS:
        yield LabelSetError("too_many", str(len(labels)))
    for label in labels:
        if not label.text.strip() or not label.key.strip():
            yield LabelSetError("no_text", label.key)
        if max(len(label.text), len(label.key)) > MOST_LETTERS:
            yield LabelSetError("too_long", label.text[:40])
    for code, values in (("key_twice", [label.key for label in labels]), ("text_twice", [x.text for x in labels])):
        for value, n in Counter(values).items():
            if n > 1:
                yield LabelSetError(code, value)
