"""The documentation: every link leads somewhere, every page is listed, and the files about the project agree."""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml
from PIL import Image

from tests.docs_pictures import PICTURES

ROOT = Path(__file__).resolve().parent.parent
SMALL = 80 * 1024  # bytes of a picture
PAGES_OUTSIDE = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")


def build(folder: Path, target: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def broken_links(page: Path) -> list[str]:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
    return [link for link in links if "://" not in link and not (page.parent / link).exists()]


def missing_from_map(page: str, root: Path) -> list[str]:
    """What the table "Where things are" names that is not there: a path, or a name that its file does not define."""
    table = page.split("## Where things are", 1)[1].split("\n## ", 1)[0]
    gone = []
    for path in re.findall(r"`([\w./]+/[\w./]*)`", table):
        if not (root / path).exists():
            gone.append(path)
    for names, path in re.findall(r"((?:`[\w.]+`(?: and )?)+) in `([\w./]+\.py)`", table):
        source = (root / path).read_text() if (root / path).exists() else ""
        for name in re.findall(r"`([\w.]+)`", names):
            for part in name.split("."):
                if not re.search(rf"^\s*(?:(?:def|class) {part}\b|{part}\s*[:=])", source, re.MULTILINE):
                    gone.append(f"{name} in {path}")
    return gone


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    return tmp_path


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    done = build(ROOT, tmp_path / "site")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "site" / "explanation" / "numbers" / "index.html").exists()


@pytest.mark.parametrize("link", ["[gone](how-to/gone.md)", "[gone](reference/settings.md#gone)"])
def test_a_broken_link_stops_the_build(copy: Path, link: str) -> None:
    index = copy / "docs" / "index.md"
    index.write_text(f"{index.read_text()}\n{link}\n")
    done = build(copy, copy / "site")
    assert done.returncode and "gone" in done.stdout + done.stderr


def test_the_site_loads_nothing_from_other_hosts(copy: Path) -> None:
    assert build(copy, copy / "site").returncode == 0
    page = (copy / "site" / "index.html").read_text()
    assert not re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=\"(?:https?:)?//", page)


def test_the_index_lists_every_page_once() -> None:
    listed = re.findall(r"\]\(([^)]+\.md)\)", (ROOT / "docs" / "index.md").read_text())
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")} - {"index.md"}
    assert sorted(listed) == sorted(pages)


@pytest.mark.parametrize("name", PAGES_OUTSIDE)
def test_links_of_pages_outside_the_site_lead_somewhere(name: str) -> None:
    assert broken_links(ROOT / name) == []


def test_a_broken_link_outside_the_site_is_named(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[here](page.md) [there](docs/gone.md#part) [away](https://example.org)")
    assert broken_links(page) == ["docs/gone.md"]


def test_every_file_and_function_that_the_map_names_is_there() -> None:
    assert missing_from_map((ROOT / "CONTRIBUTING.md").read_text(), ROOT) == []


def test_a_file_or_function_that_is_gone_from_the_map_is_named(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "queue.py").write_text("LIMIT = 3\n\n\ndef claim() -> None:\n    take()\n")
    page = (
        "## Where things are\n`LIMIT` and `claim` in `app/queue.py`; `take` in `app/queue.py`; `app/gone/`\n"
        "`put` in `app/lost.py`\n## Next\n`x` in `app/other.py`"
    )
    gone = ["app/gone/", "app/lost.py", "take in app/queue.py", "put in app/lost.py"]
    assert missing_from_map(page, tmp_path) == gone


def test_the_readme_gives_four_readers_three_links_each() -> None:
    table = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("| ")][1:]
    assert [len(re.findall(r"\]\(", row)) for row in table] == [3, 3, 3, 3]


def test_version_and_licence_are_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])
    assert f"\n## {project['version']}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_hosted_check_is_the_one_that_everybody_runs() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())
    assert ".ci/run" in [step.get("run") for step in workflow["jobs"]["test"]["steps"]]
    for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        assert yaml.safe_load(path.read_text())
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    assert {hook["id"] for hook in hooks} == {"ruff-check", "ruff-format", "mypy"}


def shown_pictures(pages: Iterable[Path]) -> set[str]:
    """File names of the pictures that pages show."""
    return {Path(link).name for page in pages for link in re.findall(r"!\[[^\]]+\]\(([^)\s]+)\)", page.read_text())}


def test_pages_show_the_pictures_of_the_script_and_each_is_small() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in PAGES_OUTSIDE)]
    folder = ROOT / "docs" / "pictures"
    taken = {f"{picture.name}.webp": picture.size for picture in PICTURES}
    assert shown_pictures(pages) == set(taken) == {path.name for path in folder.iterdir()}
    for name, size in taken.items():
        with Image.open(folder / name) as picture:
            assert (picture.format, picture.size) == ("WEBP", size), name
        assert (folder / name).stat().st_size < SMALL, name


def test_a_picture_from_elsewhere_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("![By hand](../pictures/hand.png) and [no picture](x.webp)")
    assert shown_pictures([page]) == {"hand.png"}
