"""What a knowledge base costs: `python tests/performance/knowledge.py [--synthetic 100000] [--drawn 2000]`.

An open_clip model is trained on drawn shapes (seconds). A base of drawn pictures is imported and really encoded, by
workers that are killed in the middle of two shards: what was written stays, nothing is missing. Then a base of those
and of synthetic entries, whose vectors come as a file: imported, indexed by the kind that its size asks for, and
linked. Printed: seconds, bytes on disk, the most memory, recall against exact, recall of the right entry.
"""

import argparse
import json
import logging
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.load import server  # noqa: E402

MODEL = "local-dir:tiny"


def memory() -> float:
    """The most this process held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def did(name: str, work: Callable[[], Any]) -> Any:
    began = time.perf_counter()
    found = work()
    print(f"{name:<58}{time.perf_counter() - began:8.1f} s   most memory so far {memory():6.0f} MB", flush=True)
    return found


def finished(job: Any) -> Any:
    from jobs.services import runner

    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "done", job.error
    return job


def killed(job: Any, index: Any) -> None:
    """The build by workers that are shot while they encode: shards that were there are not written again."""
    from django.utils import timezone

    from jobs.models import Job
    from predictions.services.knowledge.indexes import store_of

    store = store_of(index)
    program = f"from jobs.services import runner; runner.run({job.pk})"
    command = [sys.executable, "manage.py", "shell", "-v", "0", "-c", program]
    before: dict[str, int] = {}
    for wanted in (1, 2, None):
        began = time.perf_counter()
        worker = subprocess.Popen(command, cwd=server.ROOT)
        while wanted is not None and worker.poll() is None and not store.shard(wanted - 1).exists():
            time.sleep(0.005)
        if wanted is not None:
            time.sleep(0.3)  # in the middle of the next
            worker.kill()
        worker.wait()
        times = {file.name: file.stat().st_mtime_ns for file in store.folder.glob("0*.npy")}
        assert before.items() <= times.items(), "a shard was written twice"
        stored_job = Job.objects.get(pk=job.pk)
        print(
            f"    worker {'shot' if wanted else 'done'} after {time.perf_counter() - began:4.1f} s: {len(times)} of"
            f" {store.shards()} shards, {len(before)} of them from before; {stored_job.done} of {stored_job.total} rows"
        )
        before = times
        Job.objects.filter(pk=job.pk, state="running").update(lease_until=timezone.now())  # instead of waiting
    job.refresh_from_db()
    assert job.state == "done" and not list(store.missing()), job.error


def entries(path: Path, rows: list[dict[str, Any]], synthetic: int) -> None:
    with path.open("w") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
        for number in range(synthetic):
            row = {
                "id": f"s{number}",
                "lemmas": [f"thing {number}"],
                "gloss": "A thing.",
                "images": [f"s/{number}.jpg"],
            }
            file.write(json.dumps(row) + "\n")


def facts(index: Any) -> None:
    index.refresh_from_db()
    values = index.facts
    print(
        f"    {values['kind']} ({values['chosen']}): {index.count} x {index.dimensions}; recall against exact"
        f" {values['recall']} at {values['recall_at']}, n = {values['recall_n']}, breadth {values['search']},"
        f" {values['milliseconds']} ms a query; {values['seconds_vectors']} s to encode +"
        f" {values['seconds_index']} s to build; {values['bytes'] / 1e6:.1f} MB +"
        f" {values['bytes_vectors'] / 1e6:.1f} MB of vectors"
    )


def asked_items(benchmark: Any, count: int) -> Any:
    from benchmarks.models import Item, ItemImage
    from benchmarks.services.images import store_image
    from tests.predictions.knowledge import shapes

    stage = benchmark.stages.get(key="specific")
    for key, gold, data in shapes.query_pictures(count):
        item = Item.objects.create(stage=stage, key=key, concept=gold, context={"gold_entity": gold})
        ItemImage.objects.create(item=item, image=store_image(benchmark.team, data, name=key)[0])
    return stage


def linked(benchmark: Any, stage: Any, index: Any, actor: Any) -> None:
    from jobs.models import Job
    from papers.caire.tables.links import AT, ranks_of
    from predictions.services.knowledge import linking

    for method in ("lemma_vt", "frequency_vt"):
        run = linking.open_run(benchmark, actor, stage=stage, index=index, method=method)
        did(
            f"link {stage.items.count()} images, {method}",
            lambda run=run: finished(Job.objects.get(pk=run.options["job"])),
        )
        estimates = [ranks_of(run).recall(k) for k in AT]
        recall_text = ", ".join(
            f"@{k} {one.value:.2f} [{one.low:.2f}, {one.high:.2f}]" for k, one in zip(AT, estimates, strict=True)
        )
        print(f"    recall of the right entry {recall_text}, n = {estimates[0].n_units}")
    exact(index, run)


def exact(index: Any, run: Any) -> None:
    """The neighbours that were found, against looking at every vector."""
    from predictions.backends import clip
    from predictions.models import KnowledgeImage
    from predictions.services.knowledge.faiss_index import exact_nearest
    from predictions.services.knowledge.indexes import store_of
    from tests.predictions.knowledge import shapes

    store, links = store_of(index), list(run.links.order_by("item__key"))
    images = clip.load(MODEL).images([data for _key, _gold, data in shapes.query_pictures(len(links))])
    wanted = exact_nearest(store.parts(), images, 20)
    plan = store.plan()
    names = dict(KnowledgeImage.objects.filter(pk__in=plan[wanted.ravel(), 0].tolist()).values_list("pk", "name"))
    shares = []
    for link, rows in zip(links, wanted, strict=True):
        theirs = {names[int(plan[row, 0])] for row in rows}
        shares.append(len(theirs & {row[0] for row in link.neighbours}) / len(theirs))
    print(f"    neighbours of the {len(links)} images against exact: recall at 20 {sum(shares) / len(shares):.4f}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--synthetic", type=int, default=100_000)
    options.add_argument("--drawn", type=int, default=2_000)
    options.add_argument("--asked", type=int, default=100)
    arguments = options.parse_args()
    with server.database() as home:
        from django.conf import settings

        from benchmarks.services.benchmarks import create_from_recipe
        from people.models import Team, User
        from predictions.backends import torch_setup
        from tests.predictions import tiny_clip

        logging.getLogger("jobs.services.lifecycle").setLevel(logging.ERROR)  # there is no broker: jobs are run here
        torch_setup.torch().set_num_threads(1)  # a model this small is slower on several

        actor = User.objects.create_user("a@example.org", "A")
        team = Team.objects.create(name="A", slug="a")
        benchmark = create_from_recipe(team, "caire-universal", "CAIRE", "caire", actor)
        settings.MODELS_ROOT.mkdir(parents=True, exist_ok=True)
        did("train the encoder", lambda: tiny_clip.train(settings.MODELS_ROOT / "tiny"))
        stage = asked_items(benchmark, arguments.asked)
        drawn = of_drawn(home, team, actor, arguments.drawn)
        linked(benchmark, stage, drawn, actor)
        linked(benchmark, stage, of_vectors(home, team, actor, drawn, arguments), actor)


def of_drawn(home: Path, team: Any, actor: Any, count: int) -> Any:
    from predictions.models import Endpoint, KnowledgeIndex
    from predictions.services.knowledge import bases, indexes
    from tests.predictions.knowledge import shapes

    shapes.write(home / "pictures", count)
    entries(home / "drawn.jsonl", shapes.entries(count), 0)
    base, _new = bases.get_or_create_base(team, actor, key="drawn", name="Drawn")
    job = bases.start_path(base, actor, home / "drawn.jsonl", home / "pictures")
    did(f"import 24 entries with {count} drawn pictures", lambda: finished(job))
    encoder = Endpoint.objects.create(team=team, name="CLIP", kind=Endpoint.Kind.OPEN_CLIP)
    job = indexes.start_build(base, actor, endpoint=encoder, model=MODEL, over="images")
    index = KnowledgeIndex.objects.get(pk=job.params["index"])
    did(f"encode {count} pictures and index them, killed twice", lambda: killed(job, index))
    facts(index)
    return index


def of_vectors(home: Path, team: Any, actor: Any, drawn: Any, arguments: argparse.Namespace) -> Any:
    import numpy as np
    from django.core.files import File

    from predictions.models import KnowledgeIndex
    from predictions.retrieval.vectors import unit
    from predictions.services.knowledge import bases, indexes
    from predictions.services.knowledge.indexes import store_of
    from tests.predictions.knowledge import shapes

    entries(home / "all.jsonl", shapes.entries(arguments.drawn), arguments.synthetic)
    base, _new = bases.get_or_create_base(team, actor, key="all", name="Drawn and synthetic")
    job = bases.start_path(base, actor, home / "all.jsonl")
    did(f"import {arguments.synthetic + 24} entries without pictures", lambda: finished(job))
    real = np.concatenate([part for _first, part in store_of(drawn).parts()])
    rng = np.random.default_rng(1)
    near = real[rng.integers(0, len(real), arguments.synthetic)]
    made = unit(near + 0.15 * rng.standard_normal(near.shape))
    np.save(home / "v.npy", np.concatenate([real, made]).astype(np.float16))
    names = [shapes.name_of(n) for n in range(arguments.drawn)] + [f"s/{n}.jpg" for n in range(arguments.synthetic)]
    (home / "names.txt").write_text("\n".join(names))
    with (home / "v.npy").open("rb") as vectors, (home / "names.txt").open("rb") as rows:
        job = indexes.start_vectors(
            base, actor, File(vectors), File(rows), endpoint=drawn.endpoint, model=MODEL, over="images"
        )
    did(f"index {len(names)} vectors made elsewhere", lambda: finished(job))
    index = KnowledgeIndex.objects.get(pk=job.params["index"])
    facts(index)
    return index


if __name__ == "__main__":
    main()
