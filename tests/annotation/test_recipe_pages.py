"""A benchmark is saved as a recipe, for the team and as a file that another team loads; a bad file is refused whole."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client

from benchmarks.models import Benchmark, LabelSet, SavedRecipe, Stage
from benchmarks.rules.coverage import CoverageSpec
from benchmarks.services.label_sets import create_typed
from evaluation.models import BenchmarkTable
from jobs.models import Event
from tests.chains.link_client import text_of
from tests.module_world import built_once
from tests.personas import SHEET, World

pytestmark = pytest.mark.django_db
Content = dict[str, Any]
LIST = "/teams/nile-lab/recipes/"
OTHERS = "/teams/other-lab/recipes/"


@built_once
def composed(world: World) -> Benchmark:
    """Two stages, the second made of the first, with coverage by a set of the team; and a table."""
    create_typed(world.team, "Two lands", "Egypt\nPeru", world.mara)
    wanted = CoverageSpec(rows="set:two-lands", columns="concepts", per_cell=2, names=("tea",))
    Stage.objects.filter(pk=world.stage.pk).update(coverage=wanted.to_json())
    Stage.objects.create(
        benchmark=world.benchmark, key="second-look", name="Second look", position=1, display="image", sheet=SHEET,
        derivation={"kind": "promote", "from": ["relevance"], "params": {}}, target_answers=1,
    )  # fmt: skip
    BenchmarkTable.objects.create(
        benchmark=world.benchmark, key="t", name="How they agree", kind="agreement", stage="relevance",
        field="relevance",
    )  # fmt: skip
    return world.benchmark


def save_url(benchmark: Benchmark) -> str:
    return f"/b/{benchmark.slug}/recipe/"


def download(client: Client, benchmark: Benchmark) -> bytes:
    page = client.get(save_url(benchmark)).content.decode()
    assert "What the recipe holds" in page
    reply = client.post(save_url(benchmark), {"name": "Sea", "summary": "Two looks.", "do": "download"})
    assert reply.headers["Content-Disposition"] == 'attachment; filename="sea.recipe.json"'
    return reply.getvalue()


def words_of(reply: Any) -> str:
    return text_of(reply.content.decode()).replace(" :", ":")


def load(client: Client, address: str, data: bytes, name: str = "sea.recipe.json") -> Any:
    return client.post(address, {"file": ContentFile(data, name)})


def create(client: Client, row: SavedRecipe, slug: str) -> Benchmark:
    form = {"recipe": f"saved:{row.pk}", "name": slug, "slug": slug, "team": row.team_id, "question": ""}
    reply = client.post("/benchmarks/new/", form)
    assert reply.status_code == 302, text_of(reply.content.decode())
    return Benchmark.objects.get(slug=slug)


def test_a_file_of_one_team_makes_the_same_benchmark_in_another(world: World, composed: Benchmark) -> None:
    data = download(world.client(world.mara), composed)
    rival = world.client(world.rival)
    reply = load(rival, OTHERS, data)
    row = SavedRecipe.objects.get()
    assert reply.headers["Location"] == f"{OTHERS}{row.pk}/" and row.team == world.other_team
    page = text_of(rival.get(reply.headers["Location"]).content.decode())
    assert "Second look" in page and "How they agree" in page and "Two lands" in page
    assert "It holds no items" in page and "nour@example.org" not in data.decode()
    again = create(rival, row, "again")
    assert again.stages.count() == 2 and again.composed_tables.get().name == "How they agree"
    assert again.purpose == "Two looks." and again.saved_recipe == "sea" and again.recipe_version == "1"
    assert LabelSet.objects.filter(team=world.other_team, key="two-lands").exists()
    second = rival.post(save_url(again), {"name": "Sea", "summary": "Two looks.", "do": "keep"})
    assert second.headers["Location"] == f"{OTHERS}{row.pk}/", "nothing differs, so nothing is saved"
    assert rival.get(f"{OTHERS}{row.pk}/file/").getvalue() == data


def test_a_set_of_another_content_under_the_same_key_is_left_alone(world: World, composed: Benchmark) -> None:
    data, rival = download(world.client(world.mara), composed), world.client(world.rival)
    create_typed(world.other_team, "Two lands", "Norway\nChile", world.rival)
    load(rival, OTHERS, data)
    again = create(rival, SavedRecipe.objects.get(), "again")
    rows = again.stages.get(key="relevance").coverage["rows"]
    assert rows.startswith("set:two-lands-")
    texts = LabelSet.objects.get(team=world.other_team, key=rows.removeprefix("set:")).labels.values_list("text")
    assert [text for (text,) in texts] == ["Egypt", "Peru"]
    assert LabelSet.objects.filter(team=world.other_team, key="two-lands").count() == 1


def test_a_changed_benchmark_is_the_next_version_and_offers_what_it_adds(world: World, composed: Benchmark) -> None:
    mara, texts = world.client(world.mara), {"name": "Sea", "summary": "", "do": "keep"}
    mara.post(save_url(composed), texts)
    mara.post(save_url(composed), texts)
    first = SavedRecipe.objects.get()
    older = create(mara, first, "older")
    assert "adds" not in mara.get("/b/older/stages/").content.decode()
    Stage.objects.create(benchmark=composed, key="third", name="Third look", position=2, display="image", sheet=SHEET)
    mara.post(save_url(composed), texts)
    assert list(SavedRecipe.objects.order_by("version").values_list("version", flat=True)) == [1, 2]
    assert "Version 2 of the recipe adds" in mara.get("/b/older/stages/").content.decode()
    mara.post("/b/older/stages/", {"additions": "2"})
    assert older.stages.filter(name="Third look").exists()
    page = mara.get("/benchmarks/new/").content.decode()
    assert f'value="saved:{first.pk}"' not in page and "Recipe of the team Nile Lab, version 2" in page
    forms = {"recipe": f"saved:{first.pk}", "name": "x", "slug": "x", "team": world.team.pk, "question": ""}
    assert mara.post("/benchmarks/new/", forms).status_code == 200, "an older version is no choice"


def test_a_recipe_with_a_stage_that_cannot_be_published_is_not_saved(world: World, composed: Benchmark) -> None:
    Stage.objects.create(benchmark=composed, key="new", name="Half done", position=3, display="image", sheet={"fields": []})  # fmt: skip # noqa: E501
    mara = world.client(world.mara)
    page = text_of(mara.get(save_url(composed)).content.decode())
    assert "It cannot be saved yet." in page and "Half done" in page
    assert mara.post(save_url(composed), {"name": "Sea", "do": "keep"}).status_code == 400
    assert not SavedRecipe.objects.exists()


@pytest.mark.parametrize("who", ["reviewer", "nour", "manager", "team_admin", "stranger", "rival"])
def test_only_those_who_work_on_a_benchmark_save_it(world: World, who: str) -> None:
    client = world.client(getattr(world, who))
    for reply in (client.get(save_url(world.benchmark)), client.post(save_url(world.benchmark), {"do": "download"})):
        assert reply.status_code == 404
    assert world.client(world.owner).get(save_url(world.benchmark)).status_code == 200


def test_the_list_is_the_teams_own_and_saver_and_admins_remove(world: World, composed: Benchmark) -> None:
    world.client(world.mara).post(save_url(composed), {"name": "Sea", "do": "keep"})
    row = SavedRecipe.objects.get()
    mine = f"{LIST}{row.pk}/"
    for person in (world.nour, world.manager, world.stranger, world.rival):
        client = world.client(person)
        assert [client.get(url).status_code for url in (LIST, mine, f"{mine}file/")] == [404, 404, 404]
        assert client.post(mine, {"do": "remove"}).status_code == 404
    assert world.client(world.rival).get(f"{OTHERS}{row.pk}/").status_code == 404
    assert world.client(world.owner).get(mine).status_code == 200
    assert world.client(world.owner).post(mine, {"do": "remove"}).status_code == 404
    site_admin = world.client(world.site_admin)
    assert site_admin.get(mine).status_code == 200 and site_admin.post(mine, {"do": "remove"}).status_code == 404
    for person in (world.mara, world.team_admin):
        client = world.client(person)
        client.post(mine, {"do": "remove"})
        assert f"saved:{row.pk}" not in world.client(world.owner).get("/benchmarks/new/").content.decode()
        client.post(mine, {"do": "restore"})
    assert f"saved:{row.pk}" in world.client(world.owner).get("/benchmarks/new/").content.decode()
    assert Event.objects.filter(verb="recipe.removed").count() == 2
    wrong = {"recipe": f"saved:{row.pk}", "name": "x", "slug": "x", "team": world.other_team.pk, "question": ""}
    assert world.client(world.rival).post("/benchmarks/new/", wrong).status_code == 200
    assert not Benchmark.objects.filter(slug="x").exists()


def without_text(content: Content) -> None:
    content["stages"][1]["sheet"]["fields"][0]["label"] = {"ar": "سؤال"}


def unknown_kind(content: Content) -> None:
    content["stages"][0]["sheet"]["fields"][0]["kind"] = "telepathy"


def unknown_member(content: Content) -> None:
    content["stages"][0]["owner"] = "nour"


def later_source(content: Content) -> None:
    content["stages"][1]["derivation"]["from"] = ["ghost"]


def wrong_filter(content: Content) -> None:
    content["stages"][0]["filters"] = [{"key": "a", "kind": "magic", "params": {}}]


def no_set(content: Content) -> None:
    del content["label_sets"]


def table_of_no_stage(content: Content) -> None:
    content["tables"][0]["stage"] = "ghost"


def twice(content: Content) -> None:
    content["stages"][1] = {**content["stages"][0], "name": "Twin"}


def text_for_number(content: Content) -> None:
    content["stages"][1]["target_answers"] = "many"


def strange_options(content: Content) -> None:
    content["stages"][0]["sheet"]["fields"][0]["config"] = {"points": 7, "level": {"a": []}}


def strange_rule(content: Content) -> None:
    content["stages"][0] |= {"acceptance": "by_rule", "acceptance_rule": {"clauses": [3], "over": []}}


def no_zone(content: Content) -> None:
    content["cohorts"] = [{"label": "X", "names": {"en": "X"}, "time_zone": "../../etc/passwd"}]


BROKEN: list[tuple[Callable[[Content], None], str]] = [
    (without_text, "Stage “Second look”: Question 1"),
    (unknown_kind, "Stage “Relevance rating”: Question 1"),
    (unknown_member, "Stage “Relevance rating”: owner: No part of a recipe has this name."),
    (later_source, "Stage “Second look”: derivation: no earlier stage 'ghost'"),
    (wrong_filter, "Stage “Relevance rating”: filters.0.kind"),
    (no_set, "Neither the file nor this site has the label set “two-lands”."),
    (table_of_no_stage, "tables[1].stage: The file has no stage “ghost”."),
    (twice, "stages: something is named twice"),
    (text_for_number, "Stage “Second look”: target_answers: Write a number from 0 to 1000."),
    (strange_options, "Stage “Relevance rating”: Question 1"),
    (strange_rule, "Stage “Relevance rating”"),
    (no_zone, "cohorts[1].time_zone: This is no time zone"),
]


def test_a_file_that_is_wrong_is_refused_with_its_name_stage_and_reason(world: World, composed: Benchmark) -> None:
    mara = world.client(world.mara)
    good = download(mara, composed)
    for change, words in BROKEN:
        content = json.loads(good)
        change(content)
        reply = load(mara, LIST, json.dumps(content).encode(), "from-a-friend.json")
        page = words_of(reply)
        assert reply.status_code == 400 and "“from-a-friend.json” was not loaded." in page, change.__name__
        assert words in page, (change.__name__, page)
    assert not SavedRecipe.objects.exists()


@pytest.mark.parametrize(("data", "words"), [
    (b"", "empty"),
    (b"\xff\xfe{", "not UTF-8"),
    (b'{"format": "emic-recipe",', "not JSON: line 1"),
    (b"[" * 100_000, "cannot be read"),
    (b'{"format": "emic-recipe", "format_version": 1, "x": NaN}', "cannot be read"),
    (b"[1, 2]", "not a recipe file"),
    (b'{"format": "emic-recipe", "format_version": 2}', "has format version 2; this site reads 1"),
    (b'{"format": "emic-recipe", "format_version": 1, "name": "\\u0000"}', "cannot be kept"),
    (b'{"format": "emic-recipe", "format_version": 1, "name": "\\ud800"}', "cannot be kept"),
    (b'{"format": "emic-recipe", "format_version": 1}', "stages: This is missing."),
    (b'{"format": "emic-recipe", "format_version": 1, "stages": {"a": 1}}', "stages: This must be a list"),
    (b'{"format": "emic-recipe", "format_version": 1}' + b" " * 4 * 1024**2, "larger than 4 MB"),
], ids=range(12))  # fmt: skip
def test_a_hostile_file_is_refused_and_nothing_is_kept(world: World, data: bytes, words: str) -> None:
    reply = load(world.client(world.mara), LIST, data)
    assert reply.status_code == 400 and words in words_of(reply)
    assert not SavedRecipe.objects.exists()


def test_concepts_and_picture_conditions_have_a_form_and_are_kept(world: World, composed: Benchmark) -> None:
    mara = world.client(world.mara)
    form = {"name": "Sea", "summary": "", "do": "keep", "concepts": "River\n\n Sea \nRiver",
            "conditions-TOTAL_FORMS": "2", "conditions-INITIAL_FORMS": "0",
            "conditions-0-key": "natural", "conditions-0-name": "Photographs"}  # fmt: skip
    half = mara.post(save_url(composed), {**form, "conditions-1-key": "generated"})
    assert half.status_code == 400 and "Write a key and a name" in half.content.decode()
    twice = mara.post(save_url(composed), {**form, "conditions-1-key": "natural", "conditions-1-name": "Again"})
    assert twice.status_code == 400 and "occurs twice" in twice.content.decode()
    assert not SavedRecipe.objects.exists()
    assert (
        mara.post(save_url(composed), {**form, "conditions-1-key": "made", "conditions-1-name": "Made"}).status_code
        == 302
    )
    row = SavedRecipe.objects.get()
    assert row.content["concepts"] == ["River", "Sea"]
    assert [(one["key"], one["name"]["en"]) for one in row.content["conditions"]] == [
        ("natural", "Photographs"), ("made", "Made")
    ]  # fmt: skip
    again = create(mara, row, "again")
    page = mara.get(save_url(again)).content.decode()
    assert "River\nSea</textarea>" in page and 'value="Photographs"' in page, "the next version begins with them"
    mara.post(save_url(again), {"name": "Sea", "summary": again.purpose, "do": "keep"})
    assert SavedRecipe.objects.count() == 1, "what is not sent stays"
