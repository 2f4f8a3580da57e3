"""What the buttons of the composer do to a stage's JSON: `<verb>:<place>`. Nothing here writes to the database."""

import copy
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from annotation.composer.draw_settings import can_leave_out_filter, tidy_draw
from annotation.composer.form_parser import MAP, object_to_rows, rows_to_object, unique_name
from annotation.composer.key_references import follow_keys
from annotation.composer.near_pairs import near_rows
from annotation.composer.pair_settings import tidy_pair
from annotation.composer.paths import get_value, join, list_and_index, parse_path
from annotation.composer.promotion_settings import tidy_join
from annotation.composer.reference_settings import tidy_references
from annotation.composer.verdict_settings import tidy_verdicts
from annotation.fields.registry import KINDS, UnknownKind, kind
from benchmarks.rules.displays import PAIRED_DISPLAYS, default_pictures
from jobs.formats.numbers import parse_int

DROPPED = "dropped"
Content = dict[str, Any]


class UnknownAction(LookupError):
    """The button belongs to another version of the page."""


def apply_action(content: Content, action: str) -> str:
    """Do it in place; says which place is to be seen next."""
    verb, _colon, path = action.partition(":")
    if verb not in VERBS:
        raise UnknownAction(action[:80])
    if verb != "undo":
        content.pop(DROPPED, None)
    return _apply_to_rows(
        content, path or str((content.get(DROPPED) or {}).get("at", "")), lambda: VERBS[verb](content, path)
    )


def _apply_to_rows(content: Content, path: str, do: Callable[[], str]) -> str:
    """Names and values are rows of a form and an object of the stage: an object while nothing is done to it."""
    before, is_map, _after = path.partition(MAP)
    place = parse_path(before)
    if not is_map or not place:
        return do()
    owner: Any = content
    for step in place[:-1]:
        owner = owner.setdefault(step, {}) if isinstance(owner, dict) else None
    if not isinstance(owner, dict):
        raise UnknownAction(path[:80])
    last = str(place[-1])
    owner[last + MAP] = object_to_rows(owner.pop(last, None))
    try:
        return do()
    finally:
        owner[last] = rows_to_object(owner.pop(last + MAP))


def _field(content: Content, key: str) -> str:
    try:
        new_kind = kind(key)
    except UnknownKind:
        raise UnknownAction(key[:80]) from None
    fields = content.setdefault("sheet", {}).setdefault("fields", [])
    start = new_kind.start_of_pairs if content.get("display") in PAIRED_DISPLAYS else {}
    config = copy.deepcopy(dict(start or new_kind.start or new_kind.spec.examples.config))
    fields.append({"key": "", "kind": new_kind.key, "label": {}, "required": True, "config": config})
    return f"sheet.fields[{len(fields) - 1}]"


def _append(content: Content, path: str) -> str:
    place = parse_path(path)
    if not place:
        raise UnknownAction(path[:80])
    known = get_value(content, path)
    if not isinstance(known, list):
        outer = get_value(content, join(place[:-1])) if len(place) > 1 else content
        if not isinstance(outer, dict) or not isinstance(place[-1], str):
            raise UnknownAction(path[:80])
        known = outer[place[-1]] = []
    codes = [str(row.get("code", "")) for row in known if isinstance(row, dict)]
    numbered = bool(codes) and all(code.isdecimal() for code in codes)
    known.append({"code": str(max(map(int, codes)) + 1)} if numbered else {})
    return f"{path}[{len(known) - 1}]"


def _row(content: Content, path: str) -> tuple[list[Any], int]:
    position = list_and_index(content, path)
    if position is None:
        raise UnknownAction(path[:80])
    return position


def _at(path: str, at: int) -> str:
    return join((*parse_path(path)[:-1], at))


def _move(by: int) -> Callable[[Content, str], str]:
    def move(content: Content, path: str) -> str:
        rows, at = _row(content, path)
        to = min(max(at + by, 0), len(rows) - 1)
        rows.insert(to, rows.pop(at))
        return _at(path, to)

    return move


def _move_to(content: Content, action: str) -> str:
    """Dragged: `sheet.fields[2]:0`."""
    path, _colon, number = action.rpartition(":")
    rows, at = _row(content, path)
    to = parse_int(number, default=len(rows))
    if to >= len(rows):
        raise UnknownAction(action[:80])
    rows.insert(to, rows.pop(at))
    return _at(path, to)


