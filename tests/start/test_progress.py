"""Progress of long steps of `./emic run`: one line on a terminal, lines from time to time in a log."""

import io
import os
import sys
from pathlib import Path

import pytest

from config.local import console, environment
from config.local.data_folder import DataFolder
from config.local.environment import manage, run_command
from config.local.errors import EmicError


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_progress_in_the_line_of_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    with console.print_step("Loading the demo") as progress:
        progress.show("pictures 72 of 118")
        progress.show("answers 50 of 792, then some more text that is long enough to reach beyond the time")
        progress.show("answers 792 of 792")
    text = screen.getvalue()
    assert text.count("\n") == 1
    first, *parts = text.split("\r")
    assert first == "  Loading the demo ..."
    assert parts[0] == "  Loading the demo: pictures 72 of 118"
    assert len(parts[2]) == len(parts[1]), "an earlier, longer text is overwritten"
    assert parts[-1].startswith("  Loading the demo  ") and parts[-1].rstrip().endswith(" s")
    assert len(parts[-1].rstrip("\n")) == len(parts[1])


def test_a_log_has_whole_lines_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    log, clock = io.StringIO(), [100.0]
    monkeypatch.setattr(sys, "stdout", log)
    monkeypatch.setattr(console.time, "monotonic", lambda: clock[0])
    with console.print_step("Loading the demo") as progress:
        for number in range(1, 6):
            clock[0] += 1
            progress.show(f"pictures {number} of 5")
    assert log.getvalue().splitlines() == [
        "  Loading the demo: pictures 2 of 5",
        "  Loading the demo: pictures 4 of 5",
        f"  {'Loading the demo':<{console.WIDTH}}{'5.0 s':>8}",
    ]


def test_lines_of_a_command_arrive_while_it_runs() -> None:
    code = "import sys, time; print('one', flush=True); sys.stdin.read(); print('two'); print('why', file=sys.stderr)"
    seen: list[str] = []
    status, output = run_command([sys.executable, "-c", code], dict(os.environ), seen.append)
    assert (status, seen) == (0, ["one", "two"])
    assert output == "one\ntwo\nwhy\n"


def test_an_interruption_ends_the_command(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    code = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); print(1, flush=True); time.sleep(600)"

    def interrupt(_line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_command([sys.executable, "-c", code, str(note)], dict(os.environ), interrupt)
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


def test_a_failure_is_a_sentence_and_the_log_has_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = DataFolder(tmp_path)
    home.prepare()
    code = "import sys; print('some', flush=True); sys.exit('It broke.')"
    monkeypatch.setattr(
        environment, "run_command", lambda _c, env, seen: run_command([sys.executable, "-c", code], env, seen)
    )
    lines: list[str] = []
    with pytest.raises(EmicError, match="It broke"):
        manage(home, dict(os.environ), "load_demo", on_line=lines.append)
    assert lines == ["some"]
    log = (tmp_path / "logs" / "setup.log").read_text()
    assert "$ manage.py load_demo" in log and "some" in log and "It broke." in log
