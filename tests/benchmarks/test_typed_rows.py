"""Items that are typed on the import page: each line is one, and a line that is none is named."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from benchmarks.forms.typed_rows import TypedRowsForm
from benchmarks.models import Item, Stage
from benchmarks.services.benchmarks import create_from_recipe
from jobs.models import Job
from tests.chains.researcher import do_waiting_work
from tests.personas import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def words(world: World) -> Stage:
    return Stage.objects.create(
        benchmark=world.benchmark, key="topics", name="Topics", display="words", pictures="none", position=1,
        sheet=world.stage.sheet,
    )  # fmt: skip


def type_rows(world: World, stage: Stage, rows: str, columns: tuple[str, ...] = ("text",)) -> str:
    url = f"/b/{world.benchmark.slug}/import/?stage={stage.key}"
    data = {"stage": stage.pk, "do": "type", "rows-rows": rows, "rows-columns": list(columns)}
    page = world.client(world.mara).post(url, data, follow=True).content.decode()
    do_waiting_work()
    return str(page)


def test_each_typed_line_is_an_item_and_typing_it_again_adds_nothing(world: World, words: Stage) -> None:
    for _time in range(2):
        type_rows(world, words, "patience\n\n  a new   broom\nالصبر\n")
        assert sorted(Item.objects.filter(stage=words).values_list("text", flat=True)) == [
            "a new broom", "patience", "الصبر",
        ]  # fmt: skip
    assert words.items.get(text="a new broom").key == "a-new-broom"
    assert Job.objects.latest("pk").title == "Import of 3 typed items", "not called a file, which nobody sent"


def test_columns_are_separated_as_a_spreadsheet_pastes_them(world: World, words: Stage) -> None:
    type_rows(world, words, "hope\tvirtue\nluck | chance", ("text", "concept"))
    assert set(words.items.values_list("text", "concept")) == {("hope", "virtue"), ("luck", "chance")}


@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [
        ("a | b | c", ("text", "concept"), "Line 1 has 3 parts. Ticked are 2 columns: text, concept."),
        ("a\nb\na", ("text",), "Line 3 repeats line 1. Remove one of them."),
        ("\n".join(map(str, range(201))), ("text",), "These are 201 lines."),
        ("a", (), "Choose at least one column."),
        (f"a | {'b' * 121}", ("text", "concept"), "Line 1: “concept” is longer than 120 characters."),
    ],
)
def test_a_line_that_is_no_item_is_refused_in_place(
    world: World, words: Stage, rows: str, columns: tuple[str, ...], message: str
) -> None:
    page = type_rows(world, words, rows, columns)
    assert message in page and '<a href="#typed">' in page, "the error is named where the page begins"
    assert not words.items.exists()


def test_a_stage_of_pictures_offers_no_typing(world: World, words: Stage) -> None:
    url = f"/b/{world.benchmark.slug}/import/?stage={words.key}"
    assert "Type items here" in world.client(world.mara).get(url).content.decode()
    Stage.objects.filter(pk=words.pk).update(pictures="one", display="image")
    assert "Type items here" not in world.client(world.mara).get(url).content.decode()
    type_rows(world, words, "a line")
    assert not words.items.exists()


def test_an_import_with_rejected_rows_leads_back_to_its_form(world: World, words: Stage) -> None:
    back = f"/b/{world.benchmark.slug}/import/?stage={words.key}"
    files = {"manifest": SimpleUploadedFile("words.csv", b"key,text\none,first\none,second\n")}
    upload = {"stage": words.pk, **files}
    job = world.client(world.mara).post(back, upload)["Location"]
    do_waiting_work()
    page = world.client(world.mara).get(job).content.decode()
    assert words.items.count() == 1 and f'href="{back}"' in page and "Import a corrected file" in page
    type_rows(world, words, "third")
    clean = f"/jobs/{Job.objects.latest('pk').pk}/"
    assert "Import a corrected file" not in world.client(world.mara).get(clean).content.decode()


def test_the_columns_that_a_stage_needs_are_ticked_and_named(world: World) -> None:
    benchmark = create_from_recipe(world.team, "globalrg-grounding", "Grounding", "grounding", world.owner)
    stage = benchmark.stages.get(key="finding")
    form = TypedRowsForm(stage=stage)
    assert form["columns"].initial == ["text", "country"]
    assert str(form["rows"].help_text).startswith("Each line: text | country.")
    data = {"stage": stage.pk, "do": "type", "rows-rows": "dosa | India", "rows-columns": form["columns"].initial}
    world.client(world.owner).post("/b/grounding/import/?stage=finding", data)
    do_waiting_work()
    assert set(stage.items.values_list("text", "origin")) == {("dosa", "India")}


def test_concepts_of_a_recipe_are_typed_as_concepts(world: World) -> None:
    """Merges, native names and queries of 3XCM read the concept; a line that became the text alone would be lost."""
    benchmark = create_from_recipe(world.team, "3xcm", "Words", "words", world.owner)
    stage = benchmark.stages.get(key="concepts")
    form = TypedRowsForm(stage=stage)
    assert form["columns"].initial == ["concept"]
    url = f"/b/{benchmark.slug}/import/?stage={stage.key}"
    data = {"stage": stage.pk, "do": "type", "rows-rows": "night market", "rows-columns": ["concept"]}
    world.client(world.owner).post(url, data)
    do_waiting_work()
    assert list(stage.items.values_list("key", "concept")) == [("night-market", "night market")]
