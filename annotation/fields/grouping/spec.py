"""The pictures of an item as groups of duplicates, with what is kept of each. Pure.

"The same as" is transitive by construction: groups that share a picture are one group (union-find), whatever came in.
Every picture is in exactly one group or dropped; "not sure" is a flag. A group keeps at least one picture, the first of
it where nobody said which, unless somebody is not sure about all of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from annotation.fields.contract import (
    Column,
    ConfigError,
    Examples,
    FaultyExample,
    InvalidAnswer,
    Level,
    Rubric,
    Shown,
    ShownImage,
    Spec,
    Text,
    ValidExample,
    localise,
    reject_unknown_keys,
    require,
    require_text,
)

Answer: TypeAlias = dict[str, Any]
PARTS = ("groups", "dropped", "unsure")
ACTS = ("keep", "same", "drop", "unsure", "role")
TAKEN = "kdsnubalrw+-=?0123456789"  # keys that mean something on the sheet already


@dataclass(frozen=True)
class Role:
    """What a picture is to the one that is kept. `keeps`: it is kept too, as another time of day is."""

    code: str
    label: Text
    keeps: bool = False

    def to_json(self) -> dict[str, Any]:
        return {"code": self.code, "label": dict(self.label), "keeps": self.keeps}


@dataclass(frozen=True)
class Config:
    """`keep_one`, `keep_both`: the rule in words, always in view; empty for the page's own words."""

    roles: tuple[Role, ...] = ()
    not_sure: bool = True
    keep_one: Text = field(default_factory=dict)
    keep_both: Text = field(default_factory=dict)

    def role(self, code: str) -> Role | None:
        return next((role for role in self.roles if role.code == code), None)


def clusters(shown: Shown) -> list[list[str]]:
    """The names of the pictures in groups of look-alikes, as the item's context has them; singles last, one by one.

    Without such groups all pictures are one.
    """
    left = dict.fromkeys(image.role for image in shown.images)
    listed = shown.context.get("groups")
    if not isinstance(listed, list) or not listed:
        return [list(left)] if left else []
    groups: list[list[str]] = []
    for group in listed:
        names = [name for name in dict.fromkeys(group) if name in left]
        for name in names:
            del left[name]
        groups += [names] if names else []
    several = [names for names in groups if len(names) > 1]
    return [*several, *(names for names in groups if len(names) == 1), *([name] for name in left)]


def picture_names(shown: Shown) -> list[str]:
    """The names of the pictures as they lie on the sheet; picture 1 is the first of them."""
    return [name for names in clusters(shown) for name in names]


class UnionFind:
    """Names joined two by two. Being together is reflexive, symmetric and transitive by construction."""

    def __init__(self, names: Iterable[str]) -> None:
        self._above = {name: name for name in names}

    def root(self, name: str) -> str:
        while self._above[name] != name:
            self._above[name] = self._above[self._above[name]]
            name = self._above[name]
        return name

    def join(self, name: str, other: str) -> None:
        self._above[self.root(name)] = self.root(other)


@dataclass
class _ParsedGroups:
    """What came, taken apart and checked."""

    order: list[str]
    joined: UnionFind
    grouped: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    roles: dict[str, str] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    unsure: set[str] = field(default_factory=set)

    def check_name(self, name: Any) -> str:
        if not isinstance(name, str) or name not in self.order:
            raise InvalidAnswer("no_such_picture", given=str(name)[:60] if isinstance(name, (str, int)) else "?")
        return name

    def number(self, name: str) -> int:
        return self.order.index(name) + 1


