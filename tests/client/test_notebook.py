"""The notebook of the documentation runs as it is written, from pictures to a release, while three people answer.

It runs in a process of its own against a live site with a worker; so do the people, who answer through the sheet.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest
from django.db import connection
from django.utils import timezone

from annotation.models import Annotation, Campaign
from benchmarks.models import Benchmark
from people.models import Team
from people.services import tokens
from predictions.models import Run
from releases.models import Release
from tests.client.downloaded import check_sums
from tests.importing import draw_pictures
from tests.personas import World, make_cohort
from tests.predictions.model_server import Server
from tests.predictions.request_helpers import an_endpoint
from tests.predictions.scripted_replies import Act
from tests.test_docs import ROOT

NOTEBOOK = ROOT / "docs" / "notebooks" / "first-notebook.ipynb"
CELLS = Path(__file__).with_name("run_cells.py")
PICTURES = ("a.png", "b.png", "c.png", "d.png")
SECONDS = 300  # on a busy machine
PLAIN = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}


@pytest.fixture
def site(world: World, worker: None, scripted_server: Server, live_server: Any, many_requests: None) -> str:
    """A team with two cohorts, three annotators in the first, and a model that always says 3."""
    Team.objects.filter(pk=world.team.pk).update(slug="lab")
    world.add_annotators(world.brazil, 1)
    make_cohort(world.team, "Iran", country="IR", languages=["fa"])
    scripted_server.answer_by(lambda asked: Act(text="3"))
    an_endpoint(world, scripted_server.base_url, {"scripted": {"in": "1", "out": "2"}}, name="Practice model")
    return str(live_server.url)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pictures").mkdir()
    for name, data in draw_pictures(PICTURES).items():
        (tmp_path / "pictures" / name).write_bytes(data)
    rows = [f"{name},{number:04},breakfast,Brazil,natural\n" for number, name in enumerate(PICTURES, start=1)]
    (tmp_path / "captions.csv").write_text("img_file,Image ID,concept,country,condition\n" + "".join(rows))
    return tmp_path


def notebook(world: World, site: str, folder: Path, python: str, **environment: str) -> subprocess.Popen[str]:
    """Begun, with a token that only its environment holds."""
    text = tokens.create_token(world.mara, "notebook", timezone.now(), scopes=("write", "export"))[1]
    return subprocess.Popen(
        [python, str(CELLS), str(NOTEBOOK), site], cwd=folder, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, env={**PLAIN, "EMIC_TOKEN": text, **environment},
    )  # fmt: skip


def answering(world: World, site: str, campaign: Campaign, folder: Path) -> subprocess.Popen[str]:
    """Three people of Brazil in a process of their own, who rate until there is nothing more."""
    people = [member.user for member in world.brazil.members.select_related("user")]
    sessions = [world.client(user).cookies["sessionid"].value for user in people]
    plan = {"port": int(site.rsplit(":", 1)[1]), "sessions": sessions, "campaign": campaign.pk, "seconds": SECONDS}
    (folder / "plan.json").write_text(json.dumps(plan))
    with (folder / "plan.json").open() as file:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.annotators"], cwd=ROOT, text=True, stdin=file, stdout=subprocess.PIPE
        )


def opened_campaign(process: "subprocess.Popen[str]") -> Campaign:
    """As soon as the notebook has opened it."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until and process.poll() is None:
        if campaign := Campaign.objects.filter(stage__benchmark__slug="breads", state="open").first():
            return campaign
        time.sleep(0.2)
    raise AssertionError(process.stdout.read() if process.stdout else "")


def run_notebook(world: World, site: str, folder: Path, python: str, **environment: str) -> str:
    """What it prints."""
    process = notebook(world, site, folder, python, **environment)
    people = answering(world, site, opened_campaign(process), folder)
    try:
        printed, _none = process.communicate(timeout=SECONDS)
        rated = json.loads(people.communicate(timeout=SECONDS)[0])
    finally:
        process.kill()
        people.kill()
        connection.close()
    assert process.returncode == 0, printed
    assert [person["refused"] for person in rated["people"]] == [[], [], []]
    return printed


def check_outcome(printed: str, folder: Path) -> None:
    """Every answer was seen once as it came, the model answered, and the release is whole."""
    assert "Import of captions.csv: Done, Added: 4" in printed
    people = Annotation.objects.filter(rater__kind="person")
    seen = re.findall(r"^20\S+ \S+ (assignment:\d+|annotation:\d+)$", printed, re.MULTILINE)
    assert len(seen) == len(set(seen)) == people.count() == 12
    assert len(re.findall(r"^000[1-4] Brazil R-\S+ [1-5]$", printed, re.MULTILINE)) == 12
    run = Run.objects.get()
    assert run.state == "done" and Annotation.objects.filter(rater=run.rater).count() == 8
    assert "RunPlan(" in printed and "units=8" in printed
    assert re.search(r"relevance\s+Brazil", printed) and re.search(r"relevance\s+Iran.*no_ratings", printed)
    release = Release.objects.get()
    assert (release.version, release.state) == ("1.0.0", "ready")
    assert check_sums(folder / "breads-1.0.0") == release.files.count() - 1
    [items] = (folder / "breads-1.0.0" / "data" / "relevance" / "items").glob("*.parquet")
    assert all(row["image"]["bytes"] for row in parquet.read_table(items).to_pylist()), "with the pictures"
    assert Benchmark.objects.get(slug="breads").recipe == "caire-universal"


def test_the_cells_run_against_a_live_site(world: World, site: str, folder: Path) -> None:
    printed = run_notebook(world, site, folder, sys.executable, PYTHONPATH=str(ROOT / "client"))
    check_outcome(printed, folder)
    assert "emic_" not in printed.replace("emic_client", ""), "no token is shown"


@pytest.mark.slow
def test_a_stranger_with_the_wheel_alone_runs_it(
    world: World, site: str, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """From an empty environment: the wheel is built, installed with its extra `pandas`, and nothing else is there."""
    home = tmp_path_factory.mktemp("environment")
    python, source = str(home / "env" / "bin" / "python"), home / "client"
    shutil.copytree(ROOT / "client", source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    steps = (
        [sys.executable, "-m", "venv", str(home / "env")],
        [python, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", str(home), str(source)],
    )
    for step in steps:
        subprocess.run(step, check=True, capture_output=True)
    [wheel] = home.glob("*.whl")
    subprocess.run([python, "-m", "pip", "install", f"{wheel}[pandas]"], check=True, capture_output=True)
    check_outcome(run_notebook(world, site, folder, python), folder)


def test_the_notebook_holds_no_output_and_no_token() -> None:
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    assert "emic_" not in NOTEBOOK.read_text().replace("emic_client", "")
