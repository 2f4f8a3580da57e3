"""Small readings that the readers share. Pure."""

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from math import isfinite
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmarks.imports.problems import RowProblem, SourceProblem
from benchmarks.imports.tables import separated
from benchmarks.imports.tables.encodings import find_encoding
from benchmarks.imports.tables.roles import fold
from releases.foreign.contract import ForeignFile, ForeignItem, ForeignMapping, ForeignProblem
from releases.foreign.json_stream import encoding_of, parse_element, read_json_array, read_json_lines

PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".avif")
HEAD = 64 * 1024
Cells = Mapping[str, str]


def head_of(file: ForeignFile, size: int = HEAD) -> str:
    """The beginning as text; empty where it cannot be opened."""
    try:
        start = file.head[:size]
    except (OSError, SourceProblem):
        return ""
    return start.decode(encoding_of(start), "replace").lstrip("\ufeff \t\r\n")


def first_object(file: ForeignFile) -> dict[str, Any]:
    """The first object of a list or of lines of JSON that can be read, if it is within the first 64 KB; else an empty
    one. A damaged one before it is passed over: which tool wrote a file does not depend on one row."""
    text = head_of(file)
    rows: Iterator[tuple[int, Any]] = iter(())
    if text.startswith("["):
        rows = read_json_array(io.BytesIO(text.encode("utf-8", "replace")))
    elif text.startswith("{"):
        rows = chain(_whole_object(text), _object_lines(text))
    return next((row for _number, row in rows if isinstance(row, dict) and row), {})


def _whole_object(text: str) -> Iterator[tuple[int, Any]]:
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return
    yield 1, parse_element(text[:end]) if isinstance(value, dict) else None


def _object_lines(text: str) -> Iterator[tuple[int, Any]]:
    """Lines of JSON; none of an object over several lines, whose parts are no rows."""
    if text.partition("\n")[0].strip() != "{":
        yield from read_json_lines(io.BytesIO(text.encode("utf-8", "replace")))


def problem_of(file: ForeignFile, number: int, problem: RowProblem) -> ForeignProblem:
    return ForeignProblem(file.name, number, problem.code, problem.message)


TYPES: Mapping[str, tuple[Callable[[Any], bool], Any]] = {
    "list": (lambda value: isinstance(value, list), gettext_lazy("“%(name)s” is not a list. Nothing of it was read.")),
    "object": (
        lambda value: isinstance(value, dict),
        gettext_lazy("“%(name)s” is not an object. Nothing of it was read."),
    ),
    "number": (
        lambda value: as_number(value) is not None,
        gettext_lazy("“%(name)s” is not a number. It was left out."),
    ),
    "truth": (
        lambda value: isinstance(value, bool) or value in (0, 1),
        gettext_lazy("“%(name)s” is neither true nor false. It was left out."),
    ),
}


def type_problem(file: ForeignFile, number: int, name: str, wanted: str) -> ForeignProblem:
    """`wanted`: a key of TYPES."""
    _check, message = TYPES[wanted]
    return ForeignProblem(file.name, number, "wrong_type", str(message) % {"name": name[:60]})


def type_problems(
    file: ForeignFile, number: int, row: Mapping[str, Any], wanted: Mapping[str, str]
) -> Iterator[ForeignProblem]:  # fmt: skip
    """Of members that are there and are of another type, so that nothing of them is read. `wanted`: name to a key of
    TYPES."""
    for name, kind in wanted.items():
        value = row.get(name)
        if value is not None and not TYPES[kind][0](value):
            yield type_problem(file, number, name, kind)


def read_cells(file: ForeignFile) -> Iterator[tuple[int, Cells | RowProblem]]:
    """The rows of a table of text, by the names of its first line. A file that is no UTF-8 is read as UTF-8, so that
    each row that is not says so."""
    with file.open() as stream:
        encoding = find_encoding(stream) or "utf-8"
        _text, separator = separated.look_at_text(stream, encoding)
        rows = separated.read_separated(stream, encoding, separator, lambda: None)
        _number, head = next(rows, (0, []))
        if isinstance(head, RowProblem):
            raise SourceProblem(head.message)
        names = separated.column_names(head)
        for number, cells in rows:
            if isinstance(cells, RowProblem):
                yield number, cells
            else:
                yield number, _width_problem(len(cells), len(names)) or dict(zip(names, cells, strict=True))


