"""What a model proposes is chosen already on people's sheets, and stays with the item as it was shown."""

from collections.abc import Mapping

import pytest
from django.utils import timezone

from annotation.fields.contract import Shown
from annotation.models import ItemSource, Unit
from annotation.services.answers import model_answers
from annotation.services.answers.model_answers import AnswerDestination, ModelAnswer
from annotation.services.derivation import derived_items
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.models import Item
from benchmarks.rules.derivations import Derivation, DerivationError
from people.models import Rater
from tests.annotation.chain.disputed_scene import a_willing_person
from tests.annotation.chain.factories import (
    a_field,
    a_stage,
    answer,
    claim_sheet,
    create_open_campaign,
    live_items,
    process_derivations,
)
from tests.personas import World, stand_in

pytestmark = pytest.mark.django_db
TEXT = {"fields": [a_field("labels", "text")]}
CHOICE = {"fields": [a_field("labels", "choice", many=True, options_from="labels", least=1)]}
PROPOSED = {"proposals": {"stage": "tagging", "field": "labels"}}


class Chain:
    """Two pictures; a model labels them in `tagging`, and people correct that in `labels`."""

    def __init__(self, world: World) -> None:
        benchmark, self.cohort = world.benchmark, world.brazil
        self.unique = a_stage(benchmark, "unique", {"fields": []})
        promote = {"kind": "promote", "from": ["unique"], "of": "items"}
        self.tagging = a_stage(benchmark, "tagging", TEXT, derivation=promote)
        self.labels = a_stage(benchmark, "labels", CHOICE, derivation={**promote, "params": PROPOSED})
        stand_in(Item.objects.bulk_create(Item(stage=self.unique, key=key, concept="train") for key in ("a", "b")))
        for stage in (self.tagging, self.labels):
            derived_items.rederive_stage(stage)
        process_derivations()
        self.asked = create_open_campaign(self.tagging, self.cohort)

    def tag(self, texts: Mapping[str, str], model: str = "A", run: int = 1) -> None:
        rater, _new = Rater.objects.get_or_create(kind="model", team=self.cohort.team, name=model)
        sheet, now, answers = sheet_of(self.asked.sheet_version), timezone.now(), []
        for key, text in texts.items():
            unit, _new = Unit.objects.get_or_create(item=self.tagging.items.get(key=key), target="")
            parsed = sheet.parse({"labels": text}, Shown(unit.item_id))
            answers.append(ModelAnswer(unit.pk, unit.item_id, 0, f"run:{run}:{unit.pk}", parsed, now, now, run))
        model_answers.write(AnswerDestination.of(self.asked, rater), answers, now)
        process_derivations()

    def shown(self) -> dict[str, tuple[str, str]]:
        rows = live_items(self.labels)
        return {item.key: (item.context["labels"], item.context["labels_proposed_by"]) for item in rows}


def test_an_item_waits_for_its_proposal_and_keeps_the_first_one(world: World) -> None:
    chain = Chain(world)
    assert chain.shown() == {}
    chain.tag({"a": "train | street"})
    assert chain.shown() == {"a": ("train | street", "A")}
    chain.tag({"a": "train", "b": "fruit"}, "B", run=2)
    assert chain.shown() == {"a": ("train | street", "A"), "b": ("fruit", "B")}
    [source] = ItemSource.objects.filter(item__key="a", item__stage=chain.labels, role="proposal")
    assert source.annotation is not None and source.annotation.rater.name == "A"


def test_all_that_is_proposed_is_chosen_on_the_sheet_and_a_person_takes_it_away(world: World) -> None:
    chain = Chain(world)
    chain.tag({"a": "train | street", "b": "fruit"})
    campaign = create_open_campaign(chain.labels, chain.cohort)
    person = a_willing_person(chain.cohort)
    client = world.client(person.user)
    page = client.get(f"/work/{campaign.pk}/").content.decode().split("<template", 1)[0]
    assert page.count("checked") == (2 if 'value="street"' in page else 1)
    sheet = claim_sheet(person, campaign, chain.cohort)
    assert sheet is not None
    given = answer(sheet, labels=[sheet.unit.item.context["labels"].split(" | ")[0]])
    assert given.answers["labels"] in (["train"], ["fruit"])


def test_a_run_may_be_named_and_faulty_settings_are_refused() -> None:
    def read(proposals: object) -> Derivation | None:
        return Derivation.from_json({"kind": "promote", "from": ["unique"], "params": {"proposals": proposals}})

    derivation = read({"stage": "tagging", "field": "labels", "run": 3})
    assert derivation is not None and derivation.proposals is not None and derivation.proposals.run == 3
    for faulty, path in (
        ({"stage": "t"}, "field"),
        ({"field": "x"}, "stage"),
        ({"stage": "t", "field": "x", "run": 0}, "run"),
    ):
        with pytest.raises(DerivationError, match=f"params.proposals.{path}"):
            read(faulty)
