"""A stage of words: neither the sheet nor the history speaks of pictures, nor does the form that composes it."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Campaign
from annotation.services.campaigns import lifecycle
from annotation.services.sheets import stages
from benchmarks.models import Stage
from tests.annotation.composer.test_pages import post_form
from tests.chains.link_client import text_of
from tests.personas import World

pytestmark = pytest.mark.django_db
DIALOG = re.compile(r'<dialog id="(?:help|why|report)".*?</dialog>', re.DOTALL)


def open_words(world: World) -> Campaign:
    stage = Stage.objects.create(
        benchmark=world.benchmark, key="words", name="Words", position=1, display="words", pictures="none",
        sheet=world.stage.sheet, skip_reasons=stages.BLANK["skip_reasons"],
    )  # fmt: skip
    for number in range(2):
        stage.items.create(key=f"w{number}", text=f"Word w{number}")
    campaign = lifecycle.create(stage, "Round 1", world.owner, {world.egypt: 1})
    lifecycle.open_campaign(campaign, world.owner, timezone.now())
    return campaign


def test_the_dialogs_of_a_text_and_its_history_name_no_picture(world: World) -> None:
    campaign, client = open_words(world), world.client(world.nour)
    page = client.get(f"/work/{campaign.pk}/").content.decode()
    dialogs = DIALOG.findall(page)
    assert len(dialogs) == 3 and "picture" not in text_of("".join(dialogs)).lower()
    assert "Brighter" not in page and "Why skip this item?" in page
    shown = Assignment.objects.get(campaign=campaign, in_hand=True)
    client.post(f"/assignments/{shown.pk}/skip", {"reason": "unknown"})
    history = client.get(reverse("annotation:history")).content.decode()
    table = text_of(history[history.index("<table") : history.index("</table>")])
    assert f"Word {shown.unit.item.key}" in table and "Picture" not in table


def test_a_sheet_with_a_picture_still_names_its_keys(world: World) -> None:
    world.add_items(1, images=True)
    campaign = lifecycle.create(world.stage, "Round 1", world.owner, {world.egypt: 1})
    lifecycle.open_campaign(campaign, world.owner, timezone.now())
    page = world.client(world.nour).get(f"/work/{campaign.pk}/").content.decode()
    assert "Brighter" in page and "zoom in, show whole picture" in page


def test_the_source_of_items_without_pictures_asks_for_none(world: World) -> None:
    client, start = world.client(world.mara), f"/b/{world.benchmark.slug}/stages/"
    client.post(start, {"name": "Rated words", "like": ""})
    stage = Stage.objects.get(name="Rated words")
    url = f"{start}{stage.pk}/"
    change = {"s:display": "words", "s:pictures": "none", "s:derivation.kind": "promote"}
    post_form(client, url, "save", change=change)
    post_form(client, url, "save", change={"m:derivation.from": "relevance"})

    def source() -> str:
        page = client.get(url).content.decode()
        return page[page.index('id="s-items"') : page.index('id="s-people"')]

    labels = ("the item&#x27;s own pictures", "The one picture that an answer names", "Pictures by name")
    assert "Text" in source() and not [label for label in labels if label in source()]
    post_form(client, url, "save", change={"s:pictures": "one"})
    assert all(label in source() for label in labels)
