"""What the children of `./emic` are told by their environment, and how Django's commands are run for it."""

import errno
import itertools
import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from .binaries import ROOT
from .data_folder import DataFolder
from .errors import EmicError
from .servers import Postgres, Valkey
from .setup import PYTHON

LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
ALWAYS_ALLOWED = ["localhost", "127.0.0.1", "[::1]"]  # the health check comes from here


def is_local(host: str) -> bool:
    return host in LOCAL_HOSTS


def embedded_servers(home: DataFolder, *, with_broker: bool = True) -> list[Postgres | Valkey]:
    """The servers that the environment does not replace by others."""
    servers: list[Postgres | Valkey] = []
    if not os.environ.get("DATABASE_URL"):
        servers.append(Postgres(home.path))
    if with_broker and not os.environ.get("CELERY_BROKER_URL"):
        servers.append(Valkey(home.path))
    return servers


def environment(home: DataFolder, hosts: str = "") -> dict[str, str]:
    """What Django reads; whatever was set outside wins."""
    env = {key: value for key, value in os.environ.items() if key not in ("PYTHONHOME", "VIRTUAL_ENV")}
    env.update(EMIC_DATA=str(home.path), DJANGO_SETTINGS_MODULE="config.settings", PYTHONUNBUFFERED="1")
    if not env.get("DATABASE_URL"):
        env["DATABASE_URL"] = Postgres(home.path).url
    if not env.get("CELERY_BROKER_URL"):
        env["CELERY_BROKER_URL"] = Valkey(home.path).url
    if not env.get("EMIC_SECRET_KEY"):
        env["EMIC_SECRET_KEY"] = home.secret_key()
    if not env.get("EMIC_SECRETS_KEY"):
        env["EMIC_SECRETS_KEY"] = home.secrets_key()
    named = [name.strip() for name in (env.get("EMIC_HOSTS") or hosts).split(",") if name.strip()]
    env["EMIC_HOSTS"] = ",".join(dict.fromkeys([*named, *ALWAYS_ALLOWED]))
    if home.facts().get("demo") == "loaded":
        env["EMIC_DEMO"] = "1"
    return env


def has_command(name: str) -> bool:
    """Whether the project has a management command of this name."""
    return any(ROOT.glob(f"*/management/commands/{name}.py"))


def manage(
    home: DataFolder, env: dict[str, str], *arguments: str, on_line: Callable[[str], None] = lambda _line: None
) -> None:
    """Run one of Django's commands, its output in the log, its failure in a sentence.

    `on_line` is called with each line of its standard output as it is written.
    """
    status, output = run_command([str(PYTHON), str(ROOT / "manage.py"), *arguments], env, on_line)
    log = home.path / "logs" / "setup.log"
    with log.open("a") as file:
        file.write(f"$ manage.py {' '.join(arguments)}\n{output}")
    if status:
        raise EmicError(explain_failure(output, arguments[0], home.path, log))


def run_command(command: list[str], env: dict[str, str], on_line: Callable[[str], None]) -> tuple[int, str]:
    """The exit status, and standard output followed by standard error. An interruption ends the command too."""
    lines = []
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            command, cwd=ROOT, env={**env, "EMIC_DB_POOL": "0"}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=errors, text=True,
        ) as child,
    ):  # fmt: skip
        try:
            for line in child.stdout or ():
                lines.append(line)
                on_line(line.rstrip())
            status = child.wait()
        except BaseException:
            child.kill()
            raise
        errors.seek(0)
        return status, "".join(lines) + errors.read()


def explain_failure(output: str, command: str, data: Path, log: Path) -> str:
    if os.strerror(errno.ENOSPC) in output:
        return disk_full(data)
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if "SystemCheckError" in output and "ERRORS:" in lines:
        errors = [re.sub(r"^(\?|[\w.]+): |^\s*HINT: ", "", line) for line in section(lines, "ERRORS:")]
        return f"Emic refuses to start: {' '.join(errors)}"
    broken = re.search(r"CatalogueError: (.*)", output)
    if broken:
        return f"Emic refuses to start, because a translation cannot be read. {broken[1]}"
    refused = re.search(r"OperationalError: (.*)", output)
    if refused:
        return f"The database does not answer: {refused[1].rsplit('failed: ', 1)[-1]} (more in {log})"
    stated = re.search(r"^CommandError: (.*)", output, re.MULTILINE)
    if stated:
        return stated[1]
    return f"manage.py {command} failed: {lines[-1] if lines else 'it said nothing'} (more in {log})"


def section(lines: list[str], title: str) -> list[str]:
    """The lines under a title of Django's report, up to the next title."""
    under = lines[lines.index(title) + 1 :]
    return list(itertools.takewhile(lambda line: not re.match(r"[A-Z]+:$|System check identified", line), under))


def disk_full(data: Path) -> str:
    return f"The disk of {data} is full. Free some room and run ./emic again; what was saved before is safe."
