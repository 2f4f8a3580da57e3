"""A knowledge base comes in row by row: whole rows or none, each with its reason, and never twice."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from benchmarks.models import Image
from jobs.models import Event, Job
from predictions.models import KnowledgeBase, KnowledgeEntry, KnowledgeImage
from predictions.services.knowledge import bases, entry_import
from tests.archives import pack_zip
from tests.personas import World
from tests.predictions.knowledge.colours import PICTURES, ROWS, a_base, import_entries, jsonl, row, run_job


def outcomes_by_row(job: Job) -> dict[int, tuple[str, str]]:
    return {one.number: (one.outcome, one.reason) for one in job.rows.all()}


def stored_entries() -> list[Any]:
    return [list(model.objects.order_by("pk").values()) for model in (KnowledgeBase, KnowledgeEntry, KnowledgeImage)]


def test_entries_come_with_their_names_texts_and_pictures(world: World) -> None:
    job = import_entries(world)
    assert (job.state, job.done, job.total) == ("done", 6, 6), job.error
    assert set(outcomes_by_row(job).values()) == {("created", "")}
    blue = KnowledgeEntry.objects.get(key="blue")
    assert (blue.lemmas, blue.gloss, blue.title) == (["azul", "blue"], "A blue thing", "Blue")
    assert [one.name for one in blue.images.order_by("pk")] == ["blue.png", "cold.png"]
    both = KnowledgeImage.objects.filter(name="cold.png")
    assert {one.entry.key for one in both} == {"blue", "navy"} and len({one.sha256 for one in both}) == 1
    assert Image.objects.filter(team=world.team, sha256=both[0].sha256).count() == 1
    assert Event.objects.get(verb="knowledge.imported").data["counts"] == {"created": 6}


def test_the_same_file_again_adds_nothing_and_a_longer_one_the_rest(world: World) -> None:
    import_entries(world)
    before = stored_entries()
    assert set(outcomes_by_row(import_entries(world)).values()) == {("unchanged", "")} and stored_entries() == before
    more = [*ROWS, row("white", "green.png"), {**ROWS[2], "images": ["green.png", "blue.png"]}]
    outcomes = outcomes_by_row(import_entries(world, more))
    assert outcomes[7] == ("created", "") and outcomes[8] == ("updated", "") and outcomes[1] == ("unchanged", "")


def test_what_cannot_be_taken_is_told_by_row_and_file_and_the_rest_goes_on(world: World) -> None:
    bad = dict(PICTURES) | {"notes.png": b"only words", "cut.png": PICTURES["red.png"][:60]}
    rows: list[Any] = [
        row("good", "red.png"), row("gone", "nowhere.png"), row("notes", "red.png", "notes.png"), row("cut", "cut.png"),
        {"id": "", "lemmas": ["x"]}, {"id": "unnamed"}, row("out", "../../etc/passwd"), row("long", lemmas=["x" * 301]),
        row("odd", lemmas=None, text=["a"]), row("good", "red.png", gloss="Another"), row("late"),
    ]  # fmt: skip
    data = jsonl(rows) + b"\nnot json\n"
    job = import_entries(world, data, bad)
    assert job.state == "done", job.error
    reasons = {number: reason for number, (outcome, reason) in outcomes_by_row(job).items() if outcome == "error"}
    assert reasons == {
        2: "missing", 3: "text", 4: "damaged", 5: "no_key", 6: "no_lemma", 7: "unsafe_path", 8: "too_long",
        9: "not_text", 10: "differs", 12: "unreadable",
    }  # fmt: skip
    assert set(KnowledgeEntry.objects.values_list("key", flat=True)) == {"good", "late"}
    assert job.rows.get(number=3).message.startswith("notes.png: "), "which of its pictures"


def test_names_alone_come_first_and_their_pictures_later(world: World) -> None:
    job = import_entries(world, pictures=None)
    assert job.state == "done" and not KnowledgeImage.objects.exclude(sha256="").exists()
    assert outcomes_by_row(import_entries(world))[1] == ("updated", "")
    assert not KnowledgeImage.objects.filter(image=None).exists()


def test_a_stopped_import_goes_on_where_it_was(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry_import, "STEP", 2)
    zipped = SimpleUploadedFile("pictures.zip", pack_zip(PICTURES))
    job = bases.start_import(a_base(world), world.mara, SimpleUploadedFile("kb.jsonl", jsonl(ROWS)), zipped)
    real, calls = entry_import.import_batch, [0]

    def settle(*args: Any) -> Any:
        calls[0] += 1
        if calls[0] == 2:
            raise RuntimeError("the power is gone")
        return real(*args)

    monkeypatch.setattr(entry_import, "import_batch", settle)
    with pytest.raises(RuntimeError):
        run_job(job)
    job.refresh_from_db()
    assert (job.state, job.done, KnowledgeEntry.objects.count()) == ("failed", 2, 2)
    Job.objects.filter(pk=job.pk).update(state="queued", finished_at=None)
    run_job(job)
    assert (job.state, job.done) == ("done", 6)
    assert sorted(outcomes_by_row(job).items()) == [(number, ("created", "")) for number in range(1, 7)], (
        "each row once"
    )


def test_a_version_is_its_own(world: World) -> None:
    import_entries(world)
    import_entries(world, [row("red", gloss="Quite another")], None, a_base(world, "2"))
    assert KnowledgeEntry.objects.filter(key="red").count() == 2


def test_files_on_the_server_come_in_by_the_command_line(world: World, tmp_path: Path) -> None:
    for name, data in PICTURES.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "kb.jsonl").write_bytes(jsonl([*ROWS, row("gone", "nowhere.png")]))
    out = io.StringIO()
    how = {"pictures": tmp_path, "name": "Colours", "stdout": out}
    call_command("import_knowledge", world.team.slug, "colours", tmp_path / "kb.jsonl", **how)
    assert "Added: 6" in out.getvalue() and "row 7 gone: nowhere.png: There is no file" in out.getvalue()
    assert KnowledgeBase.objects.get().name == "Colours" and KnowledgeImage.objects.count() == 11
    call_command("import_knowledge", world.team.slug, "colours", tmp_path / "kb.jsonl", **how)
    assert "Already exists: 6" in out.getvalue() and KnowledgeEntry.objects.count() == 6
    with pytest.raises(CommandError, match="no team"):
        call_command("import_knowledge", "nobody", "colours", tmp_path / "kb.jsonl")
