"""Translations never block a change: a missing text appears in English and is listed. A wrong one fails the tests."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import django
import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client

from config import catalogues, django_texts, languages
from config.catalogues import compile_changed, read
from config.local import testing
from config.local.errors import EmicError
from people.locales import audiences
from people.locales.audiences import ANNOTATORS, MANAGERS, audience, lies_in
from people.locales.source_texts import SourceText, texts_of
from tests import translations as check_of_translations
from tests.test_catalogues import HEADER, catalogue_in, translations
from tests.translations import ROOT, Use, check, fault, source_files, uses

TEXTS = {
    SourceText("Save %(name)s"): Use("templates/people/form.html", "annotators"),
    SourceText("%(n)s picture", "%(n)s pictures"): Use("annotation/pages/status_text.py", "annotators"),
    SourceText("Create the campaign"): Use("annotation/forms/campaigns.py", "managers"),
    SourceText("Run the model"): Use("templates/predictions/run.html", "researchers"),
}
COMPLETE = (
    HEADER
    + r"""
msgid "Save %(name)s"
msgstr "Shrani %(name)s"

msgid "%(n)s picture"
msgid_plural "%(n)s pictures"
msgstr[0] "ena slika"
msgstr[1] "%(n)s sliki"
msgstr[2] "%(n)s slike"
msgstr[3] "%(n)s slik"

msgid "Create the campaign"
msgstr "Ustvari"

msgid "Run the model"
msgstr "Zaženi"
"""
)
NOT_TRANSLATED = {
    "a new text of the code": COMPLETE.replace('msgid "Save %(name)s"', 'msgid "Save the old %(name)s"'),
    "an empty translation": COMPLETE.replace('"Shrani %(name)s"', '""'),
    "a fuzzy translation": COMPLETE.replace('msgid "Save', '#, fuzzy\nmsgid "Save'),
    "a fuzzy translation with another placeholder": COMPLETE.replace('msgid "Save', '#, fuzzy\nmsgid "Save').replace(
        "Shrani %(name)s", "Shrani %(title)s"
    ),
}
WRONG = {
    "another placeholder": (COMPLETE.replace("Shrani %(name)s", "Shrani %(ime)s"), 8, "%(ime)s"),
    "a placeholder that is left out": (COMPLETE.replace("Shrani %(name)s", "Shrani"), 8, "%(name)s"),
    "another placeholder in one plural form": (COMPLETE.replace('%(n)s slik"', '%(m)s slik"'), 11, "%(m)s"),
    "a plural form too few": (COMPLETE.replace('msgstr[3] "%(n)s slik"\n', ""), 11, "3 plural forms"),
    "a plural form too many": (COMPLETE.replace('slik"\n', 'slik"\nmsgstr[4] "slik"\n'), 11, "5 plural forms"),
    "an empty plural form": (COMPLETE.replace('"%(n)s slike"', '""'), 11, "some plural forms are empty"),
    "a wrong placeholder that only researchers see": (COMPLETE.replace("Zaženi", "Zaženi %s"), 21, "%s"),
    "a file that cannot be read": (COMPLETE.replace('"Zaženi"', '"Zaženi'), 22, "no comment"),
}


@pytest.fixture(params=["confirmed", "draft"])
def confirmed(request: pytest.FixtureRequest) -> list[str]:
    return ["sl"] if request.param == "confirmed" else []


def test_a_complete_language_passes_both_checks(tmp_path: Path, confirmed: list[str]) -> None:
    catalogue_in(tmp_path, COMPLETE)
    assert check(tmp_path, TEXTS, confirmed, release=False) == 0
    assert check(tmp_path, TEXTS, confirmed, release=True) == 0


@pytest.mark.parametrize("name", NOT_TRANSLATED)
def test_a_missing_text_of_annotators_is_listed_and_fails_only_a_release(
    name: str, tmp_path: Path, confirmed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    source = catalogue_in(tmp_path, NOT_TRANSLATED[name])
    assert check(tmp_path, TEXTS, confirmed, release=False) == 0
    output = capsys.readouterr().out
    assert "annotators 1 of 2, managers 1 of 1, researchers 1 of 1" in output
    missing = "appears in English: templates/people/form.html: 'Save %(name)s'"
    assert (missing if confirmed else "appear in English: 1 texts for annotators") in output
    assert check(tmp_path, TEXTS, confirmed, release=True) == 1
    assert missing in capsys.readouterr().out
    compile_changed(tmp_path)
    assert translations(source).gettext("Save %(name)s") == "Save %(name)s"


def test_a_missing_text_of_managers_or_researchers_is_counted_and_fails_nothing(
    tmp_path: Path, confirmed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    catalogue_in(tmp_path, COMPLETE.replace("Ustvari", "").replace("Zaženi", ""))
    assert check(tmp_path, TEXTS, confirmed, release=True) == 0
    output = capsys.readouterr().out
    assert "annotators 2 of 2, managers 0 of 1, researchers 0 of 1" in output and "in English" not in output


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("release", [False, True])
def test_a_wrong_translation_fails_both_checks_and_names_its_line(
    name: str, release: bool, tmp_path: Path, confirmed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    text, line, problem = WRONG[name]
    source = catalogue_in(tmp_path, text)
    assert check(tmp_path, TEXTS, confirmed, release=release) == 1
    output = capsys.readouterr().out
    assert f"{source}, line {line}: " in output and problem in output


def test_a_confirmed_language_without_a_catalogue_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    catalogue_in(tmp_path, COMPLETE)
    assert check(tmp_path, TEXTS, ["sl", "sw"], release=False) == 1
    assert "sw is in CONFIRMED_LANGUAGES" in capsys.readouterr().out


def test_emic_test_runs_the_check_and_shows_what_it_lists(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without `--release` as well as with it; a release is never checked in parts."""
    listing = [sys.executable, "-c", "import sys; print('listed', *sys.argv[1:]); sys.exit('--release' in sys.argv)"]
    assert testing.CHECKS[testing.TRANSLATIONS][1:] == ["-m", "tests.translations"]
    monkeypatch.setattr(testing, "CHECKS", {testing.TRANSLATIONS: listing})
    assert testing.run_checks(release=False) == (1, []) and "listed\n" in capsys.readouterr().out
    assert testing.run_checks(release=True) == (0, [testing.TRANSLATIONS])
    assert "listed --release\n" in capsys.readouterr().out
    with pytest.raises(EmicError, match="without paths"):
        testing.test(["--release", "tests/people"])


