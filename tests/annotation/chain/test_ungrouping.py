"""Pictures that people keep on contact sheets go on as what they were; dropped and disputed ones do not."""

import re
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Campaign
from annotation.pages.kept_pictures import waiting_pictures
from annotation.services.answers import submit
from annotation.services.campaigns import lifecycle
from annotation.services.derivation import derived_items
from benchmarks.models import Benchmark, Item, Stage
from people.models import Cohort, Rater
from tests.annotation.chain.disputed_scene import a_willing_person
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
from tests.annotation.queue.factories import a_cohort
from tests.personas import World, stand_in

pytestmark = pytest.mark.django_db
GROUPS = {"fields": [a_field("groups", "grouping")]}
MORE = [{"code": "another", "label": {"en": "Another"}}, {"code": "undecided", "label": {"en": "Cannot be decided"}}]
SETTLE = {
    "fields": [
        a_field("decision", "choice", options_from="numbers", more=MORE),
        {**GROUPS["fields"][0], "show_if": {"field": "decision", "in": ["another"]}},
        a_field("reason", "text"),
    ]
}
DISPUTE = {
    "kind": "disagree",
    "from": ["sheets"],
    "params": {"between": [{"stage": "sheets", "field": "groups"}], "measure": "f1", "carry": ["pictures"]},
}
SEEN = {"text": "item.text", "context": {"rank": "item.context.rank"}}


class Chain:
    """Six pictures of two concepts, on two sheets of three; what is kept goes on to `unique` and to `labels`."""

    def __init__(self, target: int = 1, benchmark: Benchmark | None = None, cohort: Cohort | None = None) -> None:
        benchmark = benchmark or a_benchmark()
        self.cohort = cohort or a_cohort(benchmark.team)
        self.images = a_stage(benchmark, "images", {"fields": []}, target_answers=0)
        cluster: dict[str, Any] = {"kind": "cluster", "from": ["images"], "of": "kept", "params": {}}
        more = {"display": "contact", "pictures": "set"}
        self.sheets = a_stage(benchmark, "sheets", GROUPS, derivation=cluster, **more)
        self.settling = a_stage(benchmark, "settling", SETTLE, derivation=DISPUTE, staffing="others", **more)
        unique = {"kind": "ungroup", "from": ["sheets"]}
        self.unique = a_stage(benchmark, "unique", {"fields": []}, derivation=unique, target_answers=0)
        labels = {"kind": "promote", "from": ["unique"], "of": "items", "params": SEEN}
        self.labels = a_stage(benchmark, "labels", {"fields": [a_field("label", "text")]}, derivation=labels)
        rows = [
            Item(stage=self.images, key=f"{concept}-{n}", concept=concept, origin="Brazil", context={"rank": n})
            for concept in ("bus", "tea")
            for n in range(3)
        ]
        stand_in(Item.objects.bulk_create(rows))
        derived_items.rederive_stage(self.sheets)
        process_derivations()
        self.campaign = create_open_campaign(self.sheets, self.cohort, target=target)
        self.settle = create_open_campaign(self.settling, self.cohort)

    def group(self, person: Rater, *acts: str, campaign: Campaign | None = None, **more: Any) -> Any:
        """The next sheet of a person; `acts` for its pictures p001 to p003."""
        raw = {"groups": list(acts), **more} if acts else more
        given = answer(claim_sheet(person, campaign or self.campaign, self.cohort), **raw)
        process_derivations()
        return given

    def person(self) -> Rater:
        return a_willing_person(self.cohort)


def keys(stage: Stage) -> list[str]:
    process_derivations()
    return [item.key for item in live_items(stage)]


KEEP = ("keep:p001", "keep:p002", "keep:p003")
DROP = ("keep:p001", "same:p002:p001", "keep:p003")


