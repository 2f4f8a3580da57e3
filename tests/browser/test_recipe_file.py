"""A recipe goes from one team to another as a file, in a browser alone."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from benchmarks.models import Benchmark
from tests.personas import World


def test_a_recipe_is_downloaded_by_one_team_and_loaded_by_another(
    open_as: Callable[..., Page], world: World, tmp_path: Path
) -> None:
    page = open_as(world.mara)
    page.goto(f"/b/{world.benchmark.slug}/stages/")
    page.get_by_role("link", name="Save as recipe").click()
    page.get_by_label("Name of the recipe").fill("Sea")
    page.get_by_label("Concepts of its items (optional)").fill("River\nSea")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download file").click()
    file = tmp_path / "sea.recipe.json"
    download.value.save_as(file)
    other = open_as(world.rival)
    other.goto(f"/teams/{world.other_team.slug}/recipes/")
    other.locator("input[type=file]").set_input_files(file)
    other.get_by_role("button", name="Load the file").click()
    expect(other.get_by_text("Loaded as version 1.")).to_be_visible()
    other.get_by_role("link", name="Create benchmark").first.click()
    other.get_by_label("Name", exact=True).fill("Sea again")
    other.get_by_role("button", name="Create benchmark").click()
    expect(other.get_by_role("heading", name="Sea again")).to_be_visible()
    again = Benchmark.objects.get(name="Sea again")
    assert again.team == world.other_team
    assert [stage.name for stage in again.stages.all()] == [stage.name for stage in world.benchmark.stages.all()]
