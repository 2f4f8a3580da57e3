"""Each stage imports its own sample: of every display, and of every recipe."""

import csv

import pytest
from django.utils import timezone

from annotation.displays import DISPLAYS, Display
from annotation.models import Campaign
from annotation.services.campaigns import lifecycle
from benchmarks.imports.columns import columns_of
from benchmarks.models import Stage
from benchmarks.recipes.registry import RECIPES
from benchmarks.services.benchmarks import create_from_recipe
from people.models import User
from tests.annotation.composer.test_pages import post_form
from tests.importing import draw_pictures, files_of, outcomes, sample, upload
from tests.personas import World

pytestmark = pytest.mark.django_db
each_display = pytest.mark.parametrize("display", DISPLAYS, ids=lambda one: one.key)
SAMPLED = [(recipe.key, stage.key) for recipe in RECIPES for stage in recipe.stages]


def compose_stage(world: World, display: Display, pictures: str = "") -> Stage:
    """A blank stage with a display, made and published through the composer."""
    client, start = world.client(world.mara), f"/b/{world.benchmark.slug}/stages/"
    client.post(start, {"name": "Composed", "like": ""})
    stage = Stage.objects.get(benchmark=world.benchmark, name="Composed")
    url = f"{start}{stage.pk}/"
    post_form(client, url, "save", change={"s:display": display.key})
    if pictures:
        post_form(client, url, "save", change={"s:pictures": pictures})
    post_form(client, url, "field:text")
    reply = post_form(client, url, "publish", change={"w:sheet.fields[0].label.en": "What is it?"})
    assert reply.status_code == 302, reply.content.decode()
    stage.refresh_from_db()
    return stage


def open_sheet(world: World, stage: Stage, user: User) -> str:
    """The sheet of the stage's first item, as an annotator sees it."""
    campaign = lifecycle.create(stage, "Round", world.owner, {world.egypt: 1})
    lifecycle.open_campaign(campaign, world.owner, timezone.now())
    page = world.client(user).get(f"/work/{Campaign.objects.get(stage=stage).pk}/")
    assert page.status_code == 200
    return page.content.decode()


@each_display
def test_a_composed_stage_imports_its_own_sample_and_opens_a_sheet(world: World, display: Display) -> None:
    stage, client = compose_stage(world, display), world.client(world.mara)
    manifest = sample(client, stage)
    rows = list(csv.DictReader(manifest.decode("utf-8-sig").splitlines()))
    job = upload(client, stage, manifest, draw_pictures(files_of(manifest)))
    assert set(outcomes(job).values()) == {("created", "")} and len(outcomes(job)) == len(rows)
    assert stage.items.count() == len({row["key"] for row in rows}) == 2
    again = upload(client, stage, manifest, draw_pictures(files_of(manifest)))
    assert set(outcomes(again).values()) == {("unchanged", "")}, "importing twice adds nothing"
    sheet = open_sheet(world, stage, world.nour)
    assert "This item has no" not in sheet and "What is it?" in sheet


@pytest.mark.parametrize("key", ["pair", "bare-pair", "question", "candidate", "image"])
def test_a_stage_that_shows_no_picture_takes_a_manifest_alone(world: World, key: str) -> None:
    stage = compose_stage(world, next(one for one in DISPLAYS if one.key == key), "none")
    client = world.client(world.mara)
    page = client.get(f"/b/{world.benchmark.slug}/import/?stage={stage.key}").content.decode()
    assert "Pictures, as a zip" not in page
    manifest = sample(client, stage)
    assert "file" not in manifest.decode("utf-8-sig").splitlines()[0].split(",")
    job = upload(client, stage, manifest)
    assert set(outcomes(job).values()) == {("created", "")}
    if key == "image":
        stage.items.update(text="Some words")
    sheet = open_sheet(world, stage, world.nour)
    assert "This item has no picture" not in sheet
    first = stage.items.order_by("pk").first()
    assert first is not None
    shown = [first.context["option_a"], first.context["option_b"]] if "pair" in key else [first.text]
    assert any(text.replace("Tea", word) in sheet for text in shown for word in ("Tea", "Bread"))


@pytest.mark.parametrize(("recipe", "key"), SAMPLED)
def test_the_sample_of_a_recipes_stage_imports_completely(world: World, recipe: str, key: str) -> None:
    benchmark = create_from_recipe(world.team, recipe, recipe, f"b-{recipe}", world.mara)
    stage, client = benchmark.stages.get(key=key), world.client(world.mara)
    manifest = sample(client, stage)
    rows = list(csv.DictReader(manifest.decode("utf-8-sig").splitlines()))
    job = upload(client, stage, manifest, draw_pictures(files_of(manifest)))
    assert {row.outcome for row in job.rows.all()} == {"created"}, list(job.rows.values_list("reason", "message"))
    assert job.rows.count() == len(rows) > 0
    assert stage.items.count() == len({row["key"] for row in rows})
    assert not {row.reason for row in job.rows.all()} - {"", "shares_picture"}
    again = upload(client, stage, manifest, draw_pictures(files_of(manifest)))
    assert {row.outcome for row in again.rows.all()} == {"unchanged"}


@each_display
def test_the_import_page_names_the_columns_of_the_sample(world: World, display: Display) -> None:
    stage, client = compose_stage(world, display), world.client(world.mara)
    page = client.get(f"/b/{world.benchmark.slug}/import/?stage={stage.key}").content.decode()
    head = sample(client, stage).decode("utf-8-sig").splitlines()[0].split(",")
    assert {name for name in head if f"<code>{name}</code>" not in page} == set()
    assert "<code>fact.&lt;key&gt;</code>" in page
    assert set(display.texts) <= set(head)


def test_strangers_see_neither_columns_nor_sample(world: World) -> None:
    for user in (world.stranger, world.rival, world.nour):
        for url in ("import/", "import/manifest.csv"):
            assert world.client(user).get(f"/b/{world.benchmark.slug}/{url}?stage=relevance").status_code == 404
    other = world.other_benchmark.stages.get()
    other.key = "songs"
    other.save()
    assert world.client(world.mara).get(f"/b/{world.benchmark.slug}/import/?stage=songs").status_code == 404
    reply = world.client(world.mara).post(f"/b/{world.benchmark.slug}/import/", {"stage": other.pk})
    assert reply.status_code == 404


def test_a_column_lists_its_only_values_also_where_the_sheet_shows_it(world: World) -> None:
    benchmark = create_from_recipe(world.team, "globalrg-retrieval", "Retrieval", "retrieval", world.mara)
    columns = {column.name: column for column in columns_of(benchmark.stages.get(key="candidates"))}
    assert len(columns["concept"].values) == 20 and not columns["concept"].more
