"""`./emic run`: everything from an empty machine to an address in the browser, and back to nothing on Ctrl-C."""

import hashlib
import http.client
import os
import signal
import socket
import sys
import time
import webbrowser
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

from . import ballast, console, logs, setup
from .binaries import ROOT
from .data_folder import DataFolder, sha256
from .environment import embedded_servers, environment, has_command, is_local, manage
from .errors import EmicError
from .forks import ForkServer, is_possible
from .process import stopping_on_signals
from .servers import Valkey
from .supervisor import Program, Supervisor

ANY_HOST = ("0.0.0.0", "::", "")  # noqa: S104  (only compared with)
HEALTH_SECONDS = 120.0
HEARTBEAT_SECONDS = 13.0  # the worker touches its file every 5; with three probes a frozen one is replaced within 45


def run(options: Namespace) -> int:
    begun = time.monotonic()
    home = DataFolder()
    home.prepare()
    if not home.hold("run"):
        raise home.describe_holder()
    hosts = allowed_hosts(options.host)
    supervisor = Supervisor(home.record_child, lambda: do_chores(home))
    with stopping_on_signals():
        try:
            home.stop_leftovers()
            port = free_port(options.host, options.port)
            setup.ensure()
            serve(home, supervisor, options.host, port, hosts, resolve_demo_flag(home, options))
            print_address(home, options, port, time.monotonic() - begun)
            supervisor.watch()
        except KeyboardInterrupt:
            pass
        finally:
            stop_everything(home, supervisor)
    return 0


def do_chores(home: DataFolder) -> None:
    """What the supervisor does every few seconds."""
    ballast.adjust_ballast(home.path / "run")
    logs.rotate_all(home.path / "logs")
    home.write_notes()


def serve(home: DataFolder, supervisor: Supervisor, host: str, port: int, hosts: str, demo: bool) -> None:
    """Start the servers, bring the database up to date, start the programs, and wait for the first answer."""
    for server in embedded_servers(home):
        with console.print_step(f"Starting {server.name}"):
            supervisor.start(server, server.responds if isinstance(server, Valkey) else None)
    env = environment(home, hosts)
    choose_practice_port(home, host, demo)
    if demo:
        env["EMIC_DEMO"] = "1"
    if practice := home.facts().get("practice"):
        env["EMIC_PRACTICE"] = practice_address(practice)
    forks = start_fork_server(home, supervisor, env)
    with ThreadPoolExecutor(1) as background:
        static = background.submit(collect_static, home, env)
        with console.print_step("Bringing the database up to date"):
            manage(home, env, "migrate", "--no-input")
        if static.running():
            with console.print_step("Collecting static files"):
                wait([static])
        static.result()
    # It starts while the demo is loaded, whose jobs wait for the worker: that one starts after it.
    supervisor.start(web(home, env, host, port, forks), lambda: is_healthy(host, port))
    if demo:
        load_demo(home, env)
    with console.print_step("Starting the web server and the worker"):
        start_practice(home, supervisor, env)
        supervisor.start(worker(home, env, forks), lambda: has_heartbeat(home))
        wait_for_health(host, port, supervisor)
    home.remember_run(address=address(host, port))


def start_fork_server(home: DataFolder, supervisor: Supervisor, env: dict[str, str]) -> ForkServer | None:
    """It loads while the database is brought up to date. EMIC_FORK_SERVER=0 does without, and so do threads of linear
    algebra, which cannot be forked."""
    has_threads = os.environ.get("OPENBLAS_NUM_THREADS", "1") != "1"
    if has_threads or not is_possible() or os.environ.get("EMIC_FORK_SERVER") == "0":
        return None
    forks = ForkServer(setup.PYTHON, home.path, env, ROOT)
    supervisor.start(forks)
    return forks


