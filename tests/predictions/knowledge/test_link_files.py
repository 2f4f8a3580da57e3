"""Links that were found elsewhere come in a file, without an index or an encoder."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from benchmarks.models import Item, Stage
from jobs.models import Job, JobRow
from papers.caire.tables.links import ranks_of
from predictions.models import EntityLink, KnowledgeBase, KnowledgeIndex, Run
from predictions.services.knowledge import linking
from predictions.services.knowledge.indexes import IndexRefused
from tests.module_world import built_once
from tests.personas import SHEET, World
from tests.predictions.knowledge.colours import RGB, ROWS, a_base, import_entries, items_of, jsonl, run_job

pytestmark = pytest.mark.django_db
Link = dict[str, Any]
LINKS: list[Link] = [
    {"item": "red", "entries": ["warm", "red"], "scores": [0.3, 0.9]},
    {"item": "blue", "entries": ["navy", "blue"]},
    {"item": "green", "entries": []},
]


@built_once
def base(world: World) -> KnowledgeBase:
    import_entries(world, ROWS)
    items_of(world, {name: RGB[name] for name in ("red", "blue", "green")})
    return a_base(world)


def send(world: World, links: list[Link], client: Client | None = None, **more: Any) -> Any:
    form = {"stage": world.stage.pk, "base": KnowledgeBase.objects.get().pk, "method": "lemma_vt", "model": "Elsewhere"}
    file = SimpleUploadedFile("links.jsonl", jsonl(links))
    page = reverse("predictions:links_import", args=[world.benchmark.slug])
    return (client or world.client(world.mara)).post(page, {**form, "file": file, **more})


def imported(sent: HttpResponse) -> Job:
    assert sent.status_code == 302, sent.content.decode()
    return run_job(Job.objects.latest("pk"))


def reasons(job: Job) -> list[str]:
    return list(JobRow.objects.filter(job=job, outcome="error").order_by("number").values_list("reason", flat=True))


def test_links_of_a_file_are_a_run_as_any_other(world: World, base: KnowledgeBase) -> None:
    job = imported(send(world, LINKS))
    run = Run.objects.get(task=Run.Task.LINKING)
    assert (job.state, job.result["counts"], run.complete, run.options["unlinked"]) == ("done", {"created": 3}, True, 1)
    links = {link.item.key: link for link in EntityLink.objects.filter(run=run).select_related("item")}
    assert (links["red"].keys, links["red"].scores) == (["red", "warm"], [0.9, 0.3]), "the best first"
    assert (links["blue"].keys, links["green"].reason) == (["navy", "blue"], "nothing_near")
    article = linking.article_for(run, links["red"].item)
    assert article is not None and article.entity == "red"
    assert [ranks_of(run).recall(k).value for k in (1, 2)] == [pytest.approx(1 / 3), pytest.approx(2 / 3)]
    page = world.client(world.mara)
    assert "No vectors here" in page.get(
        reverse("predictions:knowledge_base", args=[world.team.slug, base.pk])
    ).content.decode()  # fmt: skip
    again = imported(send(world, LINKS))
    assert again.result["counts"] == {"unchanged": 3} and Run.objects.filter(task=Run.Task.LINKING).count() == 1


def test_a_further_file_adds_new_items_and_changes_nothing(world: World, base: KnowledgeBase) -> None:
    imported(send(world, LINKS[:2]))
    run = Run.objects.get(task=Run.Task.LINKING)
    page = reverse("predictions:links", args=[world.benchmark.slug, run.pk])
    shown = world.client(world.mara).get(page).content.decode()
    assert "is in no file of this run" in shown and "Link 1 new item" not in shown
    with pytest.raises(IndexRefused, match="Import another file"):
        linking.link_new_items(run, world.mara)
    other = {"item": "red", "entries": ["navy"]}
    job = imported(send(world, [*LINKS[1:], other]))
    assert job.result["counts"] == {"unchanged": 1, "created": 1, "error": 1} and reasons(job) == ["differs"]
    assert EntityLink.objects.get(run=run, item__key="red").keys == ["red", "warm"]
    run.refresh_from_db()
    assert run.complete and "is in no file of this run" not in world.client(world.mara).get(page).content.decode()


def test_what_is_wrong_is_named_and_the_run_does_not_count(world: World, base: KnowledgeBase) -> None:
    wrong = [
        {"item": "nobody", "entries": ["red"]}, {"item": "red", "entries": ["no such"]},
        {"item": "blue", "entries": ["red", "navy"], "scores": [1]}, {"item": "green", "entries": ["red", "red"]},
    ]  # fmt: skip
    job = imported(send(world, wrong))
    run = Run.objects.get(task=Run.Task.LINKING)
    assert reasons(job) == ["no_item", "no_entry", "lengths", "twice"] and not run.complete
    assert not EntityLink.objects.exists() and "not counted" in str(job.result)
    imported(send(world, LINKS))
    run.refresh_from_db()
    assert run.complete, "a corrected file goes into the same run"


def test_a_run_of_an_encoder_is_not_mixed_with_a_file(world: World, base: KnowledgeBase) -> None:
    imported(send(world, LINKS))
    Run.objects.update(source="linking")
    refused = send(world, LINKS)
    assert refused.status_code == 400 and b"Withdraw that run first" in refused.content


def test_names_need_the_run_that_gave_them(world: World, base: KnowledgeBase) -> None:
    refused = send(world, LINKS, method="named")
    assert refused.status_code == 400 and b"Say which run gave the names" in refused.content
    assert not Run.objects.filter(task=Run.Task.LINKING).exists() and not KnowledgeIndex.objects.exists()


def test_items_and_bases_of_others_cannot_be_chosen(world: World, base: KnowledgeBase) -> None:
    stage = Stage.objects.create(
        benchmark=world.other_benchmark, key="theirs", name="Theirs", display="image", sheet=SHEET
    )
    Item.objects.create(stage=stage, key="red")
    refused = send(world, LINKS, stage=stage.pk)
    assert refused.status_code == 400 and not Run.objects.filter(task=Run.Task.LINKING).exists()
    assert send(world, LINKS, world.client(world.stranger)).status_code == 404
