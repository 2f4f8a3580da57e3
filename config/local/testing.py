"""`./emic test`: everything that must hold before a change lands, from a bare machine."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from . import console, models, packages, setup
from .binaries import ROOT
from .errors import EmicError

# Without windows of its own, this build of Chromium opens a page at a third of the time.
BROWSER = "chromium-headless-shell"
BROWSERS = (BROWSER, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# A bare Debian lacks libatomic1, which the browser's driver needs.
PACKAGES = (BROWSER, "libatomic1", "fonts-noto-core", "fonts-noto-cjk", "fonts-noto-color-emoji")
BIN = setup.VENV / "bin"
TRANSLATIONS = "Translations"
# The two longest come first. That tests are collected fills Python's cache, where each of the processes that run them
# would else compile every file for itself.
CHECKS = {
    "Types": [BIN / "mypy", "--no-error-summary", "."],
    "Tests are collected": [setup.PYTHON, "-m", "pytest", "-n", "0", "-q", "--collect-only"],
    "Lint": [BIN / "ruff", "check", "--quiet", "."],
    "Format": [BIN / "ruff", "format", "--check", "--quiet", "."],
    "Migrations are complete": [setup.PYTHON, "manage.py", "makemigrations", "--check", "--dry-run"],
    TRANSLATIONS: [setup.PYTHON, "-m", "tests.translations"],
}
# EMIC_GOLDEN: tests of wordings write down a new version where it says "write". EMIC_SHOTS: a folder for screenshots.
FOR_TESTS = ("EMIC_GOLDEN", "EMIC_SHOTS")
# Tests that wait for a browser, a server or a worker. A failure is run once more, alone: what passes then is listed as
# unsteady and mended, what fails again is a failure. All other tests fail at once.
OTHER_PROCESSES = ("tests/browser/", "tests/chains/", "tests/start/", "tests/operations/")
RUN_AGAIN_AT_MOST = 5
PERFORMANCE = ROOT / "tests" / "performance"  # every script in it is run by --slow, in the order of names


def test(arguments: list[str]) -> int:
    """Without arguments everything; with a path or other options of pytest only those tests."""
    slow, release = "--slow" in arguments, "--release" in arguments
    chosen = [argument for argument in arguments if argument not in ("--slow", "--release")]
    if release and chosen:
        raise EmicError("A release is tested as a whole. Run ./emic test --release without paths and other options.")
    setup.ensure(setup.DEV)
    ensure_browser()
    if slow and not models.works():
        raise EmicError("The slow tests need local models. Run ./emic models, then ./emic test --slow again.")
    if slow:
        setup.ensure_checks()
    passed, failed = (0, []) if chosen else run_checks(release=release)
    counts = run_pytest(chosen, slow)
    if slow and not chosen:
        more_passed, more_failed = run_performance()
        passed, failed = passed + more_passed, failed + more_failed
    if failed:
        console.print_line(f"\nFailed besides tests: {', '.join(failed)}")
    for node in counts.get("unsteady", []) if not counts["failed"] else []:
        console.print_line(f"Unsteady, passed only when it ran alone: {node}")
    all_failed = counts["failed"] + len(failed)
    console.print_line(f"\n{counts['passed'] + passed} passed, {all_failed} failed")
    return 1 if all_failed or counts["status"] else 0


def run_checks(*, release: bool) -> tuple[int, list[str]]:
    """Each check on its own, so that one run shows everything that is wrong; as many at once as there are cores."""
    failed, env = [], test_environment()
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        running = {}
        for name, command in CHECKS.items():
            command = [*command, "--release"] if release and name == TRANSLATIONS else command
            running[name] = threads.submit(run_step, [str(part) for part in command], env)
        for name, step in running.items():
            with console.print_step(name):
                done = step.result()
            if done.returncode:
                failed.append(name)
            if done.returncode or name == TRANSLATIONS:  # it lists what is missing, too
                console.print_line((done.stdout + done.stderr).rstrip())
    return len(CHECKS) - len(failed), failed


def run_step(command: list[str], env: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def test_environment() -> dict[str, str]:
    """The environment without what belongs to a real instance; tests bring their own database and folder."""
    own = {"DATABASE_URL", "CELERY_BROKER_URL", "EMAIL_URL", "PYTHONHOME", "VIRTUAL_ENV"}
    # Tests start hundreds of processes: where compiled files are not kept, each would compile the whole program.
    own.add("PYTHONDONTWRITEBYTECODE")
    known = (key for key in os.environ if key in FOR_TESTS or not key.startswith("EMIC_"))
    env = {key: os.environ[key] for key in known if key not in own}
    if os.environ.get("EMIC_TEST_DATABASE_URL"):
        env["DATABASE_URL"] = os.environ["EMIC_TEST_DATABASE_URL"]
    # The tests share the cores between them.
    env.update(DJANGO_SETTINGS_MODULE="tests.settings", PYTHONPATH=str(ROOT), OPENBLAS_NUM_THREADS="1")
    return env


def may_run_again(nodes: list[str]) -> bool:
    """Whether these failures may come from a busy machine: few, and each in a test that drives other processes.

    >>> may_run_again(["tests/browser/test_rating.py::test_skip"])
    True
    >>> may_run_again(["tests/evaluation/test_alpha.py::test_alpha"]), may_run_again([])
    (False, False)
    """
    return 0 < len(nodes) <= RUN_AGAIN_AT_MOST and all(node.startswith(OTHER_PROCESSES) for node in nodes)


def worker_count(chosen: list[str]) -> int:
    """How many processes share the tests: more than cores, for a third of the time a test waits. One of them runs a
    whole file, so few chosen files need few, and a single one needs none beside pytest itself.

    >>> worker_count(["tests/test_docs.py", "-x"]), worker_count(["tests/test_docs.py::test_a", "tests/test_docs.py"])
    (0, 0)
    """
    most = min(3, 1 + (os.cpu_count() or 1))
    files = {argument.split("::")[0] for argument in chosen if not argument.startswith("-")}
    if files and all((ROOT / file).is_file() for file in files):
        most = min(most, len(files))
    return most if most > 1 else 0


def run_pytest(chosen: list[str], slow: bool) -> dict[str, Any]:
    """Run the tests on two cores, output shown as it comes; counted and ordered by tests/timing.py."""
    command = [str(setup.PYTHON), "-m", "pytest", "-p", "tests.timing", "-n", str(worker_count(chosen)), "-q"]
    command += ["--dist", "loadfile"]
    command += ["--no-loadscope-reorder"]
    command += [] if slow or "-m" in chosen else ["-m", "not slow"]
    measured = slow and not chosen
    if measured:
        command[1:1] = ["-m", "coverage", "run"]
    with tempfile.TemporaryDirectory() as folder:
        counted = Path(folder) / "counts.json"
        env = {**test_environment(), "EMIC_TEST_COUNTS": str(counted), **({"NEEDS_MODELS": "1"} if slow else {})}
        console.print_line()
        status = subprocess.run(
            [*command, *chosen], cwd=ROOT, env=env, stdin=subprocess.DEVNULL, check=False
        ).returncode
        counts: dict[str, Any] = json.loads(counted.read_text()) if counted.exists() else {"passed": 0, "failed": 1}
        again = counts.get("nodes", []) if status == 1 and not chosen else []
        if may_run_again(again):
            counted.unlink()
            console.print_line(f"\nRunning again, alone: {', '.join(again)}")
            alone = [str(setup.PYTHON), "-m", "pytest", "-p", "tests.timing", "-n", "0", "-q", *again]
            status = subprocess.run(alone, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, check=False).returncode
            second = json.loads(counted.read_text()) if counted.exists() else {"passed": 0, "failed": len(again)}
            counts = {"passed": counts["passed"] + second["passed"], "failed": second["failed"], "unsteady": again}
    if measured:
        subprocess.run([BIN / "coverage", "combine", "--quiet"], cwd=ROOT, check=False)
        subprocess.run([BIN / "coverage", "report", "--skip-covered", "--sort=cover"], cwd=ROOT, check=False)
    return {**counts, "status": status}


def run_performance() -> tuple[int, list[str]]:
    """Measurements say their figures themselves, so their output is shown."""
    failed, scripts = [], sorted(path for path in PERFORMANCE.glob("*.py") if not path.name.startswith(("_", "test_")))
    for script in scripts:
        begun = time.monotonic()
        console.print_line(f"\n{script.relative_to(ROOT)}")
        done = subprocess.run(
            [str(setup.PYTHON), str(script)], cwd=ROOT, env=test_environment(), stdin=subprocess.DEVNULL, check=False
        )
        console.print_line(f"  took {time.monotonic() - begun:.1f} s")
        if done.returncode:
            failed.append(script.name)
    return len(scripts) - len(failed), failed


def ensure_browser() -> None:
    """Chromium and fonts: installed by apt as root, else named for somebody who may."""
    missing = missing_packages()
    if not missing:
        return
    if not packages.may_install():
        raise EmicError(
            "The browser tests need Chromium and fonts, which only root can install: "
            f"sudo apt-get install -y --no-install-recommends {' '.join(missing)}"
        )
    with console.print_step("Installing Chromium and fonts"):
        packages.apt_install(missing)


def missing_packages() -> list[str]:
    if not shutil.which("dpkg-query"):
        return [] if any(map(shutil.which, BROWSERS)) else [BROWSER]
    asked = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\\n", *PACKAGES],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    installed = {line.split()[0] for line in asked.stdout.splitlines() if line.endswith(" installed")}
    if any(map(shutil.which, BROWSERS)):
        installed.add(BROWSER)
    return [name for name in PACKAGES if name not in installed]
