"""List the texts that are not translated, and refuse translations with wrong placeholders or plural forms.

`./emic test` runs `python -m tests.translations`: each text for annotators that a confirmed language lacks is listed
and appears in English. With `--release` such a text fails the check, in a draft language too. gettext is not needed.
"""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from django.utils.translation import to_language
from django.utils.translation.template import templatize

from config.catalogues import CatalogueError, CatalogueMessage, read

ROOT = Path(__file__).resolve().parent.parent
AUDIENCES = ("annotators", "managers", "researchers")
CALLS = {  # function: how many of its first arguments are context, text and plural
    "gettext": 1, "gettext_lazy": 1, "gettext_noop": 1, "ngettext": 2, "ngettext_lazy": 2,
    "pgettext": 2, "pgettext_lazy": 2, "npgettext": 3, "npgettext_lazy": 3,
}  # fmt: skip
STRING = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
IN_TEMPLATE = re.compile(rf"\b(gettext|ngettext|pgettext|npgettext|_)\(u?({STRING}(?:, *u?{STRING})*)")
# Scripts replace words in capitals: WHEN, TIME, NUMBER. Names such as JPEG stay as they are, too.
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%[sd]|{\w+}|(?<![A-Za-z])[A-Z]{3,}(?![A-Za-z])")

# The files with texts for annotators. A new file in one of these places is included.
ANNOTATORS = (
    "templates/*.html",
    "templates/parts/**",
    "templates/people/**",
    "templates/annotation/**",
    "annotation/*.py",
    "annotation/forms/**",
    "annotation/instructions/**",
    "annotation/pages/**",
    "annotation/queries/**",
    "annotation/sheets/**",
    "annotation/displays/**",
    "annotation/fields/**",
    "annotation/models/**",
    "annotation/services/**",
    "annotation/views/**",
    "benchmarks/templatetags/**",
    "config/**",
    "templates/evaluation/my_statistics.html",
    "people/*.py",
    "people/forms/**",
    "people/locales/**",
    "people/models/**",
    "people/pages/**",
    "people/queries/**",
    "people/services/**",
    "people/templatetags/**",
    "people/views/**",
)
# Those of them that only people see who run a team, a benchmark or a campaign.
MANAGERS = (
    "templates/annotation/campaigns/**",
    "templates/annotation/cohort/**",
    "templates/annotation/composer/**",
    "templates/annotation/recipes/**",
    "templates/annotation/coverage/**",
    "templates/annotation/kept_pictures.html",
    "templates/annotation/results_used.html",
    "templates/annotation/verdict.html",
    "templates/annotation/missing_answers.html",
    "templates/annotation/item_*.html",
    "templates/parts/programs.html",
    "templates/annotation/waiting_revisions.html",
    "annotation/pages/item_*.py",
    "annotation/pages/action_result.py",
    "annotation/pages/uncounted_reasons.py",
    "annotation/services/bulk_actions.py",
    "people/services/token_notices.py",
    "annotation/services/revisions/**",
    "annotation/views/item_*.py",
    "templates/annotation/file_answer_counts.html",
    "templates/annotation/outside_items.html",
    "templates/parts/import_hint.html",
    "templates/parts/mail_banner.html",
    "templates/annotation/protocol/form.html",
    "templates/annotation/protocol/write.html",
    "templates/annotation/reviews/[!rw]*",  # not reviewer_note.html and what.html, which are for annotators
    "templates/annotation/fields/*/compare.html",
    "templates/people/cohort*",
    "templates/people/one_time_link.html",
    "templates/people/consent_*",
    "templates/people/invitations.html",
    "templates/people/invite*.html",
    "templates/people/mail.html",
    "templates/people/messages.html",
    "templates/people/sign_in_link.html",
    "templates/people/team*",
    "templates/people/tokens.html",
    "people/models/tokens.py",
    "annotation/forms/**",
    "annotation/pages/board_rows.py",
    "annotation/pages/campaign*.py",
    "annotation/pages/chain_opening.py",
    "annotation/pages/cohort_items.py",
    "annotation/pages/coverage_cells.py",
    "annotation/pages/judging_cohorts.py",
    "annotation/pages/kept_pictures.py",
    "annotation/pages/recipes.py",
    "annotation/pages/next_actions.py",
    "annotation/pages/composer.py",
    "annotation/queries/coverage_gap.py",
    "annotation/pages/outside_items.py",
    "annotation/pages/review_samples.py",
    "annotation/pages/rule_results.py",
    "annotation/pages/missing_answers.py",
    "annotation/pages/instructions.py",
    "annotation/queries/roster.py",
    "annotation/fields/registry.py",
    "annotation/fields/settings.py",
    "annotation/fields/*/settings.py",
    "annotation/models/campaigns.py",
    "annotation/models/outcomes.py",
    "annotation/services/files/answer_files.py",
    "annotation/services/files/items.py",
    "annotation/services/files/rows.py",
    "annotation/services/files/writing.py",
    "annotation/services/campaigns/lifecycle.py",
    "annotation/services/sheets/recipe_checks.py",
    "annotation/services/sheets/stage_warnings.py",
    "annotation/services/sheets/stages.py",
    "annotation/views/answer_files.py",
    "annotation/views/campaigns.py",
    "annotation/views/chain_opening.py",
    "annotation/views/cohorts.py",
    "annotation/views/composer*.py",
    "annotation/views/coverage.py",
    "annotation/views/instructions.py",
    "annotation/views/outside_items.py",
    "annotation/views/recipes.py",
    "annotation/views/reviews.py",
    "people/pages/tabs.py",
    "people/queries/mail_status.py",
    "people/forms/teams.py",
    "people/models/mail.py",
    "people/models/teams.py",
    "people/services/inviting/invite_lists.py",
    "people/services/teams.py",
    "people/views/cohorts.py",
    "people/views/one_time_link.py",
    "people/views/invitations.py",
    "people/views/messages.py",
    "people/views/teams.py",
    "people/views/tokens.py",
)


