"""What a row of a collection's file says: an entry, a query, or a published 3XCM trial, which is both."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem

LONGEST_KEY = 200
LONGEST_SET = 60
MOST_TEXT = 20_000
MOST_ABOUT = 20_000
MOST_RELEVANT = 10_000
KINDS = ("entry", "query")
OWN = frozenset({"kind", "key", "text", "query_set", "relevant", "roles", "about"})
TRIAL = "query_image_id"
PLAIN = "plain"
CANDIDATES = {
    "correct": "semantically_relevant_candidate",
    "language_biased": "culturally_relevant_candidate",
    "irrelevant": "non_relevant_candidate",
}


@dataclass(frozen=True)
class EntryRow:
    """An entry to be."""

    key: str
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class QueryRow:
    """A query to be."""

    query_set: str
    key: str
    text: str = ""
    relevant: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def entry_keys(self) -> set[str]:
        """Keys of entries it speaks of."""
        return {*self.relevant, *self.roles.values()}


def read(row: Mapping[str, Any]) -> tuple[list[EntryRow], QueryRow | None]:
    """Of a clean row. Raises RowProblem."""
    if TRIAL in row:
        return _trial(row)
    kind = parse_text(row, "kind", 20) or "entry"
    if kind not in KINDS:
        text = _("“kind” is “%(given)s”. It must be entry or query.")
        raise RowProblem("bad_kind", text % {"given": kind})
    key, about = parse_required_text(row, "key", LONGEST_KEY), _parse_about(row)
    if kind == "entry":
        text = parse_text(row, "text", MOST_TEXT)
        return [EntryRow(key, {**({"text": text} if text else {}), **about})], None
    return [], QueryRow(
        query_set=parse_text(row, "query_set", LONGEST_SET),
        key=key,
        text=parse_text(row, "text", MOST_TEXT),
        relevant=_relevant(row),
        roles=_roles(row),
        about=about,
    )


def _trial(row: Mapping[str, Any]) -> tuple[list[EntryRow], QueryRow]:
    """The sixteen columns of the published benchmark. Pictures are known by their id; an index is only told along."""
    things = [_picture(row, "query"), *(_picture(row, candidate) for candidate in CANDIDATES.values())]
    roles = {
        role: parse_required_text(row, f"{candidate}_image_id", LONGEST_KEY) for role, candidate in CANDIDATES.items()
    }
    seed = things[0]
    asked = QueryRow(PLAIN, seed.key, str(seed.about["concept"]), (roles["correct"],), roles, dict(seed.about))
    return things, asked


def _picture(row: Mapping[str, Any], which: str) -> EntryRow:
    about = {name: parse_required_text(row, f"{which}_{name}", LONGEST_KEY) for name in ("concept", "country")}
    return EntryRow(parse_required_text(row, f"{which}_image_id", LONGEST_KEY), about)


def parse_text(row: Mapping[str, Any], name: str, most: int) -> str:
    value = row.get(name)
    if isinstance(value, dict | list | bool):
        text = _("“%(name)s” must be text.")
        raise RowProblem("unreadable", text % {"name": name})
    text = "" if value is None else str(value).strip()
    if len(text) > most:
        message = _("“%(name)s” is longer than %(most)s characters.") % {"name": name, "most": most}
        raise RowProblem("too_long", message)
    return text


def parse_required_text(row: Mapping[str, Any], name: str, most: int) -> str:
    text = parse_text(row, name, most)
    if not text:
        raise RowProblem("missing", _("“%(name)s” is empty. Every row needs it.") % {"name": name})
    return text


def from_json(row: Mapping[str, Any], name: str, kind: type) -> Any:
    """A cell of a table holds it as text. None where nothing is said. What it holds is not clean yet."""
    value = row.get(name)
    if value in (None, ""):
        return None
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = None
    if not isinstance(value, kind):
        text = _("“%(name)s” cannot be read. Write it as JSON.")
        raise RowProblem("unreadable", text % {"name": name})
    return value


def _relevant(row: Mapping[str, Any]) -> tuple[str, ...]:
    """A list; in a table also keys with | between."""
    value = row.get("relevant")
    if isinstance(value, str) and not value.lstrip().startswith("["):
        value = [one.strip() for one in value.split("|") if one.strip()]
    keys = value if isinstance(value, list) else from_json(row, "relevant", list) or []
    if len(keys) > MOST_RELEVANT:
        message = _("“%(name)s” names more than %(most)s entries.") % {"name": "relevant", "most": MOST_RELEVANT}
        raise RowProblem("too_long", message)
    return tuple(dict.fromkeys(parse_required_text({"relevant": one}, "relevant", LONGEST_KEY) for one in keys))


def _roles(row: Mapping[str, Any]) -> dict[str, str]:
    """Role to key: an object, or columns role.<name>."""
    whole = from_json(row, "roles", dict) or {}
    parts = {name[5:]: value for name, value in row.items() if name.startswith("role.") and value not in (None, "")}
    both = {**whole, **parts}
    roles = {
        str(role).strip()[:60]: parse_required_text({"roles": key}, "roles", LONGEST_KEY) for role, key in both.items()
    }
    if len(set(roles.values())) < len(roles):
        raise RowProblem("same_candidate", _("Two roles name the same entry. Each candidate has one role."))
    return roles


def _parse_about(row: Mapping[str, Any]) -> dict[str, Any]:
    whole = from_json(row, "about", dict) or {}
    others = {
        name[:60]: value
        for name, value in row.items()
        if name not in OWN and not name.startswith("role.") and value not in (None, "")
    }
    if len(json.dumps({**others, **whole})) > MOST_ABOUT:
        message = _("“%(name)s” is longer than %(most)s characters.") % {"name": "about", "most": MOST_ABOUT}
        raise RowProblem("too_long", message)
    return {**others, **whole}
