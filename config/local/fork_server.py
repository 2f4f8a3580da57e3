"""Loads Emic's packages once and forks the web server and the worker, which so share them: about 100 MiB less.

    python -m config.local.fork_server SOCKET DATA

SOCKET is the number of an inherited socket of whole messages (JSON) to `forks.ForkServer`; DATA, the data folder, lets
`./emic` know its own processes by their command line. The server has one thread, opens nothing and listens nowhere.
"""

import json
import os
import runpy
import select
import signal
import socket
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from .launch import die_with_parent

PROGRAMS = ("celery.bin.worker", "celery.concurrency.prefork", "celery.worker.consumer", "gunicorn.workers.gthread")
MESSAGE_BYTES = 1 << 20


def preload() -> None:
    """Import what a web server or worker imports when it starts. Fails as they would where settings are wrong."""
    import django

    django.setup()

    for name in PROGRAMS:
        import_module(name)
    from django.urls import reverse

    from config import memory
    from config.checks import run_checks_or_exit

    run_checks_or_exit()
    reverse("home")  # imports all views
    memory.share_imports()
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        raise SystemExit("A package started a thread when it was imported, so no process can be forked safely.")


def serve(line: socket.socket) -> dict[str, Any]:
    """Fork a process for each request and report its end. Returns in the new process, with the request."""
    server = os.getpid()
    children: dict[int, int] = {}  # the id of each process, by the number of the file that is readable once it ended
    while True:
        ready = select.select([line.fileno(), *children], [], [])[0]
        for file in children.keys() & ready:
            os.close(file)
            ended = children.pop(file)
            send(line, ended=ended, code=os.waitstatus_to_exitcode(os.waitpid(ended, 0)[1]))
        if line.fileno() in ready:
            request, log = receive(line)
            pid = fork(line)
            if pid == 0:
                line.close()
                for file in children:
                    os.close(file)
                begin(server, log)
                return request
            os.close(log)
            if pid:
                children[os.pidfd_open(pid)] = pid
                send(line, pid=pid)


def fork(line: socket.socket) -> int | None:
    """None where the system refuses, for lack of memory or because there are too many processes."""
    try:
        return os.fork()
    except OSError as error:
        send(line, refused=str(error))
        return None


def receive(line: socket.socket) -> tuple[dict[str, Any], int]:
    """A request and the file of its log. Ends the server when nobody is left to ask it."""
    message, files, _flags, _address = socket.recv_fds(line, MESSAGE_BYTES, 1)
    if not message:
        raise SystemExit
    return json.loads(message), files[0]


def send(line: socket.socket, **message: Any) -> None:
    line.send(json.dumps(message).encode())


def begin(server: int, log: int) -> None:
    """What `launch.py` does for a new program: a group of its own, a log, and an end with its parent."""
    os.setsid()
    die_with_parent(server, signal.SIGTERM)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    os.close(nothing)
    os.close(log)


def main() -> None:
    line = socket.socket(fileno=int(sys.argv[1]))
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    preload()
    send(line, ready=True)
    request = serve(line)
    Path("/proc/self/comm").write_text(request["module"])  # the command line is the server's; `ps -e` shows this name
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["", *request["arguments"]]
    runpy.run_module(request["module"], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
