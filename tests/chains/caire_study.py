"""What the steps of CAIRE's chain share: the benchmark, its people, and a model server that knows what it was asked."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from playwright.sync_api import Page

from annotation.models import Annotation
from benchmarks.models import Benchmark, Item, Stage
from tests.chains.annotators import Annotator
from tests.chains.browser_client import BrowserResearcher, BrowserSheets
from tests.personas import World
from tests.predictions.model_server import Act, ReceivedRequest, Server

COUNTRIES = ("Brazil", "China", "Egypt")
FAITHS = ("Buddhism", "Christianity", "Hinduism", "Islam", "Judaism")
LANDS = ("Brazil", "China", "Egypt", "Ghana", "Japan", "Peru")
RELIGIONS, SIX_COUNTRIES = "World religions", "Six countries"
SETS = {RELIGIONS: FAITHS, SIX_COUNTRIES: LANDS}
PROPOSED = {
    "thing 1": (RELIGIONS, "Thangka", "Buddhism|Hinduism"),
    "thing 2": (RELIGIONS, "Menorah", "Judaism"),
    "thing 3": (RELIGIONS, "Unheard Of", "Islam"),
    "thing 4": (SIX_COUNTRIES, "Kente", "Ghana"),
    "thing 5": (SIX_COUNTRIES, "Poncho", "Peru"),
    "thing 6": (SIX_COUNTRIES, "Kimono", "Japan"),
}
"""By what the model is asked for: the label set, the concept that it names, and the labels that it gives."""


@dataclass(frozen=True)
class Size:
    """How much of the universal set there is, and of what a model is asked to name for the specific set."""

    concepts: tuple[str, ...]
    photographs: int
    things: tuple[str, ...] = tuple(PROPOSED)

    @property
    def prompts(self) -> int:
        return len(COUNTRIES) * len(self.concepts)

    @property
    def proposed(self) -> dict[str, tuple[str, str, str]]:
        return {thing: PROPOSED[thing] for thing in self.things}

    def units(self, names: Iterable[str]) -> set[tuple[str, str]]:
        """Each of these concepts with each label of its set."""
        return {
            (name, label) for labels, name, _gold in self.proposed.values() if name in names for label in SETS[labels]
        }


class Study:
    """The benchmark and its people."""

    def __init__(self, world: World, practice: str, server: Server, size: Size, open_as: Callable[..., Page]) -> None:
        self.world, self.practice, self.server, self.size = world, practice, server, size
        self.researcher = BrowserResearcher(world.client(world.team_admin), open_as(world.team_admin))
        self.first_sheets = BrowserSheets(open_as)
        self.people: dict[str, list[Annotator]] = {}

    @property
    def benchmark(self) -> Benchmark:
        return Benchmark.objects.get(recipe="caire-universal")

    def stage(self, key: str) -> Stage:
        return self.benchmark.stages.get(key=key)

    def items(self, stage: str) -> list[Item]:
        live = Item.objects.filter(stage__benchmark=self.benchmark, stage__key=stage, withdrawn_at=None)
        return list(live.order_by("key"))

    def answer_by_all(self, stage: str, answer: Callable[[Annotator, str], Mapping[str, Any]]) -> int:
        """What all people answer together, one after the other."""
        people = [person for of_country in self.people.values() for person in of_country]
        return sum(self.first_sheets.answer(person, stage, partial(answer, person)) for person in people)

    def answers(self, stage: str) -> Any:
        return Annotation.objects.filter(assignment__campaign__stage=self.stage(stage), live=True, counted=True)


def reply(asked: ReceivedRequest) -> Act:
    """A concept that was proposed, or a score that depends on picture, article and culture."""
    for thing, (_label_set, name, gold) in PROPOSED.items():
        if f"Name {thing} " in asked.text:
            return Act(text=json.dumps({"entity": name, "gold": gold}))
    [culture] = re.findall(r"to this culture: (\w+)", asked.text)
    digest = hashlib.sha256(f"{asked.images[0]!r} {culture} {len(asked.text) % 7}".encode()).digest()
    return Act(text=str(1 + digest[0] % 5))
