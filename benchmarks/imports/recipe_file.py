"""A recipe file is read: its members by name, each of its type. What it means is checked by the apps that know it.

Every problem says which stage, where in it, and what is wrong; nothing of a file that has one is kept.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from types import SimpleNamespace
from typing import Any
from zoneinfo import available_timezones

from django.utils.translation import gettext as _

from benchmarks.recipes import contract
from benchmarks.recipes.contract import CohortSpec, ConditionSpec, ModelCondition, PredictionTask, Recipe, ReportTable
from benchmarks.recipes.recipe_json import FORMAT, FORMAT_VERSION, OUTSIDE, default_of, to_json
from benchmarks.rules.label_sets.contract import KINDS as SET_KINDS
from benchmarks.rules.label_sets.contract import MOST_LETTERS, LabelSetSpec, LabelSpec

MOST_BYTES = 4 * 1024**2
MOST_ROWS = 5000
MOST_PROBLEMS = 50
DEEPEST = 30
LABEL_SETS = "label_sets"
PARTS = ("tables",)
"""Members whose rows belong to other apps: see benchmarks.services.recipes.recipe_parts."""
ASKED_ABOUT = ("cohorts", "set", "own_set", "gold_and_others")
PICTURES = ("", "none", "optional", "one", "named", "set")


@dataclass(frozen=True)
class FileProblem:
    """`stage`: its name or key, empty where no stage is at fault. `place`: where in it. `reason`: what is wrong."""

    reason: str
    place: str = ""
    stage: str = ""

    def __str__(self) -> str:
        stage = _("stage “%(name)s”") % {"name": self.stage} if self.stage else ""
        return ": ".join(part for part in (stage, self.place, self.reason) if part)


class RecipeFileError(ValueError):
    """The file cannot be loaded."""

    def __init__(self, problems: list[FileProblem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems[:MOST_PROBLEMS]


@dataclass(frozen=True)
class RecipeFile:
    """`rows`: of the members that other apps own, by name. `published`: the published recipe it is a form of.
    `label_sets`: those of the team it comes from which its stages name."""

    recipe: Recipe
    published: str
    label_sets: tuple[LabelSetSpec, ...]
    rows: Mapping[str, list[dict[str, Any]]]


class _Misfit(Exception):
    """A value is not what its place takes; the message says what it takes."""


Read = Callable[[Any], Any]


def read_recipe_file(data: bytes) -> RecipeFile:
    """Raises RecipeFileError, with every problem of its form at once."""
    if len(data) > MOST_BYTES:
        text = _("The file is larger than %(most)s MB. A recipe holds no items and no pictures.")
        raise RecipeFileError([FileProblem(text % {"most": MOST_BYTES // 1024**2})])
    try:
        content = json.loads(data.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        raise RecipeFileError([FileProblem(_("The file is not UTF-8. Save it as UTF-8."))]) from None
    except json.JSONDecodeError as error:
        text = _("The file is not JSON: line %(line)s, column %(column)s. Download it again.")
        raise RecipeFileError([FileProblem(text % {"line": error.lineno, "column": error.colno})]) from None
    except (ValueError, RecursionError):
        raise RecipeFileError([FileProblem(_("The file holds numbers or lists that cannot be read."))]) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        text = _("This is not a recipe file of Emic. Such a file comes from “Save as recipe”.")
        raise RecipeFileError([FileProblem(text)])
    if content.get("format_version") != FORMAT_VERSION:
        text = _("The file has format version %(version)s; this site reads %(known)s. Update the site.")
        shown = {"version": str(content.get("format_version"))[:20], "known": FORMAT_VERSION}
        raise RecipeFileError([FileProblem(text % shown)])
    if not is_storable(content):
        raise RecipeFileError([FileProblem(_("The file is nested too deep, or holds characters that cannot be kept."))])
    return parse_content(content)


def parse_content(content: Mapping[str, Any], version: str = "1") -> RecipeFile:
    """The recipe of a file's content. Raises RecipeFileError."""
    problems: list[FileProblem] = []
    others = (*OUTSIDE, *PARTS, LABEL_SETS, "published")
    members = {key: value for key, value in content.items() if key not in others}
    values = _members(Recipe, {**members, "version": version}, "", problems)
    label_sets = _rows(LabelSetSpec, content.get(LABEL_SETS, []), LABEL_SETS, problems, "")
    rows = {key: _part_rows(content.get(key, []), key, problems) for key in PARTS}
    published = content.get("published", "")
    if not isinstance(published, str) or len(published) > 60:
        problems.append(FileProblem(_("This must be a text of at most 60 characters."), "published"))
    if not problems:
        shaped: Any = SimpleNamespace(**_with_defaults(Recipe, values))
        problems += [_of_contract(problem, shaped.stages) for problem in contract.problems(shaped)]
    if problems:
        raise RecipeFileError(problems)
    return RecipeFile(Recipe(**values), published, label_sets, rows)


