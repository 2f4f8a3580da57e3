"""A condition with the right article takes it from the knowledge base, by the item's column `gold_entity`."""

import pytest

from annotation.models import Campaign
from benchmarks.models import Item
from people.models import Team
from predictions.models import Endpoint, KnowledgeBase
from tests.forms import inputs_of
from tests.module_world import built_once
from tests.personas import World
from tests.predictions.knowledge.colours import import_entries
from tests.predictions.request_helpers import a_campaign, an_endpoint
from tests.predictions.test_new_run import plan, press, text_of

pytestmark = pytest.mark.django_db
GOLD = "caire-digit-gold@1"
GOLD_ENTITIES = {"item-00000": "azure|red", "item-00001": "navy", "item-00002": ""}  # navy has no article


@built_once
def campaign(world: World) -> Campaign:
    import_entries(world)
    campaign = a_campaign(world, 3, images=True)
    for key, entity in GOLD_ENTITIES.items():
        Item.objects.filter(stage=campaign.stage, key=key).update(context={"gold_entity": entity})
    return campaign


@built_once
def endpoint(world: World) -> Endpoint:
    return an_endpoint(world, "http://127.0.0.1:9/v1", offers=["images"])


def test_the_right_article_comes_from_the_base_by_the_items_own_column(
    world: World, campaign: Campaign, endpoint: Endpoint
) -> None:
    base = KnowledgeBase.objects.get()
    form = text_of(press(world, **plan(campaign, endpoint, prompt=GOLD)))
    assert dict(inputs_of(form))["o-base"] == str(base.pk), "the newest base is proposed"
    posted = plan(campaign, endpoint, prompt=GOLD, shown_prompt=GOLD, **{"o-base": str(base.pk)})
    assert "All about red." in text_of(press(world, **posted, do="look")), (
        "of several right entries the first with a text"
    )
    for number in ("1", "2"):
        assert "no article for the right entry" in text_of(press(world, **posted, do="look", show=number))


def test_without_a_base_of_the_team_the_condition_is_refused(
    world: World, campaign: Campaign, endpoint: Endpoint
) -> None:
    other = Team.objects.exclude(pk=world.team.pk).first() or Team.objects.create(name="Others", slug="others")
    foreign = KnowledgeBase.objects.create(team=other, key="secret", name="Secret base")
    posted = plan(campaign, endpoint, prompt=GOLD, shown_prompt=GOLD)
    refused = press(world, **posted, do="look")
    assert refused.status_code == 400 and "Choose the knowledge base that has the articles" in text_of(refused)
    assert "Secret base" not in text_of(refused)
    assert press(world, **posted, **{"o-base": str(foreign.pk)}, do="look").status_code == 400
