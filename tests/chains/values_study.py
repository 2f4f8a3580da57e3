"""What the steps of ValueGround's chain share: how much there is of it, its people, its survey, and what models say."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page

from annotation.models import Annotation, Assignment
from benchmarks.models import Benchmark, Item, Stage
from papers.valueground.builder.models import Build
from papers.valueground.recipe import LABELLED
from tests.chains.annotators import Annotator
from tests.chains.browser_client import BrowserResearcher, BrowserSheets
from tests.papers.valueground.survey_samples import ADJUSTMENT, CODEBOOK, METADATA, Files, random_counts
from tests.personas import World
from tests.predictions.model_server import Act, ReceivedRequest

COUNTRIES, SOURCES = ("Brazil", "India"), ("heron", "wren")
FIELDS = ("match_a", "match_b", "pair_match", "no_cue")
PASSES = {"match_a": "2", "match_b": "2", "pair_match": "2", "no_cue": "1"}
BY_HAND = "Q3"
PLACES = {
    "Q10": {1: 1, 2: 2}, "Q2": {1: 1, 2: 3, 3: 2}, "Q3": {0: 1, 1: 2, 2: 3}, "Q4": {1: 1, 2: 2},
    "Q5": {0: 1, 1: 1, 2: 2, 3: 3}, "Q6": {1: 1, 2: 2}, "Q8": {1: 1, 2: 2},
}  # fmt: skip
"""By question the place of each code that counts: those of the file of adjustment, of Q3 those that a person gives."""

Pair = tuple[str, str]
"""A pair of pictures by its question and its source."""


@dataclass(frozen=True)
class Size:
    """How much there is.

    Attributes:
        words: by confirmed question what the practice model is told to do with its pairs.
        rounds: state, last plan and last round of each pair that is not accepted at once.
        rejected: pairs that people reject; of these `sent_back` is sent back with a comment.
        judges: models that score pairs; `models` choose and match.
        kept: questions whose pairs of both sources are accepted in the end.
        tie: a question and a country whose answers are in balance.
        uncounted: a question and a country without counts.
    """

    words: Mapping[str, str]
    rounds: Mapping[Pair, tuple[str, int, int]]
    kept: tuple[str, ...]
    judges: tuple[str, ...]
    models: tuple[str, ...]
    rejected: tuple[Pair, ...] = ()
    sent_back: Pair | None = None
    tie: Pair | None = None
    uncounted: Pair | None = None
    reviewed: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reviewed", len(self.words) * len(SOURCES))

    @property
    def labels(self) -> int:
        return len(self.kept) * len(LABELLED) - sum(pair is not None for pair in (self.tie, self.uncounted))


ACCEPT = "[practice: accept]"
SHORT = Size(
    words={"Q10": "[practice: revise_edits]", "Q2": f"{ACCEPT} [practice: replan source=wren]"},
    rounds={
        ("Q10", "heron"): ("accepted", 0, 1), ("Q10", "wren"): ("accepted", 0, 1), ("Q2", "wren"): ("accepted", 1, 0),
    },
    kept=("Q10", "Q2"),
    judges=("judge-1",),
    models=("chooser",),
)  # fmt: skip
FULL = Size(
    words={
        "Q10": ACCEPT,
        "Q2": f"{ACCEPT} [practice: replan source=wren]",
        "Q3": f"{ACCEPT} [practice: revise_edits source=heron]",
        "Q4": f"{ACCEPT} [practice: revise_edits source=wren]",
        "Q5": f"{ACCEPT} [practice: regenerate source=heron]",
        "Q6": ACCEPT,
        "Q8": f"{ACCEPT} [practice: never source=wren]",
    },
    rounds={
        ("Q2", "wren"): ("accepted", 1, 0), ("Q3", "heron"): ("accepted", 0, 1), ("Q4", "wren"): ("accepted", 0, 1),
        ("Q5", "heron"): ("accepted", 0, 1), ("Q8", "wren"): ("best_effort", 0, 2),
    },
    kept=("Q10", "Q2", "Q3", "Q4", "Q5", "Q6"),
    judges=("judge-1", "judge-2"),
    models=("chooser", "finder"),
    rejected=(("Q6", "heron"), ("Q8", "wren")),
    sent_back=("Q6", "heron"),
    tie=("Q10", "Japan"),
    uncounted=("Q4", "Kenya"),
)  # fmt: skip


class Study:
    """The benchmark and its people: two of each country, of whom the first review the first revisions."""

    def __init__(self, world: World, practice: str, scripted: str, size: Size, open_as: Callable[..., Page]) -> None:
        self.world, self.practice, self.scripted, self.size = world, practice, scripted, size
        self.researcher = BrowserResearcher(world.client(world.team_admin), open_as(world.team_admin))
        self.first_sheets = BrowserSheets(open_as)
        self.people: dict[str, list[Annotator]] = {}
        self.counts = counts_of(size)

    @property
    def benchmark(self) -> Benchmark:
        return Benchmark.objects.get(recipe="valueground")

    def stage(self, key: str) -> Stage:
        return self.benchmark.stages.get(key=key)

    def items(self, stage: str) -> list[Item]:
        return list(Item.objects.filter(stage=self.stage(stage), withdrawn_at=None).order_by("key"))

    def answers(self, stage: str, kind: str) -> list[Annotation]:
        """Of people or models, about the items that stand."""
        live = Annotation.objects.filter(
            assignment__campaign__stage=self.stage(stage), live=True, rater__kind=kind,
            assignment__unit__item__withdrawn_at=None,
        )  # fmt: skip
        return list(live.select_related("assignment__unit__item", "rater").order_by("pk"))

    def judge(self, person: Annotator) -> Mapping[str, str]:
        """What a person says of the pair in hand: people do not agree about B, and some pairs they reject."""
        pair = pair_of(Assignment.objects.select_related("unit__item").get(pk=person.assignment).unit.item)
        is_first = self.people[COUNTRIES[0]][0].name == person.name
        doubts = pair[1] == "wren" and (is_first or pair[0] != "Q10")
        sheet = {**PASSES, "match_b": "1"} if doubts else PASSES
        return {**sheet, "pair_match": "0"} if pair in self.size.rejected else sheet

    def builds(self, revision: int = 1) -> list[Build]:
        rows = Build.objects.filter(plan__benchmark=self.benchmark, revision=revision)
        return list(rows.select_related("question", "source").order_by("pk"))

    def files(self) -> Files:
        """The survey, with words for the practice model; Q8 has no metadata, so its words are in the codebook."""
        words = self.size.words
        metadata = {
            key: {**entry, "question": f"{CODEBOOK[key]['question']}. {entry['question']} {words.get(key, '')}"}
            for key, entry in METADATA.items()
        }
        choir = CODEBOOK["Q8"]
        codebook = {**CODEBOOK, "Q8": {**choir, "question": f"{choir['question']}? {words.get('Q8', '')}"}}
        return {"codebook": codebook, "metadata": metadata, "adjustment": ADJUSTMENT, "counts": self.counts}


def counts_of(size: Size) -> dict[str, dict[str, dict[str, int]]]:
    counts = random_counts({key: list(PLACES[key]) for key in size.words}, seed=3)
    if size.tie is not None:
        question, country = size.tie
        counts[question][country] = dict.fromkeys(counts[question][country], 50)
    if size.uncounted is not None:
        question, country = size.uncounted
        del counts[question][country]
    return counts


def pair_of(item: Item) -> Pair:
    return item.concept, item.condition


def reply(asked: ReceivedRequest) -> Act:
    """A letter, a match of both pictures, or four scores, each by a digest of what is asked."""
    model, text = str(asked.body["model"]), asked.text
    pictures = [hashlib.sha256(picture).hexdigest() for picture in asked.images]
    digest = hashlib.sha256(json.dumps([model, text, pictures]).encode()).digest()
    if model.startswith("judge"):
        scores: dict[str, Any] = {name: str(digest[n] % 3) for n, name in enumerate(FIELDS[:3])}
        return Act(text=json.dumps({**scores, "no_cue": str(digest[3] % 2)}))
    letters = "AB" if digest[0] % 2 else "BA"
    if '"image_1"' in text:
        return Act(text=json.dumps({"image_1": letters[0], "image_2": letters[1]}))
    return Act(text=f"{letters[0]}. It fits better.")
