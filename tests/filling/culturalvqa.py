"""CulturalVQA filled by its pages: questions written, reviewed, answered; answers judged by models and by people."""

from collections.abc import Mapping
from typing import Any

from annotation.models import Campaign
from benchmarks.models import Item
from people.models import User
from tests import pictures as draw
from tests.filling.public_client import PublicDoor, Row
from tests.personas import World

FACETS = ("food", "rituals", "clothing", "drink", "traditions")
SUB = {"food": "Ingredients", "rituals": "Beliefs and Customs", "clothing": "Other", "drink": "Taste",
       "traditions": "Celebration"}  # fmt: skip
COUNTRIES = ("India", "Brazil", "Canada", "Germany")  # the last two have no cohort: their answers come in a file
CANDIDATES = {
    "GPT-4": ("vlm", "vlm_few_shot", "llm", "llm_country", "llm_entities"), "InternVL": ("vlm", "llm"),
    "Gemini": ("vlm",),
}  # fmt: skip
ABOUT = {"GPT-4": {"open": False, "released": "2023-03"}, "InternVL": {"open": True, "released": "2023-12"},
         "Gemini": {"open": False, "released": "2023-12"}}  # fmt: skip


def fill(world: World) -> PublicDoor:
    door = PublicDoor(world, "culturalvqa", "India")
    write_questions(door)
    answer_questions(door)
    label_questions(door)
    rate_answers(door)
    judge_answers(door)
    import_lists(door, "1")
    return door


def fill_again(door: PublicDoor) -> None:
    """A second judge in a second campaign, and second versions of the lists."""
    ask_judge(door, door.open_campaign("lave", {door.first: 1, door.second: 1}, "Second round"), "Judge 2")
    import_lists(door, "2")


def write_questions(door: PublicDoor) -> None:
    rows: list[Row] = [
        {"file": f"{country}-{facet}.png", "key": f"{country}-{facet}", "country": country, "concept": f"a {facet}",
         "facet": facet, "assertion": "It is seen.", "entities": "Lamp|Table"}
        for country in ("India", "Brazil") for facet in FACETS
    ]  # fmt: skip
    pictures = {str(row["file"]): draw.png(60, 40, seed=800 + n) for n, row in enumerate(rows)}
    door.import_items("questions", rows, pictures)
    campaign = door.open_campaign("questions", {door.first: 1, door.second: 1})
    for user in door.people[::2]:
        door.answer(campaign, user, write)
    door.accept_everything("questions")


def write(item: Item, _user: User) -> Mapping[str, Any] | None:
    """One picture in five is skipped."""
    if item.context["facet"] == "traditions":
        return None
    facet = item.context["facet"]
    return {"familiarity": "familiar", "question": f"What {facet} is this here called?", "answer": f"{facet} lamp"}


def answer_questions(door: PublicDoor) -> None:
    campaign = door.open_campaign("answers", {door.first: 3, door.second: 3})
    door.everybody_answers(campaign, answer)
    items = Item.objects.filter(stage=campaign.stage).order_by("pk")
    rows = [{"item": one.key, "target": one.origin, "answers": {"answer": "lamp", "sure": "yes"}} for one in items]
    for model, about in ABOUT.items():
        door.model_answers(campaign, model, rows, "vlm", **about)


def answer(item: Item, user: User) -> Mapping[str, str]:
    return {"answer": f"{item.context['facet']} {user.name}", "sure": "yes"}


def label_questions(door: PublicDoor) -> None:
    codes = ("ingredients", "taste", "beliefs_customs", "celebration")
    campaign = door.open_campaign("sub-categories", {door.first: 1, door.second: 1})
    door.everybody_answers(campaign, lambda item, _user: {"sub_category": codes[item.pk % 4]})
    campaign = door.open_campaign("stereotypes", {door.first: 1, door.second: 1})
    door.everybody_answers(campaign, stereotype)


def stereotype(item: Item, _user: User) -> Mapping[str, str]:
    return {"stereotype": "neither"} if item.pk % 2 else {"stereotype": "stereotype", "about": "gender"}


def candidates() -> list[Row]:
    """One question of each country and facet; answers of models in each setting and of three people."""
    rows: list[Row] = []
    for country in COUNTRIES:
        for facet in FACETS:
            question = f"{country}-{facet}"
            models = [(model, setting) for model, settings in CANDIDATES.items() for setting in settings]
            models += [(f"human-{n}", "") for n in range(3)]
            for by, setting in models:
                rows.append({
                    "key": f"{question}/lave/{by}-{setting}", "country": country,
                    "text": f"What {facet} is this?", "candidate": f"{facet} of {by}", "references": "Lamp|Lamps",
                    "question": question, "candidate_by": "human" if by.startswith("human") else by,
                    "setting": setting, "facet": facet, "sub_category": SUB[facet],
                })  # fmt: skip
    return rows


def pictures_of_questions() -> dict[str, bytes]:
    names = [f"{country}-{facet}.png" for country in COUNTRIES for facet in FACETS]
    return {name: draw.png(60, 40, seed=900 + n) for n, name in enumerate(names)}


def judge_answers(door: PublicDoor) -> None:
    door.import_items("lave", candidates())
    ask_judge(door, door.open_campaign("lave", {door.first: 1, door.second: 1}), "Judge")


def ask_judge(door: PublicDoor, campaign: Campaign, judge: str) -> None:
    items = Item.objects.filter(stage=campaign.stage).order_by("pk")
    rows = [
        {"item": one.key, "answers": {"lave": str(1 + (n * 7 + len(judge)) % 3 // 2)}} for n, one in enumerate(items)
    ]
    door.model_answers(campaign, judge, rows, "1-2")


def rate_answers(door: PublicDoor) -> None:
    rows: list[Row] = [
        {"file": f"{country}-{facet}.png", "key": f"{country}-{facet}/{model}", "country": country, "concept": facet,
         "text": f"What {facet} is this?", "candidate": "Lamp", "model": model, "question": f"{country}-{facet}"}
        for country in ("India", "Brazil") for facet in FACETS for model in CANDIDATES
    ]  # fmt: skip
    door.import_items("model-answers", rows, pictures_of_questions())
    campaign = door.open_campaign("model-answers", {door.first: 2, door.second: 2})
    door.everybody_answers(campaign, lambda item, user: {"verdict": str(1 + (item.pk + len(user.name)) % 5)})


def import_lists(door: PublicDoor, version: str) -> None:
    words = [f"{facet} lamp" for facet in FACETS]
    counts = [{"kind": "entry", "key": word, "count": 10 * n + int(version)} for n, word in enumerate(words)]
    door.collection("Corpus counts", counts, version)
    titles = [{"kind": "entry", "key": f"Lamp of {facet}"} for facet in FACETS]
    door.collection("Wikipedia titles", titles, version)
