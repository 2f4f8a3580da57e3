"""A pytest plugin for `./emic test`: time of each top-level folder, the slowest tests and files, and the counts."""

import json
import os
from collections import Counter, defaultdict
from pathlib import Path

import pytest

SECONDS: dict[str, float] = defaultdict(float)
TESTS: Counter[str] = Counter()
SLOWEST = 25  # files and tests that the summary lists
WORTH_LISTING = 300.0  # seconds of a run from which on they are listed
BY_TEST: dict[str, float] = defaultdict(float)  # seconds with set-up and tear-down


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Under xdist the controller hears every worker's reports, so this adds up processor time of all of them."""
    parts = report.nodeid.split("::")[0].split("/")
    folder = parts[1] if len(parts) > 2 else parts[-1]
    SECONDS[folder] += report.duration
    BY_TEST[report.nodeid] += report.duration
    TESTS[folder] += report.when == "call"


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