@pytest.mark.parametrize(
    "source", sorted(catalogues.FOLDER.glob("*/LC_MESSAGES/django.po")), ids=lambda path: path.parts[-3]
)
def test_no_translation_of_ours_is_wrong(source: Path) -> None:
    content = read(source)
    wrong = [(message.line, fault(message, content.n_plurals)) for message in content.messages]
    assert not [(line, problem) for line, problem in wrong if problem]


def test_the_check_reads_the_catalogues_and_the_code_of_this_repository() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.translations"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for code in settings.CONFIRMED_LANGUAGES:
        assert re.search(rf"^{code} \(confirmed\): annotators [5-9]\d\d of [5-9]\d\d, managers", done.stdout, re.M)


@pytest.mark.skipif(not shutil.which("xgettext"), reason="gettext is not installed, and only makemessages needs it")
def test_makemessages_changes_only_the_lines_of_the_texts_that_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.LOCALE_PATHS = [tmp_path / "locale"]
    monkeypatch.chdir(tmp_path)
    long = "This sentence is longer than the eighty characters of a line that gettext would leave in one piece. " * 2
    code = tmp_path / "code.py"
    code.write_text(f'from django.utils.translation import gettext as _\n_("Save")\n_("Old")\n_("{long}")\n')
    before = HEADER + f'\nmsgid "Save"\nmsgstr "Shrani"\n\nmsgid "Old"\nmsgstr "Staro"\n\nmsgid "{long}"\nmsgstr ""\n'
    source = catalogue_in(tmp_path / "locale", before)
    call_command("makemessages", locale=["sl"], verbosity=0)
    assert source.read_text(encoding="utf-8") == before
    code.write_text(code.read_text().replace("Old", "Another thing"))
    call_command("makemessages", locale=["sl"], verbosity=0)
    after = before.replace('msgid "Old"\nmsgstr "Staro"', 'msgid "Another thing"\nmsgstr ""')
    assert source.read_text(encoding="utf-8") == after
    assert [path.name for path in (tmp_path / "locale").iterdir()] == ["sl"]


