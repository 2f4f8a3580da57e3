"""Put translations into a catalogue (`django.po`), and change no other line of it."""

from collections.abc import Mapping
from pathlib import Path

from config.catalogues import ESCAPES, FUZZY, CatalogueMessage, read
from people.locales.source_texts import SourceText

OLD_SOURCE = "#|"  # comments with the English text before it changed


def with_translations(path: Path, translations: Mapping[SourceText, tuple[str, ...]]) -> tuple[str, int]:
    """Return the text of a catalogue with these translations, and how many of them it did not have before.

    A text that the catalogue lacks is added at its end. Raises CatalogueError if the catalogue cannot be read.
    """
    catalogue = read(path)
    lines = path.read_text(encoding="utf-8-sig").split("\n")
    messages = {SourceText(message.source, message.plural, message.context): message for message in catalogue.messages}
    changed = {
        text: forms
        for text, forms in translations.items()
        if text not in messages or messages[text].fuzzy or messages[text].translations != forms
    }
    known = [messages[text] for text in changed if text in messages]
    for message in sorted(known, key=lambda message: -message.line):  # from the end: line numbers before stay right
        _replace(lines, message, changed[SourceText(message.source, message.plural, message.context)])
    while lines and not lines[-1].strip():
        lines.pop()
    for text, forms in changed.items():
        if text not in messages:
            lines += ["", *_entry(text), *_translation(forms, is_plural=bool(text.plural))]
    return "\n".join(lines) + "\n", len(changed)


def _replace(lines: list[str], message: CatalogueMessage, forms: tuple[str, ...]) -> None:
    begin = message.line - 1
    while not lines[begin].lstrip().startswith("msgstr"):
        begin += 1
    end = begin + 1
    while end < len(lines) and lines[end].lstrip().startswith(("msgstr", '"')):
        end += 1
    lines[begin:end] = _translation(forms, is_plural=bool(message.plural))
    at = message.line - 2
    while at >= 0 and lines[at].startswith("#") and not lines[at].startswith("#~"):
        if lines[at].startswith(OLD_SOURCE):
            del lines[at]
        elif FUZZY.match(lines[at]):
            flags = [flag.strip() for flag in lines[at].removeprefix("#,").split(",")]
            rest = ", ".join(flag for flag in flags if flag != "fuzzy")
            lines[at : at + 1] = [f"#, {rest}"] if rest else []
        at -= 1


def _entry(text: SourceText) -> list[str]:
    parts = {"msgctxt": text.context, "msgid": text.source, "msgid_plural": text.plural}
    return [line for keyword, words in parts.items() if words for line in _quoted(keyword, words)]


def _translation(forms: tuple[str, ...], *, is_plural: bool) -> list[str]:
    if not is_plural:
        return _quoted("msgstr", forms[0])
    return [line for number, form in enumerate(forms) for line in _quoted(f"msgstr[{number}]", form)]


def _quoted(keyword: str, words: str) -> list[str]:
    """As gettext writes it with `--no-wrap`: a text of several lines begins on the next line."""
    pieces = [_escape(piece) for piece in words.splitlines(keepends=True)]
    if len(pieces) < 2:
        return [f'{keyword} "{"".join(pieces)}"']
    return [f'{keyword} ""', *(f'"{piece}"' for piece in pieces)]


def _escape(words: str) -> str:
    return words.translate({ord(sign): f"\\{letter}" for letter, sign in ESCAPES.items()})
