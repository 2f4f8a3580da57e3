"""Items come in row by row: what is good is taken, what is not says why, and twice adds nothing."""

import errno
import hashlib
import json
from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from benchmarks.imports.records import Defaults
from benchmarks.imports.vocabulary import vocabulary_of
from benchmarks.models import Item
from benchmarks.recipes.registry import recipe
from benchmarks.services import imports, row_import
from benchmarks.services.benchmarks import create_blank, create_from_recipe
from jobs.models import Job
from jobs.services import lifecycle, runner, uploads
from tests import pictures as draw
from tests.archives import faulty_archive, manifest, pack_zip

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage(world):
    return create_from_recipe(world.team, "caire-universal", "Ten countries", "ten", world.mara).stages.get(
        key="relevance"
    )


@pytest.fixture
def blank(world):
    return create_blank(world.team, "Stamps", "stamps", world.mara, question="Is it yours?").stages.get()


def import_archive(stage, archive: bytes, listed: bytes | None = None, **defaults) -> Job:
    """Upload, and let a worker do it."""
    actor = stage.benchmark.created_by
    uploaded = ContentFile(listed, "manifest.csv") if listed else None
    job = imports.start_upload(
        stage, actor, archive=ContentFile(archive, "a.zip"), manifest=uploaded, defaults=Defaults(**defaults)
    )
    runner.run(job.pk)
    job.refresh_from_db()
    return job


def report(job: Job) -> dict[int, tuple[str, str]]:
    return {row.number: (row.outcome, row.reason) for row in job.rows.all()}


def test_each_fault_is_told_by_row_and_the_rest_is_taken(stage):
    job = import_archive(stage, faulty_archive())
    assert job.state == "done", job.error
    assert report(job) == {
        2: ("created", ""),
        3: ("error", "missing"),
        4: ("error", "text"),
        5: ("error", "damaged"),
        6: ("error", "too_many_pixels"),
        7: ("created", "shares_picture"),
        8: ("error", "bad_country"),
        9: ("error", "bad_condition"),
        10: ("created", ""),
        11: ("created", ""),
    }
    assert all(row.message for row in job.rows.exclude(reason=""))
    assert "“Brasilia” is no country known here. Perhaps: Brazil." in job.rows.get(number=8).message
    assert (job.done, job.total) == (10, 10)
    items = {item.key: item for item in stage.items.all()}
    assert set(items) == {"one", "six", "nine", "ten"}
    assert (items["ten"].origin, items["ten"].concept) == ("United States", "head coverings")
    assert (items["nine"].origin, items["nine"].condition) == ("Brazil", "generated")
    picture = items["one"].images.get()
    assert (picture.source, picture.licence, picture.alt) == ("https://example.org/a", "CC BY 4.0", "People dancing")
    assert items["nine"].images.get().image.orientation == 6


def test_a_word_without_near_ones_is_answered_with_what_may_stand_there(stage):
    rows = [f"a.png,{n},dance,{country},natural" for n, country in enumerate(("Brasilia", "Atlantis"))]
    listed = manifest(*rows, head="file,key,concept,country,condition")
    job = import_archive(stage, pack_zip({"a.png": draw.png(seed=1)}), listed)
    near, far = (row.message for row in job.rows.order_by("number"))
    assert near.endswith("Perhaps: Brazil.")
    assert "Perhaps" not in far and "Use one of: Brazil, " in far and "Egypt" in far


def test_twice_adds_nothing(stage):
    import_archive(stage, faulty_archive())
    before = list(Item.objects.order_by("pk").values_list("pk", "key"))
    job = import_archive(stage, faulty_archive())
    assert list(Item.objects.order_by("pk").values_list("pk", "key")) == before
    assert job.result["counts"] == {"unchanged": 4, "error": 6}


def test_the_upload_is_removed_once_the_work_is_done(stage):
    job = import_archive(stage, faulty_archive())
    assert not default_storage.exists(job.params["archive"])


