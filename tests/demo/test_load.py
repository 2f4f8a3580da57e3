"""The loaded demo, as its visitors meet it, and what a failure leaves."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign
from benchmarks.models import Benchmark, Image, Item
from demo import context, loader, people, pictures, workflows
from jobs.models import Job
from people.models import Team, User
from people.services import accounts
from predictions.models import Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(settings: object, tmp_path: Path) -> Iterator[Path]:
    settings.DATA_DIR = tmp_path  # type: ignore[attr-defined]
    storage = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path / "media"}}
    settings.STORAGES = {**settings.STORAGES, "default": storage}  # type: ignore[attr-defined]
    yield tmp_path


def signed_in(key: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(email=f"{key}@demo.emic"))
    return client


PAGES = ("", "items/", "agreement/", "models/", "tables/", "figures/", "people/", "export/")


def test_demo_is_loaded_by_imports_and_shows_work_to_everybody(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("load_demo")
    lines = capsys.readouterr().out.splitlines()
    count = len(pictures.all_pictures())
    assert f"Loading the demo: pictures 72 of {count}" in lines
    assert f"Loading the demo: pictures {count} of {count}" in lines
    assert "Loading the demo: answers 792 of 792" in lines

    assert Benchmark.objects.count() == 6 and Image.objects.count() == count
    jobs = Job.objects.filter(kind__startswith="import_")
    assert jobs.count() > 20 and set(jobs.values_list("state", flat=True)) == {Job.State.DONE}
    assert Annotation.objects.filter(rater__kind="person", rater__user__simulated=True, counted=True).count() > 700
    held = Assignment.objects.filter(state=Assignment.State.RESERVED, rater__user__simulated=True)
    assert not held.exists(), "simulated raters hold items that visitors wait for"
    assert Run.objects.filter(complete=True, withdrawn_at=None).count() == 6
    assert not Campaign.objects.filter(opened_at__gt=timezone.now()).exists()
    assert not Item.objects.filter(stage__benchmark__recipe="3xcm", stage__key="look-alikes", context__groups=None)

    match = re.search(r"password  (\S+)", (folder / "demo-accounts.txt").read_text())
    assert match is not None
    for key, *_rest in people.ACCOUNTS:
        assert User.objects.get(email=f"{key}@demo.emic").check_password(match[1])
        assert signed_in(key).get("/", follow=True).status_code == 200
    for key in ("nour", "bia", "wei"):
        page = signed_in(key).get("/work/").content.decode()
        assert len(set(re.findall(r"/work/\d+/", page))) >= 8, key
    mara = signed_in("mara")
    for slug in Benchmark.objects.values_list("slug", flat=True):
        for page in PAGES:
            assert mara.get(f"/b/{slug}/{page}").status_code == 200, f"{slug} {page}"
        tables = set(re.findall(rf"/b/{slug}/tables/[-\w]+/", mara.get(f"/b/{slug}/tables/").content.decode()))
        for address in tables:
            assert mara.get(address).status_code == 200, address

    call_command("load_demo")
    assert capsys.readouterr().out == "The demo is already there.\n"
    assert Team.objects.count() == 1


def test_an_interrupted_load_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_demo: context.Demo) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(workflows, "load", interrupt)
    with pytest.raises(KeyboardInterrupt):
        loader.load(lambda _text: None)
    assert not Team.objects.exists() and not User.objects.exists() and not Job.objects.exists()
    assert not loader.exists() and not (folder / "demo-accounts.txt").exists()


def test_a_refused_row_is_an_error_that_names_it(folder: Path) -> None:
    demo, _users = people.create_team("brass-123456", timezone.now(), lambda _text: None)
    stage = demo.create_benchmark("globalrg-retrieval", "GlobalRG").stages.get(key="candidates")
    row = context.scene_row("lunch", "Egypt") | {"country": "Atlantis"}
    with pytest.raises(context.DemoError, match=r"row 1 .*Atlantis"):
        demo.import_items(stage, [row])
    assert not stage.items.exists()


def test_an_account_with_a_known_address_is_refused_whatever_its_capitals() -> None:
    user = accounts.create_account("rater@demo.emic", "Rater", simulated=True)
    assert user.simulated and not user.has_usable_password() and not user.is_staff
    with pytest.raises(accounts.AccountExists):
        accounts.create_account("Rater@Demo.emic", "Another")
    admin = accounts.create_account("ada@demo.emic", "Ada", "brass-123456", site_admin=True)
    assert admin.is_superuser and admin.check_password("brass-123456")
