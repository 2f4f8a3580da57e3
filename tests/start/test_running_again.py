"""`./emic test` runs a failed test of browsers and servers once more, alone. Nothing else gets a second chance."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from config.local import testing

BROWSER = "tests/browser/test_rating.py::test_skip"
NUMBERS = "tests/evaluation/test_alpha.py::test_alpha"


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Replace pytest by runs that fail as listed; gives the commands that were started."""
    commands: list[list[str]] = []

    def play(*failures: list[str]) -> list[list[str]]:
        def run(command: list[Any], env: dict[str, str], **_: Any) -> "subprocess.CompletedProcess[str]":
            failed = failures[len(commands)]
            commands.append([str(part) for part in command])
            counts = {"passed": 10 - len(failed), "failed": len(failed), "nodes": failed}
            Path(env["EMIC_TEST_COUNTS"]).write_text(json.dumps(counts))
            return subprocess.CompletedProcess(command, 1 if failed else 0)

        monkeypatch.setattr(testing.subprocess, "run", run)
        return commands

    return play


def test_a_browser_test_that_passes_alone_is_named_unsteady(runs: Any) -> None:
    commands = runs([BROWSER], [])
    counts = testing.run_pytest([], slow=False)
    assert (counts["failed"], counts["status"], counts["unsteady"]) == (0, 0, [BROWSER])
    assert commands[1][-1] == BROWSER and commands[1][-4:-2] == ["-n", "0"]


def test_a_browser_test_that_fails_again_is_a_failure(runs: Any) -> None:
    runs([BROWSER], [BROWSER])
    counts = testing.run_pytest([], slow=False)
    assert (counts["failed"], counts["status"]) == (1, 1)


@pytest.mark.parametrize("failed", [[NUMBERS], [BROWSER, NUMBERS], [f"{BROWSER}[{n}]" for n in range(6)]])
def test_others_and_many_are_not_run_again(runs: Any, failed: list[str]) -> None:
    commands = runs(failed)
    counts = testing.run_pytest([], slow=False)
    assert (counts["failed"], counts["status"], len(commands)) == (len(failed), 1, 1)


def test_chosen_tests_are_not_run_again(runs: Any) -> None:
    commands = runs([BROWSER])
    assert testing.run_pytest(["tests/browser"], slow=False)["status"] == 1
    assert len(commands) == 1