def test_files_of_an_import_that_nobody_goes_on_with_are_removed_after_a_week(stage, world):
    job = import_archive(stage, b"no zip")
    name = job.params["archive"]
    assert job.state == "failed"
    import_archive(stage, b"no zip either")
    assert default_storage.exists(name)
    Job.objects.filter(pk=job.pk).update(finished_at=timezone.now() - timedelta(days=8))
    uploads.sweep(timezone.now() + timedelta(days=8))
    assert not default_storage.exists(name)
    lifecycle.resume(job, world.mara)
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "failed" and "no longer there" in job.error


def test_a_kill_between_two_steps_loses_nothing_and_repeats_nothing(stage, monkeypatch):
    monkeypatch.setattr(imports, "STEP_ROWS", 3)
    writes = []
    real = row_import.import_batch

    def dying(*args, **how):
        writes.append(1)
        if len(writes) == 3:
            raise KeyboardInterrupt
        return real(*args, **how)

    monkeypatch.setattr(imports, "import_batch", dying)
    members = {f"natural/egypt/dance/{n:02}.png": draw.png(60, 40, seed=n) for n in range(10)}
    with pytest.raises(KeyboardInterrupt):
        import_archive(stage, pack_zip(members))
    job = Job.objects.latest("pk")
    assert (job.state, job.done, stage.items.count(), job.rows.count()) == ("running", 6, 6, 6)
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    runner.run(job.pk)
    job.refresh_from_db()
    assert (job.state, stage.items.count(), job.result["counts"]) == ("done", 10, {"created": 10})
    assert sorted(report(job)) == list(range(1, 11))


def test_stopping_keeps_what_is_there_and_going_on_ends_it(stage, monkeypatch, world):
    monkeypatch.setattr(imports, "STEP_ROWS", 2)
    real = row_import.import_batch

    def stopping(target, batch, **how):
        lifecycle.request_cancel(Job.objects.latest("pk"), world.mara)
        return real(target, batch, **how)

    monkeypatch.setattr(imports, "import_batch", stopping)
    members = {f"natural/egypt/dance/{n:02}.png": draw.png(60, 40, seed=n) for n in range(6)}
    job = import_archive(stage, pack_zip(members))
    assert (job.state, stage.items.count()) == ("cancelled", 2)
    monkeypatch.setattr(imports, "import_batch", real)
    lifecycle.resume(job, world.mara)
    runner.run(job.pk)
    job.refresh_from_db()
    assert (job.state, stage.items.count()) == ("done", 6)


def test_paths_say_what_a_picture_is(stage, blank):
    members = {
        "set/natural/Egypt/head_coverings/1.png": draw.png(seed=1),
        "set/مصر/dance/2.png": draw.png(seed=2),
        "set/natural/Atlantis/dance/3.png": draw.png(seed=3),
        "__MACOSX/._1.png": b"junk",
        "set/.DS_Store": b"junk",
    }
    job = import_archive(stage, pack_zip(members), condition="generated", licence="CC0")
    assert report(job) == {1: ("created", ""), 2: ("created", ""), 3: ("error", "no_country")}
    first, second = stage.items.order_by("pk")
    assert (first.origin, first.concept, first.condition) == ("Egypt", "head coverings", "natural")
    assert (second.origin, second.concept, second.condition) == ("Egypt", "dance", "generated")
    assert first.key == "set/natural/Egypt/head_coverings/1" and first.images.get().licence == "CC0"
    other_files = {"read me.txt": b"hello", "birds/owl.ogg": b"Ogg", "note.jpg": b"hello", "README": b"hello"}
    job = import_archive(blank, pack_zip({"birds/owl.png": draw.png(seed=4)} | other_files))
    assert report(job) == {1: ("created", ""), 2: ("error", "text"), 3: ("error", "text")}
    assert job.result["notes"] == ["2 files are not pictures and were skipped."]
    assert blank.items.get().concept == "birds"


