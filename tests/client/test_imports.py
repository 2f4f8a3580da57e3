"""A notebook makes a benchmark, brings pictures and a table as the lab has them, and waits for the job."""

from pathlib import Path
from typing import Any

import pytest

import emic_client
from benchmarks.models import Benchmark, Image
from emic_client.jobs import Job as ClientJob
from emic_client.uploads import Items
from jobs.models import Job
from tests.client.conftest import Connect
from tests.importing import draw_pictures
from tests.personas import World

TABLES = Path(__file__).parents[1] / "data" / "tables"
MAPPING = {"file": "img_file", "key": "Image ID", "rater": "annotator"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pictures = tmp_path / "pictures"
    (pictures / ".hidden").mkdir(parents=True)
    for name, data in draw_pictures([f"pic-{number:02}.png" for number in range(1, 13)]).items():
        (pictures / name).write_bytes(data)
    (pictures / ".hidden" / "thumb.png").write_bytes(b"x")
    (pictures / "notes.txt").write_text("not a picture")
    return pictures


def test_a_table_and_its_pictures_are_imported_and_awaited(
    world: World, connect: Connect, worker: None, folder: Path
) -> None:
    benchmark = connect(world.mara, "write", "export").benchmarks.get(world.benchmark.slug)
    preview = benchmark.items.preview(TABLES / "semicolon-utf8-bom.csv")
    assert preview["mapping"]["file"] == "img_file"
    job = benchmark.items.upload(folder, TABLES / "semicolon-utf8-bom.csv", mapping=MAPPING)
    assert job.wait().summary == "Import of semicolon-utf8-bom.csv: Done, Added: 12"
    assert [item.key for item in benchmark.items()] == [f"{number:04}" for number in range(1, 13)]
    assert [row.outcome for row in job.rows()] == ["created"] * 12
    assert [entry.id for entry in benchmark.jobs] == [job.id]
    again = benchmark.items.upload(folder, TABLES / "semicolon-utf8-bom.csv", mapping=MAPPING).wait()
    assert again.counts == {"unchanged": 12} and Image.objects.filter(team=world.team).count() == 12


def test_rejected_rows_raise_with_the_rows_and_the_rest_is_there(
    world: World, connect: Connect, worker: None, folder: Path
) -> None:
    (folder / "pic-12.png").unlink()
    benchmark = connect(world.mara, "write", "export").benchmarks.get(world.benchmark.slug)
    job = benchmark.items.upload(folder, TABLES / "comma-utf8.csv", mapping=MAPPING)
    with pytest.raises(emic_client.ImportRefused, match=r"pic-12\.png") as raised:
        job.wait()
    assert [(row.outcome, row.reason) for row in raised.value.rows] == [("error", "missing")]
    assert job.wait(strict=False).counts == {"created": 11, "error": 1}
    assert job.summary == "Import of comma-utf8.csv: Done, Added: 11, Rejected: 1", "as the page of the job says it"
    with pytest.raises(emic_client.Refused) as refused:
        benchmark.items.upload(folder, TABLES / "comma-utf8.csv", mapping={"file": "colour"})
    assert refused.value.problem.errors[0]["pointer"] == "/mapping/file"


def test_a_lost_part_is_sent_again_from_where_the_site_is(
    world: World, connect: Connect, media: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = connect(world.mara, "write")
    table = tmp_path / "large.csv"
    table.write_bytes(b"img_file,Image ID\n" + b"a.png,1\n" * 200_000)
    connection = client._connection
    send, losses = connection.request, [False, True]

    def lossy(method: str, path: str, **options: Any) -> Any:
        if method == "PATCH" and losses:
            lost = losses.pop()
            if lost:  # it arrived, and the reply did not
                send(method, path, **options)
                raise emic_client.Unreachable("lost")
        return send(method, path, **options)

    monkeypatch.setattr(connection, "request", lossy)
    monkeypatch.setattr(connection, "pause", lambda seconds: None)
    preview = Items(connection, f"/api/v1/benchmarks/{world.benchmark.slug}/").preview(table)
    assert len(preview["rows"]) == 20 and not losses


def test_a_benchmark_is_made_from_a_recipe(world: World, connect: Connect) -> None:
    emic = connect(world.mara, "write")
    created = emic.benchmarks.create("Breads", recipe="caire", team=world.team.slug)
    assert Benchmark.objects.get(slug=created.slug).recipe == "caire-universal"
    assert [benchmark.slug for benchmark in emic.benchmarks] == [world.benchmark.slug, "breads"]
    with pytest.raises(emic_client.NotFound):
        connect(world.stranger, "write").benchmarks.create("Breads", recipe="caire", team=world.team.slug)


def test_a_job_that_does_not_end_or_is_cancelled_is_told_apart(world: World, connect: Connect) -> None:
    row = Job.objects.create(kind="import_items", title="Import", scope=world.benchmark.scope)
    emic = connect(world.mara, "write")
    job = emic.jobs.get(row.pk)
    assert not job.is_over
    with pytest.raises(emic_client.WaitTimeout, match="0 of None"):
        job.wait(timeout=1)
    assert job.cancel().state == "cancelled"
    with pytest.raises(emic_client.ImportRefused, match="cancelled"):
        job.wait()
    assert job.resume().state == "queued"
    with pytest.raises(emic_client.Conflict):
        job.resume()


def test_the_bar_is_silent_where_nobody_watches(
    world: World, connect: Connect, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    states = iter([("running", 3), ("done", 10)])
    data = {"id": 1, "kind": "x", "title": "Work", "state": "queued", "done": 0, "total": 10, "error": "",
            "counts": {}, "notes": []}  # fmt: skip

    class Site:
        def get(self, path: str, query: Any, timeout: float) -> Any:
            state, done = next(states)
            return {**data, "state": state, "done": done}

        def pause(self, seconds: float) -> None:
            pass

    ClientJob(Site(), data).wait()  # type: ignore[arg-type]
    assert capsys.readouterr().err == ""
    states = iter([("running", 3), ("done", 10)])
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.delenv("EMIC_QUIET", raising=False)
    ClientJob(Site(), data).wait()  # type: ignore[arg-type]
    assert "10/10" in capsys.readouterr().err
    monkeypatch.setenv("EMIC_QUIET", "1")
    states = iter([("done", 10)])
    ClientJob(Site(), data).wait()  # type: ignore[arg-type]
    assert capsys.readouterr().err == ""
