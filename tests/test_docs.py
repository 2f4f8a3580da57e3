"""The documentation: every link leads somewhere, every page is listed, and the files about the project agree."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
PAGES_OUTSIDE = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")


def build(folder: Path, target: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def broken_links(page: Path) -> list[str]:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
    return [link for link in links if "://" not in link and not (page.parent / link).exists()]


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
