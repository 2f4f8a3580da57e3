"""A stage of pairs, composed through its form: which fields it offers, and how many items result."""

import pytest

from annotation.services import deriving
from benchmarks.models import Stage
from tests.annotation.chain.factories import ANSWER, SKIPS, answer, hand, opened, settle
from tests.annotation.composer.test_pages import sent
from tests.importing import upload
from tests.personas import World
from tests.samples import rater

pytestmark = pytest.mark.django_db


@pytest.fixture
def texts(world: World) -> Stage:
    """Eight texts that came through the import page, each with two answers."""
    stage = Stage.objects.create(
        benchmark=world.benchmark, key="texts", name="Texts", display="words", pictures="none", sheet=ANSWER,
        has_target=False, position=1, skip_reasons=SKIPS,
    )  # fmt: skip
    manifest = "key,text\n" + "".join(f"t{number},Proverb {number}\n" for number in range(8))
    upload(world.client(world.mara), stage, manifest.encode())
    campaign = opened(stage, world.egypt, target=2)
    for person in (rater(world.nour), rater(world.tarek)):
        for _item in range(8):
            answer(hand(person, campaign, world.egypt), answer="It is about guests")
    settle()
    return stage


def test_the_form_says_how_many_pairs_result_and_offers_the_fields_of_both_sides(world: World, texts: Stage) -> None:
    client, start = world.client(world.mara), f"/b/{world.benchmark.slug}/stages/"
    client.post(start, {"name": "Same meaning", "like": ""})
    stage = Stage.objects.get(name="Same meaning")
    url = f"{start}{stage.pk}/"
    sent(client, url, "field:text")
    sent(client, url, "save", change={"s:display": "pair", "w:sheet.fields[0].label.en": "Do they mean the same?"})
    sent(client, url, "save", change={"s:pictures": "none", "s:derivation.kind": "pair"})
    sent(client, url, "save", change={"m:derivation.from": "texts"})
    page = client.get(url).content.decode()
    assert "28 items result from what is accepted now." in page
    for choice in ("a.item.text", "b.item.text", "a.answer", "b.answer"):
        assert f'value="{choice}"' in page
    assert sent(client, url, "publish").status_code == 302
    stage.refresh_from_db()
    assert stage.derivation["params"]["context"] == {"option_a": "a.item.text", "option_b": "b.item.text"}
    settle()
    assert stage.items.count() == 28
    deriving.renew(stage)
    settle()
    assert stage.items.count() == 28
    nour = world.client(world.nour)
    campaign = opened(stage, world.egypt)
    sheet = nour.get(f"/work/{campaign.pk}/").content.decode()
    assert sheet.count("<blockquote") >= 2 and sheet.count("Proverb ") >= 2


def test_a_derivation_that_would_make_too_many_items_is_not_published(
    world: World, texts: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.services.stages.MOST_ITEMS", 20)
    client, start = world.client(world.mara), f"/b/{world.benchmark.slug}/stages/"
    client.post(start, {"name": "Too many", "like": ""})
    stage = Stage.objects.get(name="Too many")
    url = f"{start}{stage.pk}/"
    sent(client, url, "field:text")
    sent(client, url, "save", change={"s:display": "pair", "w:sheet.fields[0].label.en": "Same?", "s:pictures": "none"})
    sent(client, url, "save", change={"s:pictures": "none", "s:derivation.kind": "pair"})
    sent(client, url, "save", change={"m:derivation.from": "texts"})
    reply = sent(client, url, "publish")
    assert reply.status_code == 422 and "More than 20 items would result" in reply.content.decode()
