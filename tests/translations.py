"""List the texts that are not translated, and refuse translations with wrong placeholders or plural forms.

`./emic test` runs `python -m tests.translations`: each text for annotators that a confirmed language lacks is listed
and appears in English. With `--release` such a text fails the check, in a draft language too. gettext is not needed.
"""

import os
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.utils.translation import to_language

from config.catalogues import CatalogueError, CatalogueMessage, read
from people.locales.audiences import AUDIENCES, SUFFIXES, audience
from people.locales.source_texts import SourceText, texts_of
from people.locales.translation_rules import form_fault

ROOT = Path(__file__).resolve().parent.parent


@cache
def source_files() -> list[str]:
    """Return the files that may hold texts, by their paths from the root."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    wanted = (name for name in listed if name.endswith(SUFFIXES) and not name.startswith("tests/"))
    return [name for name in wanted if (ROOT / name).is_file()]


@dataclass(frozen=True)
class Use:
    """Where a text stands, and the first of AUDIENCES that reads it."""

    file: str
    audience: str


def uses(names: Iterable[str]) -> dict[SourceText, Use]:
    """Return each text of the files. One that annotators read somewhere is theirs."""
    texts: dict[SourceText, Use] = {}
    for name in sorted(names, key=lambda name: (AUDIENCES.index(audience(name)), name)):
        for text in texts_of(ROOT / name):
            texts.setdefault(text, Use(name, audience(name)))
    return texts


def text_in(message: CatalogueMessage) -> SourceText:
    return SourceText(message.source, message.plural, message.context)


def fault(message: CatalogueMessage, n_plurals: int) -> str:
    """Return what is wrong with a translation, or nothing. A fuzzy or empty one is missing, which is no fault."""
    if message.fuzzy or not any(message.translations):
        return ""
    return form_fault(text_in(message), message.translations, n_plurals)


@dataclass(frozen=True)
class Report:
    """The state of one language.

    Attributes:
        counts: for each audience, how many texts are translated, and of how many.
        missing: texts for annotators that are not translated, each with its file.
        faults: translations that must not be shown, each with file and line.
    """

    code: str
    is_confirmed: bool
    counts: dict[str, tuple[int, int]]
    missing: list[str]
    faults: list[str]

    def passes(self, *, release: bool) -> bool:
        return not self.faults and not (release and self.missing)

    def lines(self, *, release: bool) -> list[str]:
        counts = ", ".join(f"{audience} {done} of {all_}" for audience, (done, all_) in self.counts.items())
        lines = [f"{self.code} ({'confirmed' if self.is_confirmed else 'draft'}): {counts}", *self.faults]
        if self.missing and not self.is_confirmed and not release:
            return [*lines, f"appear in English: {len(self.missing)} texts for annotators, listed by --release"]
        return lines + [f"appears in English: {text}" for text in self.missing]


def report(catalogue: Path, texts: Mapping[SourceText, Use], confirmed: Collection[str]) -> Report:
    code = to_language(catalogue.parent.parent.name)
    try:
        content = read(catalogue)
    except CatalogueError as error:
        return Report(code, code in confirmed, {}, [], [str(error)])
    translated = {text_in(message) for message in content.messages if message.is_translated}
    counts = {}
    for name in AUDIENCES:
        theirs = {text for text, use in texts.items() if use.audience == name}
        counts[name] = len(theirs & translated), len(theirs)
    missing = [
        f"{use.file}: {text.source!r}"
        for text, use in texts.items()
        if use.audience == "annotators" and text not in translated
    ]
    faults = [
        f"{catalogue}, line {message.line}: {problem}: {message.source!r}"
        for message in content.messages
        if (problem := fault(message, content.n_plurals))
    ]
    return Report(code, code in confirmed, counts, sorted(missing), faults)


def check(folder: Path, texts: Mapping[SourceText, Use], confirmed: Collection[str], *, release: bool) -> int:
    """Print the state of each language in the folder, and return the exit status."""
    reports = [report(path, texts, confirmed) for path in sorted(folder.glob("*/LC_MESSAGES/django.po"))]
    for language in reports:
        print(*language.lines(release=release), sep="\n    ")
    without = sorted(set(confirmed) - {language.code for language in reports})
    for code in without:
        print(f"{code} is in CONFIRMED_LANGUAGES, and there is no catalogue of it in {folder}")
    return int(bool(without) or not all(language.passes(release=release) for language in reports))


def main(arguments: list[str]) -> int:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"  # those of the tests start a database
    from django.conf import settings

    return check(ROOT / "locale", uses(source_files()), settings.CONFIRMED_LANGUAGES, release="--release" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
