"""What the source says in words, and what the catalogues make of it. It needs no gettext tools."""

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
PART = re.compile(r'^(msg\S+)((?:\s*"(?:[^"\\]|\\.)*"\n?)+)', re.M)
STRING = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
IN_TEMPLATE = re.compile(rf"\b(gettext|ngettext|pgettext|npgettext|_)\(u?({STRING}(?:, *u?{STRING})*)")
# Scripts replace words in capitals: WHEN, TIME, NUMBER. Names such as JPEG stay as they are, too.
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%[sd]|{\w+}|(?<![A-Za-z])[A-Z]{3,}(?![A-Za-z])")


@dataclass(frozen=True)
class Text:
    """A text as the source has it. `context` and `plural` are mostly empty."""

    source: str
    plural: str = ""
    context: str = ""


@dataclass(frozen=True)
class Entry:
    """A text in a catalogue. Of a text without a plural there is one translation."""

    text: Text
    translations: tuple[str, ...]
    fuzzy: bool

    @property
    def done(self) -> bool:
        return not self.fuzzy and bool(self.translations) and all(self.translations)

    @property
    def placeholders_differ(self) -> bool:
        # A plural form may leave out the number it already says in words.
        wanted = set(PLACEHOLDER.findall(self.text.source + self.text.plural))
        got = [set(PLACEHOLDER.findall(one)) for one in self.translations if one]
        return any(not one <= wanted or (not self.text.plural and one != wanted) for one in got)


@cache
def texts_of(path: Path) -> frozenset[Text]:
    """The texts of one Python file or template that are there to be translated."""
    source = path.read_text(encoding="utf-8")
    return frozenset(of_python(source) if path.suffix == ".py" else of_template(source, path.name))


def text_of(function: str, arguments: list[str]) -> Text:
    context = arguments.pop(0) if "pgettext" in function else ""
    return Text(arguments[0], arguments[1] if len(arguments) > 1 else "", context)


def of_python(source: str) -> Iterator[Text]:
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


def of_template(source: str, name: str) -> Iterator[Text]:
    for function, arguments in IN_TEMPLATE.findall(templatize(source, origin=name)):
        yield text_of(function, [ast.literal_eval(one) for one in re.findall(STRING, arguments)])


def entries(path: Path) -> list[Entry]:
    """The texts of a catalogue, without those the source no longer has."""
    found = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        kept = "\n".join(line for line in block.splitlines() if not line.startswith("#~"))
        parts = {key: unquote(value) for key, value in PART.findall(kept)}
        if parts.get("msgid"):
            text = Text(parts["msgid"], parts.get("msgid_plural", ""), parts.get("msgctxt", ""))
            said = tuple(value for key, value in parts.items() if key.startswith("msgstr"))
            found.append(Entry(text, said, "#, fuzzy" in kept))
    return found


def unquote(block: str) -> str:
    return "".join(ast.literal_eval(one) for one in re.findall(r'"(?:[^"\\]|\\.)*"', block))


def plural_forms(path: Path) -> int:
    """How many forms a catalogue's head says a counted text has."""
    told = re.search(r"nplurals=(\d)", path.read_text(encoding="utf-8").split("\n\n", 1)[0])
    assert told is not None, f"{path}: the head has no Plural-Forms"
    return int(told[1])