class GroupingSpec(Spec[Config, Answer]):
    key: ClassVar[str] = "grouping"
    version: ClassVar[int] = 1
    problems: ClassVar[frozenset[str]] = frozenset(
        {"not_a_grouping", "no_such_picture", "picture_twice", "no_such_role", "undecided", "not_sure_is_off"}
    )
    examples: ClassVar[Examples] = Examples(
        config={
            "roles": [
                {"code": "crop", "label": {"en": "Crop", "ar": "اقتطاع"}},
                {"code": "night", "label": {"en": "Other time of day"}, "keeps": True},
            ],
            "not_sure": False,
            "keep_one": {"en": "Same scene or object, no meaningful change."},
        },
        shown=Shown(1, images=tuple(ShownImage(f"p00{n}", n, f"{n:064x}", 640, 480) for n in (1, 2, 3))),
        valid=[
            ValidExample(
                {
                    "groups": [
                        {"images": ["p001", "p003"], "kept": ["p003", "p001"], "roles": {"p003": "night"}},
                        {"images": ["p002"]},
                    ]
                },
                {
                    "groups": [
                        {"images": ["p001", "p003"], "kept": ["p001", "p003"], "roles": {"p003": "night"}},
                        {"images": ["p002"], "kept": ["p002"], "roles": {}},
                    ],
                    "dropped": [],
                    "unsure": [],
                },
            ),
            # groups that share a picture are one
            ValidExample(
                {"groups": [{"images": ["p001", "p002"]}, {"images": ["p002", "p003"], "kept": ["p002"]}]},
                {
                    "groups": [{"images": ["p001", "p002", "p003"], "kept": ["p002"], "roles": {}}],
                    "dropped": [],
                    "unsure": [],
                },
            ),
            # what a sheet without a script sends
            ValidExample(
                ["keep:p001", "same:p002:p001:crop", "drop:p003"],
                {
                    "groups": [{"images": ["p001", "p002"], "kept": ["p001"], "roles": {"p002": "crop"}}],
                    "dropped": ["p003"],
                    "unsure": [],
                },
            ),
        ],
        invalid=[
            FaultyExample({"groups": [{"images": ["p001", "p002"]}]}, "undecided"),
            FaultyExample({"groups": [{"images": ["p001", "p002", "p009"]}]}, "no_such_picture"),
            FaultyExample({"groups": [{"images": ["p001", "p002"]}], "dropped": ["p003", "p002"]}, "picture_twice"),
            FaultyExample(
                {"groups": [{"images": ["p001", "p002", "p003"], "roles": {"p002": "zoom"}}]}, "no_such_role"
            ),
            FaultyExample({"groups": [{"images": ["p001", "p002"]}], "unsure": ["p003"]}, "not_sure_is_off"),
            FaultyExample(["keep:p001", "same:p002:p001", "same:p003:p007"], "no_such_picture"),
            FaultyExample("p001", "not_a_grouping"),
            FaultyExample(3, "not_a_grouping"),
            FaultyExample({"groups": "p001"}, "not_a_grouping", json_only=True),
            FaultyExample({"group": []}, "not_a_grouping", json_only=True),
            FaultyExample([["keep", "p001"]], "not_a_grouping", json_only=True),
        ],
    )

    def config(self, data: Mapping[str, Any], path: str = "config") -> Config:
        reject_unknown_keys(data, ("roles", "not_sure", "keep_one", "keep_both"), path)
        rows = require(data, "roles", list, path) if "roles" in data else []
        if len(rows) > 12:
            raise ConfigError(f"{path}.roles", f"may have 12 entries, has {len(rows)}")
        roles: list[Role] = []
        for number, row in enumerate(rows):
            roles.append(_role(row, f"{path}.roles[{number}]"))
            if any(role.code == roles[-1].code for role in roles[:-1]):
                raise ConfigError(f"{path}.roles[{number}].code", f"{roles[-1].code!r} is there twice")
        return Config(
            tuple(roles),
            require(data, "not_sure", bool, path) if "not_sure" in data else True,
            require_text(data, "keep_one", path, optional=True),
            require_text(data, "keep_both", path, optional=True),
        )

    def config_json(self, config: Config) -> dict[str, Any]:
        data: dict[str, Any] = {"roles": [role.to_json() for role in config.roles], "not_sure": config.not_sure}
        words = {"keep_one": dict(config.keep_one), "keep_both": dict(config.keep_both)}
        return data | {key: text for key, text in words.items() if text}

    def parse(self, raw: Any, config: Config, shown: Shown) -> Answer | None:
        if raw is None or raw == "" or raw == [] or raw == {}:
            return None
        order = picture_names(shown)
        read = _ParsedGroups(order, UnionFind(order))
        if isinstance(raw, Mapping):
            _parse_groups(raw, read)
        elif isinstance(raw, (list, tuple)) and all(isinstance(value, str) for value in raw):
            _parse_actions(raw, read)
        else:
            raise InvalidAnswer("not_a_grouping")
        return _canonical(read, config)

    def level(self, config: Config) -> Level:
        return "partition"

    def code(self, answer: Answer, config: Config) -> None:
        """Groupings are compared pair by pair of pictures, never by equality."""
        return

    def values(self, answer: Answer, config: Config) -> dict[str, float | str]:
        return {f".{name}": float(count) for name, count in count_pictures(answer).items()}

    def columns(self, config: Config) -> tuple[Column, ...]:
        return (
            Column("", "json", "groups of duplicates with what is kept and each picture's role; dropped; not sure"),
            Column("_pictures", "integer", "pictures decided on"),
            Column("_groups", "integer", "groups of duplicates, single pictures among them"),
            Column("_kept", "integer", "pictures kept"),
            Column("_dropped", "integer", "pictures dropped without a group"),
            Column("_unsure", "integer", "pictures the person was not sure about"),
        )

    def cells(self, answer: Answer, config: Config) -> dict[str, Any]:
        return {"": answer} | {f"_{name}": count for name, count in count_pictures(answer).items()}

    def rubric(self, label: str, config: Config, language: str = "en") -> Rubric:
        name = {"type": "string", "description": "a picture's name"}
        names = {"type": "array", "items": name, "uniqueItems": True}
        codes = {"type": "string", "enum": [role.code for role in config.roles]}
        group = {
            "type": "object",
            "properties": {
                "images": names,
                "kept": names,
                "roles": {"type": "object", "additionalProperties": codes if config.roles else False},
            },
            "required": ["images", "kept"],
        }
        words = [label, "Put duplicates into one group and keep one of each; every picture is in one group or dropped."]
        words += [localise(text, language) for text in (config.keep_one, config.keep_both) if text]
        words += [f"{role.code}: {localise(role.label, language)}" for role in config.roles]
        properties = {"groups": {"type": "array", "items": group}, "dropped": names, "unsure": names}
        return Rubric("\n".join(words), {"type": "object", "properties": properties, "required": ["groups"]})


