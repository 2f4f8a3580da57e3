"""The same with an encoder that was really trained, on drawn shapes: what is found is what is shown."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from benchmarks.models import Item, ItemImage
from benchmarks.services.images import store_image
from jobs.models import Job
from papers.caire.tables.links import ranks_of
from predictions.backends import clip
from predictions.models import Endpoint, KnowledgeIndex
from predictions.services.knowledge import bases, indexes, linking
from tests.archives import pack_zip
from tests.personas import World
from tests.predictions.knowledge import shapes
from tests.predictions.knowledge.colours import jsonl, run_job

REAL = indexes.encoder_of


@pytest.mark.usefixtures("models_root")
def test_drawn_images_are_linked_to_what_they_show(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexes, "encoder_of", REAL)
    base, _new = bases.get_or_create_base(world.team, world.mara, key="shapes", name="Shapes")
    zipped = SimpleUploadedFile("p.zip", pack_zip(dict(shapes.pictures(160))))
    file = SimpleUploadedFile("kb.jsonl", jsonl(shapes.entries(160)))
    assert run_job(bases.start_import(base, world.mara, file, zipped)).result["counts"] == {"created": 24}
    encoder = Endpoint.objects.create(team=world.team, name="CLIP", kind=Endpoint.Kind.OPEN_CLIP)
    job = run_job(indexes.start_build(base, world.mara, endpoint=encoder, model="local-dir:tiny", over="images"))
    assert job.state == "done", job.error
    index = KnowledgeIndex.objects.get()
    assert (index.count, index.dimensions) == (160, 48) and index.facts["digest"]
    for key, gold, data in shapes.query_pictures(32):
        item = Item.objects.create(stage=world.stage, key=key, context={"gold_entity": gold})
        ItemImage.objects.create(item=item, image=store_image(world.team, data, name=key)[0])
    run = linking.open_run(world.benchmark, world.mara, stage=world.stage, index=index, method="lemma_vt")
    assert run_job(Job.objects.get(pk=run.options["job"])).state == "done"
    recall = {k: ranks_of(run).recall(k).value for k in (1, 20)}
    assert recall[20] == 1.0 and (recall[1] or 0) > 0.5, "by chance one of sixteen"
    check_against_numpy(run)


def check_against_numpy(run: Any) -> None:
    """Neighbours and scores are those of a plain script over the very vectors."""
    model = clip.load("local-dir:tiny")
    names, data = zip(*shapes.pictures(160), strict=True)
    image_vectors = model.images(data).astype(np.float16).astype(np.float32)
    texts = {row["id"]: model.texts(row["lemmas"])[0] for row in shapes.entries(160)}
    for link, (_key, _gold, asked) in zip(run.links.order_by("item__key")[:5], shapes.query_pictures(5), strict=True):
        image = model.images([asked])[0]
        nearest = [names[n] for n in np.argsort(-(image_vectors @ image), kind="stable")[:20]]
        assert set(nearest) == {row[0] for row in link.neighbours}
        union = {key for row in shapes.entries(160) for key in [row["id"]] if set(row["images"]) & set(nearest)}
        ranked = sorted(union, key=lambda key: (-float(texts[key] @ image), key))
        assert link.keys == ranked
        assert np.allclose(link.scores, [texts[key] @ image for key in ranked], atol=1e-6)


@pytest.mark.usefixtures("models_root")
def test_other_weights_under_the_same_name_are_noticed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexes, "encoder_of", REAL)
    base, _new = bases.get_or_create_base(world.team, world.mara, key="shapes", name="Shapes")
    encoder = Endpoint.objects.create(team=world.team, name="CLIP", kind=Endpoint.Kind.OPEN_CLIP)
    index = KnowledgeIndex.objects.create(base=base, endpoint=encoder, model="local-dir:tiny", over="images")
    assert indexes.encoder_of(index).dimensions == 48
    index.facts = {"digest": "of yesterday"}
    with pytest.raises(indexes.IndexRefused, match="other weights"):
        indexes.encoder_of(index)
    index.model, index.facts = "local-dir:nothing", {}
    with pytest.raises(indexes.IndexRefused):
        indexes.encoder_of(index)
    assert not Path("nothing").exists()