def test_a_key_from_a_name_keeps_its_dots(blank):
    names = ("tea.v1.png", "tea.v2.png", "dr. who/tea.png")
    import_archive(blank, pack_zip({name: draw.png(seed=n) for n, name in enumerate(names)}))
    assert set(Item.objects.values_list("key", flat=True)) == {"tea.v1", "tea.v2", "dr. who/tea"}


def test_a_table_names_pictures_of_a_zip_without_its_folder(blank):
    members = {f"lab/{name}": draw.png(seed=n) for n, name in enumerate(("a.png", "new/b.png", "old/b.png"))}
    table = "".join(f'{{"file": "{name}", "concept": "tea"}}\n' for name in ("a.png", "new/b.png", "b.png"))
    job = import_archive(blank, pack_zip(members), table.encode())
    assert report(job) == {1: ("created", ""), 2: ("created", ""), 3: ("error", "ambiguous_picture")}
    assert "“b.png”: lab/new/b.png, lab/old/b.png" in job.rows.get(number=3).message
    assert set(blank.items.values_list("key", flat=True)) == {"a", "new/b"}


def test_a_manifest_in_a_folder_names_the_pictures_of_its_folder(blank, tmp_path):
    members = {
        "lab/manifest.csv": manifest("a.png,tea", "old/a.png,bread", head="file,key"),
        "lab/a.png": draw.png(seed=1), "lab/old/a.png": draw.png(seed=2), "a.png": draw.png(seed=3),
    }  # fmt: skip
    assert report(import_archive(blank, pack_zip(members))) == {2: ("created", ""), 3: ("created", "")}
    hashes = {
        key: hashlib.sha256(members[name]).hexdigest()
        for key, name in (("tea", "lab/a.png"), ("bread", "lab/old/a.png"))
    }
    assert dict(blank.items.values_list("key", "images__image__sha256")) == hashes
    for name, data in members.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    call_command("import_items", "stamps", "rating", str(tmp_path))
    assert report(Job.objects.latest("pk")) == {2: ("unchanged", ""), 3: ("unchanged", "")}
    at_the_top = {
        "manifest.csv": manifest("a.png,tea", head="file,key"),
        "lab/manifest.csv": b"",
        "a.png": members["lab/a.png"],
    }
    assert report(import_archive(blank, pack_zip(at_the_top))) == {2: ("unchanged", "")}, "the one at the top is read"


def test_a_separate_manifest_in_json_lines_keeps_what_it_does_not_know(blank):
    rows = [
        {"file": "a.png", "concept": "Tea", "country": "USA", "prompt": "A realistic photo of tea", "rank": 3},
        {"file": "A.PNG", "key": "other"},
        {"concept": "no file"},
        ["not", "an", "object"],
        {"file": "a.png", "country": "Wakanda"},
        {"file": "b.png", "origin": "Sámi", "key": "a"},
        {"file": "b.png", "origin": "Sámi", "alt": "x" * 301},
        {"file": "b.png", "origin": "Sámi", "text": "NUL \x00 and a lone \ud800"},
    ]
    listed = "\n".join([json.dumps(row) for row in rows] + ['{"file": "a.png"']).encode() + b'\n{"file": "\xff"}\n'
    job = import_archive(blank, pack_zip({"a.png": draw.png(seed=1), "b.png": draw.png(seed=2)}), listed)
    assert report(job) == {
        1: ("created", ""),
        2: ("error", "missing"),
        3: ("error", "no_picture"),
        4: ("error", "unreadable"),
        5: ("error", "bad_country"),
        6: ("error", "key_taken"),
        7: ("error", "too_long"),
        8: ("created", ""),
        9: ("error", "unreadable"),
        10: ("error", "encoding"),
    }
    assert "Perhaps “a.png” was meant" in job.rows.get(number=2).message
    tea, sami = blank.items.order_by("pk")
    assert (tea.origin, tea.context) == ("United States", {"prompt": "A realistic photo of tea", "rank": "3"})
    assert sami.origin == "Sámi"


