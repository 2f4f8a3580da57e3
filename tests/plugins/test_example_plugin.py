"""A sixth benchmark in a package of its own: built as a wheel, installed into a fresh environment, found by its entry
point, used there. Nothing of it is imported from this tree, and no file of the platform knows it."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.test_house import CODE, ROOT, tracked_files
from tests.operations.servers import database_url

EXAMPLE = Path(__file__).with_name("example")


def run(*command: str | Path, **more: Any) -> str:
    done = subprocess.run(
        [str(one) for one in command], capture_output=True, text=True, timeout=300, check=False,
        stdin=subprocess.DEVNULL, **more,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has the example's wheel, and the libraries that this site runs on."""
    home = tmp_path_factory.mktemp("fresh")
    venv.create(home / "env", with_pip=True)
    python = home / "env" / "bin" / "python"
    offline = ("--no-index", "--no-deps", "--disable-pip-version-check", "--quiet")
    run(python, "-m", "pip", "wheel", *offline, "--no-build-isolation", "-w", home, EXAMPLE, cwd=home)
    (wheel,) = home.glob("*.whl")
    run(python, "-m", "pip", "install", *offline, wheel, cwd=home)
    packages = next((home / "env" / "lib").glob("python*/site-packages"))
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


@pytest.mark.django_db
def test_an_installed_plugin_is_found_and_its_benchmark_works(fresh: Path) -> None:
    settings = {"DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "tests.settings", "PYTHONPATH": str(ROOT)}
    env = {**os.environ, **settings}
    result = json.loads(run(fresh, ROOT / "tests" / "plugins" / "use_installed.py", cwd=ROOT, env=env).splitlines()[-1])
    assert result["file"].startswith(str(fresh.parent.parent.resolve())) and "site-packages" in result["file"]
    assert result["registered"] == ["caire", "culturalvqa", "globalrg", "valueground", "xcm", "greetings"]
    assert result["failures"] == []
    assert result["stages"] == ["relevance"] and result["choose"]
    assert result["summary"]["en"].startswith("How usual") and "تحية" in result["summary"]["ar"]
    assert result["page"] == 200 and set(result["forms"].values()) == {200}
    assert [row["label"] for row in result["table"]["rows"]] == ["Egypt", "Brazil"][: len(result["table"]["rows"])]
    assert result["table"]["number"] == "Table 1" and "0.41" in json.dumps(result["table"])
    assert len(result["records"]) == 8 and {"greeting", "culture", "usual"} == set(result["records"][0])
    assert "greetings-usual" in result["offered"]
    assert result["picture"] and result["answers"] == {"relevance": "4"}


def test_no_file_of_the_platform_knows_the_example() -> None:
    platform = [*CODE, *tracked_files("templates/*.html", "pyproject.toml", "requirements/*")]
    assert not [path for path in platform if "emic_greetings" in (ROOT / path).read_text("utf-8")]
    assert "emic_greetings" not in sys.modules
