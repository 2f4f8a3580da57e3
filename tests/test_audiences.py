"""What annotators read counts as a text for annotators, so that it is translated into every language of the menu."""

import re
from collections.abc import Iterator

import pytest
from django.http import HttpResponse
from django.test import Client

from tests.personas import World
from tests.samples import build
from tests.translations import ROOT, audience

LINK = re.compile(r'<a\b[^>]*\bhref="(/[^"#?]*)')
COMPARED = (ROOT / "templates/annotation/fields").glob("*/compare.html")
SPEAKERS = "templates/people/speakers/"  # who confirms translations reads the English texts anyway
pytestmark = pytest.mark.django_db


def linked_pages(client: Client, start: str) -> Iterator[tuple[str, HttpResponse]]:
    """Yield each page that a person reaches by links, with its path."""
    paths, visited = [start], {start}
    while paths:
        path = paths.pop()
        response = client.get(path, follow=True)
        if response.status_code == 200 and response.headers["Content-Type"].startswith("text/html"):
            yield path, response
            new = set(LINK.findall(response.content.decode())) - visited
            visited |= new
            paths += sorted(new)


def test_templates_of_pages_that_an_annotator_reaches_are_for_annotators(world: World) -> None:
    build(world)
    client = world.client(world.nour)
    pages = dict(linked_pages(client, "/"))
    assert {"/work/history/", "/me/statistics/", "/me"} <= pages.keys()
    names = {f"templates/{template.name}" for response in pages.values() for template in response.templates}
    ours = {name for name in names if (ROOT / name).is_file()}
    assert "templates/evaluation/my_statistics.html" in ours
    ours = {name for name in ours if not name.startswith(SPEAKERS)}
    assert {name: audience(name) for name in ours if audience(name) != "annotators"} == {}


@pytest.mark.parametrize("name", ["people/pages/tabs.py", *sorted(f"{path.relative_to(ROOT)}" for path in COMPARED)])
def test_files_that_draw_on_an_annotators_page_are_for_annotators(name: str) -> None:
    """The tabs stand on each page of an annotator, and an adjudicator sees the earlier answers side by side."""
    assert audience(name) == "annotators"
