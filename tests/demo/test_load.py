"""The loaded demo, as its visitors meet it, and what a failure leaves."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import OperationalError, transaction
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from annotation.models import Annotation, Assignment, Campaign
from benchmarks.models import Benchmark, Item
from demo import context, loader, loading, people
from demo.chains import valueground_builds
from demo.guide import GUIDES
from demo.steps import Step, run_step
from evaluation import tasks
from jobs.models import Job
from jobs.services import runner
from papers.valueground.builder.models import Build, BuildPlan
from people.models import Team, User
from people.services import accounts
from predictions.models import Endpoint, Run
from tests.start.test_practice import serving_practice_model

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(settings: object, tmp_path: Path) -> Iterator[Path]:
    settings.DATA_DIR = tmp_path  # type: ignore[attr-defined]
    storage = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path / "media"}}
    settings.STORAGES = {**settings.STORAGES, "default": storage}  # type: ignore[attr-defined]
    yield tmp_path


@pytest.fixture
def practice(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The practice model answers, as under `./emic run`."""
    with serving_practice_model() as address:
        monkeypatch.setenv("EMIC_PRACTICE", address)
        yield address


def signed_in(key: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(email=f"{key}@demo.emic"))
    return client


SHORT_CHAIN = "globalrg-retrieval/"
WITHOUT_VALUES = {
    ("3xcm-demo", "query-sets"), ("culturalvqa-demo", "correlations"),
}  # fmt: skip
"""The demo has no other wording of a query, and the table says which step brings one. And
correlations over three countries are undefined where all of them come out equal."""
EMPTY = re.compile(r"No value|Nothing yet")
LEAST_TABLES = 5  # of each benchmark
PAGES = ("", "items/", "agreement/", "models/", "tables/", "figures/", "people/", "export/")
PAIRS = f"/b/{valueground_builds.SLUG}/pages/pairs/"
EMPTY_PAIR = re.compile(r"No value|Nothing yet|No picture yet|No pair|Not built")
PAIR_STEPS = ("valueground/import_survey", "valueground/import_pairs", "valueground/build_pairs")
BUILT = Counter(
    (key, source, *ended)
    for source in ("painter", "studio")
    for key, *ended in (("Q13", 1, "accepted", 0), ("Q14", 1, "accepted", 1), ("Q15", 1, "best_effort", 0))
) + Counter([("Q13", "painter", 2, "accepted", 1), ("Q16", "painter", 1, "refused", 0)])
"""Pairs that the demo builds: by question, source and revision, the state and the edit round that they end in."""


def counts() -> Counter[tuple[str, ...]]:
    """What the demo has, by benchmark and stage."""
    items = Item.objects.filter(withdrawn_at=None).values_list("stage__benchmark__slug", "stage__key", "intake")
    answers = Annotation.objects.filter(live=True).values_list(
        "assignment__campaign__stage__benchmark__slug", "assignment__campaign__stage__key", "rater__kind"
    )
    runs = Run.objects.filter(withdrawn_at=None).values_list("benchmark__slug", "task", "state")
    return Counter([*items, *answers, *runs])


