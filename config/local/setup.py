"""The `.venv`: made with the standard library, filled from hash-locked files by uv where it is there, else by pip.

`.venv-checks` is made in the same way, for the slow tests alone: programs that read a release elsewhere.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import console, packages
from .binaries import ROOT
from .data_folder import sha256
from .errors import EmicError

VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
CHECKS_VENV = ROOT / ".venv-checks"
STAMP = "emic.json"
PARTS = 2  # of a lock file that pip installs at once
RUN, DEV = "run.txt", "dev.txt"  # dev.txt holds all of run.txt, in the same versions
CHECKS = "checks.txt"
NO_NETWORK = re.compile(
    r"name resolution|Name or service not known|NewConnectionError|Network is unreachable|Connection refused|"
    r"No route to host|dns error|error sending request|ConnectTimeout|Read timed out|Could not connect|ProxyError",
    re.IGNORECASE,
)
WRONG_HASH = re.compile(r"DO NOT MATCH THE HASHES|Hash mismatch", re.IGNORECASE)


def ensure(wanted: str = RUN, venv: Path = VENV) -> None:
    """Do nothing when the installed packages are the locked ones; otherwise make them so."""
    if os.environ.get("EMIC_INSTALLED") or is_current(wanted, venv):
        return  # a container brings its packages, and cannot change them
    room = shutil.disk_usage(ROOT).free // (1024 * 1024)
    if room < 1500:
        raise EmicError(f"Only {room} MB are free on the disk of {ROOT}, and the packages need 1500. Free some room.")
    (venv / STAMP).unlink(missing_ok=True)
    if not _works(venv):
        with console.print_step(f"Making {venv.name}"):
            _make(venv)
    with console.print_step(f"Installing packages ({'uv' if _uv() else 'pip'})"):
        _install(ROOT / "requirements" / wanted, venv)
    (venv / STAMP).write_text(json.dumps({wanted: _fingerprint(wanted, venv)}))


def ensure_checks() -> None:
    """The programs that the slow tests give a release to. They need an older jsonschema than Emic does."""
    ensure(CHECKS, CHECKS_VENV)


def is_current(wanted: str, venv: Path = VENV) -> bool:
    try:
        stamp = json.loads((venv / STAMP).read_text())
    except (OSError, ValueError):
        return False
    names = {wanted} if wanted == CHECKS else {wanted, DEV}
    return python_of(venv).exists() and any(stamp.get(name) == _fingerprint(name, venv) for name in names)


def python_of(venv: Path) -> Path:
    return venv / "bin" / "python"


def _fingerprint(name: str, venv: Path) -> str:
    return f"{sha256(ROOT / 'requirements' / name)} {(venv / 'pyvenv.cfg').stat().st_mtime_ns}"


def _uv() -> str | None:
    return shutil.which("uv")


def _works(venv: Path) -> bool:
    """Whether it has a Python that starts: the one it was made from may be gone, or too old for us."""
    if not python_of(venv).exists():
        return False
    asked = subprocess.run(
        [python_of(venv), "-c", "import sys; sys.exit(sys.version_info < (3, 11))"], capture_output=True, check=False
    )
    return asked.returncode == 0


def _make(venv: Path) -> None:
    uv = _uv()
    if uv:
        run_quietly([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(venv)], f"make {venv.name}")
        return
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        _add_venv(f"python{sys.version_info.major}.{sys.version_info.minor}-venv")
    run_quietly([sys.executable, "-m", "venv", "--clear", str(venv)], f"make {venv.name}")


def _add_venv(package: str) -> None:
    """Debian ships Python without what makes virtual environments; where we may, we add it."""
    if not packages.may_install():
        raise EmicError(
            f"This Python cannot make virtual environments. On Debian and Ubuntu: apt-get install {package} "
            "(or install uv), then run ./emic again."
        )
    packages.apt_install([package])


def ensure_pip(venv: Path = VENV) -> None:
    """uv makes environments without pip."""
    python = str(python_of(venv))
    if subprocess.run([python, "-c", "import pip"], capture_output=True, check=False).returncode:
        run_quietly([python, "-m", "ensurepip"], f"add pip to {venv.name}")


def _install(lock: Path, venv: Path) -> None:
    uv = _uv()
    if uv:
        command = [uv, "pip", "install", "--python", str(python_of(venv)), "--require-hashes", "-r", str(lock)]
        run_quietly(command, "install the packages")
        return
    ensure_pip(venv)
    # A lock names every package with its hashes, so its parts are installed side by side, and nothing is added to them.
    # Files are compiled where they are first imported: most never are.
    command = [str(python_of(venv)), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    command += ["--retries", "2", "--no-deps", "--no-compile", "--require-hashes", "-r"]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(PARTS) as pool:
        steps = []
        for number, text in enumerate(split_lock(lock.read_text(), PARTS)):
            part = Path(folder) / f"{number}.txt"
            part.write_text(text)
            steps.append(pool.submit(run_quietly, [*command, str(part)], "install the packages"))
        for step in steps:
            step.result()


def split_lock(text: str, parts: int) -> list[str]:
    r"""The lines of a lock file as `parts` files: each package, with its hashes, in one of them.

    >>> split_lock("a==1 \\\n    --hash=x\nb==2 \\\n    --hash=y\nc==3\n", 2)
    ['a==1 \\\n    --hash=x\nc==3\n', 'b==2 \\\n    --hash=y\n']
    """
    packages = re.findall(r"^\w.*\n(?:[ \t].*\n)*", text, re.MULTILINE)
    return ["".join(packages[number::parts]) for number in range(parts)]


def run_quietly(command: list[str], purpose: str) -> None:
    """Run with the output kept for the day it is needed; say in a sentence what went wrong."""
    env = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env, check=False)
    if done.returncode == 0:
        return
    output = done.stdout + done.stderr
    log = ROOT / ".venv" / "emic-setup.log"
    if log.parent.exists():
        log.write_text(output)
    raise EmicError(explain_failure(output, purpose, log))


def explain_failure(output: str, purpose: str, log: Path) -> str:
    if "No space left on device" in output:
        return f"The disk of {ROOT} is full. Free some room and run ./emic again."
    if WRONG_HASH.search(output):
        return f"A downloaded package is not the one that was locked, so nothing was installed (more in {log})."
    if NO_NETWORK.search(output):
        return (
            "The packages could not be fetched: the package index does not answer. "
            "Check the network (or the proxy) and run ./emic again."
        )
    lines = [line for line in output.strip().splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().lstrip().startswith("error")]
    last = (errors or lines or ["it said nothing"])[-1].strip()
    return f"Emic could not {purpose}: {last} (more in {log})"
