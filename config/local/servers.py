"""The embedded PostgreSQL and Valkey: made, started, healed after a crash, stopped. Neither listens on a port."""

import errno
import hashlib
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

from . import binaries, process
from .errors import EmicError

START_SECONDS = 60.0
SOCKET_PATH_LIMIT = 90  # the system's own is 108 bytes, and PostgreSQL adds to the folder's name
STILL_HELD = re.compile(r"shared memory block|lock file .* already exists")
FAILED = re.compile(r"\b(ERROR|FATAL|PANIC):")  # in single-user mode PostgreSQL exits with 0 all the same
DURABLE: dict[str, str] = {}


def socket_folder(wanted: Path) -> Path:
    """The wanted folder, or a short one that belongs to it alone when its path is too long for a socket."""
    if len(os.fsencode(wanted)) <= SOCKET_PATH_LIMIT - 20:
        return _private(wanted)
    name = hashlib.sha256(os.fsencode(wanted.resolve())).hexdigest()[:12]
    base = Path(tempfile.gettempdir())
    base = base if len(os.fsencode(base)) <= 40 else Path("/tmp")  # noqa: S108  (checked to be ours by _private)
    return _private(base / f"emic-{os.geteuid()}-{name}")


def _private(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    if folder.is_symlink() or (status.st_uid != os.geteuid() and os.geteuid() != 0):
        raise EmicError(f"{folder} belongs to somebody else. Remove it, or set EMIC_DATA to another folder.")
    folder.chmod(0o700)
    return folder


def root_runs_as() -> str:
    """How PostgreSQL, which refuses to be root, is run: as we are, in a user namespace, or as another account."""
    if os.geteuid() != 0:
        return "same"
    probe = subprocess.run(process.wrapped_command(["true"], "namespace"), capture_output=True, check=False)
    return "namespace" if probe.returncode == 0 else "nobody"


def most_connections() -> int:
    """How many connections PostgreSQL takes: one for each thread of the web server, and 60 for the worker, backups and
    commands; at least 100, its default.
    """
    web = int(os.environ.get("EMIC_WEB_WORKERS") or 2) * int(os.environ.get("EMIC_WEB_THREADS") or 8)
    return max(100, web + 60)


class Postgres:
    """A PostgreSQL cluster in `home/postgres`, reached through a socket in a folder only we can enter."""

    name = "PostgreSQL"

    def __init__(self, home: Path, *, options: dict[str, str] = DURABLE, database: str = "emic") -> None:
        self.cluster = home.resolve() / "postgres"
        self.log = home.resolve() / "logs" / "postgres.log"
        self.sockets = socket_folder(home.resolve() / "run")
        self.options = options
        self.database = database
        self.child: subprocess.Popen[bytes] | None = None
        self._user = ""

    @property
    def url(self) -> str:
        return f"postgres://emic@/{self.database}?host={quote(str(self.sockets))}"

    @property
    def user(self) -> str:
        """Whoever owns the cluster; for a new one, whatever this system allows."""
        owner = self.cluster.stat().st_uid if self.cluster.exists() else os.geteuid()
        if os.geteuid() == 0 and owner != 0:
            return pwd.getpwuid(owner).pw_name
        self._user = self._user or root_runs_as()
        return self._user

    @property
    def bin(self) -> Path:
        version = self.cluster / "PG_VERSION"
        return binaries.postgres_bin(version.read_text().strip() if version.exists() else "")

    def start(self) -> None:
        """Start, making the cluster first if there is none; a crashed one recovers by itself."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        if not self.cluster.exists():
            self._create()
        end_leftover(self.cluster / "postmaster.pid", str(self.cluster), signal.SIGINT)
        end = time.monotonic() + START_SECONDS
        while not self._try_start(end):
            # Backends of a killed server hold its memory for a moment; a new server must wait until they are gone.
            if time.monotonic() > end or not STILL_HELD.search(last_line(self.log, 5)):
                raise EmicError(f"PostgreSQL did not start: {last_line(self.log)} (more in {self.log})")
            time.sleep(0.3)

    def _try_start(self, end: float) -> bool:
        with self.log.open("ab") as log:
            self.child = process.spawn(self._command(), log=log, user=self.user, death=signal.SIGINT, env=clean_env())
        while self.child.poll() is None and time.monotonic() < end:
            if self.is_ready():
                return True
            time.sleep(0.03)
        process.stop(self.child, signal.SIGINT)
        (self.cluster / "postmaster.pid").unlink(missing_ok=True)
        return False

    def _command(self) -> list[str]:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.sockets),
            "unix_socket_permissions": "0700",
            "dynamic_shared_memory_type": "mmap",
            "max_connections": str(most_connections()),
            **self.options,
        }
        flags = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        return [str(self.bin / "postgres"), "-D", str(self.cluster), *flags]

    def is_ready(self) -> bool:
        """Whether it takes connections, not just whether the socket exists."""
        ask = [str(self.bin / "pg_isready"), "-q", "-h", str(self.sockets), "-U", "emic", "-d", self.database]
        return (self.sockets / ".s.PGSQL.5432").exists() and subprocess.run(ask, check=False).returncode == 0

    def stop(self) -> None:
        """A fast, clean shutdown: open transactions are rolled back, everything committed is on disk."""
        if self.child:
            process.stop(self.child, signal.SIGINT, seconds=30)
            self.child = None

    def _create(self) -> None:
        """Make the cluster beside its place and move it there whole, so that half a cluster is never found."""
        half = self.cluster.with_name("postgres.new")
        shutil.rmtree(half, ignore_errors=True)
        _private(half)
        if self.user not in ("same", "namespace"):
            self._hand_over(half)
        self._run(
            "initdb", "-D", str(half), "-U", "emic", "-E", "UTF8", "--locale-provider=libc", "--locale=C.UTF-8",
            "--auth=trust", "--no-instructions", "--no-sync",
        )  # fmt: skip
        self._run("postgres", "--single", "-D", str(half), "postgres", stdin_text=f"CREATE DATABASE {self.database};\n")
        half.rename(self.cluster)

    def _hand_over(self, half: Path) -> None:
        """Root runs PostgreSQL as another account, which must be able to come in."""
        for folder in (half, self.sockets):
            shutil.chown(folder, self.user)
        home = half.parent
        home.chmod(home.stat().st_mode | 0o011)
        for wish in (["test", "-w", str(half)], ["test", "-x", str(binaries.postgres_bin() / "postgres")]):
            if subprocess.run(process.wrapped_command(wish, self.user), check=False).returncode:
                raise EmicError(
                    "PostgreSQL does not run as root, this system has no user namespaces, and the account "
                    f"{self.user} cannot reach {wish[2]}. Run ./emic as an ordinary user, or in a folder open to all."
                )

    def _run(self, program: str, *arguments: str, stdin_text: str = "") -> None:
        command = process.wrapped_command([str(binaries.postgres_bin() / program), *arguments], self.user)
        done = subprocess.run(command, input=stdin_text, capture_output=True, text=True, check=False, env=clean_env())
        with self.log.open("a") as log:
            log.write(done.stdout + done.stderr)
        if done.returncode or FAILED.search(done.stderr):
            if os.strerror(errno.ENOSPC) in done.stderr:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            raise EmicError(f"PostgreSQL's {program} failed: {last_line(self.log)} (more in {self.log})")


class Valkey:
    """The broker: keeps its queue on disk, so that a crash loses nothing that was sent."""

    name = "Valkey"

    def __init__(self, home: Path) -> None:
        self.folder = home.resolve() / "valkey"
        self.log = home.resolve() / "logs" / "valkey.log"
        self.socket = socket_folder(home.resolve() / "run") / "valkey.sock"
        self.child: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis+socket://{self.socket}"

    def start(self) -> None:
        _private(self.folder)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        end_leftover(self.folder / "valkey.pid", str(self.socket), signal.SIGTERM)
        self.socket.unlink(missing_ok=True)
        with self.log.open("ab") as log:
            self.child = process.spawn(self._command(), log=log, env=clean_env())
        end = time.monotonic() + START_SECONDS
        while not self.is_ready():
            if self.child.poll() is not None or time.monotonic() > end:
                self.stop()
                raise EmicError(f"Valkey did not start: {last_line(self.log)} (more in {self.log})")
            time.sleep(0.02)

    def _command(self) -> list[str]:
        return [
            str(binaries.valkey_server()), "--port", "0", "--unixsocket", str(self.socket), "--unixsocketperm", "700",
            "--appendonly", "yes", "--save", "", "--dir", str(self.folder),
            "--pidfile", str(self.folder / "valkey.pid"), "--maxmemory-policy", "noeviction",
        ]  # fmt: skip

    def is_ready(self) -> bool:
        return self._ping().startswith(b"+PONG")

    def responds(self) -> bool:
        """Whether it says anything: with its disk full it refuses to be asked, and a restart would not help."""
        return bool(self._ping())

    def _ping(self) -> bytes:
        try:
            with socket.socket(socket.AF_UNIX) as line:
                line.settimeout(2)
                line.connect(str(self.socket))
                line.sendall(b"PING\r\n")
                return line.recv(16)
        except OSError:
            return b""

    def stop(self) -> None:
        if self.child:
            process.stop(self.child, signal.SIGTERM)
            self.child = None
        self.socket.unlink(missing_ok=True)


def end_leftover(pid_file: Path, mark: str, gentle: int) -> None:
    """End a server of ours that outlived its supervisor, and remove the pid file of one that did not.

    The mark must be in the process's command line: the number may belong to a stranger by now.
    """
    try:
        pid = int(pid_file.read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        pid_file.unlink(missing_ok=True)
        return
    if process.is_alive(pid) and mark in process.command_line(pid):
        os.kill(pid, gentle)
        if not process.wait_for_exit(pid, 20):
            process.end_group(pid)
            process.wait_for_exit(pid, 5)
    pid_file.unlink(missing_ok=True)


def clean_env() -> dict[str, str]:
    """The environment without what would steer PostgreSQL's programs elsewhere."""
    return {key: value for key, value in os.environ.items() if not key.startswith("PG") or key == "PG_BIN"}


def last_line(log: Path, lines: int = 1) -> str:
    """The end of a log: where a server says why it went."""
    try:
        log_lines = log.read_text(errors="replace").strip().splitlines()
    except OSError:
        return "it left no log"
    return " ".join(log_lines[-lines:]) or "it left no word"
