"""Catalogues are compiled in Python, at every start that needs it, and a broken one names its file and line."""

import errno
import gettext
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from config import catalogues
from config.catalogues import CatalogueError, CatalogueMessage, compile_at_start, compile_changed, read
from config.local import environment

ROOT = Path(__file__).resolve().parent.parent
HEADER = r"""# Slovene has four forms.
msgid ""
msgstr ""
"Language: sl\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=4; plural=(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3);\n"
"""
SAMPLE = (
    HEADER
    + r"""
#. A comment of the code.
msgid "Save"
msgstr "Shrani"

msgctxt "edge"
msgid "Right"
msgstr "Desni"

msgid "Right"
msgstr "Pravilno"

msgid "%(n)s picture"
msgid_plural "%(n)s pictures"
msgstr[0] "%(n)s slika"
msgstr[1] "%(n)s sliki"
msgstr[2] "%(n)s slike"
msgstr[3] "%(n)s slik"

#, fuzzy, python-format
#| msgid "Cancel all"
msgid "Cancel"
msgstr "Prekliči vse"

msgid "Delete"
msgstr ""

msgid "%(n)s day"
msgid_plural "%(n)s days"
msgstr[0] "%(n)s dan"
msgstr[1] ""
msgstr[2] ""
msgstr[3] ""

msgid ""
"Two lines\n"
"with \"quotes\"\tand a \\."
msgstr ""
"Dve vrstici\n"
"z \"narekovaji\"\tin \\."
#, fuzzy
#~ msgid "Gone"
#~ msgstr "Proč"

msgid "Skip"
msgstr "Preskoči"
"""
)


def catalogue_in(folder: Path, text: str, code: str = "sl") -> Path:
    path = folder / code / "LC_MESSAGES" / "django.po"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def translations(source: Path) -> gettext.GNUTranslations:
    with source.with_suffix(".mo").open("rb") as file:
        return gettext.GNUTranslations(file)


def test_gettext_reads_what_was_compiled(tmp_path: Path) -> None:
    source = catalogue_in(tmp_path, SAMPLE)
    assert compile_changed(tmp_path) == [source]
    slovene = translations(source)
    assert slovene.info()["content-type"] == "text/plain; charset=UTF-8" and slovene.charset() == "UTF-8"
    assert slovene.gettext("Save") == "Shrani" and slovene.gettext("Skip") == "Preskoči"
    assert (slovene.pgettext("edge", "Right"), slovene.gettext("Right")) == ("Desni", "Pravilno")
    assert slovene.pgettext("page", "Right") == "Right"
    counted = [slovene.ngettext("%(n)s picture", "%(n)s pictures", n) for n in (101, 2, 4, 5)]
    assert counted == ["%(n)s slika", "%(n)s sliki", "%(n)s slike", "%(n)s slik"]
    assert slovene.gettext('Two lines\nwith "quotes"\tand a \\.') == 'Dve vrstici\nz "narekovaji"\tin \\.'


def test_a_text_that_is_fuzzy_empty_or_incomplete_appears_in_english(tmp_path: Path) -> None:
    source = catalogue_in(tmp_path, SAMPLE)
    compile_changed(tmp_path)
    slovene = translations(source)
    assert [slovene.gettext(text) for text in ("Cancel", "Delete", "Gone")] == ["Cancel", "Delete", "Gone"]
    assert [slovene.ngettext("%(n)s day", "%(n)s days", n) for n in (1, 5)] == ["%(n)s day", "%(n)s days"]


