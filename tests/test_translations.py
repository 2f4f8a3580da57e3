"""Every text that people read is there in their language, with the same placeholders. It runs without gettext tools."""

import re
import subprocess
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import django
import pytest
from django.conf import settings
from django.test import Client
from django.utils.translation import to_locale

from config import borrowed, languages
from tests.catalogues import Entry, Text, entries, plural_forms, texts_of

ROOT = Path(settings.BASE_DIR)
HOW = "Run ./emic manage makemessages -l {} --no-location and translate."
CODES = [code for code, _ in settings.LANGUAGES if code != "en"]

# Where the texts stand that annotators meet. A new file in one of these places is covered without a word here.
ANNOTATORS = (
    "templates/*.html",
    "templates/parts/**",
    "templates/people/**",
    "templates/annotation/**",
    "annotation/*.py",
    "annotation/displays/**",
    "annotation/fields/**",
    "annotation/models/**",
    "annotation/services/**",
    "annotation/views/**",
    "benchmarks/templatetags/**",
    "config/**",
    "people/*.py",
    "people/forms/**",
    "people/models/**",
    "people/services/**",
    "people/templatetags/**",
    "people/views/**",
)
# And what of it only those see who run a team, a benchmark or a campaign.
MANAGERS = (
    "templates/annotation/campaigns/**",
    "templates/annotation/cohort/**",
    "templates/annotation/composer/**",
    "templates/annotation/coverage/**",
    "templates/annotation/verdict.html",
    "templates/annotation/brought.html",
    "templates/annotation/overview.html",
    "templates/parts/elsewhere.html",
    "templates/parts/mail_banner.html",
    "templates/annotation/chain.html",
    "templates/annotation/protocol/form.html",
    "templates/annotation/protocol/write.html",
    "templates/annotation/reviews/[!w]*",  # not why.html, which authors read
    "templates/annotation/fields/*/compare.html",
    "templates/people/cohort*",
    "templates/people/fresh_link.html",
    "templates/people/consent_*",
    "templates/people/invitations.html",
    "templates/people/invite*.html",
    "templates/people/listed.html",
    "templates/people/mail.html",
    "templates/people/messages.html",
    "templates/people/sign_in_link.html",
    "templates/people/team*",
    "templates/people/tokens.html",
    "annotation/campaign*.py",
    "annotation/composer*.py",
    "annotation/holes.py",
    "annotation/verdicts.py",
    "annotation/protocol_pages.py",
    "annotation/roster.py",
    "annotation/fields/registry.py",
    "annotation/fields/settings.py",
    "annotation/fields/*/settings.py",
    "annotation/models/campaigns.py",
    "annotation/services/answer_files.py",
    "annotation/services/file_items.py",
    "annotation/services/file_rows.py",
    "annotation/services/file_writing.py",
    "annotation/services/campaigns.py",
    "annotation/services/stages.py",
    "annotation/views/answer_files.py",
    "annotation/views/campaigns.py",
    "annotation/views/cohorts.py",
    "annotation/views/composer*.py",
    "annotation/views/coverage.py",
    "annotation/views/instructions.py",
    "annotation/views/reviews.py",
    "people/tabs.py",
    "people/mail_status.py",
    "people/forms/teams.py",
    "people/models/mail.py",
    "people/models/teams.py",
    "people/services/inviting.py",
    "people/services/teams.py",
    "people/views/cohorts.py",
    "people/views/fresh.py",
    "people/views/inviting.py",
    "people/views/messages.py",
    "people/views/teams.py",
    "people/views/tokens.py",
)


@cache
def source_files() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    wanted = (name for name in listed if name.endswith((".py", ".html", ".txt")) and not name.startswith("tests/"))
    return [name for name in wanted if (ROOT / name).is_file()]


def lies_in(name: str, places: tuple[str, ...]) -> bool:
    """`folder/**` is all below it; else `*` stands for a part of one name."""
    return any(
        name.startswith(place[:-2])
        if place.endswith("/**")
        else fnmatchcase(name, place) and name.count("/") == place.count("/")
        for place in places
    )


def of_annotators(names: list[str]) -> list[str]:
    return [name for name in names if lies_in(name, ANNOTATORS) and not lies_in(name, MANAGERS)]


def texts_in(names: list[str]) -> dict[Text, str]:
    """Each text, and one file it stands in."""
    return {text: name for name in names for text in texts_of(ROOT / name)}


def catalogue(code: str) -> Path:
    return ROOT / "locale" / to_locale(code) / "LC_MESSAGES" / "django.po"


