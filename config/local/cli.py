"""The commands of `./emic`, and the one place where a failure becomes a sentence and an exit status."""

import errno
import shutil
import signal
import subprocess
import sys
from argparse import ArgumentParser, BooleanOptionalAction, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import backup, models, process, restore, setup, testing
from .binaries import ROOT
from .data_folder import DataFolder
from .environment import disk_full, embedded_servers, environment
from .errors import EmicError
from .run import run

FULL = 8 * 1024 * 1024
ABOUT = """Emic: people of a culture rate and write, models answer the same sheets, agreement is computed live.

The first start installs everything into this folder: .venv holds the packages, data holds the work.
"""
AFTER = """Environment: EMIC_DATA (data folder), DATABASE_URL, CELERY_BROKER_URL, EMAIL_URL, EMIC_HOSTS and more
are explained in docs/reference/settings.md."""


def main(arguments: list[str]) -> int:
    """Run one command; whatever a person can act on is said in one sentence."""
    try:
        if arguments[:1] == ["manage"]:
            return manage(arguments[1:])
        if arguments[:1] == ["test"] and not {"-h", "--help"} & set(arguments[1:2]):
            return testing.test(arguments[1:])
        options = parser().parse_args(arguments or ["--help"])
        return int(options.command(options))
    except EmicError as error:
        data = DataFolder().path
        # Servers on a full disk fail in many words; this is the one that helps.
        full = data.exists() and shutil.disk_usage(data).free < FULL
        return fail(disk_full(data) if full else str(error))
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return fail(disk_full(DataFolder().path))
        raise
    except KeyboardInterrupt:
        return 130


def fail(sentence: str) -> int:
    print(sentence, file=sys.stderr, flush=True)
    return 1


def parser() -> ArgumentParser:
    top = ArgumentParser(
        prog="./emic", description=ABOUT, epilog=AFTER, formatter_class=RawDescriptionHelpFormatter, allow_abbrev=False
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    add_run(commands.add_parser("run", help="start Emic here and say where it is; Ctrl-C stops it"))
    tests = commands.add_parser("test", help="lint, types and all tests; with arguments for pytest, only those tests")
    tests.add_argument("--slow", action="store_true", help="also load, kill, scale, performance and coverage")
    tests.add_argument(
        "--release", action="store_true", help="also refuse missing translations; before a version is tagged"
    )
    tests.add_argument("pytest", nargs="*", help="a folder or file of tests, or options of pytest")
    tests.set_defaults(command=lambda options: testing.test(sys.argv[2:]))
    local = commands.add_parser("models", help="install what models on this machine need (torch); once, and optional")
    local.add_argument("--cuda", action="store_true", help="take torch with CUDA though this machine shows no GPU")
    local.set_defaults(command=lambda options: models.install(cuda=options.cuda))
    saving = commands.add_parser("backup", help="save database and images to one file, also while Emic runs")
    saving.add_argument("file", type=Path, metavar="FILE.tar")
    saving.set_defaults(command=backup_command)
    back = commands.add_parser("restore", help="bring a backup back into an empty data folder")
    back.add_argument("file", type=Path, metavar="FILE.tar")
    back.add_argument("--data", type=Path, metavar="FOLDER", help="the empty folder (default: EMIC_DATA, or data)")
    back.set_defaults(command=restore_command)
    commands.add_parser("manage", help="run one of Django's commands, such as: ./emic manage createsuperuser")
    return top


def add_run(start: ArgumentParser) -> None:
    start.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
    start.add_argument("--port", type=int, default=8000, help="port to listen on; 0 takes any free one (default: 8000)")
    start.add_argument(
        "--demo",
        action=BooleanOptionalAction,
        default=None,
        help="load the demo at the first start (default: yes, when only this machine can reach it)",
    )
    start.add_argument("--open", action="store_true", help="open the address in a browser")
    start.set_defaults(command=run)


def backup_command(options: Namespace) -> int:
    setup.ensure()
    with servers_for("backup", with_broker=False) as (home, env):
        return backup.backup(home, env, options.file)


def restore_command(options: Namespace) -> int:
    setup.ensure()
    return restore.restore(DataFolder(options.data), options.file)


def manage(arguments: list[str]) -> int:
    """Django's own commands, with the servers up and the terminal passed through."""
    setup.ensure()
    with servers_for("manage") as (_, env):
        command = [str(setup.PYTHON), str(ROOT / "manage.py"), *arguments]
        child = subprocess.Popen(command, env=env)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the command's to answer
        try:
            return child.wait()
        except KeyboardInterrupt:
            child.terminate()
            return child.wait()


@contextmanager
def servers_for(purpose: str, *, with_broker: bool = True) -> Iterator[tuple[DataFolder, dict[str, str]]]:
    """The servers of a running Emic, or our own for as long as the command takes."""
    home = DataFolder()
    home.prepare()
    if not home.hold(purpose):
        if home.current_run().get("purpose") != "run":
            raise home.describe_holder()
        yield home, environment(home)
        return
    servers = embedded_servers(home, with_broker=with_broker)
    with process.stopping_on_signals():
        try:
            home.stop_leftovers()
            for server in servers:
                server.start()
            yield home, environment(home)
        finally:
            for server in reversed(servers):
                server.stop()
            home.release()
