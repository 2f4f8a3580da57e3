"""What the steps of 3XCM's chain share: the benchmark, its people, and a model server that knows colours."""

import io
import json
import re
from collections.abc import Callable

import numpy as np
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image
from playwright.sync_api import Page

from benchmarks.models import Benchmark, Item, ItemImage, Stage
from tests.archives import pack_zip
from tests.chains.annotators import Annotator, Answer
from tests.chains.browser_client import BrowserResearcher, BrowserSheets
from tests.chains.link_client import LinkClient
from tests.chains.researcher import do_waiting_work
from tests.chains.searched_pictures import ASKED, COLOURS, MERGED, TYPED, Size
from tests.personas import World
from tests.predictions.model_server import Act, ReceivedRequest, Server

LANGUAGES = {"Brazil": "pt", "Thailand": "th", TYPED: "fr"}
NATIVE = {
    "pt": {"train": "trem", "railway": "ferrovia", "market": "feira", "tea": "chá", "bridge": "ponte", "rain": "chuva"},
    "th": {"train": "รถไฟ", "railway": "ทางรถไฟ", "market": "ตลาด", "tea": "ชา", "bridge": "สะพาน", "rain": "ฝน"},
    "fr": {"train": "train (fr)", "market": "marché", "tea": "thé", "bridge": "pont", "rain": "pluie"},
}
ALT = re.compile(r"Picture \d+ of \w+ in \w+")


def reply(asked: ReceivedRequest) -> Act:
    """The concept whose colour is nearest to the picture's; a query with its word."""
    if not asked.images:
        [word] = re.findall(r"The word (.+) stands in it exactly", asked.text)
        return Act(text=f"? {word} !")
    with Image.open(io.BytesIO(asked.images[0])) as picture:
        mean = np.asarray(picture.convert("RGB"), float).reshape(-1, 3).mean(axis=0)
    offered = [concept for concept in COLOURS if f"- {concept}\n" in f"{asked.text}\n"]
    assert MERGED not in offered, "models are asked about the name that stays"
    nearest = min(offered, key=lambda concept: float(np.abs(mean - COLOURS[concept]).sum()))
    return Act(text=json.dumps({"labels": [nearest]}))


class Study:
    """The benchmark and its people."""

    reviewer: LinkClient

    def __init__(self, world: World, server: Server, size: Size, open_as: Callable[..., Page]) -> None:
        self.world, self.server, self.size = world, server, size
        self.people: dict[str, list[Annotator]] = {}
        self.researcher = BrowserResearcher(world.client(world.team_admin), open_as(world.team_admin))
        self.first_sheets = BrowserSheets(open_as)

    @property
    def benchmark(self) -> Benchmark:
        return Benchmark.objects.get(recipe="3xcm")

    def stage(self, key: str) -> Stage:
        return self.benchmark.stages.get(key=key)

    def items(self, stage: str) -> list[Item]:
        live = Item.objects.filter(stage=self.stage(stage), withdrawn_at=None)
        return list(live.order_by("key"))

    def everybody(self) -> list[Annotator]:
        return [person for country in ASKED for person in self.people[country]]

    def answer(self, person: Annotator, stage: str, answer: Answer) -> int:
        """The first sheets of the stage in a browser, the others by their forms."""
        return self.first_sheets.answer(person, stage, answer)

    def import_rows(self, stage: str, rows: list[dict[str, str]], pictures: dict[str, bytes]) -> None:
        self.researcher.go("Import items", stage)
        manifest = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()
        files = {"manifest": SimpleUploadedFile("manifest.jsonl", manifest)}
        if pictures:
            files["archive"] = SimpleUploadedFile("pictures.zip", pack_zip(pictures))
        self.researcher.submit("Import", files)
        do_waiting_work()

    def grouped(self, text: str, more: int = 0) -> list[str]:
        """What is done with each picture of the contact sheet that is shown: the last ones repeat the first."""
        alts = list(dict.fromkeys(ALT.findall(text)))
        uses = ItemImage.objects.filter(item__stage=self.stage("look-alikes"), item__withdrawn_at=None, alt__in=alts)
        role_by_alt = dict(uses.values_list("alt", "role"))
        roles = [role_by_alt[alt] for alt in alts]
        [(concept, country)] = {(alt.split()[3], alt.split()[5]) for alt in alts}
        stay = len(roles) - self.size.drops(concept, country) - more
        return [f"keep:{role}" if number < stay else f"same:{role}:{roles[0]}" for number, role in enumerate(roles)]
