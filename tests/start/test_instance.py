"""`./emic run` from its first line to its last, and what others find while it runs."""

import base64
import json
import os
import signal
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from config.local import forks, process
from tests.start.helpers import emic, emic_started, eventually, one_sentence, read_until


class Instance:
    """A running Emic in a folder of its own."""

    def __init__(self, data: Path, **more: str) -> None:
        self.data = data
        self.program = emic_started(data, "run", "--port", "0", "--no-demo", **more)
        self.output = read_until(self.program, "Stop: Ctrl-C")
        assert "Emic is ready" in self.output, self.output
        self.address = str(self.now()["address"])

    def now(self) -> dict[str, Any]:
        return dict(json.loads((self.data / "run" / "now.json").read_text()))

    def children(self) -> dict[str, int]:
        return dict(json.loads((self.data / "run" / "children.json").read_text()))

    def is_healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/readyz", timeout=10) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def stop(self) -> str:
        self.program.send_signal(signal.SIGTERM)
        rest, _ = self.program.communicate(timeout=60)
        return rest


@pytest.fixture(scope="module")
def instance(module_folder: Path) -> Iterator[Instance]:
    running = Instance(module_folder / "data")
    yield running
    if running.program.poll() is None:
        running.stop()


def test_it_answers_at_the_address_it_prints(instance: Instance) -> None:
    assert f"To set up the site, open {instance.address}/setup and enter this key:  " in instance.output
    assert instance.is_healthy()
    expected = {"PostgreSQL", "Valkey", "Web server", "Worker", "Practice model"}
    assert set(instance.children()) == expected | ({"Fork server"} if forks.is_possible() else set())


def test_secrets_and_servers_are_for_the_owner_only(instance: Instance) -> None:
    key, other = instance.data / "secret-key", instance.data / "secrets-key"
    for file in (key, other):
        assert file.stat().st_mode & 0o077 == 0
    assert len(key.read_text()) >= 50
    assert len(base64.urlsafe_b64decode(other.read_text())) == 32
    for name in ("run", "logs", "postgres", "valkey"):
        assert (instance.data / name).stat().st_mode & 0o077 == 0, name


def test_a_second_run_is_refused_in_the_same_folder(instance: Instance) -> None:
    message = one_sentence(emic(instance.data, "run", "--port", "0"))
    assert message.startswith(f"Emic already runs on {instance.data}, at {instance.address}")
    assert instance.is_healthy()


def test_a_taken_port_is_refused_in_another_folder(instance: Instance, tmp_path: Path) -> None:
    port = instance.address.rpartition(":")[2]
    message = one_sentence(emic(tmp_path / "data", "run", "--port", port))
    assert message.startswith(f"Port {port} is taken by another program.")


def test_a_dead_worker_and_a_dead_database_come_back(instance: Instance) -> None:
    before = instance.children()
    for name in ("PostgreSQL", "Worker", "Web server"):
        os.kill(before[name], signal.SIGKILL)
    kept = {pid for name, pid in before.items() if name in ("Valkey", "Practice model", "Fork server")}
    assert eventually(lambda: set(instance.children().values()) & set(before.values()) == kept)
    assert eventually(instance.is_healthy, 180)


@pytest.mark.skipif(not forks.is_possible(), reason="Linux only")
def test_a_dead_fork_server_comes_back_with_what_it_forked(instance: Instance) -> None:
    before, names = instance.children(), ("Fork server", "Web server", "Worker")
    assert all("config.local.fork_server" in process.command_line(before[name]) for name in names)
    os.kill(before["Fork server"], signal.SIGKILL)
    assert eventually(lambda: not {instance.children()[name] for name in names} & set(before.values()))
    assert eventually(instance.is_healthy, 180)
    after = instance.children()
    assert all("config.local.fork_server" in process.command_line(after[name]) for name in names)
    assert not [pid for name, pid in before.items() if name in names and process.is_alive(pid)]


def test_backup_while_it_runs_then_restore_gives_back_rows_and_images(instance: Instance, tmp_path: Path) -> None:
    code = (
        "from io import BytesIO; from PIL import Image as P; from people.models import Team\n"
        "from benchmarks.services.images import store_image\n"
        "team = Team.objects.create(name='Saved', slug='saved')\n"
        "for colour in ('red', 'green', 'blue'):\n"
        "    buffer = BytesIO(); P.new('RGB', (64, 48), colour).save(buffer, 'PNG')\n"
        "    store_image(team, buffer.getvalue(), name=colour)\n"
    )
    made = emic(instance.data, "manage", "shell", "-v", "0", "-c", code)
    assert made.returncode == 0, made.stderr
    saved = tmp_path / "saved.tar"
    assert "and 3 images" in emic(instance.data, "backup", str(saved)).stdout
    assert saved.stat().st_mode & 0o077 == 0

    target = tmp_path / "restored"
    back = emic(target, "restore", str(saved))
    assert back.returncode == 0, back.stderr
    assert "and 3 images" in back.stdout
    originals = sorted((instance.data / "media" / "originals").rglob("*"))
    for path in (path for path in originals if path.is_file()):
        assert (target / path.relative_to(instance.data)).read_bytes() == path.read_bytes()
    count = "from benchmarks.models import Image; print('images', Image.objects.filter(team__slug='saved').count())"
    assert "images 3" in emic(target, "manage", "shell", "-v", "0", "-c", count).stdout
    for name in ("secret-key", "secrets-key"):
        assert (target / name).read_text() == (instance.data / name).read_text()

    assert "is not an empty folder" in one_sentence(emic(target, "restore", str(saved)))


def test_stopping_leaves_nothing_and_the_next_start_goes_on(instance: Instance) -> None:
    children = instance.children()
    assert "Stopped in" in instance.stop()
    assert instance.program.returncode == 0
    assert not [pid for pid in children.values() if process.is_alive(pid)]

    again = Instance(instance.data)
    try:
        assert "static files" not in again.output  # nothing to do twice
        count = "from people.models import Team; print(Team.objects.count())"
        listed = emic(again.data, "manage", "shell", "-v", "0", "-c", count)
        assert listed.stdout.strip() == "1"
        children = again.children()
        if "Fork server" in children:
            os.kill(children["Fork server"], signal.SIGSTOP)  # a frozen one ends, too
        again.program.kill()
        again.program.wait()
        assert eventually(lambda: not any(map(process.is_alive, children.values()))), "killed ./emic left orphans"
    finally:
        again.program.kill()

    third = Instance(instance.data, EMIC_FORK_SERVER="0")
    assert third.is_healthy() and "Fork server" not in third.children()
    assert "gunicorn" in process.command_line(third.children()["Web server"])
    third.stop()
