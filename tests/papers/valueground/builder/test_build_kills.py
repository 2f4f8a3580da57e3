"""Workers that build pairs are killed again and again; every request is asked once, but for those in flight."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.db import connection

from jobs.models import Job
from papers.valueground.builder.models import Build, BuildStep
from predictions.models import Attempt
from tests.papers.valueground.builder.build_script import CONTRAST, verdict
from tests.papers.valueground.builder.builder_scene import BuilderScene
from tests.personas import World
from tests.predictions.model_server import Server

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
from jobs.services import runner
runner.run(int(sys.argv[1]))
"""


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_twenty_builds_survive_ten_kills_without_asking_twice(
    world: World, scripted_server: Server, settings: object
) -> None:
    scene = BuilderScene(world, scripted_server, questions=20)
    scene.answer(critic=[verdict("revise_edits", b=CONTRAST), verdict()])
    plan = scene.plan(base_seed=5)
    root = Path(__file__).parents[4]
    dice = random.Random(7)
    kills = 0
    for turn in range(40):
        plan.refresh_from_db()
        Build.objects.update(not_before=None)
        Job.objects.filter(pk=plan.job_id, state__in=("queued", "running")).update(state="queued", lease_until=None)
        arguments = [str(plan.job_id), connection.settings_dict["NAME"], str(settings.MEDIA_ROOT)]  # type: ignore[attr-defined]
        child = subprocess.Popen([sys.executable, "-c", WORKER, *arguments], cwd=root, env=dict(os.environ))
        before, limit = scene.server.counts()["total"], time.monotonic() + 60
        wanted = before + dice.randint(5, 30)
        while child.poll() is None and time.monotonic() < limit:
            if kills < 10 and scene.server.counts()["total"] >= wanted:
                os.kill(child.pid, signal.SIGKILL)
                kills += 1
            time.sleep(0.01)
        child.wait()
        if Job.objects.get(pk=plan.job_id).state == "done":
            break
        assert turn < 39, "the plan never ends"
    assert kills == 10 and set(Build.objects.values_list("state", flat=True)) == {"accepted"}
    scene.check_costs()
    lost = Attempt.objects.filter(outcome="lost").count()
    requests = [json.dumps([asked.path, asked.body], sort_keys=True) for asked in scene.server.asked]
    assert len(requests) - len(set(requests)) <= lost <= 10 * 16
    assert sum(build.unaccounted for build in Build.objects.all()) > 0
    assert BuildStep.objects.exclude(state="done").count() == 0 and len(scene.items()) == 20
