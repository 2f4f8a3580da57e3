"""The data folder: who holds it, its secret key, what it remembers between starts, and room on its disk."""

import base64
import fcntl
import hashlib
import json
import os
import secrets
import shutil
from pathlib import Path
from typing import IO, Any

from . import ballast, console, process
from .binaries import ROOT
from .errors import EmicError

MEGABYTE = 1024 * 1024
NEEDED = 500  # megabytes for the first start, which makes a database
NEEDED_AGAIN = 50  # for later starts: a site whose disk is nearly full still shows its pages and takes answers


class DataFolder:
    """One data folder. At most one `./emic` at a time holds it."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = (path or Path(os.environ.get("EMIC_DATA") or ROOT / "data")).expanduser().resolve()
        self._lock: IO[str] | None = None
        self._unwritten: dict[str, dict[str, Any]] = {}  # notes that a full disk did not take

    def prepare(self) -> None:
        """Make the folder, and refuse a disk that is nearly full before it breaks something."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except (PermissionError, FileNotFoundError, FileExistsError, NotADirectoryError) as error:
            raise EmicError(
                f"{self.path} cannot be made: {error.strerror}. Set EMIC_DATA to another folder."
            ) from error
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise EmicError(f"{self.path} cannot be written to. Change its owner, or set EMIC_DATA to another folder.")
        for name in ("run", "logs"):
            (self.path / name).mkdir(mode=0o700, exist_ok=True)
        self.check_room()

    def check_room(self) -> None:
        ballast.adjust_ballast(self.path / "run")
        usual = NEEDED_AGAIN if (self.path / "instance.json").exists() else NEEDED
        needed = int(os.environ.get("EMIC_MIN_FREE_MB") or usual)
        free = shutil.disk_usage(self.path).free // MEGABYTE
        if free < needed:
            raise EmicError(
                f"Only {free} MB are free on the disk of {self.path}, and Emic needs {needed} MB. "
                "Free some room, or set EMIC_DATA to a folder on another disk."
            )

    def hold(self, purpose: str) -> bool:
        """Take the folder for this process; False when another `./emic` has it."""
        lock = (self.path / "run" / "lock").open("a+")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            return False
        self._lock = lock
        self.remember_run(pid=os.getpid(), purpose=purpose, address="")
        return True

    def release(self) -> None:
        if self._lock:
            (self.path / "run" / "now.json").unlink(missing_ok=True)
            self._lock.close()
            self._lock = None

    def remember_run(self, **facts: Any) -> None:
        """What another `./emic` wants to know about the one that holds the folder."""
        self._note("now.json", {**self.current_run(), **facts})

    def current_run(self) -> dict[str, Any]:
        return _read_json(self.path / "run" / "now.json")

    def describe_holder(self) -> EmicError:
        run = self.current_run()
        where = f", at {run['address']}" if run.get("address") else ""
        if run.get("purpose") == "run":
            return EmicError(
                f"Emic already runs on {self.path}{where} (process {run.get('pid')}). "
                "Stop it first, or set EMIC_DATA to another folder."
            )
        return EmicError(f"Another ./emic {run.get('purpose', '')} is using {self.path}. Wait until it has ended.")

    def secret_key(self) -> str:
        """The key that signs sessions and links: made once, readable by its owner only."""
        path = self.path / "secret-key"
        if not path.exists():
            _write(path, secrets.token_urlsafe(50))
        return path.read_text().strip()

    def secrets_key(self) -> str:
        """The key that encrypts the secrets of model servers: as above. Without it they have to be typed in again."""
        path = self.path / "secrets-key"
        if not path.exists():
            _write(path, base64.urlsafe_b64encode(secrets.token_bytes(32)).decode())
        return path.read_text().strip()

    def facts(self) -> dict[str, Any]:
        """What was decided at the first start, such as whether there is a demo."""
        return _read_json(self.path / "instance.json")

    def remember(self, **facts: Any) -> None:
        _write(self.path / "instance.json", json.dumps({**self.facts(), **facts}, indent=1))

    def record_child(self, name: str, pid: int) -> None:
        noted = self._unwritten.get("children.json") or _read_json(self.path / "run" / "children.json")
        self._note("children.json", {**noted, name: pid})

    def _note(self, name: str, content: dict[str, Any]) -> None:
        """On a full disk the note waits for `write_notes`, and the site goes on."""
        try:
            _write(self.path / "run" / name, json.dumps(content))
            self._unwritten.pop(name, None)
        except OSError as error:
            self._unwritten[name] = content
            console.line_now_and_then(f"{self.path / 'run' / name} was not written: {error.strerror}.")

    def write_notes(self) -> None:
        """Write the notes that were not taken, if there is room now."""
        for name, content in dict(self._unwritten).items():
            self._note(name, content)

    def stop_leftovers(self) -> None:
        """End what a killed `./emic` left behind; the folder must be held. Servers look after themselves."""
        path = self.path / "run" / "children.json"
        for pid in _read_json(path).values():
            if process.is_alive(pid) and str(self.path) in process.command_line(pid):
                process.end_group(pid)
                process.wait_for_exit(pid, 5)
        path.unlink(missing_ok=True)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _write(path: Path, text: str) -> None:
    """Whole or not at all, and for the owner's eyes only."""
    half = path.with_name(path.name + ".new")
    half.unlink(missing_ok=True)
    with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    half.replace(path)


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
