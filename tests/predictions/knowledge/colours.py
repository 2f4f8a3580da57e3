"""A knowledge base of colours, and an encoder that sees nothing else: so everybody knows what is nearest."""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image as Picture

from benchmarks.models import Item, ItemImage, Stage
from benchmarks.services.images import store_image
from jobs.models import Job
from jobs.services import runner
from predictions.backends.contract import Vectors
from predictions.models import Endpoint, KnowledgeBase, KnowledgeIndex
from predictions.services.knowledge import bases, indexes
from tests.archives import pack_zip
from tests.personas import World

RGB = {
    "red": (250, 5, 5), "crimson": (220, 20, 60), "green": (5, 250, 5), "blue": (5, 5, 250), "navy": (5, 5, 130),
    "white": (250, 250, 250), "yellow": (250, 250, 5),
}  # fmt: skip
MODEL = "colours"


def square(*colour: int, size: int = 16, shade: int = 0) -> bytes:
    out = io.BytesIO()
    Picture.new("RGB", (size, size), tuple(max(0, one - shade) for one in colour)).save(out, "PNG")
    return out.getvalue()


class Colours:
    """Of a picture its mean colour, of a text the colour it names; grey for one that names none."""

    name, dimensions = MODEL, 4

    def __init__(self) -> None:
        self.seen = 0
        self.read = 0
        self.after: Callable[[], None] = lambda: None

    def images(self, data: Sequence[bytes]) -> Vectors:
        self.seen += len(data)
        self.after()
        rows = [np.asarray(Picture.open(io.BytesIO(one)).convert("RGB"), np.float32).mean((0, 1)) for one in data]
        return _unit(np.array(rows))

    def texts(self, texts: Sequence[str]) -> Vectors:
        self.read += len(texts)
        named = [next((rgb for name, rgb in RGB.items() if name in text.lower()), (128, 128, 128)) for text in texts]
        return _unit(np.array(named, np.float32))


def _unit(colours: Any) -> Vectors:
    rows = np.concatenate([colours - 127, np.full((len(colours), 1), 40.0)], axis=1).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def row(key: str, *images: str, lemmas: Sequence[str] = (), **more: Any) -> dict[str, Any]:
    text = f"All about {key}. " * 5
    return {"id": key, "lemmas": list(lemmas or [key]), "gloss": f"A {key} thing", "title": key.title(), "text": text,
            "language": "en", "images": list(images), **more}  # fmt: skip


ROWS = [
    row("red", "red.png", "warm.png"), row("crimson", "crimson.png"), row("green", "green.png"),
    row("blue", "blue.png", "cold.png", lemmas=["azul", "blue"]), row("navy", "navy.png", "cold.png", text=""),
    row("warm", "warm.png", "red.png", "crimson.png", lemmas=["warmth"], gloss=""),
]  # fmt: skip
PICTURES = {f"{name}.png": square(*RGB[name]) for name in ("red", "crimson", "green", "blue", "navy")} | {
    "warm.png": square(250, 60, 5), "cold.png": square(5, 60, 200),
}  # fmt: skip


def jsonl(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return "\n".join(json.dumps(one, ensure_ascii=False) for one in rows).encode()


def run_job(job: Job) -> Job:
    runner.run(job.pk)
    job.refresh_from_db()
    return job


def a_base(world: World, version: str = "1") -> KnowledgeBase:
    return bases.get_or_create_base(world.team, world.mara, key="colours", name="Colours", version=version)[0]


def import_entries(
    world: World, rows: Any = ROWS, pictures: Mapping[str, bytes] | None = PICTURES, base: KnowledgeBase | None = None
) -> Job:
    zipped = SimpleUploadedFile("pictures.zip", pack_zip(pictures)) if pictures is not None else None
    data = rows if isinstance(rows, bytes) else jsonl(rows)
    return run_job(bases.start_import(base or a_base(world), world.mara, SimpleUploadedFile("kb.jsonl", data), zipped))


def an_endpoint(world: World) -> Endpoint:
    return Endpoint.objects.get_or_create(team=world.team, name="Encoder", kind=Endpoint.Kind.OPEN_CLIP)[0]


def built(world: World, over: str = "images", base: KnowledgeBase | None = None, kind: str = "") -> KnowledgeIndex:
    base = base or KnowledgeBase.objects.latest("pk")
    job = run_job(indexes.start_build(base, world.mara, endpoint=an_endpoint(world), model=MODEL, over=over, kind=kind))
    assert job.state == "done", job.error
    return KnowledgeIndex.objects.get(pk=job.params["index"])


def items_of(world: World, colours: Mapping[str, tuple[int, ...]], stage: Stage | None = None) -> list[Item]:
    """Items of a stage, else of the world's, that are these colours, by their keys."""
    items = []
    for key, colour in colours.items():
        item = Item.objects.create(stage=stage or world.stage, key=key, concept="market", context={"gold_entity": key})
        image, _new = store_image(world.team, square(*colour, shade=3), name=key)
        ItemImage.objects.create(item=item, image=image)
        items.append(item)
    return items