@dataclass(frozen=True)
class Text:
    """A text as the source has it. `context` and `plural` are mostly empty."""

    source: str
    plural: str = ""
    context: str = ""


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


@cache
def source_files() -> list[str]:
    """Return the files that may hold texts, by their paths from the root."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    wanted = (name for name in listed if name.endswith((".py", ".html", ".txt")) and not name.startswith("tests/"))
    return [name for name in wanted if (ROOT / name).is_file()]


def lies_in(name: str, places: Iterable[str]) -> bool:
    """Whether a file lies in one of the places: `folder/**` is all below it, `*` a part of one name."""
    return any(
        name.startswith(place[:-2])
        if place.endswith("/**")
        else fnmatchcase(name, place) and name.count("/") == place.count("/")
        for place in places
    )


def audience(name: str) -> str:
    """Return who reads the texts of a file."""
    if lies_in(name, MANAGERS):
        return "managers"
    return "annotators" if lies_in(name, ANNOTATORS) else "researchers"


@dataclass(frozen=True)
class Use:
    """Where a text stands, and the first of AUDIENCES that reads it."""

    file: str
    audience: str


def uses(names: Iterable[str]) -> dict[Text, Use]:
    """Return each text of the files. One that annotators read somewhere is theirs."""
    texts: dict[Text, Use] = {}
    for name in sorted(names, key=lambda name: (AUDIENCES.index(audience(name)), name)):
        for text in texts_of(ROOT / name):
            texts.setdefault(text, Use(name, audience(name)))
    return texts


def text_in(message: CatalogueMessage) -> Text:
    return Text(message.source, message.plural, message.context)


def fault(message: CatalogueMessage, n_plurals: int) -> str:
    """Return what is wrong with a translation, or nothing. A fuzzy or empty one is missing, which is no fault."""
    if message.fuzzy or not any(message.translations):
        return ""
    if len(message.translations) != (n_plurals if message.plural else 1):
        return f"{len(message.translations)} plural forms where the language has {n_plurals}"
    if not all(message.translations):
        return "some plural forms are empty"
    # A plural form may leave out the number that it says in words.
    wanted = set(PLACEHOLDER.findall(message.source + message.plural))
    for translation in message.translations:
        present = set(PLACEHOLDER.findall(translation))
        if not present <= wanted or (not message.plural and present != wanted):
            return f"placeholders are {sorted(present)} where the source has {sorted(wanted)}"
    return ""


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


def report(catalogue: Path, texts: Mapping[Text, Use], confirmed: Collection[str]) -> Report:
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


def check(folder: Path, texts: Mapping[Text, Use], confirmed: Collection[str], *, release: bool) -> int:
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
