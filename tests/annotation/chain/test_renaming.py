"""Merges that people accept rename items of later stages, and no longer when they are taken back."""

import pytest
from django.utils import timezone

from annotation.models import Annotation
from annotation.services.answers import submit
from annotation.services.derivation import derived_items
from annotation.services.review import reviews
from benchmarks.models import Item, Stage
from tests.annotation.chain.factories import (
    a_benchmark,
    a_field,
    a_stage,
    answer,
    claim_sheet,
    create_open_campaign,
    live_items,
    process_derivations,
)
from tests.annotation.composer.test_pages import post_form
from tests.annotation.queue.factories import a_cohort, a_person
from tests.personas import World, stand_in

pytestmark = pytest.mark.django_db
RENAME = {"field": "concept", "by": "merges"}
SAME = {
    "fields": [
        a_field("same", "choice", options=[{"code": code, "label": {"en": code}} for code in ("same", "different")]),
        a_field("name", "choice", options=[{"code": code, "label": {"en": code}} for code in ("first", "second")]),
    ]
}
RULE = {"clauses": [{"key": "same", "expression": 'same == "same"', "words": {"en": "Same"}}], "over": "majority"}


def concepts(stage: Stage) -> list[tuple[str, str, str]]:
    process_derivations()
    return [(item.key, item.concept, item.context.get("concept_as_found", "")) for item in live_items(stage)]


def test_a_chain_of_merges_renames_what_is_derived_until_one_is_taken_back() -> None:
    benchmark = a_benchmark()
    cohort = a_cohort(benchmark.team)
    merges = a_stage(benchmark, "merges", SAME, display="words", acceptance="by_rule", acceptance_rule=RULE)
    images = a_stage(benchmark, "images", {"fields": []})
    params = {"rename": RENAME}
    unique = a_stage(
        benchmark,
        "unique",
        {"fields": []},
        derivation={"kind": "promote", "from": ["images"], "of": "items", "params": params},
    )
    pairs = [
        Item(stage=merges, key=f"{a}+{b}", context={"first": a, "second": b})
        for a, b in (("railway", "train"), ("train", "rail"))
    ]
    Item.objects.bulk_create(pairs)
    stand_in(
        Item.objects.bulk_create(
            Item(stage=images, key=key, concept=key) for key in ("rail", "railway", "tea", "train")
        )
    )
    derived_items.rederive_stage(unique)
    plain = [(key, key, "") for key in ("rail", "railway", "tea", "train")]
    assert concepts(unique) == plain

    campaign = create_open_campaign(merges, cohort, target=1)
    person = a_person(cohort)
    for _pair in pairs:
        sheet = claim_sheet(person, campaign, cohort)
        assert sheet is not None
        stays = "second" if sheet.unit.item.key == "railway+train" else "first"
        answer(sheet, same="same", name=stays)
    process_derivations()
    renamed = {(item.concept, item.context.get("concept_as_found", "")) for item in live_items(unique)}
    assert renamed == {("train", "rail"), ("train", "railway"), ("tea", ""), ("train", "")}

    given = Annotation.objects.get(assignment__unit__item__key="train+rail", live=True)
    submit.reopen(given.assignment_id, person, timezone.now())
    answer(given.assignment, same="different", name="first")
    assert sorted(row[1:] for row in concepts(unique)) == [
        ("rail", ""), ("tea", ""), ("train", ""), ("train", "railway"),
    ]  # fmt: skip
    assert [row for row in concepts(unique) if row[0] == "rail"] == [("rail", "rail", "")], "the item that it was"


@pytest.mark.parametrize("acceptance", ["on_submit", "by_review"])
def test_merges_that_no_rule_accepts_rename_as_well_and_a_correction_is_followed(acceptance: str) -> None:
    benchmark = a_benchmark()
    cohort, reviewer = a_cohort(benchmark.team), a_person(a_cohort(benchmark.team)).user
    assert reviewer is not None
    merges = a_stage(benchmark, "merges", SAME, display="words", acceptance=acceptance)
    images = a_stage(benchmark, "images", {"fields": []})
    derivation = {"kind": "promote", "from": ["images"], "of": "items", "params": {"rename": RENAME}}
    unique = a_stage(benchmark, "unique", {"fields": []}, derivation=derivation)
    Item.objects.bulk_create(
        Item(stage=merges, key=f"{a}+{b}", context={"first": a, "second": b})
        for a, b in (("railway", "train"), ("cup", "mug"), ("tea", "chai"))
    )
    keys = ("railway", "train", "cup", "mug", "tea", "chai")
    stand_in(Item.objects.bulk_create(Item(stage=images, key=key, concept=key) for key in keys))
    derived_items.rederive_stage(unique)
    assert len(concepts(unique)) == 6

    campaign, person = create_open_campaign(merges, cohort, target=1), a_person(cohort)

    for merged in (1, 2, 3):  # the first two by the usual way of an answer; the last, with no sheet ahead, by the other
        annotation = answer(claim_sheet(person, campaign, cohort), same="same", name="first")
        if acceptance == "by_review":
            reviews.decide(annotation.pk, reviewer, "accept", timezone.now())
        names = {concept for _key, concept, _found in concepts(unique)}
        assert len(names) == 6 - merged
    if acceptance == "on_submit":
        submit.reopen(annotation.assignment_id, person, timezone.now())
        answer(annotation.assignment, same="same", name="second")
        [kept] = names - {concept for _key, concept, _found in concepts(unique)}
        assert kept == annotation.assignment.unit.item.context["first"], "the other name stays now"


def test_the_form_offers_the_stage_whose_merges_rename(world: World) -> None:
    client, start, key = world.client(world.mara), f"/b/{world.benchmark.slug}/stages/", world.stage.key
    client.post(start, {"name": "Unique", "like": ""})
    stage = Stage.objects.get(name="Unique")
    url = f"{start}{stage.pk}/"
    post_form(client, url, "field:text")
    post_form(client, url, "save", change={"w:sheet.fields[0].label.en": "What is it?", "s:derivation.kind": "promote"})
    post_form(client, url, "save", change={"m:derivation.from": key, "s:derivation.params.rename.by": key})
    assert post_form(client, url, "publish").status_code == 302
    stage.refresh_from_db()
    assert stage.derivation["params"]["rename"] == {"by": key, "field": "concept"}
    post_form(client, url, "save", change={"s:derivation.params.rename.by": ""})
    assert post_form(client, url, "publish").status_code == 302
    stage.refresh_from_db()
    assert "rename" not in stage.derivation["params"]
