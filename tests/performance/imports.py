"""What an import costs: `python tests/performance/imports.py [--pictures 300] [--folder FOLDER] [--texts 10000]`.

Draws 12-megapixel JPEGs that lie in all eight EXIF orientations, packs them into a zip with a manifest, and imports
it as a worker would: items per second and the most memory the process held. With --folder, that folder afterwards
(for instance the stamps of Tux Paint). Each a second time, which must add nothing; and once more into an empty
benchmark, by workers that are killed three times.

With --texts, items without pictures, so many at a time: items per second, and the ratio to a bare COPY of the same rows
of items into an empty table with the same indexes, in the same run; and how long it takes until a cancellation is
obeyed. --step and --every set the rows of a step and the seconds between two looks at the job, to compare.
"""

import argparse
import io
import resource
import subprocess
import sys
import threading
import time
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.load import server  # noqa: E402

SIZE = (4000, 3000)


def photograph(number: int) -> bytes:
    """A page with grain and shapes, so that it weighs what a camera's picture does; stored turned."""
    from PIL import Image, ImageDraw

    from tests.pictures import UNDO

    orientation = number % 8 + 1
    grain = Image.effect_noise((SIZE[0] // 4, SIZE[1] // 4), 40).resize(SIZE, Image.Resampling.BILINEAR)
    page = Image.merge("RGB", (grain, grain.point(lambda v: 255 - v), grain.transpose(Image.Transpose.ROTATE_180)))
    pen = ImageDraw.Draw(page)
    for step in range(12):
        x, y = (number * 97 + step * 331) % SIZE[0], (number * 53 + step * 257) % SIZE[1]
        pen.ellipse((x, y, x + 500, y + 400), fill=(step * 20, number * 7 % 256, 255 - step * 20))
    page = page.transpose(UNDO[orientation]) if orientation in UNDO else page
    exif = Image.Exif()
    exif[0x0112] = orientation
    out = io.BytesIO()
    page.save(out, "JPEG", quality=88, exif=exif)
    return out.getvalue()


def pack(path: Path, count: int) -> None:
    rows = ["file,concept,country,condition"]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for number in range(count):
            archive.writestr(f"photos/{number:03}.jpg", photograph(number))
            rows.append(f"photos/{number:03}.jpg,market,Egypt,natural")
        archive.writestr("manifest.csv", "\n".join(rows))


def measure(name: str, job: Any) -> None:
    """Run it here, looking at its row from outside as its page does."""
    from jobs.models import Job
    from jobs.services import runner

    progress_values: list[int] = []
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.5):
            progress_values.append(Job.objects.get(pk=job.pk).done)

    watcher = threading.Thread(target=watch)
    watcher.start()
    began, cpu = time.perf_counter(), time.process_time()
    runner.run(job.pk)
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    over.set()
    watcher.join()
    job.refresh_from_db()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{name:<28}{job.state:>8}  {job.done:>5} rows  {took:7.1f} s  {job.done / took:6.1f}/s  "
        f"cpu {cpu:6.1f} s  peak {peak:5.0f} MB  {len(set(progress_values))} different progress values  "
        f"{job.result['counts']}",
        flush=True,
    )
    reasons = Counter(job.rows.filter(outcome="error").values_list("reason", flat=True))
    if reasons:
        print("    not taken:", dict(reasons))


def killed(stage: Any, actor: Any, archive: Path, expected: int) -> None:
    """The same import by workers that are shot: nothing may be missing, twice, or told twice."""
    from django.utils import timezone

    from benchmarks.imports.records import Defaults
    from benchmarks.services import imports
    from jobs.models import Job

    job = imports.start_path(stage, actor, path=archive, manifest=None, defaults=Defaults())
    program = f"from jobs.services import runner; runner.run({job.pk})"
    command = [sys.executable, "manage.py", "shell", "-v", "0", "-c", program]
    shots, done = 0, []
    for wait in (2.5, 4.5, 3.5, None):
        worker = subprocess.Popen(command, cwd=server.ROOT)
        try:
            worker.wait(wait)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()
            shots += 1
        done.append(Job.objects.get(pk=job.pk).done)
        Job.objects.filter(pk=job.pk, state="running").update(lease_until=timezone.now())  # instead of waiting
    job.refresh_from_db()
    items, rows = stage.items.count(), job.rows.count()
    print(f"killed {shots} times at rows {done[:-1]}: {job.state}, {items} items, {rows} rows, {job.result['counts']}")
    assert (job.state, items, rows, sum(job.result["counts"].values())) == ("done", expected, expected, expected)


def texts(path: Path, count: int) -> None:
    """A manifest of short texts, each with a concept, a country and two columns that stay with the item."""
    with path.open("w", encoding="utf-8") as file:
        file.write("key,text,concept,country,rank,prompt\n")
        for number in range(count):
            text = f"Proverb {number}: a guest is light and the tea is sweet"
            file.write(f"proverb-{number:06},{text},{('tea', 'bread', 'rain')[number % 3]},Egypt,{number % 9},Say it\n")


