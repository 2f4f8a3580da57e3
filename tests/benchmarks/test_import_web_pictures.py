"""Tables whose pictures are web addresses: fetched through the one way out, resumed, and never fetched twice."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from benchmarks.models import Stage
from benchmarks.services import imports
from benchmarks.services.intake import web_pictures
from benchmarks.services.safe_fetch import FetchRefused, FetchResult
from jobs.models import Job, JobRow
from jobs.services import job_context, runner
from jobs.services.job_context import Requeue
from tests.importing import draw_pictures, page_of
from tests.personas import World

pytestmark = pytest.mark.django_db
BASE = "https://pictures.example"


class Web:
    """Pictures by address. `refusals`: what a server answers first, by address; `asked`: how often each was asked."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.refusals: dict[str, list[FetchRefused]] = {}
        self.asked: Counter[str] = Counter()
        self.waited = 0.0

    def fetch(self, url: str) -> FetchResult:
        self.asked[url] += 1
        if self.refusals.get(url):
            raise self.refusals[url].pop(0)
        if url not in self.files:
            raise FetchRefused("refused", status=404)
        return FetchResult(self.files[url], url)

    def pause(self, seconds: float) -> None:
        self.waited += seconds


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Web:
    web = Web()
    real = web_pictures.WebPictures
    monkeypatch.setattr(web_pictures, "_fetch", web.fetch)
    monkeypatch.setattr(
        imports, "WebPictures", lambda stage, beat: real(stage, beat, lambda seconds: web.pause(seconds))
    )
    return web


@pytest.fixture
def stage(world: World, settings: Any, tmp_path: Path) -> Stage:
    settings.MEDIA_ROOT = tmp_path
    return world.stage


def start(world: World, stage: Stage, rows: list[str], name: str = "table.csv") -> Job:
    table = ContentFile("\n".join(["file,key,concept", *rows]).encode(), name)
    reply = world.client(world.mara).post(page_of(stage), {"stage": stage.pk, "manifest": table})
    assert reply.status_code == 302, reply.content.decode()
    return Job.objects.latest("pk")


def finish(job: Job) -> dict[str, int]:
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "done", job.error
    counts: dict[str, int] = job.result["counts"]
    return counts


def test_pictures_are_fetched_from_the_addresses_of_a_table_without_a_zip(world: World, stage: Stage, web: Web) -> None:
    data = draw_pictures(["a", "b"])
    web.files = {f"{BASE}/tea%20house.png?size=full": data["a"], f"{BASE}/x/b.png": data["b"]}
    rows = [f"{BASE}/tea%20house.png?size=full,,tea", f"{BASE}/x/b.png,0007,tea", f"{BASE}/gone.png,,tea",
            "http://127.0.0.1/secret.png,,tea", "no-file.png,,tea"]  # fmt: skip
    job = start(world, stage, rows)
    assert finish(job) == {"created": 2, "error": 3}
    items = {item.key: item.images.get() for item in stage.items.prefetch_related("images")}
    assert set(items) == {"tea house", "0007"}
    assert items["0007"].file_name == items["0007"].source == f"{BASE}/x/b.png", "the address is the source"
    messages = dict(JobRow.objects.filter(job=job, outcome="error").values_list("reason", "message"))
    assert "returned status 404" in messages["refused"] and "missing" in messages
    again = start(world, stage, [*rows[:2]])
    assert finish(again) == {"unchanged": 2} and web.asked[f"{BASE}/x/b.png"] == 1, "never fetched twice"


def test_the_real_way_out_refuses_addresses_of_our_own_network(world: World, stage: Stage) -> None:
    job = start(world, stage, ["http://127.0.0.1/secret.png,k,tea", "http://[::1]/s.png,l,tea"])
    assert finish(job) == {"error": 2}
    assert set(JobRow.objects.filter(job=job).values_list("reason", flat=True)) == {"private"}


