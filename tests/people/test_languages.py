"""Speakers confirm the texts of a language on a page, and the running site shows what they confirmed."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection
from django.test import Client
from django.utils import translation
from django.utils.translation import gettext, ngettext

from annotation.pages import sheet_shell
from config.catalogue_writer import with_translations
from config.catalogues import read
from jobs.models import Event
from people.locales import languages, overlay
from people.locales.source_texts import SourceText
from people.locales.translation_rules import suggestion_fault
from people.models import InterfaceLanguage, LanguageSpeaker, TextVersion, User
from people.pages.speaker_texts import PAGE_SIZE
from people.pages.text_places import PLACES, place_of
from people.queries.interface_texts import LanguageTexts, annotator_texts, text_key
from tests.personas import World
from tests.test_catalogues import SAMPLE, catalogue_in

ROOT = Path(__file__).resolve().parent.parent.parent
SAVE, PICTURES = SourceText("Sign in"), SourceText("%(n)s answer", "%(n)s answers")
PAGE = "/languages/ar/"


@pytest.fixture
def shown(settings: Any) -> Iterator[None]:
    """Texts of speakers are read at each request, and forgotten after the test."""
    settings.SPEAKER_TEXT_SECONDS = 0
    yield
    overlay.forget()


@pytest.fixture
def speaker(world: World) -> User:
    """Nour speaks Arabic, and reads the pages in English."""
    language, _created = InterfaceLanguage.objects.get_or_create(code="ar")
    LanguageSpeaker.objects.create(
        language=language, user=world.nour, added_by=world.site_admin, added_at=world.nour.created_at
    )
    world.nour.language = "en"
    world.nour.save()
    return world.nour


def html(reply: Any) -> str:
    return str(reply.content.decode())


def address(text: SourceText, code: str = "ar") -> str:
    return f"/languages/{code}/texts/{text_key(text)}"


def a_plural_text() -> SourceText:
    return next(text.text for text in annotator_texts().values() if text.text.plural and "%(n)s" in text.text.plural)


def confirm(client: Client, text: SourceText, *forms: str, seen: int = 0, do: str = "confirm", query: str = "") -> Any:
    fields = {f"form_{number}": form for number, form in enumerate(forms)}
    return client.post(address(text) + query, {"seen": seen, "do": do, **fields})


def sign_in_page(language: str = "ar") -> str:
    return html(Client(headers={"accept-language": language}).get("/sign-in"))


@pytest.mark.django_db
def test_a_site_admin_names_a_speaker_who_confirms_and_a_stranger_gets_404(world: World) -> None:
    nour, admin = world.client(world.nour), world.client(world.site_admin)
    for person in (world.nour, world.team_admin, world.stranger):
        client = world.client(person)
        assert client.get("/languages/").status_code == client.get(PAGE).status_code == 404
        assert "/languages/" not in html(client.get("/me"))
        assert confirm(client, SAVE, "دخول").status_code == 404
        assert client.post(PAGE + "speakers", {"email": person.email}).status_code == 404
    assert "/languages/" in html(admin.get("/me")) and "Nobody confirms the texts" in html(admin.get(PAGE))
    unknown = admin.post(PAGE + "speakers", {"email": "nobody@example.org"})
    assert unknown.status_code == 400 and "Nobody has an account with this e-mail" in html(unknown)
    assert admin.post(PAGE + "speakers", {"email": world.nour.email.upper()}).status_code == 302
    assert world.nour.name in html(admin.get(PAGE)) and "/languages/" in html(nour.get("/me"))
    assert nour.get("/languages/").context["languages"][0][0] == "ar" and nour.get("/languages/fr/").status_code == 404
    assert nour.get("/languages/pt-br/").status_code == nour.get("/languages/en/").status_code == 404
    assert nour.post(PAGE + "speakers", {"email": world.tarek.email}).status_code == 404, "a speaker names nobody"
    assert confirm(admin, SAVE, "دخول").status_code == 404, "an admin who is no speaker confirms nothing"
    assert confirm(nour, SAVE, "دخول").status_code == 302
    assert admin.post(f"{PAGE}speakers/{world.nour.pk}/remove").status_code == 302
    assert confirm(nour, SAVE, "ولوج", seen=TextVersion.objects.get().pk).status_code == 404
    assert TextVersion.objects.get().forms == ["دخول"], "what was confirmed stays"
    verbs = set(Event.objects.filter(scope="language:ar").values_list("verb", flat=True))
    assert verbs == {"language.speaker_added", "language.text_confirmed", "language.speaker_removed"}


@pytest.mark.django_db
def test_a_text_is_shown_in_its_place_and_goes_from_open_to_confirmed_and_back(world: World, speaker: User) -> None:
    client = world.client(speaker)
    page = html(client.get(PAGE + "?show=all&q=Sign in"))
    assert re.search(r'href="/sign-in"[^>]*>Sign in', page) and "دخول" in page.replace("الدخول", "دخول")
    assert '<textarea class="in" id=' in page and 'lang="ar" dir="rtl"' in page
    n_all = len(annotator_texts())
    assert f"<b>0</b> of {n_all} texts confirmed" in page
    reply = confirm(client, SAVE, "دخول", do="suggest", query="?show=open&q=Sign in")
    first = TextVersion.objects.get()
    assert first.is_confirmed is False and f"done={first.pk}" in reply.url and "q=Sign+in" in reply.url
    after = html(client.get(reply.url))
    assert "Suggestion saved:" in after and "Suggested (1)" in after and f"<b>0</b> of {n_all}" in after
    assert "Draft:" in after, "the draft stands under the suggestion"
    assert confirm(client, SAVE, "دخول", seen=first.pk).status_code == 302
    assert f"<b>1</b> of {n_all}" in html(client.get(PAGE)) and "Confirmed (1)" in html(client.get(PAGE))
    assert "دخول" in html(client.get(PAGE + "?show=confirmed"))
    second = TextVersion.objects.get(is_confirmed=True)
    assert client.post(f"{PAGE}versions/{first.pk}/undo").status_code == 302
    assert TextVersion.objects.filter(undone_at=None).count() == 2, "only the newest version is undone"
    for version, state in ((second, "suggested"), (first, "open")):
        client.post(f"{PAGE}versions/{version.pk}/undo")
        assert LanguageTexts("ar").states[text_key(SAVE)].state == state


@pytest.mark.django_db
def test_the_next_text_has_the_focus_and_pages_search_and_filters_bear_any_query(world: World, speaker: User) -> None:
    client = world.client(speaker)
    rows = client.get(PAGE).context["page"].rows
    assert len(rows) == PAGE_SIZE and not rows[0].is_next
    forms = [field.value for field in rows[0].fields]
    reply: Any = client.post(f"{PAGE}texts/{rows[0].key}?show=open", {
        "seen": 0, "do": "confirm", **{f"form_{number}": form for number, form in enumerate(forms)}
    })  # fmt: skip
    following = client.get(reply.url).context["page"].rows
    assert following[0].key == rows[1].key and following[0].is_next
    fields = re.findall(r"<textarea [^>]* autofocus>", html(client.get(reply.url)))
    assert len(fields) == 1 and rows[1].key in fields[0]
    for query in (
        "show=x&page=0",
        "page=99999999",
        "page=²",
        "q=%00%FF",
        "done=x",
        "done=" + "9" * 40,
        "q=" + "x" * 999,
    ):
        assert client.get(f"{PAGE}?{query}").status_code == 200, query
    assert "No text has these words" in html(client.get(PAGE + "?q=zzzzz"))
    assert client.get(PAGE + "?show=all&q=SIGN IN").context["page"].rows, "searched in any case"


@pytest.mark.django_db
def test_two_speakers_do_not_overwrite_each_other(world: World, speaker: User) -> None:
    client = world.client(speaker)
    confirm(client, SAVE, "دخول")
    late = confirm(client, SAVE, "ولوج")
    assert late.status_code == 409 and "ولوج" in html(late) and TextVersion.objects.count() == 1
    assert "Somebody else changed this text" in html(late)
    assert confirm(client, SAVE, "ولوج", seen=TextVersion.objects.get().pk).status_code == 302


HOSTILE = {
    "a script": ("Sign in", "<script>alert(1)</script>", "The tags are"),
    "an open tag": ("Sign in", "دخول <img src=x onerror=alert(1)", "the sign &lt;"),
    "a tag with another attribute": ("<bdi>%(name)s</bdi> asks", '<bdi onclick="x">%(name)s</bdi>', "The tags are"),
    "a tag that is left out": ("<bdi>%(name)s</bdi> asks", "%(name)s", "The tags are"),
    "a tag closed before it is opened": ("<b>%(n)s</b> x", "</b>%(n)s<b>", "closed before"),
    "the end of an attribute": ("Sign in", 'x" hx-get="/me', "the sign &quot;"),
    "an HTML code": ("Sign in", "&lt;b&gt;", "an HTML code"),
    "another placeholder": ("Hello %(name)s", "%(name)s %(password)s", "%(password)s must not"),
    "a placeholder that is left out": ("Hello %(name)s", "x", "%(name)s is missing"),
    "a single percent sign": ("Hello %(name)s", "%(name)s 50 %", "% must not"),
    "a percent sign where nothing is put in": ("Sign in", "50 %s", "%s must not"),
    "a positional placeholder twice": ("A %s", "%s %s", "%s must not"),
    "a positional placeholder that is left out": ("%s of %s", "%s", "%s is missing"),
    "a brace": ("of {target}", "{target} {", "{ must not"),
    "another field in braces": ("of {target}", "{target.password}", "must not"),
    "another word in capitals": ("at TIME", "at TIME WHEN", "WHEN must not"),
    "nothing": ("Sign in", " \n ", "is empty"),
    "another line": ("Sign in", "a\nBcc: x", "number of line breaks"),
    "a control character": ("Sign in", "a\x07b", "U+0007"),
    "an override of the direction": ("Sign in", "a\u202eb", "U+202E"),
    "huge text": ("Sign in", "x" * 201, "201 characters"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_or_wrong_translation_is_refused_with_its_reason(name: str) -> None:
    source, form, problem = HOSTILE[name]
    reason = suggestion_fault(SourceText(source), form)
    assert problem.replace("&lt;", "<").replace("&quot;", '"') in reason


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (SourceText("<b>%(given)s</b> of %(asked)s"), "%(asked)s / <b>%(given)s</b>"),
        (SourceText("%(n)s answer", "%(n)s answers"), "une réponse"),
        (SourceText("It needs %(limit)s %% of it."), "%(limit)s %% من"),
        (SourceText("Don't"), "N'en faites rien : l'« œuvre »"),
        (SourceText("Sign in"), "می\u200cتوانید\u200f"),
        (SourceText("at TIME, JPEG"), "JPEG, TIME"),
    ],
)
def test_a_good_translation_is_not_refused(text: SourceText, form: str) -> None:
    assert suggestion_fault(text, form) == ""


def test_every_translation_of_the_catalogues_would_pass_as_a_suggestion() -> None:
    """So the rules for speakers refuse nothing that translators write."""
    for source in sorted((ROOT / "locale").glob("*/LC_MESSAGES/django.po")):
        catalogue = read(source)
        texts = {text.text for text in annotator_texts().values()}
        for message in catalogue.messages:
            text = SourceText(message.source, message.plural, message.context)
            if text in texts and message.is_translated:
                faults = [suggestion_fault(text, form) for form in message.translations]
                assert not any(faults), (source.parts[-3], message.line, message.translations, faults)


def test_no_attribute_of_a_page_has_a_translation_between_single_quotes() -> None:
    """A translation may have an apostrophe, and would end such an attribute."""
    for path in (ROOT / "templates").rglob("*.html"):
        assert not re.search(r"[\w-]='[^'\n]*\{% (?:block)?trans", path.read_text()), path


@pytest.mark.django_db
def test_a_refused_suggestion_comes_back_with_what_was_typed_and_nothing_is_stored(world: World, speaker: User) -> None:
    client = world.client(speaker)
    for form in ("<script>alert(1)</script>", "x" * 30_000, ""):
        reply = confirm(client, SAVE, form)
        page = html(reply)
        assert reply.status_code == 400 and 'aria-invalid="true"' in page and "<script>alert" not in page
        assert "&lt;script&gt;" in page or "<script" not in form
    plural = a_plural_text()
    assert confirm(client, plural, *["x %(n)s"] * 5).status_code == 400, "a plural form is left out"
    assert not TextVersion.objects.exists()
    assert client.post(f"{PAGE}texts/{'0' * 32}", {"form_0": "x"}).status_code == 404
    assert confirm(client, SAVE, "a", seen=10**17).status_code == 409


@pytest.mark.django_db
def test_the_id_of_another_language_is_not_taken(world: World, speaker: User) -> None:
    other, _created = InterfaceLanguage.objects.get_or_create(code="am")
    version = TextVersion.objects.create(
        language=other, key=text_key(SAVE), source="Sign in", forms=["ግባ"], is_confirmed=True, author=world.bia,
        at=world.bia.created_at,
    )  # fmt: skip
    client = world.client(speaker)
    assert client.post(f"{PAGE}versions/{version.pk}/undo").status_code == 404
    assert client.post(f"/languages/am/versions/{version.pk}/undo").status_code == 404
    assert "ግባ" not in html(client.get(f"{PAGE}?done={version.pk}&show=all&q=Sign in"))
    version.refresh_from_db()
    assert version.undone_at is None


@pytest.mark.django_db
def test_the_site_shows_what_a_speaker_confirmed_and_not_what_was_only_suggested(
    world: World, speaker: User, shown: None
) -> None:
    client, before = world.client(speaker), sign_in_page()
    assert "ادخلوا هنا" not in before
    confirm(client, SAVE, "ادخلوا هنا", do="suggest")
    assert sign_in_page() == before or "ادخلوا هنا" not in sign_in_page()
    confirm(client, SAVE, "ادخلوا هنا", seen=TextVersion.objects.get().pk)
    assert "ادخلوا هنا" in sign_in_page() and "ادخلوا هنا" not in sign_in_page("pt-BR")
    later = TextVersion.objects.latest("pk")
    confirm(client, SAVE, "نص آخر", seen=later.pk, do="suggest")
    assert "ادخلوا هنا" in sign_in_page(), "the confirmed text stays until another one is confirmed"
    client.post(f"{PAGE}versions/{TextVersion.objects.latest('pk').pk}/undo")
    client.post(f"{PAGE}versions/{later.pk}/undo")
    assert "ادخلوا هنا" not in sign_in_page()


@pytest.mark.django_db
def test_plural_forms_of_a_speaker_follow_the_rule_of_the_language(world: World, speaker: User, shown: None) -> None:
    text, n = a_plural_text(), LanguageTexts("ar").catalogue.n_plurals
    reply = confirm(world.client(speaker), text, *(f"شكل{form} %(n)s" for form in range(n)))
    assert reply.status_code == 302 and n == 6
    overlay.refresh("ar")
    with translation.override("ar"):
        counted = [ngettext(text.source, text.plural, number)[:4] for number in (0, 1, 2, 3, 11, 100)]
        assert counted == [f"شكل{form}" for form in range(6)]
        assert gettext("Confirm") != "", "other texts are as before"
    fields = world.client(speaker).get(f"{PAGE}?show=confirmed").context["page"].rows[0].fields
    assert [field.numbers for field in fields][:3] == ["0", "1", "2"]


@pytest.mark.django_db
def test_a_text_whose_english_changed_is_open_again(world: World, speaker: User, monkeypatch: Any) -> None:
    confirm(world.client(speaker), SAVE, "دخول")
    texts = {key: text for key, text in annotator_texts().items() if text.text != SAVE}
    new = next(iter(texts.values()))
    changed = type(new)(text_key(SourceText("Sign in now")), SourceText("Sign in now"), new.files)
    monkeypatch.setattr("people.queries.interface_texts.annotator_texts", lambda: texts | {changed.key: changed})
    states = LanguageTexts("ar")
    assert states.n_confirmed == 0 and states.states[changed.key].state == "open"


@pytest.mark.django_db
def test_a_request_asks_for_texts_of_speakers_by_the_clock_and_bears_a_silent_database(
    world: World, speaker: User, settings: Any, shown: None, monkeypatch: Any, django_assert_num_queries: Any
) -> None:
    confirm(world.client(speaker), SAVE, "ادخلوا هنا")
    settings.SPEAKER_TEXT_SECONDS = 1000
    overlay.expect_change()
    with django_assert_num_queries(2):  # the revisions, and the texts that changed
        overlay.refresh("ar")
    with django_assert_num_queries(0):
        for _request in range(100):
            overlay.refresh("ar")
            overlay.refresh("pt-br")
    settings.SPEAKER_TEXT_SECONDS = 0

    def fail(*_args: Any) -> None:
        raise DatabaseError("the server closed the connection")

    monkeypatch.setattr(overlay, "_read_states", fail)
    overlay.refresh("ar")
    with translation.override("ar"):
        assert gettext("Sign in") == "ادخلوا هنا"


@pytest.mark.django_db
def test_a_kept_sheet_speaks_as_the_speakers_do_now(world: World, speaker: User, shown: None) -> None:
    shape = sheet_shell.Shape(True, False, False, False, False)
    with translation.override("ar"):
        before = sheet_shell._shell("ar", overlay.revision("ar"), shape)
        word = gettext("Submit")
        assert word in "".join(before)
        confirm(world.client(speaker), SourceText("Submit"), "أرسلوا الآن")
        overlay.refresh("ar")
        assert "أرسلوا الآن" in "".join(sheet_shell._shell("ar", overlay.revision("ar"), shape))


PROCESS = """
import os, sys
import tests.servers
tests.servers.ensure()
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
import django
django.setup()
from django.conf import settings
from django.db import connections
from django.test import Client
settings.DATABASES["default"]["NAME"] = connections["default"].settings_dict["NAME"] = sys.argv[1]
settings.SPEAKER_TEXT_SECONDS = 0.1
client = Client(headers={"accept-language": "ar"})
for line in sys.stdin:
    page = client.get("/sign-in", headers={"host": "localhost"}).content.decode()
    print("yes" if "ادخلوا هنا" in page else "no", flush=True)