def read_stage_members(content: Mapping[str, Any], names: Sequence[str]) -> tuple[dict[str, Any], list[FileProblem]]:
    """Members of a stage as a program sends them, each of its type; a problem names the member."""
    if not is_storable(dict(content)):
        return {}, [FileProblem(_("The content is nested too deep, or holds what cannot be kept."))]
    values, problems = {}, []
    for name in names:
        if name not in content:
            continue
        try:
            values[name] = to_json(MEMBERS[contract.StageSpec][name](content[name]))
        except _Misfit as misfit:
            problems.append(FileProblem(str(misfit), name))
    return values, problems


def _of_contract(problem: str, stages: tuple[contract.StageSpec, ...]) -> FileProblem:
    place, _colon, reason = problem.partition(": ")
    names = {spec.key: spec.name for spec in stages}
    parts = place.split(".")
    if parts[0] == "stages" and len(parts) > 1 and parts[1] in names:
        return FileProblem(reason, ".".join(parts[2:]), names[parts[1]])
    return FileProblem(reason, place)


def _with_defaults(cls: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    usual = {member.name: default_of(member) for member in fields(cls)}
    return {**{name: value for name, value in usual.items() if value is not MISSING}, **values}


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def is_storable(value: Any) -> bool:
    """Whether the database can keep it: not too deep, no NUL, no half characters, no number beyond all bounds."""
    layer = [value]
    for _depth in range(DEEPEST):
        members = [part for part in layer if isinstance(part, dict)]
        lists = [part for part in layer if isinstance(part, list)]
        layer = [inner for part in members for pair in part.items() for inner in pair]
        layer += [inner for part in lists for inner in part]
    if layer:
        return False
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        return bool(text.encode()) and "\\u0000" not in text
    except ValueError:
        return False


# ---- members by type -------------------------------------------------------------------------------------------------


def _text(most: int, *, least: int = 0) -> Read:
    def read(value: Any) -> str:
        if not isinstance(value, str) or not least <= len(value.strip()) or len(value) > most:
            raise _Misfit(_("This must be a text of at most %(most)s characters.") % {"most": most})
        return value

    return read


def _key(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[-a-zA-Z0-9_.]{1,60}", value):
        raise _Misfit(_("This must be a key: letters, digits, hyphens and underscores, at most 60."))
    return value


def _stage_key(value: Any) -> str:
    if "." in (key := _key(value)):
        raise _Misfit(_("This must be a key: letters, digits, hyphens and underscores, at most 60."))
    return key


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _Misfit(_("This must be true or false."))
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 1000:
        raise _Misfit(_("Write a number from %(least)s to %(most)s.") % {"least": 0, "most": 1000})
    return value


def _optional_whole(value: Any) -> int | None:
    return None if value is None else _whole(value)


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Misfit(_("This must be an object."))
    return value


def _words(value: Any) -> dict[str, str]:
    """A text by language."""
    words = _object(value)
    for language, text in words.items():
        if not re.fullmatch(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*", language) or not isinstance(text, str):
            raise _Misfit(_('This must be texts by language, such as {"en": "Yes"}.'))
    return words


def _choice(*codes: str) -> Read:
    def read(value: Any) -> str:
        if value not in codes:
            known = ", ".join(code for code in codes if code)
            raise _Misfit(_("Choose one of: %(keys)s.") % {"keys": known})
        return str(value)

    return read


def _list(read: Read) -> Read:
    def read_all(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) > MOST_ROWS:
            raise _Misfit(_("This must be a list of at most %(most)s.") % {"most": f"{MOST_ROWS:,}"})
        return tuple(read(member) for member in value)

    return read_all


def _coded(value: Any) -> dict[str, Any]:
    """A reason: a code and its texts."""
    row = _object(value)
    if not isinstance(row.get("code"), str) or not isinstance(row.get("label"), dict):
        raise _Misfit(_("Each needs a code and a label."))
    return {**row, "label": _words(row["label"])}


def _text_row(value: Any) -> dict[str, str]:
    row = _object(value)
    if not all(isinstance(cell, str) for cell in row.values()):
        raise _Misfit(_("This must be a text of at most %(most)s characters.") % {"most": "20,000"})
    return row


def _yes_no(value: Any) -> bool | None:
    return None if value is None else _flag(value)


def _time_zone(value: Any) -> str:
    if value not in available_timezones():
        raise _Misfit(_("This is no time zone, such as Africa/Cairo."))
    return str(value)


def _derivation(value: Any) -> dict[str, Any]:
    derivation = _object(value)
    sources, params = derivation.get("from", []), derivation.get("params", {})
    if not isinstance(sources, list) or not all(isinstance(key, str) for key in sources):
        raise _Misfit(_("“from” must be a list of keys of stages."))
    if not isinstance(params, dict):
        raise _Misfit(_("“params” must be an object."))
    return derivation


def _sheet(value: Any) -> dict[str, Any]:
    sheet = _object(value)
    rows = sheet.get("fields")
    if not isinstance(rows, list) or not all(isinstance(row, dict) and isinstance(row.get("key"), str) for row in rows):
        raise _Misfit(_("“fields” must be a list of questions, each with a key."))
    return sheet


MEMBERS: Mapping[type, Mapping[str, Any]] = {
    Recipe: {
        "key": _key, "version": _text(20), "name": _text(120, least=1), "summary": _words, "citation": _text(10_000),
        "licence": _text(120), "cohorts": CohortSpec, "concepts": _list(_text(120, least=1)),
        "conditions": ConditionSpec, "stages": contract.StageSpec, "prompt": _text(2000),
        "prediction_tasks": PredictionTask, "model_conditions": ModelCondition, "report": ReportTable,
        "label_set": _text(80), "expected_stage": _text(60),
    },
    CohortSpec: {
        "label": _text(120, least=1), "names": _words, "country": _text(2), "languages": _list(_text(12)),
        "direction": _choice("ltr", "rtl"), "time_zone": _time_zone,
    },
    ConditionSpec: {"key": _key, "name": _words},
    contract.StageSpec: {
        "key": _stage_key, "name": _text(120, least=1), "display": _text(40), "sheet": _sheet, "target_answers": _whole,
        "has_target": _flag, "target_in_all": _flag, "acceptance": _text(12), "acceptance_rule": _object,
        "review_reasons": _list(_coded), "derivation": _derivation, "staffing": _text(14), "own_items_only": _flag,
        "layout": _object, "retire_after_skips": _optional_whole, "skip_reasons": _list(_coded),
        "instructions": _words, "sample": _list(_text_row), "own_vocabulary": _flag,
        "pictures": _choice(*PICTURES), "filters": _list(_object), "assign_waiting": _flag,
        "asked_about": _choice(*ASKED_ABOUT), "coverage": _object,
    },
    PredictionTask: {
        "key": _key, "name": _text(300), "stage": _text(60), "modes": _list(_text(60)), "source": _text(300),
    },
    ModelCondition: {
        "key": _key, "name": _words, "stage": _text(60), "prompt": _text(60), "setting": _text(60),
        "needs": _list(_text(60)), "judge": _flag, "options": _object,
    },
    LabelSetSpec: {
        "key": _key, "name": _text(120, least=1), "kind": _choice(*SET_KINDS), "labels": LabelSpec,
        "source": _text(300), "licence": _text(120),
    },
    LabelSpec: {
        "key": _text(MOST_LETTERS, least=1), "text": _text(MOST_LETTERS, least=1), "names": _words,
        "country": _text(2), "continent": _text(60), "region": _text(120), "values_zone": _text(60),
        "western": _yes_no, "aliases": _list(_text(120)), "about": _text_row,
    },
    ReportTable: {
        "key": _key, "title": _text(300), "stage": _text(60), "field": _text(60), "rows": _text(80),
        "columns": _text(80), "source": _text(300),
    },
}  # fmt: skip


def _members(cls: Any, data: Any, place: str, problems: list[FileProblem], stage: str = "") -> dict[str, Any]:
    """The members of an object, read. What is unknown, missing or of another type is a problem."""
    if not isinstance(data, Mapping):
        problems.append(FileProblem(_("This must be an object."), place, stage))
        return {}
    if cls is contract.StageSpec:
        stage = next((value for value in (data.get("name"), data.get("key")) if isinstance(value, str)), stage)[:120]
        place = ""
    values, readers = {}, MEMBERS[cls]
    for name, value in data.items():
        where = f"{place}.{name}".lstrip(".")
        if name not in readers:
            problems.append(FileProblem(_("No part of a recipe has this name."), where[:120], stage))
        elif isinstance(readers[name], type):
            values[name] = _rows(readers[name], value, where, problems, stage)
        else:
            try:
                values[name] = readers[name](value)
            except _Misfit as misfit:
                problems.append(FileProblem(str(misfit), where, stage))
    for member in fields(cls):
        if member.name not in data and default_of(member) is MISSING:
            problems.append(FileProblem(_("This is missing."), f"{place}.{member.name}".lstrip("."), stage))
    return values


def _rows(cls: Any, data: Any, place: str, problems: list[FileProblem], stage: str) -> tuple[Any, ...]:
    if not isinstance(data, list) or len(data) > MOST_ROWS:
        text = _("This must be a list of at most %(most)s.") % {"most": f"{MOST_ROWS:,}"}
        problems.append(FileProblem(text, place, stage))
        return ()
    before = len(problems)
    rows = [_members(cls, row, f"{place}[{number}]", problems, stage) for number, row in enumerate(data, start=1)]
    return tuple(cls(**row) for row in rows) if len(problems) == before else ()


def _part_rows(data: Any, key: str, problems: list[FileProblem]) -> list[dict[str, Any]]:
    if isinstance(data, list) and len(data) <= MOST_ROWS and all(isinstance(row, dict) for row in data):
        return data
    problems.append(FileProblem(_("This must be a list of at most %(most)s.") % {"most": f"{MOST_ROWS:,}"}, key))
    return []
