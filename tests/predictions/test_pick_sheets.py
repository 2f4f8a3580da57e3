"""The nearest pictures of each sentence stand on one sheet, and the picked one goes on, alone."""

from typing import Any

import pytest
from django.utils import timezone

from annotation.services.derivation import derived_items
from benchmarks.models import Item, ItemImage, Stage
from benchmarks.services.picture_arrangement import arrange
from people.services.raters import models_of
from predictions.models import Collection, Entry, Query, Ranking, Run
from tests.annotation.chain.factories import (
    a_field,
    a_stage,
    answer,
    claim_sheet,
    create_open_campaign,
    live_items,
    process_derivations,
)
from tests.annotation.queue.factories import a_person
from tests.module_world import built_once
from tests.personas import World, draw_image

pytestmark = pytest.mark.django_db
PICKING = {
    "fields": [a_field("picture", "choice", options_from="pictures", more=[{"code": "none", "label": {"en": "None"}}])]
}
RATING: dict[str, Any] = {"fields": [a_field("remark", "text")]}
TO_RATE = {
    "kind": "promote", "from": ["pick", "made"],
    "params": {
        "picked": {"pick": "picture"}, "conditions": {"pick": "natural", "made": "generated"},
        "context": {"prompt": "item.context.prompt"},
    },
}  # fmt: skip


class Scene:
    """Two sentences, a collection of ten pictures, and a run that ranked them for both."""

    def __init__(self, world: World) -> None:
        benchmark, photos = world.benchmark, world.stage
        self.world = world
        self.prompts = a_stage(benchmark, "prompts", RATING, display="words", pictures="none")
        self.pick = a_stage(benchmark, "pick", PICKING, display="contact", pictures="set")
        self.made = a_stage(benchmark, "made", RATING)
        self.rate = a_stage(benchmark, "rate", RATING, derivation=TO_RATE)
        self.collection = Collection.objects.create(benchmark=benchmark, key="found", name="Found")
        for number in range(10):
            image = draw_image(Item.objects.create(stage=photos, key=f"photo-{number}")).image
            about = {"source": f"https://example.org/{number}", "licence": "CC0"}
            Entry.objects.create(collection=self.collection, key=f"p{number}", image=image, about=about)
        rater = models_of(benchmark.team, [("clip", "")])["clip", ""]
        self.run = Run.objects.create(
            benchmark=benchmark, collection=self.collection, rater=rater, task="retrieval", query_set="sentences",
            complete=True,
        )  # fmt: skip
        for concept, first in (("dance", 0), ("music", 2)):
            self.rank(concept, [f"p{number}" for number in range(first, 10)])

    def rank(self, concept: str, keys: list[str]) -> None:
        key, text = f"br/{concept}", f"A photo of {concept}"
        Item.objects.create(stage=self.prompts, key=key, text=text, concept=concept, origin="Brazil")
        query = Query.objects.create(collection=self.collection, query_set="sentences", key=key, text=text)
        scores = [1 - place / 100 for place in range(len(keys))]
        Ranking.objects.create(run=self.run, query=query, keys=keys, scores=scores)

    @property
    def path(self) -> str:
        return f"/b/{self.world.benchmark.slug}/encoders/sheets/"

    def create(self, user: Any = None, stage: Stage | None = None) -> Any:
        data = {"run": self.run.pk, "source": self.prompts.pk, "stage": (stage or self.pick).pk, "most": 8}
        return self.world.client(user or self.world.mara).post(self.path, data, follow=True)


@built_once
def scene(world: World) -> Scene:
    return Scene(world)


def test_a_sheet_has_the_first_eight_pictures_of_the_ranking_with_their_similarity_and_licence(scene: Scene) -> None:
    assert "2 contact sheets were created" in scene.create().content.decode()
    dance, music = live_items(scene.pick)
    assert (dance.key, dance.concept, dance.origin, dance.text) == ("br/dance", "dance", "Brazil", "A photo of dance")
    assert [dance.images.get(role=str(place)).source for place in (1, 8)] == [
        "https://example.org/0", "https://example.org/7",
    ]  # fmt: skip
    assert dance.images.count() == music.images.count() == 8
    assert dance.context["pictures"]["2"] == {
        "entry": "p1", "similarity": 0.99, "source": "https://example.org/1", "licence": "CC0",
    }  # fmt: skip
    derived_items.arrange_contact_sheets()
    dance.refresh_from_db()
    assert dance.context["groups"] == [[str(place)] for place in range(1, 9)], "in the order of the ranking"
    again = scene.create().content.decode()
    assert "0 contact sheets were created" in again and "2 were there already" in again
    assert len(live_items(scene.pick)) == 2


