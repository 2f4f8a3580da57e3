"""3XCM filled by its pages: collections of captions, trials and things with embeddings, and runs over them."""

from collections.abc import Mapping, Sequence
from typing import Any

from papers.xcm.tables.trials import SIX, THREE
from predictions.models import Collection
from tests.filling.public_client import PublicDoor, Row
from tests.personas import World

SPOKEN = {"Japan": "ja", "Thailand": "th", "Kenya": "sw", "United States": "en"}
CONCEPTS = ("train", "food", "bus", "map")
MODELS = {"CLIP-L/14": {"family": "Contrastive"}, "Jina-E-v4": {"family": "Language model"}}


def fill(world: World) -> PublicDoor:
    door = PublicDoor(world, "3xcm")
    collections(door, "1", 0)
    merges(door)
    return door


def fill_again(door: PublicDoor) -> None:
    """Second versions of all three collections, with other numbers."""
    collections(door, "2", 1)


def collections(door: PublicDoor, version: str, shift: int) -> None:
    captions(door, version, shift)
    trials(door, version, shift)
    embeddings(door, version, shift)


def merges(door: PublicDoor) -> None:
    """The one stage that people answer before there are pictures: do two words mean the same?"""
    words = [("train", "railway"), ("bus", "coach"), ("map", "plan"), ("food", "meal")]
    rows = [{"key": f"{a}-{b}", "first": a, "second": b, "similarity": "0.94"} for a, b in words]
    door.import_items("merges", rows)
    campaign = door.open_campaign("merges", {door.first: 4, door.second: 4})  # shared: two of each
    door.everybody_answers(campaign, lambda item, _user: verdict_of(item.pk))
    answers = [{"item": f"{a}-{b}", "answers": verdict_of(n)} for n, (a, b) in enumerate(words)]
    door.model_answers(campaign, "CLIP-L/14", answers, **MODELS["CLIP-L/14"])


def verdict_of(number: int) -> Mapping[str, str]:
    return {"same": "same", "name": "first"} if number % 3 else {"same": "different"}


def captions(door: PublicDoor, version: str, shift: int) -> None:
    entries: list[Row] = [
        {"kind": "entry", "key": f"{tongue}{n}", "language": tongue, "image": f"i{n}", "text": f"A caption {tongue}{n}"}
        for tongue in SPOKEN.values()
        for n in (1, 2, 3)
    ]
    queries: list[Row] = [
        {"kind": "query", "key": f"q{n}", "query_set": "plain", "text": f"picture {n}", "image": f"i{n}"}
        for n in (1, 2, 3)
    ]
    collection = door.collection("Captions", [*entries, *queries], version)
    keys = [entry["key"] for entry in entries]
    for place, (model, about) in enumerate(MODELS.items()):
        lists = []
        for n, query in enumerate(queries):
            start = (place + n + shift) % len(keys)
            lists.append(
                {"query": query["key"], "keys": keys[start:] + keys[:start], "scores": falling_scores(len(keys))}
            )
        door.run(collection, "retrieval", model, lists, query_set="plain", about=about)


def falling_scores(n: int) -> list[float]:
    return [1 - place / 100 for place in range(n)]


def trials(door: PublicDoor, version: str, shift: int) -> None:
    entries: list[Row] = []
    queries: list[Row] = []
    for country, language in SPOKEN.items():
        for concept in CONCEPTS:
            where = {"country": country, "concept": concept}
            for query_set, roles in (("plain", THREE), ("casual", THREE), ("descriptor", SIX), ("plain six", SIX)):
                named = {role: f"{country}-{concept}-{role}" for role in roles}
                about = {**where, "language": language}
                if query_set == "descriptor":
                    about["descriptor"] = "Kenya"
                roles_of = {f"role.{role}": key for role, key in named.items()}
                key = f"{country}-{concept}" + ("-six" if roles == SIX else "")
                queries.append({"kind": "query", "key": key, "query_set": query_set, **about, **roles_of})
            entries += [{"kind": "entry", "key": f"{country}-{concept}-{role}", **where} for role in SIX]
    collection = door.collection("Trials", [*entries, *queries], version)
    for place, (model, about) in enumerate(MODELS.items()):
        for query_set, prompt in (
            ("plain", ""), ("casual", ""), ("plain", "semantics"), ("descriptor", ""), ("plain six", ""),
        ):  # fmt: skip
            asked = [one for one in queries if one["query_set"] == query_set]
            rows = [similar(one, number + place + shift) for number, one in enumerate(asked)]
            door.run(collection, "forced_choice", model, rows, query_set=query_set, system_prompt=prompt, about=about)


def similar(query: Row, number: int) -> Mapping[str, Any]:
    """The right one wins half of the trials, the others in turn."""
    keys = [value for name, value in query.items() if name.startswith("role.")]
    won = 0 if number % 2 else number % len(keys)
    scores = [0.9 if place == won else 0.5 - place / 100 - number / 1000 for place in range(len(keys))]
    return {"query": query["key"], "keys": keys, "scores": scores}


def embeddings(door: PublicDoor, version: str, shift: int) -> None:
    entries: list[Row] = []
    for country, language in SPOKEN.items():
        for concept in CONCEPTS:
            entries.append(
                {"kind": "entry", "key": f"t-{language}-{concept}", "language": language, "concept": concept}
            )
            entries.append({"kind": "entry", "key": f"p-{country}-{concept}", "country": country, "concept": concept})
    made: Collection = door.collection("Texts and pictures", entries, version)
    for model, about in MODELS.items():
        door.run(made, "embedding", model, vectors(entries, shift), about=about)


def vectors(entries: Sequence[Row], shift: int) -> list[Row]:
    rows: list[Row] = []
    for number, entry in enumerate(entries):
        group = list(SPOKEN.values()).index(entry["language"]) if "language" in entry else number % 4
        rows.append({"key": entry["key"], "vector": [1.0 + group, (group * 7 + number + shift) % 5, number % 3 - 1.0]})
    return rows