def test_a_busy_server_is_asked_again_and_a_dead_one_costs_minutes(world: World, stage: Stage, web: Web) -> None:
    data = draw_pictures(["a"])
    busy = f"{BASE}/busy.png"
    web.files[busy] = data["a"]
    web.refusals[busy] = [FetchRefused("busy"), FetchRefused("refused", status=503)]
    dead = [f"https://dead.example/{number}.png" for number in range(40)]
    web.refusals |= {url: [FetchRefused("too_slow")] * 5 for url in dead}
    job = start(world, stage, [f"{busy},b,tea", *(f"{url},d{n},tea" for n, url in enumerate(dead))])
    assert finish(job) == {"created": 1, "error": 40}
    assert web.asked[busy] == 3
    assert [web.asked[url] for url in dead[:5]] == [2, 2, 2, 1, 1] and web.waited < 300


def test_an_import_goes_on_where_it_was_killed_or_gave_way(
    world: World, stage: Stage, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "STEP_ROWS", 2)
    names = [f"p{number}.png" for number in range(7)]
    data = draw_pictures(names)
    web.files = {f"{BASE}/{name}": data[name] for name in names}
    job = start(world, stage, [f"{BASE}/{name},{name},tea" for name in names])
    real, calls = web_pictures._fetch, []

    def killed(url: str) -> FetchResult:
        calls.append(url)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(url)

    monkeypatch.setattr(web_pictures, "_fetch", killed)
    with pytest.raises(KeyboardInterrupt):
        runner.run(job.pk)
    assert stage.items.count() == 2, "a step that was not finished left nothing"
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now())
    turns = iter([True])

    def give_way(_self: Any) -> None:
        if next(turns, False):
            raise Requeue

    monkeypatch.setattr("jobs.services.job_context.TimeSlice.is_over", give_way)
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "queued" and stage.items.count() == 4, "others get their turn"
    assert finish(job) == {"created": 7}
    assert max(web.asked.values()) == 2 and sum(web.asked.values()) == 8, "one picture of the lost step came twice"


def test_a_cancelled_import_stops_while_it_waits(
    world: World, stage: Stage, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = f"{BASE}/slow.png"
    web.refusals[slow] = [FetchRefused("too_slow")] * 3
    job = start(world, stage, [f"{slow},s,tea"])

    monkeypatch.setattr(web, "pause", lambda _seconds: Job.objects.filter(pk=job.pk).update(cancel_asked=True))
    monkeypatch.setattr(job_context, "CHECK_SECONDS", 0.0)
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "cancelled" and web.asked[slow] == 1


def test_a_table_without_pictures_still_needs_a_zip(world: World, stage: Stage) -> None:
    table = ContentFile(b"file,key\na.png,1", "table.csv")
    reply = world.client(world.mara).post(page_of(stage), {"stage": stage.pk, "manifest": table})
    assert reply.status_code == 200 and "Choose a zip with the pictures." in reply.content.decode()


def test_a_lab_table_with_addresses_proposes_them_as_pictures(world: World, stage: Stage, web: Web) -> None:
    data = draw_pictures(["a", "b"])
    web.files = {f"{BASE}/view?id=1": data["a"], f"{BASE}/view?id=2": data["b"]}
    text = f"\ufeffimage_url;Image ID;WTF?!\n{BASE}/view?id=1;0001;=1+1\n{BASE}/view?id=2;0002;\n"
    table = ContentFile(text.encode(), "lab.csv")
    reply = world.client(world.mara).post(page_of(stage), {"stage": stage.pk, "manifest": table})
    page = world.client(world.mara).get(reply["Location"])
    assert "Pictures that are web addresses are fetched." in page.content.decode()
    choices = {column.name: column.control.initial for column in page.context["form"].columns()}
    assert choices["image_url"] == "file" and choices["Image ID"] == "key"
    posted = {f"column_{place}": role for place, role in enumerate(choices.values())}
    world.client(world.mara).post(reply["Location"], posted)
    assert finish(Job.objects.latest("pk")) == {"created": 2}
    assert set(stage.items.values_list("key", flat=True)) == {"0001", "0002"}