def test_a_sentence_that_a_filter_dropped_gets_no_sheet(scene: Scene) -> None:
    Item.objects.filter(stage=scene.prompts, concept="music").update(intake=Item.Intake.DROPPED)
    assert "1 contact sheet was created" in scene.create().content.decode()
    assert [sheet.key for sheet in live_items(scene.pick)] == ["br/dance"]


def test_the_picked_picture_goes_on_alone_and_none_of_them_brings_nothing(scene: Scene) -> None:
    scene.create()
    text = {"prompt": "A photo of dance"}
    draw_image(Item.objects.create(stage=scene.made, key="br/dance", concept="dance", context=text))
    cohort = scene.world.egypt
    campaign, making = create_open_campaign(scene.pick, cohort), create_open_campaign(scene.made, cohort)
    person = a_person(cohort)
    assert person.user is not None
    scene.world.give_consent(scene.world.team, person.user)
    sheets = {}
    for code in ("3", "none"):
        sheet = claim_sheet(person, campaign, cohort)
        assert sheet is not None
        sheets[code] = sheet.unit.item
        answer(sheet, picture=code)
    answer(claim_sheet(person, making, cohort), remark="Good")
    process_derivations()
    by_condition = {item.condition: item for item in live_items(scene.rate)}
    assert set(by_condition) == {"natural", "generated"} and len(live_items(scene.rate)) == 2
    natural = by_condition["natural"]
    assert list(natural.images.values_list("role", flat=True)) == ["image"]
    assert natural.images.get().image == ItemImage.objects.get(item=sheets["3"], role="3").image
    assert natural.images.get().role == "image"
    assert natural.context["prompt"] == sheets["3"].text and natural.context["similarity"] == 0.98
    assert by_condition["generated"].key == "br/dance"


def test_sheets_are_refused_where_no_query_is_a_sentence_and_to_strangers(scene: Scene) -> None:
    assert scene.create(user=scene.world.stranger).status_code == 404
    assert scene.world.client(scene.world.annotators[0]).get(scene.path).status_code == 404
    Item.objects.filter(stage=scene.prompts).update(withdrawn_at=timezone.now())
    refused = scene.create()
    assert refused.status_code == 400 and "No query of this run is a sentence of" in refused.content.decode()
    assert scene.create(stage=scene.made).status_code == 400, "a stage of single pictures takes no sheets"


def test_a_file_of_candidates_says_on_each_row_what_they_are_to_show(scene: Scene) -> None:
    """A row is a picture. What all rows of an item have alike is shown over its pictures, and goes on with the picked
    one; nothing is said of similarity, for no question is about it, and the numbers are those of the file."""
    scene.pick.layout = {"show": [{"key": "prompt", "label": {"en": "What it is to show"}}]}
    scene.pick.save()
    places = [str(place) for place in range(1, 11)]
    pictures = {"pictures": {place: {"prompt": "A photo of a song"} for place in places}}
    item = Item.objects.create(stage=scene.pick, key="br/song", concept="song", origin="Brazil", context=pictures)
    for place, photo in zip(places, scene.collection.entries.order_by("key"), strict=True):
        ItemImage.objects.create(item=item, role=place, image_id=photo.image_id)
    arrange(item)
    assert item.context["groups"] == [[place] for place in places]
    cohort = scene.world.egypt
    campaign, person = create_open_campaign(scene.pick, cohort), a_person(cohort)
    assert person.user is not None
    scene.world.give_consent(scene.world.team, person.user)
    page = scene.world.client(person.user).get(f"/work/{campaign.pk}/").content.decode()
    assert "What it is to show" in page and "A photo of a song" in page
    assert "no similar picture found" not in page
    answer(claim_sheet(person, campaign, cohort), picture="10")
    process_derivations()
    [picked] = live_items(scene.rate)
    assert picked.context["prompt"] == "A photo of a song"
    assert picked.images.get().image == item.images.get(role="10").image
