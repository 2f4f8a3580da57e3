"""The locked requirements: complete, agreeing, hashed, and silent about where they were made."""

import re
import tomllib

import pytest

from tests.start.helpers import ROOT

LOCKS = ("base.txt", "run.txt", "dev.txt")


def locked_versions(name: str) -> dict[tuple[str, str], str]:
    """(package, marker) -> version."""
    text = (ROOT / "requirements" / name).read_text()
    lines = re.findall(r"^([\w.-]+)==(\S+?)(?: ; (.*?))? \\$", text, re.MULTILINE)
    return {(package, marker): version for package, version, marker in lines}


@pytest.mark.parametrize("name", (*LOCKS, "checks.txt"))
def test_every_package_has_a_hash_and_no_line_names_a_place(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text()
    for block in re.split(r"\n(?=\S)", text.strip()):
        assert re.match(r"[\w.-]+==", block), block
        assert "--hash=sha256:" in block, block
    assert not re.search(r"https?://|file:|--index|--find|/", text)


def test_the_longer_locks_hold_the_shorter_ones_in_the_same_versions() -> None:
    """A longer lock may need a package in more places: where is told by its marker."""
    base, run, dev = ({(package, version) for (package, _), version in locked_versions(name).items()} for name in LOCKS)
    assert base <= run <= dev


def test_what_the_project_names_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = {
        "base.txt": project["project"]["dependencies"],
        "run.txt": project["project"]["optional-dependencies"]["verify"],
        "dev.txt": project["dependency-groups"]["dev"],
        "checks.txt": project["dependency-groups"]["checks"],
    }
    for name, requirements in wanted.items():
        packages = {package for package, _ in locked_versions(name)}
        for requirement in requirements:
            assert re.split(r"[\[~=<>; ]", requirement)[0].lower() in packages, requirement


def test_the_gpl_oracle_is_not_in_the_container() -> None:
    assert not [package for package, _ in locked_versions("base.txt") if package == "krippendorff"]