def web(home: DataFolder, env: dict[str, str], host: str, port: int, forks: ForkServer | None = None) -> Program:
    bind = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    command = [str(setup.PYTHON), "-m", "gunicorn", "-c", str(ROOT / "config/local/gunicorn.py"), "-b", bind]
    command += ["--worker-tmp-dir", str(home.path / "run"), "config.wsgi"]
    return Program("Web server", command, env, home.path / "logs" / "web.log", ROOT, forks)


def worker(home: DataFolder, env: dict[str, str], forks: ForkServer | None = None) -> Program:
    """With the scheduler inside, a thread of its main process."""
    command = [str(setup.PYTHON), "-m", "celery", "-A", "config", "--quiet", "worker"]
    command += ["-c", os.environ.get("EMIC_WORKERS") or "2", "-l", "WARNING", "--without-gossip", "--without-mingle"]
    env = {**env, "EMIC_HEARTBEAT": str(heartbeat(home)), "EMIC_SCHEDULER": "1"}
    return Program("Worker", command, env, home.path / "logs" / "worker.log", ROOT, forks)


def heartbeat(home: DataFolder) -> Path:
    """The file that the worker touches every few seconds."""
    return home.path / "run" / "worker-heartbeat"


def has_heartbeat(home: DataFolder) -> bool:
    try:
        return abs(time.time() - heartbeat(home).stat().st_mtime) < HEARTBEAT_SECONDS
    except OSError:
        return False


def practice_address(port: int) -> str:
    return f"http://127.0.0.1:{port}/v1"


def choose_practice_port(home: DataFolder, host: str, demo: bool) -> None:
    """Also without the demo a team may try things on the practice model, on a machine of one's own: no site that others
    reach by a name has one unless its demo is asked for."""
    is_own = is_local(host) and not os.environ.get("DATABASE_URL") and not os.environ.get("EMIC_HOSTS")
    if (is_own or demo) and not home.facts().get("practice"):
        home.remember(practice=free_port("127.0.0.1", 0))


def start_practice(home: DataFolder, supervisor: Supervisor, env: dict[str, str]) -> None:
    """It answers at the port that it was given once; where that is taken now, the site goes without."""
    port = home.facts().get("practice")
    if not port:
        return
    try:
        free_port("127.0.0.1", port)
    except EmicError:
        console.print_line(f"  The practice model is off: its port {port} is taken by another program.")
        return
    # Not as a part of the package config, which loads Celery.
    command = [str(setup.PYTHON), "-m", "local.mock_model", "--port", str(port)]
    supervisor.start(Program("Practice model", command, env, home.path / "logs" / "practice.log", ROOT / "config"))


def collect_static(home: DataFolder, env: dict[str, str]) -> None:
    """Copy, compress and name the static files by their content, when any of them has changed."""
    files = sorted(path for path in (ROOT / "static").rglob("*") if path.is_file())
    states = [f"{path} {path.stat().st_mtime_ns} {path.stat().st_size}" for path in files]
    states.append(sha256(ROOT / "requirements" / setup.RUN))
    state = hashlib.sha256("\n".join(states).encode()).hexdigest()
    stamp = home.path / "static" / "collected"
    if stamp.exists() and stamp.read_text() == state:
        return
    manage(home, env, "collectstatic", "--no-input", "--clear", "-v", "0")
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(state)


def resolve_demo_flag(home: DataFolder, options: Namespace) -> bool:
    """The first start decides, so that forgetting a flag never puts a demo among real work."""
    decided = home.facts().get("demo")
    if options.demo is not None and decided != "loaded":
        decided = "wanted" if options.demo else "none"
    if decided is None:
        own = not os.environ.get("DATABASE_URL") and is_local(options.host)
        decided = "wanted" if own else "none"
    home.remember(demo=decided)
    return bool(decided == "wanted")


def load_demo(home: DataFolder, env: dict[str, str]) -> None:
    if not has_command("load_demo"):
        console.print_line("  There is no demo in this version.")
        return
    title = "Loading the demo"
    with console.print_step(title) as progress:

        def show(line: str) -> None:
            if line.startswith(f"{title}: "):
                progress.show(line.removeprefix(f"{title}: "))

        manage(home, env, "load_demo", on_line=show)
    home.remember(demo="loaded")


