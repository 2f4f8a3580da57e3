"""Collections of drawn shapes: pictures stored as an import would, and queries in words, pictures and trials."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from django.utils import timezone

from benchmarks.models import Image
from benchmarks.services import storage
from jobs.services import runner
from people.models import Team
from predictions.models import Collection, Endpoint, Entry, Query, Run
from predictions.services.encoders import encoder_runs
from predictions.services.encoders.encoder_runs import EncoderPlan
from tests.personas import World
from tests.predictions.tiny_clip import KINDS, caption, draw_shape, png

MODEL = "local-dir:tiny"


def store(team: Team, data: bytes) -> Image:
    image, _made = Image.objects.get_or_create(
        team=team, sha256=hashlib.sha256(data).hexdigest(),
        defaults={"format": "PNG", "bytes": len(data), "width": 64, "height": 64},
    )  # fmt: skip
    storage.store(image.original_name, data)
    return image


def an_endpoint(world: World, kind: str = "open_clip") -> Endpoint:
    return Endpoint.objects.get_or_create(team=world.team, kind=kind, name=f"Here: {kind}")[0]


def a_collection(world: World, rounds: int = 2, *, key: str = "shapes") -> Collection:
    """Every kind `rounds` times; each caption as a query of the set "captions"; trials of the set "choice"."""
    collection = Collection.objects.create(benchmark=world.benchmark, key=key, name="Shapes")
    for number in range(rounds):
        for colour, shape in KINDS:
            image = store(world.team, png(draw_shape(colour, shape, seed=number)))
            about = {"concept": shape, "country": colour}
            Entry.objects.create(collection=collection, key=f"{colour}-{shape}-{number}", image=image, about=about)
    for colour, shape in KINDS:
        same = [f"{colour}-{shape}-{number}" for number in range(rounds)]
        fields = {
            "collection": collection,
            "key": f"{colour}-{shape}",
            "text": caption(colour, shape),
            "relevant": same,
        }
        Query.objects.create(query_set="captions", **fields)
        other = next(one for one in KINDS if one[0] != colour and one[1] != shape)
        roles = {"correct": same[0], "irrelevant": f"{other[0]}-{other[1]}-0"}
        Query.objects.create(query_set="choice", roles=roles, **fields)
    return collection


def a_run(world: World, collection: Collection, task: str = "retrieval", **more: Any) -> Run:
    """Opened and driven to its end, as a worker does."""
    options = {"query_set": "" if task == "embedding" else "captions", "most": 5, "name": "Tiny", **more}
    plan = EncoderPlan(collection=collection, endpoint=an_endpoint(world), model=MODEL, task=task, **options)
    run = encoder_runs.open_run(plan, world.mara, timezone.now())
    runner.run(run.job_id)
    run.refresh_from_db()
    return run


def stored_vectors(vectors: Any) -> Any:
    """What 16 bits keep of a vector, brought back to unit length: what every score is made from."""
    kept = np.asarray(vectors, np.float16).astype(np.float64)
    return kept / np.linalg.norm(kept, axis=1, keepdims=True)


def texts_of(queries: Sequence[Query]) -> list[str]:
    return [query.text for query in queries]
