"""The baseline without an encoder: what a model called an image, looked up among the names of a base."""

import base64
import io
import re
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from PIL import Image as Picture

from annotation.services.campaigns import lifecycle
from benchmarks.models import Stage
from jobs.models import Job
from papers.caire.tables.links import ranks_of
from predictions.models import EntityLink, KnowledgeIndex, Run
from predictions.prompts.registry import prompt
from predictions.services.knowledge import linking, name_matching
from predictions.services.knowledge.indexes import IndexRefused
from predictions.services.knowledge.linking import article_for
from tests.personas import World
from tests.predictions.knowledge.colours import RGB, ROWS, built, import_entries, items_of, row, run_job
from tests.predictions.model_server import Act, Server
from tests.predictions.prompts.cases import text
from tests.predictions.request_helpers import a_plan, an_endpoint, drive_run, start_run

pytestmark = pytest.mark.django_db(transaction=True)
SAYS = {"red": "Title:  RED", "blue": "Azul", "navy": "Smurf", "green": "I'm sorry, I can't help with that."}


def by_colour(asked: Any) -> Act:
    """A model that sees one colour and names it its own way."""
    [found] = re.findall(r"data:image/\w+;base64,([\w+/=]+)", str(asked.body))
    seen = Picture.open(io.BytesIO(base64.b64decode(found))).convert("RGB").getpixel((4, 4))
    near = min(SAYS, key=lambda name: sum(abs(a - b) for a, b in zip(RGB[name], seen, strict=True)))  # type: ignore[arg-type]
    return Act(text=SAYS[near])


@pytest.fixture
def answers(world: World, scripted_server: Server) -> Run:
    """A model was asked to name the four images of the stage."""
    stage = world.stage
    stage.sheet = {"fields": [{**text("entity"), "version": 1, "help": {}, "required": True}]}
    stage.save()
    items_of(world, {name: RGB[name] for name in SAYS})
    campaign = lifecycle.create(stage, "Names", world.mara, {world.egypt: 1}, seed=7)
    lifecycle.open_campaign(campaign, world.mara, timezone.now())
    scripted_server.answer_by(by_colour)
    endpoint = an_endpoint(world, scripted_server.base_url, offers=["images"])
    run = drive_run(start_run(world, a_plan(campaign, endpoint, prompt("caire-entity"))))
    assert run.complete and run.calls.filter(state="answered").count() == 3, list(run.calls.values_list("notes"))
    return run


def link_images(world: World, answers: Run) -> Run:
    index = KnowledgeIndex.objects.get(over="lemmas")
    run = linking.open_run(world.benchmark, world.mara, stage=world.stage, index=index, method="named", answers=answers)
    assert run_job(Job.objects.get(pk=run.options["job"])).state == "done"
    run.refresh_from_db()
    return run


def test_a_name_is_linked_to_the_entries_that_have_it_whole(world: World, answers: Run) -> None:
    other = row("azul", lemmas=["Azul (city)", "azul"])
    import_entries(world, [*ROWS, row("reddish"), other, row("a blue", lemmas=["AZUL"])])
    built(world, "lemmas")
    run = link_images(world, answers)
    assert (run.complete, run.rater.setting, run.model, run.score_kind) == (True, "named", "scripted", "match")
    found = {one.item.key: (one.keys, one.scores, one.reason) for one in run.links.select_related("item")}
    assert found == {
        "red": (["red"], [1.0], ""),  # not "reddish", which only begins so
        "blue": (["a blue", "blue", "azul"], [1.0] * 3, ""),  # those that are shown by it first
        "navy": ([], [], "no_such_name"),
        "green": ([], [], "no_name"),
    }
    assert [ranks_of(run).recall(k).value for k in (1, 5)] == [0.25, 0.5], "of four images, those without a link too"
    article = article_for(run, EntityLink.objects.get(run=run, item__key="red").item)
    assert article is not None and article.article.startswith("All about red.")


def test_letters_are_compared_not_how_they_are_written() -> None:
    assert name_matching.normalise_name(" Cafe\u0301  AU\nLait ") == name_matching.normalise_name("café au lait")
    assert name_matching.normalise_name("STRASSE") == name_matching.normalise_name("Straße")
    assert name_matching.normalise_name("Oni") != name_matching.normalise_name("Onigiri")


def test_a_picture_of_the_base_is_refused_as_in_the_other_ways(world: World, answers: Run) -> None:
    from benchmarks.models import ItemImage
    from tests.predictions.knowledge.colours import square

    import_entries(world, [row("red", "own.png")], {"own.png": square(*RGB["red"], shade=3)})
    built(world, "lemmas")
    assert ItemImage.objects.filter(item__key="red").count() == 1
    assert EntityLink.objects.get(run=link_images(world, answers), item__key="red").reason == "in_knowledge_base"


def test_it_is_begun_on_the_page_and_says_what_the_model_wrote(world: World, answers: Run) -> None:
    import_entries(world)
    index = built(world, "lemmas")
    page = world.client(world.mara)
    at = reverse("predictions:linking", args=[world.benchmark.slug])
    asked = {"stage": world.stage.pk, "index": index.pk, "method": "named", "nearest": 20, "refuse_known": "on"}
    lacking = page.post(at, asked)
    assert lacking.status_code == 400 and "Say which run gave the names." in lacking.content.decode()
    sent = page.post(at, asked | {"answers": answers.pk})
    run_job(Job.objects.get(pk=sent["Location"].split("/")[2]))
    run = Run.objects.get(task="linking")
    shown = page.get(reverse("predictions:links", args=[world.benchmark.slug, run.pk])).content.decode()
    assert "Named by a model" in shown and "No entry has the name that the model gave: 1" in shown
    assert "1.0000" not in shown and "nearest" not in shown, "a name has no score and no neighbours"
    item = EntityLink.objects.get(run=run, item__key="navy").item
    one = page.get(reverse("predictions:link", args=[world.benchmark.slug, run.pk, item.pk])).content.decode()
    assert "The model named it: <b><bdi>Smurf</bdi></b>" in one
    assert "Withdraw that run first" in page.post(at, asked | {"answers": answers.pk}).content.decode()


def test_only_a_run_that_named_these_images_is_taken(world: World, answers: Run) -> None:
    import_entries(world)
    index = built(world, "lemmas")
    how: dict[str, Any] = {"index": index, "method": "named"}
    with pytest.raises(IndexRefused, match="which run gave"):
        linking.open_run(world.benchmark, world.mara, stage=world.stage, **how)
    other = Stage(benchmark=world.benchmark, key="other", name="Other")
    with pytest.raises(IndexRefused, match="Choose that stage"):
        linking.open_run(world.benchmark, world.mara, stage=other, answers=answers, **how)
    assert name_matching.runs_of(world.benchmark) == [answers]
    Run.objects.filter(pk=answers.pk).update(withdrawn_at=timezone.now())
    assert name_matching.runs_of(world.benchmark) == []
    at = reverse("predictions:linking", args=[world.benchmark.slug])
    asked = {"stage": world.stage.pk, "index": index.pk, "method": "named", "nearest": 20}
    sent = world.client(world.mara).post(at, asked | {"answers": answers.pk})
    assert sent.status_code == 400 and "No model has named entities here yet" in sent.content.decode()