"""


@pytest.mark.django_db(transaction=True)
def test_another_process_shows_a_confirmed_text_without_a_restart(world: World, speaker: User) -> None:
    process: Any = subprocess.Popen(
        [sys.executable, "-c", PROCESS, connection.settings_dict["NAME"]],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
    )  # fmt: skip

    def answer() -> str:
        process.stdin.write("\n")
        process.stdin.flush()
        return str(process.stdout.readline().strip())

    try:
        assert answer() == "no"
        client = world.client(speaker)
        confirm(client, SAVE, "ادخلوا هنا")
        time.sleep(0.15)
        assert answer() == "yes"
        client.post(f"{PAGE}versions/{TextVersion.objects.get().pk}/undo")
        time.sleep(0.15)
        assert answer() == "no"
    finally:
        process.stdin.close()
        process.wait(20)


@pytest.mark.django_db
def test_a_language_whose_texts_are_all_confirmed_can_be_set_confirmed(
    world: World, speaker: User, settings: Any, shown: None, monkeypatch: Any
) -> None:
    settings.CONFIRMED_LANGUAGES = ["am", "pt-br"]
    few = dict(list(annotator_texts().items())[:2])
    monkeypatch.setattr("people.queries.interface_texts.annotator_texts", lambda: few)
    monkeypatch.setattr("people.views.languages.annotator_texts", lambda: few)
    admin, nour = world.client(world.site_admin), world.client(speaker)
    assert "العربية (draft)" in sign_in_page("en") and "English (draft)" not in sign_in_page("en")
    assert "Possible when speakers have confirmed every text." in html(admin.get(PAGE))
    assert "stays a draft" in html(admin.post(PAGE + "state", {"do": "confirm"}, follow=True))
    assert nour.post(PAGE + "state", {"do": "confirm"}).status_code == 404
    for row in nour.get(PAGE).context["page"].rows:
        assert confirm(nour, row.text, *(field.value for field in row.fields)).status_code == 302
    assert "Every text is confirmed." in html(nour.get(PAGE))
    admin.post(PAGE + "state", {"do": "confirm"})
    assert "العربية (draft)" not in sign_in_page("en") and not languages.is_draft("ar")
    assert "Set back to draft" in html(admin.get(PAGE))
    admin.post(PAGE + "state", {"do": "reopen"})
    assert "العربية (draft)" in sign_in_page("en")


def test_a_catalogue_gets_translations_and_keeps_every_other_line(tmp_path: Path) -> None:
    source = catalogue_in(tmp_path, SAMPLE)
    day = SourceText("%(n)s day", "%(n)s days")
    new = {
        SourceText("Save"): ("Hrani",),
        SourceText("Right", context="edge"): ("Desno",),
        SourceText("Cancel"): ('Prekini "zdaj"',),
        day: ("dan", "dneva", "dnevi", "dni"),
        SourceText("Skip"): ("Preskoči",),
        SourceText("New\nlines"): ("Nove\nvrstice",),
    }
    content, changed = with_translations(source, new)
    assert changed == 5, "one of them was there already"
    kept = [line for line in content.splitlines() if line in SAMPLE.splitlines()]
    assert '#~ msgstr "Proč"' in kept and "# Slovene has four forms." in kept and "#, python-format" in content
    assert '#| msgid "Cancel all"' not in content and content.count("fuzzy") == 1
    source.write_text(content, encoding="utf-8")
    after = {SourceText(one.source, one.plural, one.context): one for one in read(source).messages}
    assert all(after[text].translations == forms and after[text].is_translated for text, forms in new.items())
    assert after[SourceText("Right")].translations == ("Pravilno",) and not after[SourceText("Delete")].is_translated
    assert with_translations(source, new) == (content, 0), "written twice it is the same"


@pytest.mark.django_db
def test_what_speakers_confirmed_is_written_into_a_catalogue_by_a_command(
    world: World, speaker: User, tmp_path: Path
) -> None:
    confirm(world.client(speaker), SAVE, "ادخلوا هنا")
    output = StringIO()
    call_command("write_translations", output=tmp_path, stdout=output)
    written = tmp_path / "ar/LC_MESSAGES/django.po"
    assert "1 texts written" in output.getvalue() and 'msgstr "ادخلوا هنا"' in written.read_text("utf-8")
    assert len(read(written).messages) == len(read(ROOT / "locale/ar/LC_MESSAGES/django.po").messages)
    with pytest.raises(CommandError, match="There is no language 'xx'"):
        call_command("write_translations", "xx")


def test_every_text_says_where_it_is_used() -> None:
    for text in annotator_texts().values():
        place, url = place_of(text.files)
        assert place and (not url or url.startswith("/")), text
    unused = [
        beginning
        for beginning, _words, _page in PLACES
        if not any(text.files[0].startswith(beginning) for text in annotator_texts().values())
    ]
    assert not unused, f"no text is in these places: {unused}"