def _width_problem(cells: int, names: int) -> RowProblem | None:
    """Tools write each row whole, so one of another length was cut, or a separator or a quotation mark is wrong."""
    if cells == names:
        return None
    values = {"cells": cells, "names": names}
    if cells > names:
        text = _("The row has %(cells)s cells, and the head names %(names)s columns. Look for a stray separator.")
        return RowProblem("too_many_cells", text % values)
    text = _("The row has %(cells)s cells, and the head names %(names)s columns. The file ends here, or a part of the "
             "row is missing. Export it again.")  # fmt: skip
    return RowProblem("too_few_cells", text % values)


def columns_of(file: ForeignFile) -> list[str]:
    """The names of a table's columns; empty where it is none."""
    try:
        first = head_of(file).partition("\n")[0]
        separator = max(",\t;", key=first.count)
        return [name.strip().strip('"') for name in first.split(separator)]
    except SourceProblem:
        return []


def as_number(value: Any) -> float | None:
    """A finite number; None of anything else, so of NaN, infinity and what is larger than a number can be."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def is_id(value: Any) -> bool:
    return value not in (None, "") and not isinstance(value, dict | list)


def four_numbers(values: Sequence[Any]) -> tuple[float, float, float, float] | None:
    """None if one of them is no number, or if they are not four."""
    numbers = [number for number in map(as_number, values) if number is not None]
    if len(values) != 4 or len(numbers) != 4:
        return None
    return numbers[0], numbers[1], numbers[2], numbers[3]


def sides_of(row: Mapping[str, Any]) -> tuple[float, float, float, float] | None:
    """A rectangle's x, y, width and height."""
    return four_numbers([row.get(name) for name in ("x", "y", "width", "height")])


def as_code(value: Any) -> str:
    """A value as the code of an option: a whole number by its digits, a truth in the words of JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def picture_column(columns: Mapping[str, Any]) -> str:
    """The column that holds a picture: by its content, then by its name."""
    named = {"file", "filename", "image", "img", "imageurl", "picture", "photo", "url", "path"}
    looks = [name for name, value in columns.items() if isinstance(value, str) and is_picture(value)]
    by_name = [name for name in columns if fold(name).replace(" ", "") in named]
    both = [name for name in looks if name in by_name]
    return next(iter([*both, *looks]), "")


def is_picture(value: str) -> bool:
    return value.partition("?")[0].lower().endswith(PICTURES)


def key_column(columns: Sequence[str]) -> str:
    named = {"key", "itemkey", "itemid", "imageid", "uid", "qid", "instanceid"}
    return next((name for name in columns if fold(name).replace(" ", "") in named), "")


def text_column(columns: Sequence[str]) -> str:
    named = {"text", "caption", "question", "sentence", "prompt", "title"}
    return next((name for name in columns if fold(name).replace(" ", "") in named), "")


def chosen_columns(data: Mapping[str, Any], mapping: ForeignMapping) -> tuple[str, str, str]:
    """Of an item's columns those with its key, picture and text: as chosen, else as they look."""
    key = mapping.key or key_column(list(data))
    return key, mapping.picture or picture_column(data), mapping.text or text_column(list(data))


def build_item(
    file: ForeignFile, number: int, data: Mapping[str, Any], own_key: str, mapping: ForeignMapping, *,
    size: tuple[int, int] | None = None,
) -> ForeignItem:  # fmt: skip
    """An item of these columns. `own_key`: the tool's, where no column has one."""
    key, picture, text = chosen_columns(data, mapping)
    named = data.get(key) not in (None, "")
    used = (*([key] if named else []), picture, text)
    columns = {"key": key if named else "", "picture": picture, "text": text}
    return ForeignItem(
        file.name, number, key=as_code(data[key]) if named else own_key, picture=_path(data.get(picture)),
        text=str(data.get(text) or ""), context={name: value for name, value in data.items() if name not in used},
        size=size, columns={role: column for role, column in columns.items() if column in data},
    )  # fmt: skip


def _path(value: Any) -> str:
    """A picture as a path; some tools keep it in an object beside its bytes."""
    if isinstance(value, Mapping) and {"path", "bytes"} & value.keys():
        value = value.get("path")
    return str(value or "")


def stem(path: str) -> str:
    """A path as the key of an item: without what leads out of its folder."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    return "/".join(parts)