def test_what_is_kept_goes_on_as_it_was_and_what_is_dropped_does_not() -> None:
    chain = Chain()
    person = chain.person()
    first, second = chain.group(person, *DROP), chain.group(person, *KEEP)
    concept = first.assignment.unit.item.concept
    others = [f"{second.assignment.unit.item.concept}-{n}" for n in range(3)]
    assert keys(chain.unique) == keys(chain.labels) == sorted([f"{concept}-0", f"{concept}-2", *others])
    item = chain.unique.items.get(key=f"{concept}-2")
    assert (item.concept, item.origin, item.context) == (concept, "Brazil", {"rank": 2})
    assert list(item.images.values_list("role", flat=True)) == ["image"]
    assert chain.labels.items.get(key=item.key).context == {"rank": 2}

    ids = set(chain.unique.items.values_list("pk", flat=True))
    submit.reopen(first.assignment_id, person, timezone.now())
    answer(first.assignment, groups=list(KEEP))
    assert len(keys(chain.unique)) == len(keys(chain.labels)) == 6
    submit.reopen(first.assignment_id, person, timezone.now())
    answer(first.assignment, groups=list(DROP))
    assert len(keys(chain.labels)) == 5
    assert ids <= set(chain.unique.items.filter(withdrawn_at=None).values_list("pk", flat=True)), "the same items"


def test_a_tie_waits_until_a_third_person_settles_it() -> None:
    chain = Chain(target=2)
    first, second = chain.person(), chain.person()
    chain.group(first, *DROP)
    assert keys(chain.unique) == [], "the sheet waits for a second answer"
    chain.group(second, *KEEP)
    concept = chain.unique.items.earliest("pk").concept
    assert keys(chain.unique) == [f"{concept}-0", f"{concept}-2"]
    [item] = live_items(chain.settling)
    assert claim_sheet(first, chain.settle, chain.cohort) is None
    number = 1 + item.context["answers"].index(next(a for a in item.context["answers"] if len(a["groups"]) == 3))
    chain.group(chain.person(), campaign=chain.settle, decision=str(number), reason="Two different buses")
    assert len(keys(chain.unique)) == 3


def test_a_tie_is_told_on_the_board_and_with_a_collection_until_it_is_settled(world: World) -> None:
    chain = Chain(target=2, benchmark=world.benchmark, cohort=world.brazil)
    first, second = chain.person(), chain.person()
    chain.group(first, *DROP)
    client, board = world.client(world.mara), f"/b/{world.benchmark.slug}/"
    assert "adjudication" not in client.get(board).text, "the sheet waits for a second answer"
    chain.group(second, *KEEP)
    assert "1 picture waits for adjudication" in client.get(board).text
    data = {"stage": chain.unique.pk, "name": "Kept", "version": "1", "what": "images", "seed": "1", "queries": []}
    reply = client.post(f"{board}predictions/collection/make/", data, follow=True).text
    assert "1 picture of “Sheets” waits for adjudication and is not in it." in reply
    assert [chain.sheets.pk, 1] in map(list, waiting_pictures(list(world.benchmark.stages.all())).items())
    [item] = live_items(chain.settling)
    number = 1 + item.context["answers"].index(next(a for a in item.context["answers"] if len(a["groups"]) == 3))
    chain.group(chain.person(), campaign=chain.settle, decision=str(number), reason="Two different buses")
    assert waiting_pictures(list(world.benchmark.stages.all())) == {}


def test_a_tie_without_a_settling_stage_holds_up_the_board_and_next_says_how_it_ends(world: World) -> None:
    chain = Chain(target=2, benchmark=world.benchmark, cohort=world.brazil)
    Stage.objects.filter(pk=chain.settling.pk).update(benchmark=a_benchmark())
    first, second = chain.person(), chain.person()
    for person, acts in ((first, (DROP, KEEP)), (second, (KEEP, KEEP))):
        for of_sheet in acts:
            chain.group(person, *of_sheet)
    client, board = world.client(world.mara), f"/b/{world.benchmark.slug}/"
    page = client.get(board).text
    assert "1 picture of “Sheets” waits: people disagree about it, or were not sure." in page
    assert f'href="{board}campaigns/{chain.campaign.pk}/"' in page and "Raise “Answers per item”" in page
    assert page.count("1 picture waits for adjudication</a>") == 2, "of the cohort, and of all"
    assert "No forecast: 1 picture waits for adjudication" in page and ">Complete<" not in page
    sheets = re.findall(r'data-stage="sheets"><div class="([^"]+)"><span>.*?<span class="meter (v\d+)">', page)
    assert sheets == [("cell", "v19")] * 2, "not drawn as complete"
    assert "Raise" not in world.client(world.reviewer).get(board).text, "who does not plan work cannot end it"

    row = chain.campaign.cohorts.get()
    path = f"{board}campaigns/{chain.campaign.pk}/cohorts/{row.pk}/"
    assert client.post(path, {"do": "target", "target": "3"}).status_code == 302
    assert "waits: people disagree" not in client.get(board).text, "one more person is asked"
    third = chain.person()
    while sheet := claim_sheet(third, chain.campaign, chain.cohort):
        answer(sheet, groups=list(KEEP))
    process_derivations()
    assert len(keys(chain.unique)) == 6
    page = client.get(board).text
    assert "waits for adjudication" not in page and "waits: people" not in page
    assert ">Complete<" in page and 'data-stage="sheets"><div class="cell full">' in page


