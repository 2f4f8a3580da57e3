"""Read message catalogues (`django.po`) and compile them to the files that gettext reads (`django.mo`).

The settings call `compile_at_start`, so every process shows the texts of the present catalogues. Where nobody may
write later, as in a container image, `python -m config.catalogues` compiles them beforehand. Only the standard library
is used.
Source: the manual of GNU gettext, "The Format of PO Files" and "The Format of GNU MO Files".
"""

import gettext
import hashlib
import logging
import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "locale"
FORMAT = b"1"  # another number compiles every catalogue again
QUOTED = re.compile(r'(?:(msgctxt|msgid|msgid_plural|msgstr|msgstr\[\d\])\s*)?"((?:[^"\\]|\\.)*)"')
FUZZY = re.compile(r"#,.*\bfuzzy\b")
ESCAPE = re.compile(r"\\(.)")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
HEADER_FIELD = re.compile(r"^([\w-]+): *(.*)$", re.M)
PLURAL_FORMS = re.compile(r"nplurals=(\d);\s*plural=([^;]+);?")
CHARSET = re.compile(r"text/plain; charset=utf-8", re.I)

logger = logging.getLogger(__name__)


class CatalogueError(Exception):
    """A catalogue that cannot be read, with its file, its line and what to change."""

    def __init__(self, path: Path, line: int, problem: str) -> None:
        name = path.relative_to(FOLDER.parent) if path.is_relative_to(FOLDER.parent) else path
        super().__init__(f"{name}, line {line}: {problem}")


@dataclass(frozen=True)
class CatalogueMessage:
    """A text of the source with its translations.

    Attributes:
        source: the English text, empty for the header.
        plural: its English plural, or empty.
        context: what tells it from the same text elsewhere, or empty.
        translations: one, or one for each plural form. Empty texts are not translated yet.
        fuzzy: the English text has changed and nobody has read the translation since.
        line: where it begins in the catalogue, counted from 1.
    """

    source: str
    plural: str
    context: str
    translations: tuple[str, ...]
    fuzzy: bool
    line: int

    @property
    def is_translated(self) -> bool:
        return not self.fuzzy and all(self.translations)


@dataclass(frozen=True)
class MessageCatalogue:
    """The messages of a language, without the header and without those that the source no longer has (`#~`).

    Attributes:
        header: the fields of the header, such as `Language`, by name.
        n_plurals: how many plural forms the language has.
    """

    header: dict[str, str]
    n_plurals: int
    messages: list[CatalogueMessage]


def read(path: Path) -> MessageCatalogue:
    """Return the catalogue in a `.po` file. Raises CatalogueError if it cannot be compiled."""
    entries = list(_entries(path))
    if not entries or entries[0].source:
        raise CatalogueError(path, 1, 'the header is missing. Add an entry with an empty msgid ("") before the others.')
    header = dict(HEADER_FIELD.findall(entries[0].translations[0]))
    first_lines: dict[tuple[str, str], int] = {}
    for message in entries:
        first = first_lines.setdefault((message.context, message.source), message.line)
        if first != message.line:
            raise CatalogueError(path, message.line, f"the text of line {first} is here again. Delete one of them.")
    if not CHARSET.fullmatch(header.get("Content-Type", "")):
        problem = 'the header needs the line "Content-Type: text/plain; charset=UTF-8\\n".'
        raise CatalogueError(path, entries[0].line, problem)
    return MessageCatalogue(header, _n_plurals(path, entries[0].line, header.get("Plural-Forms", "")), entries[1:])


def _n_plurals(path: Path, line: int, rule: str) -> int:
    """Return the number of plural forms. A rule that gettext cannot evaluate would break every page of the language."""
    match = PLURAL_FORMS.fullmatch(rule.strip())
    try:
        if match:
            form = gettext.c2py(match[2])
            if all(0 <= form(n) < int(match[1]) for n in range(200)):
                return int(match[1])
    except (ValueError, ArithmeticError):
        pass
    problem = 'the header needs a rule for plurals, such as "Plural-Forms: nplurals=2; plural=(n != 1);\\n".'
    raise CatalogueError(path, line, problem)


def _lines(path: Path) -> list[str]:
    data = path.read_bytes()
    try:
        return [line.strip() for line in data.decode("utf-8-sig").split("\n")]
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CatalogueError(path, line, "this is not UTF-8. Save the file as UTF-8.") from error


