"""A knowledge base of the world's team, and an image that was linked to its entry, by plain rows."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from people.models import Rater
from predictions.models import Endpoint, EntityLink, KnowledgeBase, KnowledgeEntry, KnowledgeIndex, Run
from tests.personas import World

KNOWLEDGE_ROUTES = (
    "knowledge",
    "knowledge_base",
    "knowledge_import",
    "knowledge_index",
    "knowledge_entry",
    "knowledge_index_action",
)
LINK_ROUTES = ("links", "links_action", "link")


def a_linking(world: World) -> Run:
    version = 1 + KnowledgeBase.objects.filter(team=world.team).count()
    base = KnowledgeBase.objects.create(team=world.team, key="small", name="Small", version=str(version))
    KnowledgeEntry.objects.create(base=base, key="e1", lemmas=["Pysanka"], text="An egg that is written on.")
    kind = {"kind": Endpoint.Kind.OPEN_CLIP}
    encoder, _made = Endpoint.objects.get_or_create(team=world.team, name="CLIP", defaults=kind)
    index = KnowledgeIndex.objects.create(
        base=base, endpoint=encoder, model="tiny", over="images", built_at=timezone.now(), facts={"kind": "flat"}
    )
    run = Run.objects.create(
        benchmark=world.benchmark, task=Run.Task.LINKING, knowledge_index=index, model="tiny", complete=True,
        rater=Rater.objects.create(kind="model", team=world.team, name="tiny", setting="lemma_vt"),
        options={"method": "lemma_vt", "nearest": 20}, selection={"stage": world.stage.key},
    )  # fmt: skip
    EntityLink.objects.create(
        run=run, item=world.items[0], keys=["e1"], scores=[0.5], neighbours=[["a.png", "e1", 0.9]]
    )
    return run


def samples(world: World) -> Mapping[str, Any]:
    """What stands in the addresses of its pages."""
    run = a_linking(world)
    assert run.knowledge_index is not None
    return {
        "base_id": run.knowledge_index.base_id,
        "index_id": run.knowledge_index_id,
        "entry_id": run.knowledge_index.base.entries.get().pk,
        **{f"predictions:{name} slug": world.team.slug for name in KNOWLEDGE_ROUTES},
        **{f"predictions:{name} run_id": run.pk for name in LINK_ROUTES},
    }
