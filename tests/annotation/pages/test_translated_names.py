"""Names that a recipe writes in English are read in one's own language where they are translated."""

from collections.abc import Callable

from django.test import Client
from django.utils import timezone

from annotation.models import Campaign
from annotation.services.campaigns import lifecycle
from benchmarks.models import Item
from people.models import User
from tests.annotation.pages.conftest import current_assignment
from tests.annotation.pages.test_home import rate
from tests.module_world import built_once
from tests.personas import World

TITLE, DANCE = "تقييم الصلة", "الرقص"


@built_once
def opened(world: World) -> Campaign:
    """As the form that opens the chain names it, with the concept above the picture."""
    world.add_items(2, images=True)
    Item.objects.update(concept="dance")
    stage = world.stage
    stage.layout = {"show": [{"key": "concept", "label": {"en": "What to look for"}}]}
    stage.save()
    campaign = lifecycle.create(stage, stage.name, world.owner, {world.egypt: 1}, seed=5)
    lifecycle.open_campaign(campaign, world.owner, timezone.now())
    return campaign


def arabic(client: Client, address: str) -> str:
    return client.get(address, headers={"Accept-Language": "ar"}).content.decode()


def test_titles_and_concepts_are_arabic_on_an_arabic_page(
    client_of: Callable[[User], Client], opened: Campaign, nour: User
) -> None:
    client = client_of(nour)
    User.objects.filter(pk=nour.pk).update(language="ar")
    assert TITLE in arabic(client, "/work/")
    sheet = arabic(client, f"/work/{opened.pk}/")
    assert TITLE in sheet and DANCE in sheet and "Relevance rating" not in sheet and ">dance<" not in sheet
    rate(client, opened, nour)
    history = arabic(client, "/work/history/")
    assert TITLE in history and DANCE in history
    hand = current_assignment(opened, nour)
    assert hand.unit.item.concept == "dance", "what is stored is not translated"


def test_names_without_a_translation_and_english_pages_stay(
    client_of: Callable[[User], Client], opened: Campaign, nour: User
) -> None:
    client = client_of(nour)
    assert "Relevance rating" in client.get(f"/work/{opened.pk}/").content.decode()
    Campaign.objects.update(name="Pictures of 2026")
    Item.objects.update(concept="samovar")
    User.objects.filter(pk=nour.pk).update(language="ar")
    sheet = arabic(client, f"/work/{opened.pk}/")
    assert "Pictures of 2026" in sheet and "samovar" in sheet
