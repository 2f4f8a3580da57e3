"""Every text of the interface is there in every language, with the same placeholders."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
CODES = [code for code, _ in settings.LANGUAGES if code != "en"]
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%[sd]|{\w+}")


def unquote(block: str) -> str:
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', block)).replace('\\"', '"').replace("\\n", "\n")


def entries(path: Path) -> Iterator[tuple[str, list[str], bool]]:
    """(source text, translations, fuzzy) of a catalogue."""
    for block in path.read_text().split("\n\n"):
        if "msgid" not in block or "\n#~" in "\n" + block:
            continue
        source = re.search(r"^msgid((?:\s*\".*\"\n?)+)", block, re.M)
        plural = re.search(r"^msgid_plural((?:\s*\".*\"\n?)+)", block, re.M)
        found = re.findall(r"^msgstr(?:\[\d\])?((?:\s*\".*\"\n?)+)", block, re.M)
        assert source is not None
        text = unquote((plural or source)[1])
        if unquote(source[1]):
            yield text, [unquote(one) for one in found], "#, fuzzy" in block


def catalogue(code: str) -> Path:
    return ROOT / "locale" / code / "LC_MESSAGES" / "django.po"


@pytest.mark.parametrize("code", CODES)
def test_every_text_is_translated_with_its_placeholders(code: str) -> None:
    problems = []
    for source, translations, fuzzy in entries(catalogue(code)):
        if fuzzy or not all(translations):
            problems.append(f"not translated: {source!r}")
        wanted = set(PLACEHOLDER.findall(source))
        for text in filter(None, translations):
            got = set(PLACEHOLDER.findall(text))
            # A plural form may leave out the number it already says in words.
            if not got <= wanted or (len(translations) == 1 and got != wanted):
                problems.append(f"placeholders differ: {source!r} -> {text!r}")
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("code", CODES)
def test_catalogue_knows_every_text_of_the_code(code: str, tmp_path: Path) -> None:
    """Run makemessages on a copy and compare what it finds with what is committed."""
    if not shutil.which("xgettext"):
        pytest.skip("xgettext is not installed (Debian: gettext), so new texts cannot be looked for")
    files = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for name in files:
        if name.endswith((".py", ".html", ".txt", ".po")) and (ROOT / name).is_file() and not name.startswith("tests/"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    subprocess.run(
        [ROOT / ".venv/bin/django-admin", "makemessages", "-l", code, "--no-location"],
        cwd=tmp_path, check=True, capture_output=True, env={"PATH": os.environ["PATH"]},
    )  # fmt: skip
    now = {source for source, _, _ in entries(tmp_path / "locale" / code / "LC_MESSAGES" / "django.po")}
    then = {source for source, _, _ in entries(catalogue(code))}
    assert now == then, f"new: {sorted(now - then)}\ngone: {sorted(then - now)}"


@pytest.mark.parametrize("code", CODES)
def test_compiled_catalogue_is_fresh(code: str, tmp_path: Path) -> None:
    if not shutil.which("msgfmt"):
        pytest.skip("msgfmt is not installed (Debian: gettext)")
    fresh = tmp_path / "django.mo"
    subprocess.run(["msgfmt", "-o", fresh, catalogue(code)], check=True)
    assert fresh.read_bytes() == catalogue(code).with_suffix(".mo").read_bytes(), "run ./emic manage compilemessages"