def allowed_hosts(host: str) -> str:
    """The names Emic answers to; a public address without a name is a mistake worth stopping at."""
    if os.environ.get("EMIC_HOSTS") or is_local(host):
        return ""
    if host in ANY_HOST:
        raise EmicError(
            f"--host {host or '::'} opens Emic to the network, so it must know the name it is reached by. "
            f"Set EMIC_HOSTS, for example: EMIC_HOSTS=emic.example.org ./emic run --host {host or '::'}"
        )
    return f"[{host}]" if ":" in host else host


def free_port(host: str, port: int) -> int:
    """The port, once it is known to be ours to take; 0 asks for any."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
            return int(probe.getsockname()[1])
    except PermissionError as error:
        raise EmicError(f"Port {port} needs more rights than you have. Choose one above 1023: --port 8000") from error
    except socket.gaierror as error:
        raise EmicError(f"{host} is not a name or an address of this machine. Try --host 127.0.0.1") from error
    except OverflowError as error:
        raise EmicError(f"{port} is not a port. Choose one between 1024 and 65535.") from error
    except OSError as error:
        if "in use" in str(error):
            message = (
                f"Port {port} is taken by another program. Stop it, or choose another: ./emic run --port {port + 1}"
            )
            raise EmicError(message) from error
        raise EmicError(f"Emic cannot listen on {host}, port {port}: {error.strerror}.") from error


def address(host: str, port: int) -> str:
    shown = "127.0.0.1" if host in ANY_HOST else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


def reachable_host(host: str) -> str:
    return {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)  # noqa: S104


def wait_for_health(host: str, port: int, supervisor: Supervisor) -> None:
    end = time.monotonic() + HEALTH_SECONDS
    while not is_healthy(host, port):
        supervisor.check()
        if time.monotonic() > end:
            raise EmicError("The web server does not answer /healthz; its reason is at the end of logs/web.log.")
        time.sleep(0.05)


def is_healthy(host: str, port: int) -> bool:
    return status_of("/healthz", host, port) == 200


def status_of(path: str, host: str, port: int) -> int:
    """What the web server answers to this address; 0 where it does not."""
    connection = http.client.HTTPConnection(reachable_host(host), port, timeout=5)
    try:
        connection.request("GET", path, headers={"Host": "localhost", "X-Forwarded-Proto": "https"})
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def print_address(home: DataFolder, options: Namespace, port: int, seconds: float) -> None:
    console.print_line(f"\nEmic is ready after {seconds:.1f} s:  {address(options.host, port)}\n")
    accounts = home.path / "demo-accounts.txt"
    if home.facts().get("demo") == "loaded" and accounts.exists():
        console.print_line(accounts.read_text().rstrip() + "\n")
    elif status_of("/setup", options.host, port) == 200:  # 404 once the site has an account
        site = os.environ.get("EMIC_ORIGINS", "").split(",")[0].strip() or address(options.host, port)
        manage(
            home, environment(home), "setup_key", "--site", site, on_line=lambda line: console.print_line(f"{line}\n")
        )
    console.print_line(f"Data: {home.path}   Logs: {home.path / 'logs'}   Stop: Ctrl-C")
    if options.open:
        webbrowser.open(address(options.host, port))


def stop_everything(home: DataFolder, supervisor: Supervisor) -> None:
    """No second Ctrl-C cuts this short: every stop has its own limit."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if supervisor.watched:
        begun = time.monotonic()
        was_serving = bool(home.current_run().get("address"))
        if was_serving and sys.stdout.isatty():
            console.print_line()
        supervisor.stop()
        if was_serving:
            console.print_line(f"Stopped in {time.monotonic() - begun:.1f} s.")
    (home.path / "run" / "children.json").unlink(missing_ok=True)
    home.release()