def test_texts_are_found_in_code_and_in_templates(tmp_path: Path) -> None:
    code, page = tmp_path / "a.py", tmp_path / "a.html"
    code.write_text(
        "from django.utils.translation import gettext_lazy as _, ngettext\n"
        "A = _('one ' 'text')\nngettext('%(n)s thing', '%(n)s things', n)\n_(name)\n"
    )
    page.write_text(
        '{% load i18n %}{% translate "It\'s" context "short" %}{% include "x.html" with a=_("word") only %}\n'
        "{% blocktranslate trimmed count n=many %}\n {{ n }} left\n{% plural %} {{ n }} are left\n"
        "{% endblocktranslate %}"
    )
    assert texts_of(code) == {SourceText("one text"), SourceText("%(n)s thing", "%(n)s things")}
    assert texts_of(page) == {
        SourceText("It's", context="short"),
        SourceText("word"),
        SourceText("%(n)s left", "%(n)s are left"),
    }


def test_each_file_has_one_audience_and_each_place_has_files() -> None:
    names = [
        "templates/annotation/fields/new/input.html",
        "annotation/forms/campaigns.py",
        "templates/annotation/recipes/save.html",
        "evaluation/rendering/reason_text.py",
    ]
    assert [audience(name) for name in names] == ["annotators", "managers", "managers", "researchers"]
    empty = [place for place in ANNOTATORS + MANAGERS if not any(lies_in(name, (place,)) for name in source_files())]
    assert not empty, f"no file lies in these places any more: {empty}"


def test_a_text_that_annotators_read_anywhere_is_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_of_translations, "ROOT", tmp_path)
    for name, texts in {"evaluation": "Name Run", "people/teams": "Name Create", "people": "Name"}.items():
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        calls = "".join(f'_("{text}")\n' for text in texts.split())
        (tmp_path / name / "a.py").write_text("from django.utils.translation import gettext as _\n" + calls)
    monkeypatch.setattr(audiences, "MANAGERS", ("people/teams/**",))
    result = uses(["evaluation/a.py", "people/teams/a.py", "people/a.py"])
    assert result == {
        SourceText("Name"): Use("people/a.py", "annotators"),
        SourceText("Create"): Use("people/teams/a.py", "managers"),
        SourceText("Run"): Use("evaluation/a.py", "researchers"),
    }


def test_borrowed_texts_are_djangos_own() -> None:
    folder = Path(django.__file__).parent
    sources = {
        message.source
        for place in ("conf", "contrib/auth")
        for message in read(folder / place / "locale/en/LC_MESSAGES/django.po").messages
    }
    assert {text.source for text in texts_of(Path(django_texts.__file__))} <= sources


def test_a_catalogue_is_all_a_new_language_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told_to_django: dict[str, dict[str, object]] = {
        "pt-br": {"code": "pt-br", "name_local": "Português", "bidi": False}
    }
    monkeypatch.setattr(languages, "LANG_INFO", told_to_django)
    for folder, told in {"pt_BR": "", "ps": '"X-Own-Name: پښتو\\n"\n"X-Direction: rtl\\n"\n', "xx": ""}.items():
        (tmp_path / folder / "LC_MESSAGES").mkdir(parents=True)
        head = f'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n{told}\nmsgid "Name"\nmsgstr "x"\n'
        (tmp_path / folder / "LC_MESSAGES" / "django.po").write_text(head)
    (tmp_path / "de" / "LC_MESSAGES").mkdir(parents=True)
    found, from_the_right = languages.available_languages(tmp_path)
    assert found == [("en", "English"), ("ps", "پښتو"), ("pt-br", "Português"), ("xx", "xx")]
    assert {"ar", "ps"} <= set(from_the_right) and not {"pt-br", "xx"} & set(from_the_right)
    assert told_to_django["ps"]["bidi"] is True


@pytest.mark.parametrize(
    ("accepts", "code", "direction"),
    [
        ("pt", "pt-br", "ltr"),
        ("pt-PT,pt;q=0.9", "pt-br", "ltr"),
        ("am-ET,en;q=0.5", "am", "ltr"),
        ("ar-EG", "ar", "rtl"),
        ("xx,zz;q=0.1", "en", "ltr"),
    ],
)
@pytest.mark.django_db
def test_before_sign_in_a_page_speaks_as_the_browser_asks(accepts: str, code: str, direction: str) -> None:
    page = Client(headers={"accept-language": accepts}).get("/sign-in").content.decode()
    assert f'<html lang="{code}" dir="{direction}"' in page
    picker = re.findall(r'name="language" value="([\w-]+)" lang="\1"[^>]*>([^<]+)<', page)
    assert (
        dict(picker).items() >= {"en": "English", "ar": "العربية", "pt-br": "Português (Brasil)", "am": "አማርኛ"}.items()
    )
