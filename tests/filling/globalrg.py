"""GlobalRG filled by its pages: lists of models over a collection; and boxes, from found pictures to verified ones."""

from collections.abc import Mapping
from typing import Any

from annotation.models import Assignment, Campaign
from benchmarks.models import Item
from benchmarks.services.storage import open_binary
from people.models import User
from tests import pictures as draw
from tests.filling.public_client import ON_SHEET, PublicDoor, Row, file_of
from tests.personas import World

COUNTRIES, UNIVERSALS = ("Brazil", "Egypt", "Japan", "Germany", "Nigeria"), ("breakfast", "music")


def fill_retrieval(world: World) -> PublicDoor:
    door = PublicDoor(world, "globalrg-retrieval")
    lists(door, "1", 0)
    screening(door)
    return door


def fill_retrieval_again(door: PublicDoor) -> None:
    lists(door, "2", 1)


def lists(door: PublicDoor, version: str, shift: int) -> None:
    entries: list[Row] = [
        {"kind": "entry", "key": f"{universal}-{country}-{n}", "universal": universal, "country": country,
         "region": f"Region of {country}"}
        for universal in UNIVERSALS for country in COUNTRIES for n in (1, 2)
    ]  # fmt: skip
    queries: list[Row] = [{"kind": "query", "key": one, "text": one, "universal": one} for one in UNIVERSALS]
    collection = door.collection("Pictures", [*entries, *queries], version)
    keys = [entry["key"] for entry in entries]
    for place, model in enumerate(("CLIP", "FLAVA")):
        rankings = []
        for n, query in enumerate(queries):
            start = (5 * n + 3 * place + shift) % len(keys)
            order = keys[start:] + keys[:start]
            rankings.append({"query": query["key"], "keys": order, "scores": [1 - k / 100 for k in range(len(order))]})
        door.run(collection, "retrieval", model, rankings, about={"family": "Dual encoder"})


def screening(door: PublicDoor) -> None:
    rows = [{"file": f"{n}.png", "key": f"{country}-{n}", "country": country, "concept": "breakfast", "query": "food"}
            for n, country in enumerate(("Egypt", "Brazil", "Egypt", "Brazil"))]  # fmt: skip
    door.import_items("candidates", rows, {f"{n}.png": draw.png(160, 120, seed=300 + n) for n in range(4)})
    door.derive()
    campaign = door.open_campaign("screening", {door.first: 2, door.second: 2})
    door.everybody_answers(campaign, keep)
    items = Item.objects.filter(stage=campaign.stage)
    answers = [{"item": one.key, "target": one.origin, "answers": {"keep": "yes"}} for one in items]
    door.model_answers(campaign, "CLIP", answers, family="Dual encoder")


def keep(item: Item, user: User) -> Mapping[str, str]:
    """Two pictures of four are judged alike by both people of the cohort."""
    alike = item.key in ("Egypt-0", "Brazil-1") or user.name in ("Tarek", "Caio")
    return {"keep": "yes"} if alike else {"keep": "no", "reason": "text"}


def fill_grounding(world: World) -> PublicDoor:
    door = PublicDoor(world, "globalrg-grounding", "India")
    rows = [{"key": f"{country}-{n}", "country": country, "concept": f"thing {n}", "text": f"Thing {n} of {country}"}
            for country in ("India", "Brazil") for n in range(2)]  # fmt: skip
    door.import_items("finding", rows)
    finding = door.open_campaign("finding", {door.first: 2, door.second: 2})
    for number, user in enumerate(door.people):
        find(door, finding, user, number)
    door.derive()
    count_objects(door)
    boxes(door, "First round")
    verifying = door.open_campaign("verification", {door.first: 1, door.second: 1})
    door.everybody_answers(verifying, lambda item, _user: {"box": box(item.pk + 1)})
    return door


def fill_grounding_again(door: PublicDoor) -> None:
    """The models answer in a second campaign; its people are none."""
    campaign = door.open_campaign("boxes", {door.first: 1, door.second: 1}, "Second round")
    model_boxes(door, campaign, 2)


def find(door: PublicDoor, campaign: Campaign, user: User, seed: int) -> None:
    """A picture is brought for each word, then the sheet is sent."""
    page = door.world.client(user)
    for number in range(20):
        shown = page.get(f"/work/{campaign.pk}/").content.decode().split("<template", 1)[0]
        on_sheet = ON_SHEET.search(shown)
        if not on_sheet:
            return
        picture = {"file": file_of("found.png", draw.png(80, 60, seed=1000 * (seed + 1) + number))}
        sent = page.post(f"/assignments/{on_sheet[1]}/picture", picture, headers={"X-Requested-With": "emic"})
        prevalent = "not_sure" if (seed, number) == (1, 0) else "yes"  # one word that the two do not agree about
        fields = {"a-picture": [sent.json()["sha"], "file", "", "own", ""], "a-prevalent": prevalent}
        reply = page.post(f"/assignments/{on_sheet[1]}/submit", {**fields, "client_key": f"found-{on_sheet[1]}"})
        assert reply.status_code == 302 and Assignment.objects.get(pk=on_sheet[1]).state == "submitted"


def count_objects(door: PublicDoor) -> None:
    """Import what a detector would find: pictures with fewer than three objects go back to their finders."""
    items = Item.objects.filter(stage__benchmark=door.benchmark, stage__key="boxes").prefetch_related("images__image")
    rows = [{"key": item.key, "file": f"{item.pk}.png", "country": item.origin, "fact.objects": "5"} for item in items]
    pictures = {}
    for item in items:
        with open_binary(item.images.all()[0].image.original_name) as file:
            pictures[f"{item.pk}.png"] = file.read()
    door.import_items("boxes", rows, pictures, complete=True)
    door.derive()


def boxes(door: PublicDoor, name: str) -> None:
    campaign = door.open_campaign("boxes", {door.first: 1, door.second: 1}, name)
    door.everybody_answers(campaign, lambda item, _user: {"box": box(item.pk)})
    model_boxes(door, campaign, 1)


def box(number: int) -> list[str]:
    """Left, top, right and bottom in percent."""
    left = 10 + number % 5
    return [str(left), "10", str(left + 40), "50"]


def model_boxes(door: PublicDoor, campaign: Campaign, shift: int) -> None:
    items = Item.objects.filter(stage=campaign.stage).order_by("pk")
    for place, model in enumerate(("Grounding DINO", "Kosmos")):
        rows: list[Mapping[str, Any]] = []
        for number, item in enumerate(items):
            left = (10 + (number * (place + shift)) % 40) / 100
            answer = {"box": [{"x0": left, "y0": 0.1, "x1": left + 0.4, "y1": 0.5}]}
            rows.append({"item": item.key, "target": item.origin, "answers": answer})
        door.model_answers(campaign, model, rows, family="Specialist")
