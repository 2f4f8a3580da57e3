"""`./emic models`: the packages of local models (torch and what stands on it), which the base install does without."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from . import console, setup
from .binaries import ROOT
from .data_folder import sha256
from .errors import EmicError

CONSTRAINTS = ROOT / "constraints" / "models.txt"
LOCK = ROOT / "requirements" / setup.DEV  # the longest: no package of ours may change its version
STAMP = setup.VENV / "emic-models.json"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
CUDA = re.compile(r"nvidia-|cuda-|triton$")
PINNED = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[^\s;]+)(?P<marker> *;[^\\]*)?", re.MULTILINE)
CHECK = "import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, {names!r})))"
MODULES = ("torch", "torchvision", "open_clip", "transformers", "faiss")
NEEDED_MB = {"cpu": 2500, "cuda": 9000}


def install(*, cuda: bool = False) -> int:
    """Install what is missing, and say first what will be fetched. Raises EmicError."""
    if os.environ.get("EMIC_INSTALLED"):
        raise EmicError("A container brings its packages. Build one whose image installs constraints/models.txt.")
    setup.ensure()
    if is_current():
        console.print_line("Local models are installed. Nothing to do.")
        return 0
    setup.ensure_pip()
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder) / "constraints.txt"
        constraints.write_text(constraints_text())
        command = pip(constraints)
        wanted = planned_packages(command, folder)
        if has_cuda(wanted) and not (cuda or has_gpu()):
            console.print_line(
                "This machine has no NVIDIA GPU, so torch without CUDA is taken, from its makers' own index."
            )
            command += ["--extra-index-url", CPU_INDEX]
            wanted = planned_packages(command, folder)
            if has_cuda(wanted):
                raise EmicError(
                    "pip would fetch torch with CUDA, about 5 GB, and this machine has no NVIDIA GPU. "
                    "Nothing was installed. If you want it all the same: ./emic models --cuda"
                )
        announce(wanted)
        check_room(wanted)
        if wanted:
            with console.print_step("Installing local models (pip)"):
                setup.run_quietly(command, "install local models")
    if not works():
        raise EmicError(f"Local models were installed but cannot be found in {setup.VENV}. Remove it and start anew.")
    STAMP.write_text(json.dumps(fingerprint()))
    console.print_line("Local models are installed. Restart Emic if it runs.")
    return 0


def is_current() -> bool:
    """Whether this very environment got these very versions."""
    try:
        return bool(json.loads(STAMP.read_text()) == fingerprint()) and works()
    except (OSError, ValueError):
        return False


def works() -> bool:
    """Whether all modules can be found; none is imported, which would take seconds."""
    asked = subprocess.run([setup.PYTHON, "-c", CHECK.format(names=MODULES)], capture_output=True, check=False)
    return asked.returncode == 0


def fingerprint() -> dict[str, str]:
    files = {path.name: sha256(path) for path in (CONSTRAINTS, LOCK)}
    return {**files, "venv": str((setup.VENV / "pyvenv.cfg").stat().st_mtime_ns)}


def requirements() -> list[str]:
    """The extra "models" of the project's own file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return list(project["optional-dependencies"]["models"])


def constraints_text() -> str:
    """The lock's versions without its hashes, and those tried for models: none of the first may be changed."""
    locked = [f"{pin['name']}=={pin['version']}{pin['marker'] or ''}" for pin in PINNED.finditer(LOCK.read_text())]
    return "\n".join(locked) + "\n" + CONSTRAINTS.read_text()


def pip(constraints: Path) -> list[str]:
    command = [str(setup.PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--retries", "2"]
    return [*command, "-c", str(constraints), *requirements()]


def planned_packages(command: list[str], folder: str) -> list[dict[str, str]]:
    """What pip would install: name and version of each; nothing is installed."""
    report = Path(folder) / "report.json"
    with console.print_step("Asking what is missing"):
        setup.run_quietly([*command, "--dry-run", "--quiet", "--report", str(report)], "find local models")
    return read_report(json.loads(report.read_text()))


def read_report(report: dict[str, Any]) -> list[dict[str, str]]:
    installed = [entry["metadata"] for entry in report.get("install", [])]
    return [{"name": str(metadata["name"]).lower(), "version": str(metadata["version"])} for metadata in installed]


def has_cuda(wanted: list[dict[str, str]]) -> bool:
    return any(CUDA.match(package["name"].replace("_", "-")) for package in wanted)


def has_gpu() -> bool:
    return shutil.which("nvidia-smi") is not None or Path("/dev/nvidiactl").exists()


def announce(wanted: list[dict[str, str]]) -> None:
    if not wanted:
        return
    size = "several gigabytes, with CUDA" if has_cuda(wanted) else "some hundred megabytes, without CUDA"
    names = ", ".join(f"{package['name']} {package['version']}" for package in wanted)
    console.print_line(f"  {len(wanted)} packages will be fetched ({size}): {names}")


def check_room(wanted: list[dict[str, str]]) -> None:
    """Models of torch are large; a disk that fills up half way leaves a broken environment."""
    needed = NEEDED_MB["cuda" if has_cuda(wanted) else "cpu"]
    free = shutil.disk_usage(ROOT).free // (1024 * 1024)
    if wanted and free < needed:
        raise EmicError(
            f"Only {free} MB are free on the disk of {ROOT}, and local models need {needed}. Free some room."
        )