def _copy(content: Content, path: str) -> str:
    rows, at = _row(content, path)
    duplicate = copy.deepcopy(rows[at])
    for name in ("key", "code"):
        if isinstance(duplicate, dict) and duplicate.get(name):
            duplicate[name] = unique_name(
                str(duplicate[name]), [str(row.get(name)) for row in rows if isinstance(row, dict)]
            )
    rows.insert(at + 1, duplicate)
    return _at(path, at + 1)


def _delete(content: Content, path: str) -> str:
    """It can be put back until something else is moved, added or taken out."""
    rows, at = _row(content, path)
    content[DROPPED] = {"at": path, "what": rows.pop(at)}
    return _at(path, min(at, len(rows) - 1)) if rows else join(parse_path(path)[:-1])


def _undo(content: Content, path: str) -> str:
    dropped = content.pop(DROPPED, None)
    place = parse_path(dropped.get("at", "")) if isinstance(dropped, dict) else ()
    rows = get_value(content, join(place[:-1])) if place else None
    if not isinstance(rows, list) or not isinstance(place[-1], int):
        raise UnknownAction("undo")
    rows.insert(min(place[-1], len(rows)), dropped.get("what"))
    return join(place)


VERBS: dict[str, Callable[[Content, str], str]] = {
    "field": _field,
    "more": _append,
    "up": _move(-1),
    "down": _move(1),
    "to": _move_to,
    "copy": _copy,
    "drop": _delete,
    "undo": _undo,
}


KEY_WORDS, KEY_LENGTH = 3, 40