def test_demo_opens_with_one_chain_and_a_job_loads_the_others(
    folder: Path, practice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("load_demo")
    lines = capsys.readouterr().out.splitlines()
    assert "Loading the demo: CulturalVQA: models" in lines and lines[-1] == "The demo is ready."
    assert [benchmark.slug for benchmark in Benchmark.objects.all()] == ["culturalvqa-demo"]

    job = Job.objects.get(kind=loading.KIND)
    mara, nour = signed_in("mara"), signed_in("nour")
    assert f"/jobs/{job.pk}/" in mara.get("/benchmarks/").content.decode()
    assert mara.get(f"/jobs/{job.pk}/").status_code == 200 and nour.get(f"/jobs/{job.pk}/").status_code == 404
    assert f"/jobs/{job.pk}/" not in nour.get("/benchmarks/").content.decode()
    assert mara.post(f"/jobs/{job.pk}/cancel/").status_code == 404, "only an admin of the team stops it"

    loading.finish(job)
    assert (job.state, job.error, job.done, job.total) == ("done", "", len(loading.BEHIND), len(loading.BEHIND))
    assert set(job.rows.values_list("outcome", "message")) == {("created", "")}
    assert f"/jobs/{job.pk}/" not in mara.get("/benchmarks/").content.decode()
    jobs = Job.objects.filter(kind__startswith="import_")
    assert jobs.count() > 20 and set(jobs.values_list("state", flat=True)) == {Job.State.DONE}
    held = Assignment.objects.filter(state=Assignment.State.RESERVED, rater__user__simulated=True)
    assert not held.exists(), "simulated raters hold items that visitors wait for"
    assert not Campaign.objects.filter(opened_at__gt=timezone.now()).exists()
    look_at_everything(folder)

    call_command("load_demo")
    assert capsys.readouterr().out == "The demo is already there.\n"
    assert Team.objects.count() == 1


def look_at_everything(folder: Path) -> None:
    """Everybody may sign in, annotators have work, and no page that shows a feature of a benchmark is empty."""
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
        shown = {page: read_page(mara, f"/b/{slug}/{page}") for page in PAGES}
        tables = sorted(set(re.findall(rf"/b/{slug}/tables/([-\w]+)/", shown["tables/"])))
        filled = [key for key in tables if (slug, key) not in WITHOUT_VALUES]
        assert len(filled) >= LEAST_TABLES, slug
        full = {"": shown[""], "items/": shown["items/"]}
        full |= {f"tables/{key}/": read_page(mara, f"/b/{slug}/tables/{key}/") for key in filled}
        for page, text in full.items():
            assert not EMPTY.search(re.sub(r"<[^>]+>", " ", text)), f"{slug} {page}"
    look_at_built_pairs(mara)
    walk_the_tours()


def read_page(client: Client, address: str) -> str:
    reply = client.get(address)
    assert reply.status_code == 200, address
    return str(reply.getvalue().decode())


def walk_the_tours() -> None:
    """Each step of each account is there and works, also for a campaign in which pictures are rated."""
    for guide in GUIDES:
        client = signed_in(guide.key)
        for step in guide.steps:
            address = step.page.resolve()
            assert address, f"{guide.key}: {step.title} is not there"
            assert client.get(address).status_code == 200, f"{guide.key}: {address}"
    tasks.renew_board(Benchmark.objects.get(slug="caire-demo").pk)
    front = Client().get("/").content.decode()
    assert "CAIRE universal, demo" in front and "people of the cohort" in front and 'class="live"' in front


def look_at_built_pairs(mara: Client) -> None:
    """Pairs in several states, each with its pictures, its steps and what it cost; nobody else sees them."""
    assert built_pairs() == BUILT
    shown = mara.get(PAIRS).content.decode()
    for state, n in (("accepted", 4), ("best_effort", 1), ("given_up", 1), ("refused", 1)):
        assert re.search(rf'\?state={state}">{n}<', shown), state
    assert "Revision 2" in shown and not EMPTY.search(shown) and signed_in("nour").get(PAIRS).status_code == 404
    for build in Build.objects.all():
        page = mara.get(f"{PAIRS}?pair={build.pk}").content.decode()
        if build.state != Build.State.REFUSED:  # which has no picture
            assert not EMPTY_PAIR.search(page) and "<img" in page, build
        assert build.cost > 0, build
        assert (escape(valueground_builds.COMMENT) in page) == (build.revision == 2 or hasattr(build, "replaced_by"))


def built_pairs() -> Counter[tuple[str, str, int, str, int]]:
    """Builds by question, source and revision, with the state and the edit round that they ended in."""
    rows = Build.objects.values_list("question__key", "source__key", "revision", "state", "edit_round")
    return Counter(rows)


@pytest.mark.parametrize(
    ("address", "message"),
    [("", "there is no practice model here."), ("http://127.0.0.1:1/v1", "the practice model did not answer.")],
)
def test_built_pairs_are_left_out_where_no_practice_model_answers(
    folder: Path, monkeypatch: pytest.MonkeyPatch, address: str, message: str
) -> None:
    monkeypatch.setattr(loading, "FIRST", ())
    monkeypatch.setattr(loading, "BEHIND", tuple(step for step in loading.BEHIND if step.key in PAIR_STEPS[::2]))
    monkeypatch.setenv("EMIC_PRACTICE", address)
    _accounts, job = loader.load(lambda _text: None)
    loading.finish(job)
    row = job.rows.get(outcome="error")
    assert (job.state, row.name) == ("done", "ValueGround: pairs that are built")
    assert row.message.startswith(f"No pair was built: {message}")
    assert not BuildPlan.objects.exists() and not Endpoint.objects.exists()


def test_built_pairs_are_the_same_after_a_kill(folder: Path, practice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "FIRST", ())
    monkeypatch.setattr(loading, "BEHIND", tuple(step for step in loading.BEHIND if step.key in PAIR_STEPS))
    _accounts, job = loader.load(lambda _text: None)
    killed_in(monkeypatch, job, 2)
    assert not BuildPlan.objects.exists() and not Endpoint.objects.exists()
    runner.requeue_stalled(timezone.now() + timedelta(minutes=5))
    loading.finish(job)
    assert built_pairs() == BUILT


def test_job_killed_within_a_step_is_resumed_to_the_same_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a few steps of one chain; what was killed leaves nothing of its step."""
    steps = tuple(step for step in loading.BEHIND if step.key.startswith(SHORT_CHAIN))
    monkeypatch.setattr(loading, "FIRST", ())
    monkeypatch.setattr(loading, "BEHIND", steps)
    _accounts, job = loader.load(lambda _text: None)
    with transaction.atomic():
        loading.finish(job)
        undisturbed = counts()
        transaction.set_rollback(True)
    job.refresh_from_db()
    assert not counts() and job.done == 0 and len(undisturbed) > 1

    for place in range(len(steps)):
        killed_in(monkeypatch, job, place)
        job.refresh_from_db()
        assert (job.state, job.done) == ("running", place)
        runner.requeue_stalled(timezone.now() + timedelta(minutes=5))
    loading.finish(job)
    assert (job.state, job.done) == ("done", len(steps))
    assert counts() == undisturbed


def killed_in(monkeypatch: pytest.MonkeyPatch, job: Job, place: int) -> None:
    """The worker dies at the end of this step, before it is committed."""

    def run_and_die(step: Step, demo: context.Demo) -> str:
        left_out = run_step(step, demo)
        if step is loading.BEHIND[place]:
            raise KeyboardInterrupt
        return left_out

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(loading, "run_step", run_and_die)
        runner.run(job.pk)


def test_step_that_the_database_broke_off_is_done_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[str] = []

    def break_off(demo: context.Demo) -> None:
        tries.append(demo.team.slug)
        if len(tries) < loading.MOST_TRIES:
            raise OperationalError("deadlock detected")

    monkeypatch.setattr(loading, "FIRST", ())
    monkeypatch.setattr(loading, "BEHIND", (Step("a/b", "A", break_off),))
    _accounts, job = loader.load(lambda _text: None)
    loading.finish(job)
    assert (job.state, len(tries)) == ("done", loading.MOST_TRIES)


def test_an_interrupted_load_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_demo: context.Demo) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(loading, "FIRST", (*loading.FIRST[:1], Step("a/b", "A", interrupt)))
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
