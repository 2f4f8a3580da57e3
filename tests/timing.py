"""A pytest plugin for `./emic test`: time of each top-level folder, the slowest tests and files, and the counts."""

import json
import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

from config.local.testing import OTHER_PROCESSES

SECONDS: dict[str, float] = defaultdict(float)
TESTS: Counter[str] = Counter()
SLOWEST = 25  # files and tests that the summary lists
WORTH_LISTING = 300.0  # seconds of a run from which on they are listed
BY_TEST: dict[str, float] = defaultdict(float)  # seconds with set-up and tear-down
LONGEST = ["tests/browser/test_everywhere.py"]  # begun last, it would run alone


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files whose tests wait for other processes are spread evenly among those that compute."""
    place = places([item.nodeid.split("::")[0] for item in items])
    items.sort(key=lambda item: place[item.nodeid.split("::")[0]])


def places(files: Sequence[str]) -> dict[str, float]:
    """The place of each file in the order of tests, from 0 to 1, and below 0 for the longest.

    >>> places(["tests/a.py", "tests/b.py", "tests/start/c.py", "tests/b.py"])
    {'tests/a.py': 0.0, 'tests/b.py': 0.5, 'tests/start/c.py': 0.0}
    """
    distinct = list(dict.fromkeys(files))
    waiting = [file for file in distinct if file.startswith(OTHER_PROCESSES)]
    computing = [file for file in distinct if not file.startswith(OTHER_PROCESSES)]
    place = {file: i / len(group) for group in (computing, waiting) for i, file in enumerate(group)}
    return {file: -1.0 if file in LONGEST else place[file] for file in distinct}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Under xdist the controller hears every worker's reports, so this adds up processor time of all of them."""
    parts = report.nodeid.split("::")[0].split("/")
    folder = parts[1] if len(parts) > 2 else parts[-1]
    SECONDS[folder] += report.duration
    BY_TEST[report.nodeid] += report.duration
    TESTS[folder] += report.when == "call"
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        os.write(2, f"\nFailed: {report.nodeid}\n".encode())  # at once, for a run that is stopped prints no summary


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not SECONDS:
        return
    terminalreporter.section("time per folder")
    for folder, seconds in sorted(SECONDS.items(), key=lambda pair: -pair[1]):
        terminalreporter.write_line(f"{seconds:8.1f} s  {TESTS[folder]:5d} tests  tests/{folder}")
    if sum(SECONDS.values()) < WORTH_LISTING:
        return
    by_file: dict[str, float] = defaultdict(float)
    for node, seconds in BY_TEST.items():
        by_file[node.split("::")[0]] += seconds
    for title, times in (("slowest files", by_file), ("slowest tests", BY_TEST)):
        terminalreporter.section(title)
        for name, seconds in sorted(times.items(), key=lambda pair: -pair[1])[:SLOWEST]:
            terminalreporter.write_line(f"{seconds:8.1f} s  {name}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    wanted = os.environ.get("EMIC_TEST_COUNTS")
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not wanted or reporter is None or hasattr(session.config, "workerinput"):
        return
    n_by_outcome = {name: len(reporter.stats.get(name, [])) for name in ("passed", "xpassed")}
    failures = reporter.stats.get("failed", []) + reporter.stats.get("error", [])
    counts = {
        "passed": n_by_outcome["passed"] + n_by_outcome["xpassed"],
        "failed": len(failures),
        "nodes": sorted({report.nodeid for report in failures}),
    }
    Path(wanted).write_text(json.dumps(counts))
