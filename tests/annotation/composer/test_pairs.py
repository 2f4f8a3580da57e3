"""A stage of pairs, composed through its form: which fields it offers, and how many items result."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Participation, StageDraft
from annotation.services.derivation import derived_items
from benchmarks.models import ItemFact, Stage
from tests.annotation.chain.factories import (
    ANSWER,
    SKIPS,
    answer,
    claim_sheet,
    create_open_campaign,
    process_derivations,
)
from tests.annotation.composer.test_pages import post_form
from tests.forms import inputs_of
from tests.importing import upload
from tests.module_world import built_once
from tests.personas import World
from tests.samples import rater

pytestmark = pytest.mark.django_db


@built_once
def texts(world: World) -> Stage:
    """Eight texts that came through the import page, each with two answers."""
    stage = Stage.objects.create(
        benchmark=world.benchmark, key="texts", name="Texts", display="words", pictures="none", sheet=ANSWER,
        has_target=False, position=1, skip_reasons=SKIPS,
    )  # fmt: skip
    manifest = "key,text\n" + "".join(f"t{number},Proverb {number}\n" for number in range(8))
    upload(world.client(world.mara), stage, manifest.encode())
    campaign = create_open_campaign(stage, world.egypt, target=2)
    for person in (rater(world.nour), rater(world.tarek)):
        for _item in range(8):
            answer(claim_sheet(person, campaign, world.egypt), answer="It is about guests")
    process_derivations()
    return stage


def test_the_form_says_how_many_pairs_result_and_offers_the_fields_of_both_sides(world: World, texts: Stage) -> None:
    client, start = world.client(world.mara), f"/b/{world.benchmark.slug}/stages/"
    client.post(start, {"name": "Same meaning", "like": ""})
    stage = Stage.objects.get(name="Same meaning")
    url = f"{start}{stage.pk}/"
    post_form(client, url, "field:text")
    post_form(client, url, "save", change={"s:display": "pair", "w:sheet.fields[0].label.en": "Do they mean the same?"})
    post_form(client, url, "save", change={"s:derivation.kind": "pair"})
    post_form(client, url, "save", change={"m:derivation.from": "texts"})
    page = client.get(url).content.decode()
    assert "28 items result from what is accepted now." in page
    for choice in ("a.item.text", "b.item.text", "a.answer", "b.answer"):
        assert f'value="{choice}"' in page
    assert post_form(client, url, "publish").status_code == 302
    stage.refresh_from_db()
    assert stage.derivation["params"]["context"] == {"option_a": "a.item.text", "option_b": "b.item.text"}
    process_derivations()
    assert stage.items.count() == 28
    derived_items.rederive_stage(stage)
    process_derivations()
    assert stage.items.count() == 28
    nour = world.client(world.nour)
    campaign = create_open_campaign(stage, world.egypt)
    sheet = nour.get(f"/work/{campaign.pk}/").content.decode()
    assert sheet.count("<blockquote") >= 2 and sheet.count("Proverb ") >= 2
    assert sheet.count('" dir="auto"><blockquote>') >= 2, "a text and its letter run the same way"


def test_a_derivation_that_would_make_too_many_items_is_not_published(
    world: World, texts: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.services.sheets.stages.MOST_ITEMS", 20)
    client, start = world.client(world.mara), f"/b/{world.benchmark.slug}/stages/"
    client.post(start, {"name": "Too many", "like": ""})
    stage = Stage.objects.get(name="Too many")
    url = f"{start}{stage.pk}/"
    post_form(client, url, "field:text")
    post_form(
        client, url, "save", change={"s:display": "pair", "w:sheet.fields[0].label.en": "Same?", "s:pictures": "none"}
    )
    post_form(client, url, "save", change={"s:pictures": "none", "s:derivation.kind": "pair"})
    post_form(client, url, "save", change={"m:derivation.from": "texts"})
    reply = post_form(client, url, "publish")
    assert reply.status_code == 422 and "More than 20 items would result" in reply.content.decode()


def pair_stage(world: World, client: Client) -> tuple[Stage, str]:
    """A stage of pairs of the texts, ready to be published, and its address."""
    start = f"/b/{world.benchmark.slug}/stages/"
    client.post(start, {"name": "Same meaning", "like": ""})
    stage = Stage.objects.get(name="Same meaning")
    url = f"{start}{stage.pk}/"
    post_form(client, url, "field:text")
    post_form(client, url, "save", change={"s:display": "pair", "w:sheet.fields[0].label.en": "Same?"})
    post_form(client, url, "save", change={"s:derivation.kind": "pair"})
    post_form(client, url, "save", change={"m:derivation.from": "texts"})
    return stage, url


def pictures_of(stage: Stage) -> str:
    return str(StageDraft.objects.get(stage=stage).content["pictures"])


def test_pairs_of_texts_propose_no_pictures_and_a_choice_stays(world: World, texts: Stage) -> None:
    client = world.client(world.mara)
    stage, url = pair_stage(world, client)
    assert pictures_of(stage) == "none"
    post_form(client, url, "save", change={"s:pictures": "named"})
    post_form(client, url, "save", change={"s:name": "Renamed"})
    assert pictures_of(stage) == "named", "what was chosen is not proposed away"


def test_pairs_of_pictures_keep_their_pictures(world: World, texts: Stage) -> None:
    source = world.benchmark.stages.get(pictures="one")
    client, start = world.client(world.mara), f"/b/{world.benchmark.slug}/stages/"
    client.post(start, {"name": "Two pictures", "like": ""})
    stage = Stage.objects.get(name="Two pictures")
    url = f"{start}{stage.pk}/"
    post_form(client, url, "save", change={"s:display": "pair"})
    post_form(client, url, "save", change={"s:derivation.kind": "pair"})
    post_form(client, url, "save", change={"m:derivation.from": source.key})
    assert pictures_of(stage) == "named"


NEAR = "derivation.params.near"


def near_rows(*pairs: tuple[str, str, str]) -> dict[str, str]:
    """What a browser sends of these pairs."""
    return {
        name: value
        for at, (a, b, similarity) in enumerate(pairs)
        for name, value in (
            (f"s:{NEAR}[{at}].a", a), (f"s:{NEAR}[{at}].b", b), (f"i:{NEAR}[{at}].similarity", similarity),
        )
    }  # fmt: skip


def test_a_stage_of_pairs_is_bound_to_listed_pairs_by_its_form(world: World, texts: Stage) -> None:
    client = world.client(world.mara)
    stage, url = pair_stage(world, client)
    post_form(client, url, f"more:{NEAR}")
    page = client.get(url).content.decode()
    assert '<option value="t0">Proverb 0 (t0)</option>' in page, "items are chosen by what they say"
    post_form(client, url, "save", change=near_rows(("t0", "t1", "0.5"), ("t2", "t3", ""), ("t4", "t5", "0,25")))
    page = client.get(url).content.decode()
    assert "3 items result from what is accepted now." in page
    assert '<option value="t4" selected>' in page and 'value="0.25"' in page
    assert post_form(client, url, "publish").status_code == 302
    stage.refresh_from_db()
    assert stage.derivation["params"]["near"] == [["t0", "t1", 0.5], ["t2", "t3"], ["t4", "t5", 0.25]]
    process_derivations()
    assert {item.key: item.context.get("similarity") for item in stage.items.all()} == {
        "t0+t1": 0.5, "t2+t3": None, "t4+t5": 0.25,
    }  # fmt: skip
    for _pair in range(3):
        post_form(client, url, f"drop:{NEAR}[0]")
    assert "28 items result from what is accepted now." in client.get(url).content.decode()


def test_many_listed_pairs_are_written_as_lines_and_stay(world: World, texts: Stage) -> None:
    client = world.client(world.mara)
    stage, url = pair_stage(world, client)
    listed = [["t0", "t1", 0.5], ["t2", "t3"], *([f"x{number}", f"y{number}"] for number in range(60))]
    draft = StageDraft.objects.get(stage=stage)
    StageDraft.objects.filter(pk=draft.pk).update(
        content=draft.content | {"derivation": {**draft.content["derivation"], "params": {"near": listed}}}
    )
    page = client.get(url).content.decode()
    assert "t0 | t1 | 0.5\nt2 | t3\nx0 | y0" in page
    post_form(client, url, "save")
    assert StageDraft.objects.get(stage=stage).content["derivation"]["params"]["near"] == listed
    post_form(client, url, "save", change={f"l:{NEAR}": "t0 | t1 | 0.5\nt2\tt3"})
    params = StageDraft.objects.get(stage=stage).content["derivation"]["params"]
    assert params["near"] == [["t0", "t1", 0.5], ["t2", "t3"]]


@pytest.mark.parametrize("row", [("t0", "", ""), ("t0", "t1", "alike"), ("t0", "t0", "")])
def test_a_row_that_names_no_pair_is_kept_and_named(world: World, texts: Stage, row: tuple[str, str, str]) -> None:
    client = world.client(world.mara)
    _stage, url = pair_stage(world, client)
    post_form(client, url, "save", change=near_rows(("t1", "t2", ""), row))
    reply = post_form(client, url, "publish")
    html = reply.content.decode()
    assert reply.status_code == 422
    assert f'data-to="{NEAR}"' in html and "Number 2 must name two items" in html
    assert all(f'value="{value}"' in html for value in row)


def test_three_settings_of_a_pair_are_in_view_and_say_what_they_make(world: World, texts: Stage) -> None:
    client = world.client(world.mara)
    stage, url = pair_stage(world, client)
    page = client.get(url).content.decode()
    source = page[page.index('id="s-items"') : page.index('id="s-people"')]
    in_view = source[: source.index("Which of these pairs")]
    for label in ("Each side shows", "Sides must differ in", "Both must share"):
        assert label in in_view
    for label in ("Only these pairs", "Alike by", "Names that people merged", "What a model proposes", "Concept<"):
        assert label not in in_view and label in source
    assert "A pair is two items." in page and "Each side shows the item&#x27;s own text." in page
    post_form(client, url, "save", change={"s:derivation.params.shows": "answer"})
    page = client.get(url).content.decode()
    assert "A pair is two answers to two items." in page, "sides that show answers are answers"
    post_form(client, url, "save", change={"s:derivation.params.sides": "unit.cohort"})
    page = client.get(url).content.decode()
    assert "A pair is two answers, to two items or to the same item." in page and "0 items result" in page
    params = StageDraft.objects.get(stage=stage).content["derivation"]["params"]
    assert params["context"] == {"option_a": "a.answer", "option_b": "b.answer"} and params["per"] == "answer"


def test_sides_that_would_show_one_text_twice_are_named_before_publishing(world: World, texts: Stage) -> None:
    client = world.client(world.mara)
    _stage, url = pair_stage(world, client)
    warning = "would show its text twice"
    assert warning not in client.get(url).content.decode()
    change = {"s:derivation.params.per": "answer", "s:derivation.params.sides": "answer"}
    post_form(client, url, "save", change=change)
    assert warning in client.get(url).content.decode()
    post_form(client, url, "save", change={"s:derivation.params.shows": "answer"})
    page = client.get(url).content.decode()
    assert warning not in page
    post_form(client, url, "save", change={"s:derivation.params.sides": ""})
    page = client.get(url).content.decode()
    assert "112 pairs are left out: both sides have the same text." in page, "all answered the same"
    assert "0 items result" in page
    post_form(client, url, "save", change={"b:derivation.params.different_texts": "0"})
    page = client.get(url).content.decode()
    assert "112 of 112 pairs show the same text on both sides." in page and "left out" not in page
    post_form(client, url, "save", change={"m:derivation.params.by": "answer"})
    assert "Both sides show what they must share" in client.get(url).content.decode()


def test_new_pairs_leave_out_equal_texts_and_say_how_many(world: World, texts: Stage) -> None:
    repeated = texts.items.order_by("key")[3]
    repeated.text = "Proverb 0"
    repeated.save()
    client = world.client(world.mara)
    stage, url = pair_stage(world, client)
    page = client.get(url).content.decode()
    assert "1 pair is left out: both sides have the same text." in page and "27 items result" in page
    assert post_form(client, url, "publish").status_code == 302
    process_derivations()
    stage.refresh_from_db()
    assert stage.derivation["params"]["different_texts"] is True
    shown = [tuple(item.context.values()) for item in stage.items.all()]
    assert len(shown) == 27 and all(first != second for first, second in shown)


def test_both_sides_may_have_to_share_several_values(world: World, texts: Stage) -> None:
    client = world.client(world.mara)
    stage, url = pair_stage(world, client)
    for number, item in enumerate(texts.items.order_by("key")):
        item.concept, item.origin = ("a" if number < 4 else "b"), ("x" if number % 2 else "y")
        item.save()
    shared = "m:derivation.params.by"
    post_form(client, url, "save", change={shared: "item.concept"})
    assert "12 items result" in client.get(url).content.decode()
    posted: dict[str, list[str]] = {}
    for name, value in inputs_of(client.get(url).content.decode()):
        posted.setdefault(name, []).append(value)
    posted[shared] = ["item.concept", "item.origin"]
    client.post(url, {**posted, "act": "publish"})
    stage.refresh_from_db()
    assert stage.derivation["params"]["by"] == ["item.concept", "item.origin"]
    process_derivations()
    assert stage.items.count() == 4


def test_a_choice_on_a_sheet_of_pairs_begins_with_a_and_b(world: World, texts: Stage) -> None:
    client = world.client(world.mara)
    stage, url = pair_stage(world, client)
    post_form(client, url, "field:choice")
    options = StageDraft.objects.get(stage=stage).content["sheet"]["fields"][-1]["config"]["options"]
    assert [option["label"]["en"] for option in options] == ["A", "B"]
    post_form(client, url, "save", change={"s:display": "words"})
    post_form(client, url, "field:choice")
    options = StageDraft.objects.get(stage=stage).content["sheet"]["fields"][-1]["config"]["options"]
    assert [option["label"]["en"] for option in options] == ["Yes", "No"]


def test_a_stage_of_pairs_takes_those_that_a_model_finds_alike(world: World, texts: Stage) -> None:
    """t0 and t1 have a cosine of 0.6 and t2 and t3 one of 0.96; the others have no vector yet."""
    rows = {"t0": [1, 0, 0], "t1": [0.6, 0.8, 0], "t2": [0, 0, 2], "t3": [0, 0.28, 0.96]}
    ItemFact.objects.bulk_create(
        ItemFact(item=texts.items.get(key=key), key="text_vector", value=vector, source="tiny")
        for key, vector in rows.items()
    )
    client = world.client(world.mara)
    stage, url = pair_stage(world, client)
    post_form(client, url, "save", change={"s:derivation.params.similar.fact": "text_vector"})
    assert "1 item results from what is accepted now." in client.get(url).content.decode()
    post_form(client, url, "save", change={"i:derivation.params.similar.least": "0.6"})
    assert "2 items result from what is accepted now." in client.get(url).content.decode()
    assert post_form(client, url, "publish").status_code == 302
    process_derivations()
    assert {item.key: item.context["similarity"] for item in stage.items.all()} == {"t0+t1": 0.6, "t2+t3": 0.96}
    post_form(client, url, "save", change={"i:derivation.params.similar.least": "1.2"})
    reply = post_form(client, url, "publish")
    assert reply.status_code == 422 and 'data-to="derivation.params.similar.least"' in reply.content.decode()


def test_where_no_two_items_are_alike_enough_the_board_says_so(world: World, texts: Stage) -> None:
    for number, item in enumerate(texts.items.order_by("pk")):
        vector = [float(place == number) for place in range(4)]
        ItemFact.objects.create(item=item, key="text_vector", value=vector, source="tiny")
    client = world.client(world.mara)
    stage, url = pair_stage(world, client)
    post_form(client, url, "save", change={"s:derivation.params.similar.fact": "text_vector"})
    assert post_form(client, url, "publish").status_code == 302
    create_open_campaign(Stage.objects.get(pk=stage.pk), world.egypt)
    Participation.objects.update(last_seen_at=timezone.now() - timedelta(minutes=5))
    html = client.get(f"/b/{world.benchmark.slug}/").text
    assert "No items of “Texts” are alike enough" in html and "Stuck" not in html
    assert "at=derivation.params.similar.least#s-items" in html, "to the limit"


def test_pairs_by_what_nothing_has_say_so_in_the_form_and_on_the_board(world: World, texts: Stage) -> None:
    """The texts came without a concept, so none share one."""
    client = world.client(world.mara)
    stage, url = pair_stage(world, client)
    post_form(client, url, "save", change={"m:derivation.params.by": "item.concept"})
    words = "No pair results: no source has a value for its concept."
    assert words in client.get(url).text
    assert post_form(client, url, "publish").status_code == 302
    create_open_campaign(Stage.objects.get(pk=stage.pk), world.egypt)
    board = f"/b/{world.benchmark.slug}/"
    assert "Stuck: no pairs" not in client.get(board).text, "pairs may still be made in the background"
    Participation.objects.update(last_seen_at=timezone.now() - timedelta(minutes=5))
    html = client.get(board).text
    assert "Stuck: no pairs from “Texts”" in html and "“Same meaning” has no pairs yet." in html
    post_form(client, url, "save", change={"m:derivation.params.by": "item.text"})
    assert words not in client.get(url).text and "0 items result" in client.get(url).text