def test_csv_as_spreadsheets_write_it(blank):
    pictures = pack_zip({"Bücher/é.png": draw.png(seed=1), "b.png": draw.png(seed=2), "c.png": draw.png(seed=3)})
    listed = (
        "\ufeffImage;Concept;License;Alt\r\n"
        'Bücher/é.png;Books;CC0;"Two lines,\nand a; mark"\r\n'
        "\r\n"
        ".\\b.png;Birds;CC0\r\n"
        "c.png;Cats;CC0;alt;more;cells\r\n"
    ).encode()
    job = import_archive(blank, pictures, listed + "c.png;Caf\xe9;CC0;\r\n".encode("latin-1"))
    assert [(row.outcome, row.reason) for row in job.rows.order_by("number")] == [
        ("created", ""),
        ("created", ""),
        ("error", "too_many_cells"),
        ("error", "encoding"),
    ]
    assert blank.items.get(concept="Books").images.get().alt == "Two lines,\nand a; mark"


def test_paths_that_leave_links_locks_and_archives_inside_are_refused_by_row(blank):
    import io
    import zipfile

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../etc/passwd.png", draw.png(seed=1))
        archive.writestr("/root.png", draw.png(seed=2))
        archive.writestr("inner.zip", pack_zip({"a.png": draw.png(seed=3)}))
        link = zipfile.ZipInfo("link.png")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("zeros.png", bytes(20 * 1024**2))
        archive.writestr("good.png", draw.png(seed=4))
    job = import_archive(blank, out.getvalue())
    assert [row.reason for row in job.rows.order_by("number")] == [
        "unsafe_path",
        "unsafe_path",
        "nested",
        "link",
        "ratio",
        "",
    ]
    assert blank.items.get().key == "good"


@pytest.mark.parametrize(
    ("archive", "listed", "sentence"),
    [
        (b"PK no zip at all", None, "not a zip file"),
        (b"", None, "not a zip file"),
        (pack_zip({"a.png": b"x"})[:-30], None, "not a zip file"),
        (pack_zip({"a.png": b"x"}), b"name,concept\na,b\n", "no column “file”"),
        (pack_zip({"a.png": b"x"}), b"file,image\na,b\n", "names a column twice"),
        (pack_zip({"a.png": b"x"}), b'[{"file": "a.png"}]', "one JSON object per line"),
    ],
    ids=["no-zip", "empty", "cut-short", "column-missing", "column-twice", "not-lines"],
)
def test_what_cannot_be_read_at_all_says_so_and_takes_nothing(blank, archive, listed, sentence):
    job = import_archive(blank, archive, listed)
    assert job.state == "failed" and sentence in job.error
    assert blank.items.count() == 0


def test_too_many_and_too_large_are_refused_before_they_are_read(blank, monkeypatch, settings):
    from benchmarks.imports import archive

    settings.IMPORT_MAX_BYTES = 1000
    assert "larger than" in import_archive(blank, pack_zip({"a.png": bytes(1001)})).error
    settings.IMPORT_MAX_BYTES = 10**9
    monkeypatch.setattr(archive, "MOST_MEMBERS", 2)
    assert "more than 2 files" in import_archive(blank, pack_zip({f"{n}.png": b"" for n in range(3)})).error
    many = pack_zip({f"{n}.png": b"" for n in range(70_000)})
    monkeypatch.setattr(archive, "MOST_MEMBERS", 69_999)
    assert "more than 69999 files" in import_archive(blank, many).error


def test_a_damaged_member_is_one_row(blank):
    data = bytearray(pack_zip({"a.png": draw.png(seed=1), "b.png": draw.png(seed=2)}))
    data[200] ^= 0xFF
    job = import_archive(blank, bytes(data))
    assert report(job) == {1: ("error", "damaged"), 2: ("created", "")}


