"""Files that go over the line as one: nothing of their sources is lost, and what cannot be joined is refused."""

import gc
import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders

from annotation.displays.registry import DISPLAYS
from annotation.fields.registry import KINDS
from config.static_bundles import HOME, SCRIPTS, STYLES, BundleFinder, bundle_names, bundle_scripts, drop_comments


def read(path: str) -> str:
    return Path(str(finders.find(path))).read_text("utf-8")


def test_every_script_of_a_kind_or_display_has_its_joined_file() -> None:
    """Else it would load its own copy of sheet-parts.js, and hear of no sheet."""
    scripts = {one.script for one in DISPLAYS} | {kind.form.script for kind in KINDS}
    assert {one for one in scripts if one} <= set(HOME)
    assert bundle_names(["js/displays/contact.js", "js/fields/grouping.js"]) == ["js/joined/contact.js"]
    assert bundle_names(["css/contact.css"]) == ["css/contact.css"]


@pytest.mark.parametrize("name", [*STYLES, *SCRIPTS])
def test_a_joined_file_holds_its_sources_and_asks_only_for_joined_ones(name: str) -> None:
    bundle, sources = read(name), (STYLES.get(name) or SCRIPTS[name])
    for path in sources:
        for line in drop_comments(path, read(path)).splitlines():
            if not line.startswith(("import ", "export ")):
                assert line in bundle, (path, line)
    asked = re.findall(r'^import \* as \w+ from "\./(.+)";$', bundle, re.MULTILINE)
    assert {f"js/joined/{one}" for one in asked} <= set(SCRIPTS)
    assert "sheet.js" not in asked, "the page's own script begins when all others stand"


@pytest.mark.parametrize("path", HOME)
def test_comments_alone_stay_behind(path: str) -> None:
    """No text of a script or of a style sheet looks like a comment, and every other line is left."""
    source, left = read(path), drop_comments(path, read(path)).splitlines()
    if path.endswith(".css"):
        assert not [text for text in re.findall(r'"[^"\n]*"', source) if "/*" in text]
        assert len(left) > 5 and set(left) <= {line.partition("/*")[0].rstrip() for line in source.splitlines()}
        return
    texts = re.findall(r"`[^`]*`", source)
    assert not [text for text in texts if re.search(r"^\s*(//|/\*)", text, re.MULTILINE)]
    gone = [line.strip() for line in source.splitlines() if line not in left]
    assert len(left) > 5 and all(line.startswith(("//", "/*")) or not line.endswith((";", "{", "}")) for line in gone)


def test_a_module_keeps_its_own_names() -> None:
    parts = {
        "js/a.js": "const own = 1;\nexport const a = () => own;\n",
        "js/b.js": 'import { a } from "./a.js";\nconst own = 2;\nexport function b() { return a() + own; }\n',
    }
    made = bundle_scripts("js/joined/x.js", parts)
    assert "const { a } = _i0;" in made and "return { a };" in made and "return { b };" in made
    assert made.endswith("export const { a } = _i0;\nexport const { b } = _i1;\n")


@pytest.mark.parametrize(
    "source",
    ['import { b } from "./later.js";\n', "export let a = 1;\n", "export default 1;\n", 'import "./sheet.js";\n'],
)
def test_what_cannot_be_joined_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r"js/a\.js"):
        bundle_scripts("js/joined/x.js", {"js/a.js": source, "js/later.js": "export const b = 1;\n"})


def test_a_joined_file_outlives_the_finder_that_made_it() -> None:
    """Two first requests at the same time make two finders, and Django keeps one."""
    place = Path(str(BundleFinder().find("js/joined/sheet.js")))
    gc.collect()
    assert place.read_text("utf-8")


def test_dark_colours_are_the_same_by_the_device_and_by_choice() -> None:
    """CSS cannot say them once for both."""
    copies = re.findall(r"\[data-theme=(?:auto|dark)\] \{([^}]*)\}", read("css/emic.css"))
    by_device, by_choice = (copy.split() for copy in copies)
    assert by_device == by_choice and "--ground:" in by_choice