def covers_all(code: str) -> bool:
    """A catalogue is held to the pages of annotators, and to all pages if its head says so."""
    return languages.head(catalogue(code)).get("X-Covers") == "all pages"


def lacking(wanted: dict[Text, str], there: list[Entry]) -> list[str]:
    done = {entry.text for entry in there if entry.done}
    return sorted(f"{name}: {text.source!r}" for text, name in wanted.items() if text not in done)


def faults(there: list[Entry], forms: int) -> list[str]:
    """Placeholders that differ, and counted texts with too few or too many forms."""
    wrong = [
        f"placeholders differ: {one.text.source!r} -> {one.translations}" for one in there if one.placeholders_differ
    ]
    for one in there:
        expected = forms if one.text.plural else 1
        if len(one.translations) != expected:
            wrong.append(f"{len(one.translations)} forms, not {expected}: {one.text.source!r}")
        if 0 < len([said for said in one.translations if said]) < expected:
            wrong.append(f"some forms are empty: {one.text.source!r}")
    return wrong


@pytest.mark.parametrize("code", CODES)
def test_every_text_is_translated(code: str) -> None:
    names = source_files()
    wanted = texts_in(names if covers_all(code) else of_annotators(names))
    missing = lacking(wanted, entries(catalogue(code)))
    assert not missing, (
        f"{len(missing)} texts lack a translation in {catalogue(code).relative_to(ROOT)}.\n"
        f"{HOW.format(to_locale(code))}\n" + "\n".join(missing)
    )


@pytest.mark.parametrize("code", CODES)
def test_placeholders_and_plural_forms_are_those_of_the_source(code: str) -> None:
    wrong = faults(entries(catalogue(code)), plural_forms(catalogue(code)))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("code", CODES)
def test_catalogue_holds_the_texts_of_the_code_and_no_others(code: str) -> None:
    now, then = set(texts_in(source_files())), {entry.text for entry in entries(catalogue(code))}
    assert now == then, (
        f"{HOW.format(to_locale(code))}\nnew: {sorted(text.source for text in now - then)}\n"
        f"gone: {sorted(text.source for text in then - now)}"
    )


def test_a_hole_is_found() -> None:
    """The sample that must fail: missing, fuzzy, another placeholder, a form too few."""
    text, counted = Text("{n} left of %(all)s"), Text("%(n)s picture", "%(n)s pictures")
    assert lacking({text: "a.py"}, []) == lacking({text: "a.py"}, [Entry(text, ("x",), True)])
    assert faults([Entry(text, ("{n} von %(alle)s",), False)], 2) and faults([Entry(text, ("{n}",), False)], 2)
    assert faults([Entry(counted, ("%(n)s", ""), False)], 2) and faults([Entry(counted, ("a", "%(n)s"), False)], 6)
    assert not faults([Entry(counted, ("one", "%(n)s"), False), Entry(text, ("%(all)s: {n}",), False)], 2)


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
    assert texts_of(code) == {Text("one text"), Text("%(n)s thing", "%(n)s things")}
    assert texts_of(page) == {Text("It's", context="short"), Text("word"), Text("%(n)s left", "%(n)s are left")}


def test_pages_of_annotators_are_told_from_those_of_managers() -> None:
    names = ["templates/annotation/fields/new/input.html", "annotation/campaign_forms.py", "evaluation/words.py"]
    assert of_annotators(names) == names[:1]
    nobody = [place for place in ANNOTATORS + MANAGERS if not any(lies_in(name, (place,)) for name in source_files())]
    assert not nobody, f"no file lies there any more: {nobody}"


def test_borrowed_texts_are_djangos_own() -> None:
    folder = Path(django.__file__).parent
    own = {
        text.source
        for place in ("conf", "contrib/auth")
        for text in (entry.text for entry in entries(folder / place / "locale/en/LC_MESSAGES/django.po"))
    }
    assert {text.source for text in texts_of(Path(borrowed.__file__))} <= own


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
    found, from_the_right = languages.found(tmp_path)
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
        ("xx,de;q=0.1", "en", "ltr"),
    ],
)
@pytest.mark.django_db
def test_before_sign_in_a_page_speaks_as_the_browser_asks(accepts: str, code: str, direction: str) -> None:
    page = Client(headers={"accept-language": accepts}).get("/sign-in").content.decode()
    assert f'<html lang="{code}" dir="{direction}">' in page
    picker = re.findall(r'name="language" value="([\w-]+)" lang="\1"[^>]*>([^<]+)<', page)
    assert (
        dict(picker).items() >= {"en": "English", "ar": "العربية", "pt-br": "Português (Brasil)", "am": "አማርኛ"}.items()
    )