def test_a_tie_in_a_closed_campaign_leads_to_the_page_that_opens_it(world: World) -> None:
    chain = Chain(target=2, benchmark=world.benchmark, cohort=world.brazil)
    Stage.objects.filter(pk=chain.settling.pk).update(benchmark=a_benchmark())
    for acts in (DROP, KEEP):
        chain.group(chain.person(), *acts)
    lifecycle.close(chain.campaign, None, timezone.now())
    page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/").text
    assert "1 picture of “Sheets” waits" in page and "Nobody is asked: “Sheets” is not open." in page


def test_not_sure_of_one_person_goes_to_a_second_one() -> None:
    chain = Chain()
    person = chain.person()
    chain.group(person, "keep:p001", "keep:p002", "unsure:p003")
    assert len(keys(chain.unique)) == 2
    [item] = live_items(chain.settling)
    assert item.context["numbers"] == ["1"]
    assert claim_sheet(person, chain.settle, chain.cohort) is None
    chain.group(chain.person(), *DROP, campaign=chain.settle, decision="another", reason="A crop of the first")
    assert len(keys(chain.unique)) == 2, "the third stays and the second goes"


def page_of(world: World, chain: Chain, show: str = "dropped") -> str:
    url = f"/b/{world.benchmark.slug}/stages/{chain.sheets.pk}/duplicates/?show={show}"
    return world.client(world.mara).get(url).content.decode()


def test_the_page_says_how_many_go_on_and_which_picture_a_dropped_one_repeats(world: World) -> None:
    chain = Chain(benchmark=world.benchmark, cohort=world.brazil)
    person = chain.person()
    given = chain.group(person, *DROP)
    concept = given.assignment.unit.item.concept
    page = page_of(world, chain)
    assert "2 of 6 go on to <bdi>Unique</bdi>." in page and "1 dropped" in page and "3 not decided on yet" in page
    assert re.search(rf"<bdi>{concept}-1</bdi></a> repeats <bdi>{concept}-0</bdi>", page)
    assert "No picture waits for another person." in page_of(world, chain, "waits")
    chain.group(person, "unsure:p001", "keep:p002", "keep:p003")
    waiting = page_of(world, chain, "waits")
    assert "4 of 6 go on" in waiting and "Somebody was not sure." in waiting
    client = world.client(world.mara)
    board = client.get(f"/b/{world.benchmark.slug}/").content.decode()
    assert f'/stages/{chain.sheets.pk}/duplicates/?show=waits">1 picture waits for adjudication</a>' in board
    stage_page = client.get(f"/b/{world.benchmark.slug}/stages/{chain.sheets.pk}/").content.decode()
    assert "4 of 6 go on to <bdi>Unique</bdi>." in stage_page and "/duplicates/" in stage_page
    unique = client.get(f"/b/{world.benchmark.slug}/stages/{chain.unique.pk}/").content.decode()
    assert "4 of 4 go on to <bdi>Labels</bdi>." in unique
    empty = client.get(f"/b/{world.benchmark.slug}/stages/{chain.labels.pk}/duplicates/").content.decode()
    assert "No later stage takes the pictures that people keep." in empty


def test_only_those_who_work_on_the_benchmark_see_the_page(world: World) -> None:
    url = f"/b/{world.benchmark.slug}/stages/{world.stage.pk}/duplicates/"
    assert world.client(world.mara).get(url).status_code == 200
    for person in (world.stranger, world.nour, world.rival):
        assert world.client(person).get(url).status_code == 404
