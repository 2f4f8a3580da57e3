"""The pages of knowledge bases and links: for the team, a page at a time, and nobody else's."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from benchmarks.models import Item, Stage
from jobs.models import Job
from jobs.services import lifecycle
from predictions.models import EntityLink, KnowledgeBase, KnowledgeEntry, KnowledgeIndex, Run
from predictions.queries import knowledge as readers
from predictions.services.knowledge import indexes, link_checks, linking
from tests.personas import SHEET, World
from tests.predictions.knowledge.colours import (
    MODEL,
    RGB,
    ROWS,
    a_base,
    an_endpoint,
    built,
    import_entries,
    items_of,
    jsonl,
    row,
    run_job,
)
from tests.predictions.knowledge.samples import a_linking


def at(world: World, name: str, *rest: Any) -> str:
    return reverse(f"predictions:{name}", args=[world.team.slug, *rest])


def page_path(world: World, name: str, *rest: Any) -> str:
    return reverse(f"predictions:{name}", args=[world.benchmark.slug, *rest])


def test_a_member_makes_a_base_brings_entries_and_builds_an_index(world: World) -> None:
    page = world.client(world.mara)
    assert "no knowledge base yet" in page.get(at(world, "knowledge")).content.decode()
    sent = page.post(at(world, "knowledge"), {"name": "Colours", "version": "1", "licence": "CC0"})
    base = KnowledgeBase.objects.get()
    assert sent["Location"] == at(world, "knowledge_import", base.pk)
    twice = page.post(at(world, "knowledge"), {"name": "Colours", "version": "1"})
    assert twice.status_code == 400 and b"this version already" in twice.content
    rows = [{**one, "images": []} for one in ROWS]
    file = SimpleUploadedFile("kb.jsonl", jsonl(rows))
    job = Job.objects.get(
        pk=page.post(at(world, "knowledge_import", base.pk), {"entries": file})["Location"].split("/")[2]
    )
    assert run_job(job).state == "done"
    assert b"Colours 1" in page.get(reverse("jobs:job", args=[job.pk])).content
    shown = page.get(at(world, "knowledge_base", base.pk)).content.decode()
    assert "6 entries" in shown and "No index yet" in shown and "azul" in shown
    assert "no encoder" in page.get(at(world, "knowledge_index", base.pk)).content.decode()
    asked = {"endpoint": an_endpoint(world).pk, "model": MODEL, "over": "lemmas", "kind": ""}
    sent = page.post(at(world, "knowledge_index", base.pk), asked)
    run_job(Job.objects.get(pk=sent["Location"].split("/")[2]))
    shown = page.get(at(world, "knowledge_base", base.pk)).content.decode()
    assert "7 × 4" in shown and "1.000" in shown and "exact" in shown
    wrong = page.post(at(world, "knowledge_index", base.pk), {**asked, "vectors": SimpleUploadedFile("v.npy", b"x")})
    assert wrong.status_code == 400 and b"come together" in wrong.content


@pytest.mark.parametrize("wanted", ["azul", "AZUL", "blue", "navy"])
def test_entries_are_found_by_id_and_by_any_name(world: World, wanted: str) -> None:
    import_entries(world, pictures=None)
    base = KnowledgeBase.objects.get()
    found, further = readers.entries_of(base, wanted, 0)
    assert [one.key for one in found] == ["navy" if wanted == "navy" else "blue"] and further is None
    page = world.client(world.mara).get(at(world, "knowledge_base", base.pk), {"q": wanted}).content.decode()
    assert "crimson" not in page


def test_a_page_holds_a_hundred_entries_and_leads_to_the_next(world: World) -> None:
    base = a_base(world)
    KnowledgeEntry.objects.bulk_create(
        KnowledgeEntry(base=base, key=f"k{n:03}", lemmas=[f"n{n:03}"]) for n in range(101)
    )
    page = world.client(world.mara).get(at(world, "knowledge_base", base.pk)).content.decode()
    assert "n099" in page and "n100" not in page
    _found, further = readers.entries_of(base, "", 0)
    rest = world.client(world.mara).get(at(world, "knowledge_base", base.pk), {"after": further}).content.decode()
    assert "n100" in rest and "n099" not in rest


def test_images_are_linked_and_looked_at(world: World) -> None:
    import_entries(world)
    items_of(world, {"red": RGB["red"], "blue": RGB["blue"]})
    Item.objects.create(stage=world.stage, key="bare")
    index = built(world)
    page = world.client(world.mara)
    asked = {"stage": world.stage.pk, "index": index.pk, "method": "lemma_vt", "nearest": 3, "refuse_known": "on"}
    sent = page.post(page_path(world, "linking"), asked)
    job = Job.objects.get(pk=sent["Location"].split("/")[2])
    run = Run.objects.get(task="linking")
    assert "Not all images are linked yet" in page.get(page_path(world, "links", run.pk)).content.decode()
    run_job(job)
    again = page.post(page_path(world, "linking"), asked)
    assert again.status_code == 400 and b"Withdraw that run first" in again.content
    shown = page.get(page_path(world, "links", run.pk)).content.decode()
    assert "The item has no picture: 1" in shown and "<b><bdi>red</bdi></b>" in shown
    only = page.get(page_path(world, "links", run.pk), {"show": "no_image"}).content.decode()
    assert "bare" in only and "<b><bdi>red</bdi></b>" not in only
    one = page.get(page_path(world, "link", run.pk, Item.objects.get(key="red").pk)).content.decode()
    assert "warm.png" in one and "3 nearest pictures" in one and "All about red." in one and "right</span>" in one
    bare = page.get(page_path(world, "link", run.pk, Item.objects.get(key="bare").pk)).content.decode()
    assert "The item has no picture." in bare and "a model that needs one is not asked" in bare


def test_a_stage_without_images_is_refused_and_no_run_is_listed(world: World) -> None:
    """It was listed as done, 0 of 0 images."""
    import_entries(world)
    Item.objects.create(stage=world.stage, key="bare")
    asked = {"stage": world.stage.pk, "index": built(world).pk, "method": "lemma_vt", "nearest": 3}
    sent = world.client(world.mara).post(page_path(world, "linking"), asked)
    assert sent.status_code == 400 and "has no images to link" in sent.content.decode()
    assert not Run.objects.filter(task="linking").exists()


def test_a_run_by_frequency_shows_how_many_pictures_have_the_entry(world: World) -> None:
    import_entries(world)
    items_of(world, {"red": RGB["red"]})
    run = linking.open_run(
        world.benchmark, world.mara, stage=world.stage, index=built(world), method="frequency_vt", nearest=4
    )
    run_job(Job.objects.get(pk=run.options["job"]))
    page = world.client(world.mara)
    assert "3 pictures" in page.get(page_path(world, "links", run.pk)).content.decode()
    one = page.get(page_path(world, "link", run.pk, Item.objects.get(key="red").pk)).content.decode()
    assert "Frequency" in one and '<td class="num">3</td>' in one


def test_a_run_is_withdrawn_and_brought_back_unless_another_took_its_place(world: World) -> None:
    import_entries(world)
    items_of(world, {"red": RGB["red"]})
    index, page = built(world), world.client(world.mara)
    first = linking.open_run(world.benchmark, world.mara, stage=world.stage, index=index, method="lemma_vt")
    page.post(page_path(world, "links_action", first.pk), {"do": "withdraw"})
    second = linking.open_run(world.benchmark, world.mara, stage=world.stage, index=index, method="lemma_vt")
    told = page.post(page_path(world, "links_action", first.pk), {"do": "back"}, follow=True).content.decode()
    assert "newer run has replaced it" in told
    page.post(page_path(world, "links_action", second.pk), {"do": "withdraw"})
    page.post(page_path(world, "links_action", first.pk), {"do": "back"})
    first.refresh_from_db()
    assert first.withdrawn_at is None


def test_people_check_links_in_a_stage_of_their_own(world: World) -> None:
    world.add_items(2, images=True)
    run = a_linking(world)
    bare = world.items[1]
    EntityLink.objects.create(run=run, item=bare, keys=[], scores=[], reason="no_image")
    page = world.client(world.mara)
    told = page.post(page_path(world, "links_action", run.pk), {"do": "check"}, follow=True).content.decode()
    assert "no stage “link-check”" in told
    stage = Stage.objects.create(
        benchmark=world.benchmark, key="link-check", name="Link check", display="image", sheet=SHEET, target_answers=1
    )
    assert (
        "1 item was added"
        in page.post(page_path(world, "links_action", run.pk), {"do": "check"}, follow=True).content.decode()
    )
    item = stage.items.get()
    assert item.key.startswith(f"{world.items[0].key}/lemma_vt/") and item.context["linked"] == "Pysanka"
    assert item.images.get().image == world.items[0].images.get().image
    made = link_checks.create_check_items(run, stage, world.mara)
    assert (made.made, made.there, made.lacking) == (0, 1, 1) and stage.items.count() == 1
    run.model = "another encoder"
    assert link_checks.create_check_items(run, stage, world.mara).made == 1, (
        "what people said of the first stands for the first"
    )


def test_another_teams_base_index_and_run_are_not_there(world: World) -> None:
    world.add_items(1)
    run = a_linking(world)
    index = run.knowledge_index
    assert index is not None
    rival = world.client(world.rival)
    for name, rest in (("knowledge", ()), ("knowledge_base", (index.base_id,))):
        assert rival.get(at(world, name, *rest)).status_code == 404
    assert world.client(world.mara).get(at(world, "knowledge_base", index.base_id)).status_code == 200
    KnowledgeBase.objects.filter(pk=index.base_id).update(team=world.other_team)
    assert world.client(world.mara).get(at(world, "knowledge_base", index.base_id)).status_code == 404
    asked = {"stage": world.stage.pk, "index": index.pk, "method": "gloss_vt", "nearest": 3}
    assert world.client(world.mara).post(page_path(world, "linking"), asked).status_code == 400
    assert not Run.objects.filter(options__method="gloss_vt").exists()
    assert KnowledgeIndex.objects.count() == 1


def test_an_annotator_sees_no_links(world: World) -> None:
    world.add_items(1)
    run = a_linking(world)
    assert world.client(world.nour).get(page_path(world, "links", run.pk)).status_code == 404
    assert world.client(world.mara).get(page_path(world, "links", run.pk)).status_code == 200


def test_an_entry_shows_as_much_of_its_article_as_a_prompt_gets(world: World) -> None:
    import_entries(world, [row("red", "red.png", text="y" * 15_010)])
    entry = KnowledgeEntry.objects.get()
    page = world.client(world.mara).get(at(world, "knowledge_entry", entry.base_id, entry.pk)).content.decode()
    assert "10 further characters" in page and page.count("y" * 15_000) == 1 and "red.png" in page


def test_missing_model_is_reported_before_any_work_begins(world: World, models_root: Path) -> None:
    page, base = world.client(world.mara), a_base(world)
    asked = {"endpoint": an_endpoint(world).pk, "model": "local-dir:nope", "over": "lemmas", "kind": ""}
    form = page.get(at(world, "knowledge_index", base.pk)).content.decode()
    assert '<option value="local-dir:tiny">' in form, "those that are here are suggested"
    wrong = page.post(at(world, "knowledge_index", base.pk), asked)
    text = wrong.content.decode()
    assert wrong.status_code == 400 and "There is no folder “nope”" in text and "Here are: local-dir:tiny." in text
    assert not Job.objects.exists() and not KnowledgeIndex.objects.exists()
    assert page.post(at(world, "knowledge_index", base.pk), {**asked, "model": "local-dir:tiny"}).status_code == 302


def test_an_index_that_was_never_built_is_removed_and_no_other(world: World) -> None:
    page, base = world.client(world.mara), a_base(world)
    failed = KnowledgeIndex.objects.create(base=base, endpoint=an_endpoint(world), model="nope", over="images")
    folder = indexes.store_of(failed).folder
    folder.mkdir(parents=True)
    address = at(world, "knowledge_index_action", base.pk, failed.pk)
    assert address in page.get(at(world, "knowledge_base", base.pk)).content.decode()
    assert world.client(world.rival).post(address, {"do": "remove"}).status_code == 404
    assert page.post(address, {"do": "dance"}).status_code == 400
    job = lifecycle.start(indexes.KIND, "Index", scope="x:1", actor=world.mara, params={"index": failed.pk})
    assert "being built now" in page.post(address, {"do": "remove"}, follow=True).content.decode()
    Job.objects.filter(pk=job.pk).update(state="failed", finished_at=timezone.now())
    assert "The index was removed" in page.post(address, {"do": "remove"}, follow=True).content.decode()
    assert not KnowledgeIndex.objects.exists() and not folder.exists()
    Job.objects.filter(pk=job.pk).update(state="queued", finished_at=None)
    assert "was removed" in run_job(job).error, "its work, taken up again, says so"
    whole = KnowledgeIndex.objects.create(base=base, model="good", over="images", built_at=timezone.now())
    told = page.post(at(world, "knowledge_index_action", base.pk, whole.pk), {"do": "remove"}, follow=True)
    assert "cannot be removed" in told.content.decode() and KnowledgeIndex.objects.get() == whole


def test_ways_of_linking_without_an_index_are_not_offered_and_the_others_need_theirs(world: World) -> None:
    page, run = world.client(world.mara), a_linking_of(world)
    assert run.knowledge_index is not None
    base, encoder = run.knowledge_index.base, run.knowledge_index.endpoint
    shown = page.get(page_path(world, "linking")).content.decode()
    assert 'value="lemma_vt"' in shown and 'value="gloss_t"' not in shown
    assert "Not listed, for want of an index: Nearest names; Nearest glosses; Nearest articles." in shown
    KnowledgeIndex.objects.create(base=base, endpoint=encoder, model="tiny", over="glosses", built_at=timezone.now())
    asked = {"stage": world.stage.pk, "index": run.knowledge_index.pk, "method": "gloss_t", "nearest": 3}
    wrong = page.post(page_path(world, "linking"), asked)
    assert 'value="gloss_t"' in page.get(page_path(world, "linking")).content.decode()
    text = wrong.content.decode()
    assert wrong.status_code == 400 and 'id="id_index_error"' in text and "an index over Glosses. Choose one." in text


def test_a_linking_run_says_its_stage_by_name_who_began_it_and_how_many_are_linked(world: World) -> None:
    run = a_linking_of(world)
    Run.objects.filter(pk=run.pk).update(created_by=world.mara, options={**run.options, "rows": 5, "unlinked": 2})
    Stage.objects.filter(pk=world.stage.pk).update(name="Markets, seen from afar")
    listed = world.client(world.mara).get(page_path(world, "linking")).content.decode()
    assert "Markets, seen from afar" in listed and "3 of 5 images" in listed and "2 without a link" in listed
    assert str(world.mara) in listed.split("</thead>")[1].split("</table>")[0]
    page = world.client(world.mara).get(page_path(world, "links", run.pk)).content.decode()
    assert "3 of 5 images linked" in page
    assert 'similarity <bdi dir="ltr">0.5000</bdi>' in page and "its nearest picture: similarity" in page


def a_linking_of(world: World) -> Run:
    world.add_items(1)
    return a_linking(world)