def test_a_picture_that_breaks_its_reader_is_one_row_and_a_full_disk_is_not(blank, monkeypatch, caplog):
    pictures_ = pack_zip({"a.png": draw.png(seed=1), "b.png": draw.png(seed=2), "c.png": draw.png(seed=3)})
    real = imports.store_image

    def breaking(fault):
        def store(team, data, *, name):
            if name == "b.png":
                raise fault
            return real(team, data, name=name)

        return store

    monkeypatch.setattr(imports, "store_image", breaking(ReferenceError("a decoder's own fault")))
    job = import_archive(blank, pictures_)
    assert job.state == "done"
    assert report(job) == {1: ("created", ""), 2: ("error", "damaged"), 3: ("created", "")}
    assert "row 2 could not be read" in caplog.text
    monkeypatch.setattr(imports, "store_image", breaking(OSError(errno.ENOSPC, "no space")))
    job = import_archive(blank, pictures_)
    assert job.state == "failed" and "disk is full" in job.error


def test_two_imports_at_once_do_not_make_an_item_twice(blank):
    from benchmarks.imports.records import Record, Row
    from benchmarks.services.images import store_image

    image, _made = store_image(blank.benchmark.team, draw.png(), name="a.png")
    prepared = row_import.PreparedRow(Row(1, "a.png", Record(file="a.png", key="a")), image)
    with transaction.atomic():
        first = row_import.import_batch(blank, [prepared, prepared])
        second = row_import.import_batch(blank, [prepared])
    assert [row.outcome for row in first + second] == ["created", "unchanged", "unchanged"]


def test_command_imports_a_folder_a_zip_or_a_manifest_with_files(blank, tmp_path, capsys):
    folder = tmp_path / "pictures"
    (folder / "birds").mkdir(parents=True)
    (folder / "birds" / "owl.png").write_bytes(draw.png(seed=1))
    (folder / "birds" / "notes.jpg").write_text("hello")
    (folder / "birds" / "away.png").symlink_to("/etc/hostname")
    call_command("import_items", "stamps", "rating", str(folder), condition="natural")
    assert list(blank.items.values_list("key", "concept", "condition")) == [("birds/owl", "birds", "natural")]
    out = capsys.readouterr().out
    assert "1 added" in out.lower() or "Added: 1" in out
    assert "notes.jpg" in out
    listed = folder / "list.csv"
    listed.write_bytes(manifest("birds/owl.png,,owls", "../secret.png", head="file,key,concept"))
    call_command("import_items", "stamps", "rating", str(listed))
    assert blank.items.count() == 1
    archive = tmp_path / "a.zip"
    archive.write_bytes(pack_zip({"cat.png": draw.png(seed=9)}))
    call_command("import_items", "stamps", "rating", str(archive))
    assert archive.exists() and blank.items.count() == 2


def test_rare_concepts_need_none_of_the_recipes_words(world):
    specific = create_from_recipe(world.team, "caire-universal", "Rare", "rare", world.mara).stages.get(key="specific")
    vocabulary = vocabulary_of(specific)
    assert not vocabulary.concepts and not vocabulary.origins and not vocabulary.needs_origin
    relevance = vocabulary_of(specific.benchmark.stages.get(key="relevance"))
    assert relevance.concepts and relevance.needs_origin


def test_cohorts_of_team_and_recipe_are_recognised(world):
    """A team may run a recipe with cohorts that the paper did not have: its items are of their countries too."""
    questions = create_from_recipe(world.team, "culturalvqa", "Ours", "ours", world.mara).stages.get(key="questions")
    assert "Egypt" not in {cohort.label for cohort in recipe("culturalvqa").cohorts}
    job = import_archive(
        questions, pack_zip({"a.png": draw.png(seed=1)}), b"file,key,country\na.png,one,EG\na.png,two,Sweden\n"
    )
    assert report(job) == {2: ("created", ""), 3: ("error", "bad_country")}
    assert questions.items.get().origin == world.egypt.label