def slug(text: str, otherwise: str) -> str:
    """A key made of the first three words, cut at a word: small Latin letters, digits and _."""
    plain = unicodedata.normalize("NFKD", text.replace("{target}", " ")).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", " ", re.sub(r"['\u2019]", "", plain)).split()[:KEY_WORDS]
    while len(words) > 1 and len("_".join(words)) > KEY_LENGTH:
        words.pop()
    key = "_".join(words)[:KEY_LENGTH]
    return key if key and key[0].isalpha() else otherwise


SHAPES: tuple[tuple[str, type], ...] = (
    ("sheet", dict), ("sheet.fields", list), ("sheet.checks", list), ("sheet.score", dict), ("sheet.score.label", dict),
    ("skip_reasons", list), ("review_reasons", list), ("acceptance_rule", dict), ("acceptance_rule.clauses", list),
    ("acceptance_rule.score", dict), ("acceptance_rule.score.label", dict), ("derivation", dict),
    ("derivation.from", list), ("derivation.params", dict), ("layout", dict), ("instructions", dict),
    ("coverage", dict), ("coverage.names", list),
)  # fmt: skip
FIELD_SHAPES: tuple[tuple[str, type], ...] = (
    ("label", dict), ("help", dict), ("config", dict), ("rules", list), ("show_if", dict), ("show_if.in", list),
    ("required_unless", str),
)  # fmt: skip


def _coerce_shape(owner: Any, shapes: Iterable[tuple[str, type]]) -> None:
    """No form of ours sends a text where an object belongs; whoever does, loses it."""
    for path, wanted in shapes:
        *outer, last = parse_path(path)
        inner = get_value(owner, join(outer)) if outer else owner
        if isinstance(inner, dict) and last in inner and not isinstance(inner[last], wanted):
            del inner[last]


def follow_display(content: Content, before: Mapping[str, Any], pictures: Mapping[str, str]) -> Content:
    """Another display brings its own number of pictures, and pairs of texts bring none; a choice in this form stays.

    `pictures`: those of the earlier stages, by key.
    """
    if content.get("pictures") != before.get("pictures"):
        return content
    chosen, known = _sources(content), _sources(before)
    if content.get("display") != before.get("display"):
        content["pictures"] = default_pictures(str(content.get("display")))
    if (content.get("display"), *chosen) != (before.get("display"), *known) and _pairs_texts(content, pictures):
        content["pictures"] = "none"
    return content


def _sources(content: Mapping[str, Any]) -> tuple[Any, Any]:
    derivation = content.get("derivation") or {}
    return derivation.get("kind"), derivation.get("from") or []


def _pairs_texts(content: Mapping[str, Any], pictures: Mapping[str, str]) -> bool:
    """Whether two texts stand side by side: what is paired, or might be, comes from stages without pictures."""
    kind, keys = _sources(content)
    sources = [pictures[key] for key in keys if key in pictures] or list(pictures.values())
    return kind == "pair" and str(content.get("display")) in PAIRED_DISPLAYS and set(sources) == {"none"}


def fill_keys(content: Content) -> Content:
    """Keys and codes that nobody wrote are made of the labels; what was left empty is left out."""
    _coerce_shape(content, SHAPES)
    sheet = content.setdefault("sheet", {})
    fields = sheet["fields"] = _objects(sheet.get("fields"))
    for question in fields:
        _coerce_shape(question, FIELD_SHAPES)
    for key in ("skip_reasons", "review_reasons"):
        for question in _objects(content.get(key)):
            _coerce_shape(question, (("label", dict),))
    for number, question in enumerate(fields, start=1):
        _fill_name(question, "key", fields, f"question_{number}")
        _tidy_field(question)
    _option_rows(content, ("skip_reasons", "review_reasons"))
    for place in ("sheet.checks", "acceptance_rule.clauses"):
        rows = _objects(get_value(content, place) or [])
        for number, row in enumerate(rows, start=1):
            _fill_name(row, "key", rows, f"check_{number}", of="words")
    for owner in (sheet, content.get("acceptance_rule") or {}):
        score = owner.get("score")
        if isinstance(score, dict) and not (score.get("expression") or any((score.get("label") or {}).values())):
            del owner["score"]
    if not sheet.get("checks"):
        sheet.pop("checks", None)
    if isinstance(content.get("coverage"), dict) and not content["coverage"].get("rows"):
        content["coverage"] = {}
    _tidy_derivation(content)
    if isinstance(content.get("layout"), dict):
        for key in ("show", "fold"):
            rows = content["layout"].get(key) or []
            content["layout"][key] = [_collapse_heading(row) for row in rows] if isinstance(rows, list) else rows
        layout = content["layout"].items()
        content["layout"] = {key: value for key, value in layout if value not in ("", [], {}, None, False)}
    content.setdefault("retire_after_skips", None)
    if content.get("has_target"):
        content["target_in_all"] = False
    follow_keys(content)
    return content


def _tidy_derivation(content: Content) -> None:
    """The source of items as rules read it: what was not chosen is left out."""
    if isinstance(content.get("derivation"), dict) and not content["derivation"].get("kind"):
        content["derivation"] = {}
    if isinstance(content.get("derivation"), dict) and not can_leave_out_filter(content["derivation"]):
        content["derivation"].pop("without", None)
    params = get_value(content, "derivation.params")
    if isinstance(params, dict):
        if content["derivation"].get("kind") == "pair":
            tidy_pair(params)
        if content["derivation"].get("kind") == "pair" and isinstance(params.get("near"), list):
            params["near"] = near_rows(params["near"])
        if isinstance(params.get("similar"), dict) and not params["similar"].get("fact"):
            params.pop("similar")
        if content["derivation"].get("kind") == "join":
            tidy_join(params)
        if content["derivation"].get("kind") == "sample":
            tidy_draw(params)
        if content["derivation"].get("kind") == "verdicts":
            tidy_verdicts(params)
        tidy_references(params)
        content["derivation"]["params"] = {key: value for key, value in params.items() if value not in ("", {}, [])}


def _tidy_field(field: dict[str, Any]) -> None:
    if not (field.get("show_if") or {}).get("field"):
        field.pop("show_if", None)
    if not field.get("required_unless"):
        field.pop("required_unless", None)
    rules = [row for row in field.get("rules") or [] if row]
    field.pop("rules", None)
    if rules:
        field["rules"] = rules
    if field.get("kind") in {known.key for known in KINDS}:
        field.pop("version", None)
    if isinstance(field.get("config"), dict):
        _option_rows(field["config"], list(field["config"]))
        field["config"] = {key: value for key, value in field["config"].items() if value != []}


def _collapse_heading(row: Any) -> Any:
    """A name without a heading is written as the name alone."""
    return row["key"] if isinstance(row, dict) and row.get("key") and not row.get("label") else row


def _option_rows(owner: dict[str, Any], keys: Iterable[str]) -> None:
    """Lists of options: each has a code, made of its label."""
    for key in keys:
        rows = _objects(owner.get(key) or [])
        if rows and all(set(row) <= {"code", "label", "definition"} for row in rows):
            for number, row in enumerate(rows, start=1):
                _fill_name(row, "code", rows, f"option_{number}")


def _fill_name(
    row: dict[str, Any], name: str, rows: list[dict[str, Any]], otherwise: str, *, of: str = "label"
) -> None:
    if not str(row.get(name) or "").strip():
        text = row.get(of) or {}
        words = str(text.get("en") or "") if isinstance(text, dict) else ""
        row[name] = unique_name(slug(words, otherwise), [str(other.get(name)) for other in rows if other is not row])


def _objects(rows: Any) -> list[dict[str, Any]]:
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