def bare_copy(stage: Any) -> float:
    """Seconds to COPY the items of a stage into an empty table with the same columns and indexes."""
    from django.db import connection, transaction

    columns = "stage_id, key, concept, origin, condition, text, context, withdrawn_because, created_at"
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS bare")
        cursor.execute("CREATE TABLE bare (LIKE benchmarks_item INCLUDING ALL)")
        cursor.execute(f"SELECT {columns.replace('context', 'context::text')} FROM benchmarks_item WHERE stage_id = %s",
                       [stage.pk])  # fmt: skip
        rows = cursor.fetchall()
        began = time.perf_counter()
        with transaction.atomic(), cursor.copy(f"COPY bare ({columns}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        return time.perf_counter() - began


def measure_texts(home: Path, team: Any, actor: Any, count: int, *, name: str = "") -> None:
    from benchmarks.imports.records import Defaults
    from benchmarks.services import imports
    from benchmarks.services.benchmarks import create_blank
    from jobs.models import Job, JobRow
    from jobs.services import runner

    folder = home / f"texts-{count}"
    folder.mkdir(exist_ok=True)
    texts(folder / "manifest.csv", count)
    stage = create_blank(team, "Texts", f"texts-{count}{name}", actor, question="Is it?").stages.get()
    stage.display = "words"
    if hasattr(stage, "pictures"):
        stage.pictures = "none"
    else:
        stage.layout = {"pictures": "none"}
    stage.save()
    for again in ("", ", again"):
        job = imports.start_path(stage, actor, path=folder, manifest=folder / "manifest.csv", defaults=Defaults())
        began, cpu = time.perf_counter(), time.process_time()
        runner.run(job.pk)
        took, cpu = time.perf_counter() - began, time.process_time() - cpu
        job.refresh_from_db()
        assert job.state == "done" and stage.items.count() == count, job.error
        assert JobRow.objects.filter(job=job).count() == count
        copied = bare_copy(stage)
        print(
            f"{count:>7} texts{again:<8} {took:6.1f} s  {count / took:7.0f}/s  cpu {cpu:5.1f} s"
            f"  bare COPY {copied:6.2f} s  {took / copied:5.1f} times as long",
            flush=True,
        )
    job = imports.start_path(stage, actor, path=folder, manifest=folder / "manifest.csv", defaults=Defaults())
    worker = threading.Thread(target=runner.run, args=(job.pk,))
    worker.start()
    time.sleep(min(1.0, took / 3))
    Job.objects.filter(pk=job.pk).update(cancel_asked=True)
    began = time.perf_counter()
    worker.join()
    job.refresh_from_db()
    print(f"        cancellation obeyed after {time.perf_counter() - began:.2f} s: {job.state} at row {job.done}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pictures", type=int, default=300)
    options.add_argument("--folder", type=Path)
    options.add_argument("--texts", type=int, nargs="*", default=[])
    options.add_argument("--step", type=int, help="rows of a step without pictures")
    options.add_argument("--every", type=float, help="seconds between two looks at the job")
    arguments = options.parse_args()
    with server.database() as home:
        from benchmarks.imports.records import Defaults
        from benchmarks.models import Image
        from benchmarks.services import imports
        from benchmarks.services.benchmarks import create_blank
        from benchmarks.services.derivatives import derivative
        from jobs.services import job_context
        from people.models import Team, User

        if arguments.step:
            imports.TEXT_STEP_ROWS = arguments.step
        if arguments.every is not None:
            job_context.CHECK_SECONDS = arguments.every
        if arguments.texts:
            actor = User.objects.create_user("t@example.org", "T")
            team = Team.objects.create(name="T", slug="t")
            for count in arguments.texts:
                measure_texts(home, team, actor, count)
            return
        archive = home / "photos.zip"
        pack(archive, arguments.pictures)
        print(
            f"{arguments.pictures} JPEGs of 12 megapixels, "
            f"{archive.stat().st_size / 1024**2:.0f} MB, orientations 1 to 8"
        )
        actor = User.objects.create_user("a@example.org", "A")
        team = Team.objects.create(name="A", slug="a")
        stage = create_blank(team, "Load", "load", actor, question="Is it?").stages.get()
        for again in ("", ", again"):
            job = imports.start_path(stage, actor, path=archive, manifest=None, defaults=Defaults())
            measure(f"12-megapixel JPEGs{again}", job)
        for again in ("", ", again") if arguments.folder else ():
            job = imports.start_path(stage, actor, path=arguments.folder, manifest=None, defaults=Defaults())
            measure(f"{arguments.folder.name}{again}", job)
        other = create_blank(Team.objects.create(name="B", slug="b"), "Shot", "shot", actor, question="Is it?")
        killed(other.stages.get(), actor, archive, arguments.pictures)
        turned = Counter(Image.objects.values_list("orientation", flat=True))
        print("orientations stored:", dict(sorted(turned.items())))
        some = list(Image.objects.filter(width__gte=3000)[:16])
        began = time.perf_counter()
        for image in some:
            derivative(image.sha256, 960)
        print(f"derivative 960 wide of 12 megapixels: {1000 * (time.perf_counter() - began) / len(some):.0f} ms each")


if __name__ == "__main__":
    main()