@pytest.mark.skipif(not shutil.which("msgfmt"), reason="gettext is not installed, and nothing else needs it")
@pytest.mark.parametrize(
    "source", sorted(catalogues.FOLDER.glob("*/LC_MESSAGES/django.po")), ids=lambda path: path.parts[-3]
)
def test_each_catalogue_compiles_to_what_gettext_itself_makes(source: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.mo"
    subprocess.run(["msgfmt", "-o", str(theirs), str(source)], check=True)
    with theirs.open("rb") as file:
        expected = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    ours = translations(source)._catalog  # type: ignore[attr-defined]
    assert len(ours) > 700 and {**ours, "": ""} == {**expected, "": ""}


def test_a_catalogue_is_compiled_again_when_its_text_changed_and_only_then(tmp_path: Path) -> None:
    source = catalogue_in(tmp_path, SAMPLE)
    assert compile_changed(tmp_path) == [source] and compile_changed(tmp_path) == []
    before = source.stat().st_mtime
    source.write_text(SAMPLE.replace("Shrani", "Hrani"), encoding="utf-8")
    os.utime(source, (before - 1000, before - 1000))  # a checkout or an unpacked archive may look older
    assert compile_changed(tmp_path) == [source]
    assert translations(source).gettext("Save") == "Hrani"
    source.with_suffix(".mo").unlink()
    assert compile_changed(tmp_path) == [source]
    source.with_suffix(".mo").write_bytes(b"half a fi")
    assert compile_changed(tmp_path) == [source] and compile_changed(tmp_path) == []
    assert [path.name for path in source.parent.iterdir() if path != source] == ["django.mo"]


def test_a_process_shows_the_present_texts_without_any_tool(tmp_path: Path) -> None:
    """Through the settings, as `manage.py`, pytest, the web server and the worker, with no program on the path."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    source = catalogue_in(tmp_path / "locale", SAMPLE)
    code = (
        "import django; from django.conf import settings; from django.utils.translation import gettext, override\n"
        "settings.INSTALLED_APPS = []; django.setup()\nwith override('sl'): print(gettext('Skip'))"
    )

    def shown() -> str:
        env = {"PATH": os.devnull, "DJANGO_SETTINGS_MODULE": "config.settings", "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert shown() == "Preskoči"
    source.write_text(SAMPLE.replace("Preskoči", "Naprej"), encoding="utf-8")
    assert shown() == "Naprej"


def test_where_nothing_can_be_written_the_site_starts_and_the_log_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    source = catalogue_in(tmp_path, SAMPLE)

    def refuse(path: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr(Path, "write_bytes", refuse)
        compile_at_start(tmp_path)
    assert "could not be compiled" in caplog.text and "No space left on device" in caplog.text
    assert not source.with_suffix(".mo").exists()
    compile_at_start(tmp_path)
    assert translations(source).gettext("Save") == "Shrani"


BROKEN = {
    "a quote that is not closed": (SAMPLE.replace('"Shrani"', '"Shrani'), 10, "no comment"),
    "a keyword that does not exist": (SAMPLE.replace('msgid "Save"', 'msgtxt "Save"'), 9, "no comment"),
    "a text without a keyword": (HEADER + '\n# Alone.\n"Save"\n', 9, "no keyword"),
    "an entry without a translation": (SAMPLE.replace('msgstr "Shrani"\n', ""), 9, "needs msgid and msgstr"),
    "two translations": (SAMPLE.replace('"Desni"', '"Desni"\nmsgstr "Levi"'), 15, "msgstr is here twice"),
    "a last entry without a translation": (HEADER + '\nmsgid "Save"\n', 8, "needs msgid and msgstr"),
    "a plural without forms": (SAMPLE.replace('msgid_plural "%(n)s pictures"\n', ""), 19, "needs msgid and msgstr"),
    "a form that is left out": (SAMPLE.replace('msgstr[1] "%(n)s sliki"\n', ""), 19, "needs msgid and msgstr"),
    "an unknown escape": (SAMPLE.replace("Desni", r"De\sni"), 14, r"\s has no meaning"),
    "the same text twice": (SAMPLE + '\nmsgid "Save"\nmsgstr "Hrani"\n', 54, "line 9 is here again"),
    "no header": ('msgid "Save"\nmsgstr "Shrani"\n', 1, "the header is missing"),
    "another charset": (SAMPLE.replace("charset=UTF-8", "charset=ISO-8859-2"), 2, "charset=UTF-8"),
    "no rule for plurals": (SAMPLE.replace('"Plural-Forms', '"X-Forms'), 2, "a rule for plurals"),
    "the rule of a new catalogue": (
        HEADER.replace("nplurals=4; plural=(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3);",
                       "nplurals=INTEGER; plural=EXPRESSION;"), 2, "a rule for plurals",
    ),
    "a rule with more forms than it counts": (SAMPLE.replace("nplurals=4", "nplurals=3"), 2, "a rule for plurals"),
    "a rule that is no formula": (SAMPLE.replace("n%100==1 ?", "import os ?"), 2, "a rule for plurals"),
    "a rule that divides by zero": (SAMPLE.replace("n%100==1 ?", "n%0==1 ?"), 2, "a rule for plurals"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_catalogue_names_its_file_and_line(name: str, tmp_path: Path) -> None:
    text, line, problem = BROKEN[name]
    source = catalogue_in(tmp_path, text)
    with pytest.raises(CatalogueError) as refused:
        compile_changed(tmp_path)
    assert str(refused.value).startswith(f"{source}, line {line}: ") and problem in str(refused.value)
    assert not source.with_suffix(".mo").exists()


def test_bytes_that_are_not_utf_8_are_refused_with_their_line_and_a_byte_order_mark_is_not(tmp_path: Path) -> None:
    source = catalogue_in(tmp_path, SAMPLE)
    source.write_bytes(b"\xef\xbb\xbf" + SAMPLE.encode().replace(b"\n", b"\r\n"))
    assert CatalogueMessage("Save", "", "", ("Shrani",), False, 9) in read(source).messages
    source.write_bytes(SAMPLE.encode("iso-8859-2"))
    line = SAMPLE[: SAMPLE.index("č")].count("\n") + 1
    with pytest.raises(CatalogueError, match=rf"line {line}: this is not UTF-8"):
        read(source)


def test_emic_says_in_one_sentence_which_catalogue_is_broken(tmp_path: Path) -> None:
    error = CatalogueError(catalogues.FOLDER / "sl/LC_MESSAGES/django.po", 10, "this is no comment.")
    message = environment.explain_failure(
        f"Traceback\nconfig.catalogues.CatalogueError: {error}\n", "migrate", tmp_path, tmp_path
    )
    assert message == (
        "Emic refuses to start, because a translation cannot be read. "
        "locale/sl/LC_MESSAGES/django.po, line 10: this is no comment."
    )