def count_pictures(answer: Mapping[str, Any]) -> dict[str, int]:
    """Pictures, groups, kept, dropped and unsure of a stored answer."""
    groups = answer["groups"]
    together = sum(len(group["images"]) for group in groups)
    return {
        "pictures": together + len(answer["dropped"]),
        "groups": len(groups),
        "kept": sum(len(group["kept"]) for group in groups),
        "dropped": len(answer["dropped"]),
        "unsure": len(answer["unsure"]),
    }


def role_keys(config: Config) -> dict[str, str]:
    """The key of each role: the first letter of its English words that is free. A role may be left without."""
    keys: dict[str, str] = {}
    for role in config.roles:
        letters = [letter for letter in f"{localise(role.label, 'en')}{role.code}".lower() if letter in LETTERS]
        free = (letter for letter in letters if letter not in TAKEN and letter not in keys.values())
        keys[role.code] = next(free, "")
    return keys


LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _role(row: Any, path: str) -> Role:
    if not isinstance(row, Mapping):
        raise ConfigError(path, "must be an object with code and label")
    reject_unknown_keys(row, ("code", "label", "keeps"), path)
    code = require(row, "code", str, path)
    if not code or code != code.strip() or len(code) > 40 or ":" in code:
        raise ConfigError(f"{path}.code", 'must be 1 to 40 characters, without ":" or outer spaces')
    keeps = require(row, "keeps", bool, path) if "keeps" in row else False
    return Role(code, require_text(row, "label", path), keeps)