def _entries(path: Path) -> Iterator[CatalogueMessage]:
    """Yield the entries in the order of the file, the header among them."""
    parts: dict[str, str] = {}
    keyword, first_line, fuzzy = "", 0, False
    for number, line in enumerate(_lines(path), 1):
        match = QUOTED.fullmatch(line)
        if "msgid" in parts and (line.startswith("#") or (match and match[1] in ("msgctxt", "msgid"))):
            yield _message(path, first_line, parts, fuzzy)
            parts, keyword, fuzzy = {}, "", False
        if match:
            first_line = first_line if parts else number
            keyword = match[1] or keyword
            if not keyword or (match[1] and keyword in parts):
                problem = f"{keyword} is here twice." if keyword else "this text has no keyword, such as msgid."
                raise CatalogueError(path, number, problem)
            parts[keyword] = parts.get(keyword, "") + _unescaped(path, number, match[2])
        elif line.startswith("#"):
            fuzzy = not line.startswith("#~") and (fuzzy or bool(FUZZY.match(line)))
        elif line:
            raise CatalogueError(path, number, f"this is no comment, and no keyword with a quoted text: {line}")
    if parts:
        yield _message(path, first_line, parts, fuzzy)


def _unescaped(path: Path, line: int, text: str) -> str:
    for letter in ESCAPE.findall(text):
        if letter not in ESCAPES:
            raise CatalogueError(path, line, f"\\{letter} has no meaning. Write a backslash as \\\\.")
    return ESCAPE.sub(lambda match: ESCAPES[match[1]], text)


def _message(path: Path, line: int, parts: dict[str, str], fuzzy: bool) -> CatalogueMessage:
    texts = {key: text for key, text in parts.items() if key.startswith("msgstr")}
    expected = [f"msgstr[{number}]" for number in range(len(texts))] if "msgid_plural" in parts else ["msgstr"]
    if "msgid" not in parts or not texts or list(texts) != expected:
        problem = "an entry needs msgid and msgstr, or msgid, msgid_plural, msgstr[0], msgstr[1] and so on."
        raise CatalogueError(path, line, problem)
    plural, context = parts.get("msgid_plural", ""), parts.get("msgctxt", "")
    return CatalogueMessage(parts["msgid"], plural, context, tuple(texts.values()), fuzzy, line)


def compile_catalogue(catalogue: MessageCatalogue, mark: str) -> bytes:
    """Return the content of the `.mo` file. Texts that are not translated are left out and appear in English."""
    header = {**catalogue.header, "X-Compiled-From": mark}
    texts = {"": "".join(f"{name}: {value}\n" for name, value in header.items())}
    for message in catalogue.messages:
        if message.is_translated:
            key = f"{message.context}\x04{message.source}" if message.context else message.source
            texts[f"{key}\x00{message.plural}" if message.plural else key] = "\x00".join(message.translations)
    pairs = sorted((key.encode(), text.encode()) for key, text in texts.items())
    strings = [key for key, _ in pairs] + [text for _, text in pairs]
    begin = 28 + 8 * len(strings)  # after seven numbers, and the length and place of each string
    table, place = [], begin
    for string in strings:
        table += [len(string), place]
        place += len(string) + 1
    head = struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, begin)
    return head + struct.pack(f"<{len(table)}I", *table) + b"".join(string + b"\x00" for string in strings)


def compile_changed(folder: Path) -> list[Path]:
    """Compile each catalogue whose `.mo` was not made from its present text, and return the catalogues compiled.

    A `.mo` names the digest of its `.po`, so that no clock and no order of a checkout matters. It is replaced in one
    step: processes that start together never read half a file. Raises CatalogueError if a catalogue cannot be read,
    and OSError if a file cannot be written.
    """
    changed = []
    for source in sorted(folder.glob("*/LC_MESSAGES/django.po")):
        target, mark = source.with_suffix(".mo"), hashlib.sha256(FORMAT + source.read_bytes()).hexdigest()
        if target.is_file() and mark.encode() in target.read_bytes():
            continue
        draft = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            draft.write_bytes(compile_catalogue(read(source), mark))
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
        changed.append(source)
    return changed


def compile_at_start(folder: Path) -> None:
    """Compile what has changed. Where files cannot be written, the site starts all the same and the log says why."""
    try:
        compile_changed(folder)
    except OSError as error:
        logger.warning("Translations may be missing or out of date, because they could not be compiled: %s", error)


if __name__ == "__main__":
    compile_changed(FOLDER)
