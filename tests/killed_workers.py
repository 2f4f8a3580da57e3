"""A worker in a process of its own that does one job, and is killed in the midst of it, once or again and again."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.db import connection

from jobs.models import Job

ROOT = Path(__file__).parent.parent
MOST_WORKERS = 40
WORKER = """
import os, sys
import tests.servers
tests.servers.ensure()
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
import django
django.setup()
from django.conf import settings
from django.db import connections
settings.DATABASES["default"]["NAME"] = connections["default"].settings_dict["NAME"] = sys.argv[2]
settings.MEDIA_ROOT = sys.argv[3]
exec(sys.argv[4])
from jobs.services import runner
runner.run(int(sys.argv[1]))
"""


def start_worker(job: int, first: str = "") -> "subprocess.Popen[bytes]":
    """`first`: Python that the worker runs before the job."""
    arguments = [str(job), connection.settings_dict["NAME"], str(settings.MEDIA_ROOT), first]
    return subprocess.Popen([sys.executable, "-c", WORKER, *arguments], cwd=ROOT, env=dict(os.environ))


def finish_despite_kills(
    job: int, kills: int, requests: Callable[[], int], gap: tuple[int, int], prepare: Callable[[], object]
) -> None:
    """Start worker after worker until the job is done; the first `kills` of them get a SIGKILL after some requests.

    `requests`: how many have reached the server. `gap`: the least and the most requests of a worker before its kill.
    `prepare`: called before each worker starts. Fails where fewer workers could be killed.
    """
    dice, killed = random.Random(7), 0
    for _worker in range(MOST_WORKERS):
        prepare()
        Job.objects.filter(pk=job, state__in=("queued", "running")).update(state="queued", lease_until=None)
        child = start_worker(job)
        wanted, limit = requests() + dice.randint(*gap), time.monotonic() + 60
        while child.poll() is None and time.monotonic() < limit:
            if killed < kills and requests() >= wanted:
                os.kill(child.pid, signal.SIGKILL)
                child.wait()
                killed += 1
            time.sleep(0.01)
        child.wait()
        if Job.objects.get(pk=job).state == "done":
            assert killed == kills, f"the job was done after {killed} kills"
            return
    raise AssertionError("the job never ends")