def _parse_groups(raw: Mapping[str, Any], read: _ParsedGroups) -> None:
    """The JSON form; groups may overlap, lack what is kept, and stand in any order."""
    if any(key not in PARTS for key in raw):
        raise InvalidAnswer("not_a_grouping")
    for group in _list(raw.get("groups", [])):
        if not isinstance(group, Mapping) or any(key not in ("images", "kept", "roles") for key in group):
            raise InvalidAnswer("not_a_grouping")
        images = [read.check_name(name) for name in _list(group.get("images"))]
        kept_names = [read.check_name(name) for name in _list(group.get("kept", []))]
        roles = group.get("roles", {})
        if (
            not images
            or not set(kept_names) <= set(images)
            or not isinstance(roles, Mapping)
            or not set(roles) <= {*images}
        ):
            raise InvalidAnswer("not_a_grouping")
        for name in images:
            read.joined.join(name, images[0])
        read.grouped.update(images)
        read.kept.update(kept_names)
        read.roles.update(roles)
    read.dropped.update(read.check_name(name) for name in _list(raw.get("dropped", [])))
    read.unsure.update(read.check_name(name) for name in _list(raw.get("unsure", [])))


def _parse_actions(raw: Sequence[str], read: _ParsedGroups) -> None:
    """One act for each picture: keep:NAME, drop:NAME, unsure:NAME, same:NAME:OTHER[:ROLE], role:NAME:ROLE."""
    for action in raw:
        act, *rest = action.split(":", 3)
        if act not in ACTS or not rest or (act == "same" and len(rest) < 2) or (act == "role" and len(rest) != 2):
            raise InvalidAnswer("not_a_grouping")
        name = read.check_name(rest[0])
        if act == "role":
            read.roles[name] = rest[1]
        elif act == "drop":
            read.dropped.add(name)
        elif act == "unsure":
            read.unsure.add(name)
        else:
            read.grouped.add(name)
        if act == "keep":
            read.kept.add(name)
        if act == "same":
            read.joined.join(name, read.check_name(rest[1]))
            read.grouped.add(rest[1])
            if len(rest) == 3:
                read.roles[name] = rest[2]


def _list(value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise InvalidAnswer("not_a_grouping")
    return list(value)


def _canonical(read: _ParsedGroups, config: Config) -> Answer:
    """The one way to write a partition down. Refused where it is none of all pictures."""
    for name, code in read.roles.items():
        if not isinstance(code, str) or config.role(code) is None:
            raise InvalidAnswer("no_such_role", given=str(code)[:40], number=read.number(name))
    if read.unsure and not config.not_sure:
        raise InvalidAnswer("not_sure_is_off", number=read.number(min(read.unsure, key=read.order.index)))
    both = read.grouped & read.dropped
    if both:
        raise InvalidAnswer("picture_twice", number=read.number(min(both, key=read.order.index)))
    left = [name for name in read.order if name not in read.grouped | read.dropped | read.unsure]
    if left:
        raise InvalidAnswer("undecided", count=len(left), first=read.number(left[0]))
    groups: dict[str, list[str]] = {}
    for name in read.order:
        if name not in read.dropped:
            groups.setdefault(read.joined.root(name), []).append(name)
    return {
        "groups": [_group(images, read, config) for images in groups.values()],
        "dropped": [name for name in read.order if name in read.dropped],
        "unsure": [name for name in read.order if name in read.unsure],
    }


def _group(images: list[str], read: _ParsedGroups, config: Config) -> dict[str, Any]:
    keeping = {name for name in images if (role := config.role(read.roles.get(name, ""))) is not None and role.keeps}
    sure = [name for name in images if name not in read.unsure]
    kept_names = [name for name in images if name in read.kept or name in keeping] or sure[:1]
    # a role says what a picture is to the one that is kept: what is kept itself has none, unless the role keeps it
    roles = {
        name: read.roles[name] for name in images if name in read.roles and (name not in kept_names or name in keeping)
    }
    return {"images": images, "kept": kept_names, "roles": roles}


SPEC = GroupingSpec()
