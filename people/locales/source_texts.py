"""Find the texts in Python files and templates that are there to be translated."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.utils.translation.template import templatize

CALLS = {  # function: how many of its first arguments are context, text and plural
    "gettext": 1, "gettext_lazy": 1, "gettext_noop": 1, "ngettext": 2, "ngettext_lazy": 2,
    "pgettext": 2, "pgettext_lazy": 2, "npgettext": 3, "npgettext_lazy": 3,
}  # fmt: skip
STRING = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
IN_TEMPLATE = re.compile(rf"\b(gettext|ngettext|pgettext|npgettext|_)\(u?({STRING}(?:, *u?{STRING})*)")


@dataclass(frozen=True)
class SourceText:
    """A text as the source has it. `context` and `plural` are mostly empty."""

    source: str
    plural: str = ""
    context: str = ""


@cache
def texts_of(path: Path) -> frozenset[SourceText]:
    """The texts of one Python file or template that are there to be translated."""
    source = path.read_text(encoding="utf-8")
    return frozenset(of_python(source) if path.suffix == ".py" else of_template(source, path.name))


def text_of(function: str, arguments: list[str]) -> SourceText:
    context = arguments.pop(0) if "pgettext" in function else ""
    return SourceText(arguments[0], arguments[1] if len(arguments) > 1 else "", context)


def of_python(source: str) -> Iterator[SourceText]:
    tree = ast.parse(source)
    functions = {name: name for name in CALLS}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation":
            functions.update({alias.asname: alias.name for alias in node.names if alias.asname and alias.name in CALLS})
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            function = functions.get(name)
            words = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if function and len(words) >= CALLS[function]:
                yield text_of(function, words[: CALLS[function]])


def of_template(source: str, name: str) -> Iterator[SourceText]:
    for function, arguments in IN_TEMPLATE.findall(templatize(source, origin=name)):
        yield text_of(function, [ast.literal_eval(one) for one in re.findall(STRING, arguments)])
