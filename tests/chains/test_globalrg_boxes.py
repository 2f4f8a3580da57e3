"""GlobalRG's grounding from an empty benchmark to its tables and its COCO file, by pages alone.

Two countries with four people each, a scripted detector and a scripted model server. The researcher and the first two
sheets of each stage are in Chromium; what else people answer is posted to the forms that they are shown.
"""

import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from playwright.sync_api import Page

from annotation.models import Annotation, Resolution
from benchmarks.models import Benchmark, Item, ItemReturn
from people.models import Cohort
from predictions.models import Call
from tests import pictures as draw
from tests.chains.annotators import Annotator
from tests.chains.browser_client import BrowserResearcher, BrowserSheets
from tests.chains.link_client import text_of
from tests.chains.researcher import do_waiting_work
from tests.evaluation.output_forms import figure_forms, table_data, table_forms
from tests.personas import World
from tests.predictions.encoders import ScriptedDetector, script_detector
from tests.predictions.model_server import Act, ReceivedRequest, Server

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
COUNTRIES = ("Brazil", "India")
NAMES = ("Ana", "Bo", "Cy", "Dee")
KEYWORDS = 5  # of each country
THING = re.compile(r"thing (\d+) of (\w+)")
POOR = draw.png(320, 240, seed=77)  # a picture in which the detector finds two objects
ALONE, OTHERS = 2, 5
FIRST, SECOND, APART = (10, 10, 50, 50), (20, 20, 60, 60), (60, 60, 90, 90)
HALF = (10, 10, 30, 50)  # shares half of the first box: an IoU of 0.5
DISPUTED = {("0", "Brazil"), ("1", "India")}  # of which the verifier draws a box apart
TABLES = ("collected", "grounding", "grounding-countries", "grounding-regions")


def gold_of(thing: tuple[str, str]) -> tuple[int, ...]:
    """The finder's box, but for the one that is drawn anew in a dispute."""
    return SECOND if thing == ("1", "India") else FIRST


def reply(asked: ReceivedRequest) -> Act:
    """A draws the gold boxes but one that shares half of it. B says nothing of one thing and is wrong about another."""
    model, thing = asked.body["model"], THING.findall(asked.text)[-1]
    box = gold_of(thing)
    if model == "A" and thing == ("1", "Brazil"):
        box = HALF
    if model == "B" and thing == ("2", "Brazil"):
        return Act(text="I see no such thing.")
    if model == "B" and thing == ("2", "India"):
        box = APART
    return Act(text=str([10 * side for side in box]))


class Study:
    """The benchmark and its people."""

    def __init__(self, world: World, server: Server, detector: ScriptedDetector, open_as: Callable[..., Page]) -> None:
        self.world, self.server, self.detector = world, server, detector
        self.people: dict[str, list[Annotator]] = {}
        self.researcher = BrowserResearcher(world.client(world.team_admin), open_as(world.team_admin))
        self.first_sheets = BrowserSheets(open_as)

    @property
    def benchmark(self) -> Benchmark:
        return Benchmark.objects.get(recipe="globalrg-grounding")

    def items(self, stage: str) -> list[Item]:
        live = Item.objects.filter(stage__benchmark=self.benchmark, stage__key=stage, withdrawn_at=None)
        return list(live.order_by("key"))

    def answers(self, stage: str) -> int:
        """How often people submitted an answer, corrected ones too."""
        rows = Annotation.objects.filter(assignment__campaign__stage__key=stage, rater__kind="person")
        return rows.filter(assignment__campaign__stage__benchmark=self.benchmark).count()


@pytest.fixture
def study(
    world: World,
    scripted_server: Server,
    monkeypatch: pytest.MonkeyPatch,
    media: None,
    open_as: Callable[..., Page],
) -> Study:
    Cohort.objects.filter(pk=world.brazil.pk).update(label="North", country="")  # none of the recipe's
    scripted_server.answer_by(reply)
    detector = script_detector(monkeypatch, lambda data: ALONE if data == POOR else OTHERS)
    return Study(world, scripted_server, detector, open_as)


def test_globalrg_boxes_from_an_empty_benchmark_to_the_coco_file(study: Study) -> None:
    open_everything(study)
    find_pictures(study)
    replace_the_picture_with_two_objects(study)
    draw_boxes(study)
    verify_boxes(study)
    settle_disputes(study)
    ask_models(study)
    name_errors(study)
    read_tables(study)
    read_agreement(study)
    read_coco(study)
    assert set(study.first_sheets.shown.values()) == {2} and len(study.first_sheets.shown) == 5, (
        study.first_sheets.shown
    )


def open_everything(study: Study) -> None:
    """Ten words, two cohorts of four people, all stages, the detector by one press, and the place where models
    answer."""
    researcher = study.researcher
    researcher.create_benchmark("globalrg-grounding", "Boxes of two countries", study.world.team.pk)
    rows = [
        {"key": f"{country}-{n}", "country": country, "concept": f"thing {n} of {country}", "text": f"Thing {n}"}
        for country in COUNTRIES
        for n in range(KEYWORDS)
    ]
    researcher.import_items(rows, {})
    links = researcher.create_cohorts(list(COUNTRIES))
    for country in COUNTRIES:
        study.people[country] = [
            Annotator(f"{name} {country}", country, link) for name, link in zip(NAMES, links[country], strict=True)
        ]
    researcher.go("Open the whole chain")
    researcher.submit(researcher.button("Open "))
    researcher.add_endpoint("Scripted", study.server.base_url)
    researcher.add_detector("Detector")
    researcher.go()
    assert "Nothing computes objects for “Box drawing” yet." in text_of(researcher.page)
    researcher.follow("Compute facts")
    researcher.submit("Run", {"model": "local-dir:detector"})
    do_waiting_work()
    assert study.detector.pictures == []


def file_of(picture: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile("found.png", picture, "image/png")


def find_pictures(study: Study) -> None:
    """One person of each country finds five pictures; one thing is not common, and one picture shows too little."""
    for country in COUNTRIES:
        person = study.people[country][0]

        def find(text: str) -> Mapping[str, Any]:
            number, country = THING.findall(text)[0]  # the offer to undo the answer before comes later
            seed = 100 * COUNTRIES.index(country) + int(number)
            picture = POOR if (number, country) == ("0", "India") else draw.png(320, 240, seed=2000 + seed)
            prevalent = "no" if (number, country) == ("4", "Brazil") else "yes"
            return {"picture": file_of(picture), "prevalent": prevalent}

        assert study.first_sheets.answer(person, "Image finding", find) == KEYWORDS
    assert study.answers("finding") == 10
    do_waiting_work()
    assert len(study.detector.pictures) == 9, "nobody has started the detector since"


def replace_the_picture_with_two_objects(study: Study) -> None:
    """It went back to its finder by itself, with the reason, and nobody can draw a box on it."""
    assert len(study.items("boxes")) == 8
    returned = ItemReturn.objects.get()
    assert (returned.by, returned.item.origin) == (None, "India")
    finder = study.people["India"][0]
    finder.visitor.open("/work/")
    page = text_of(finder.visitor.page)
    assert "A check of the picture found something." in page and "A program found 2 things in your picture" in page
    assert "reviewer says" not in page
    finder.visitor.submit(finder.visitor.button("Correct"))
    assert "A program found 2 things in your picture. At least 3 are needed" in finder.sheet_text
    finder.correct({"picture": file_of(draw.png(320, 240, seed=78))})
    assert study.answers("finding") == 11
    do_waiting_work()
    [replacement] = [item for item in study.items("boxes") if item.revision == 2]
    assert replacement.replaces == returned.item and len(study.items("boxes")) == 9
    assert {item.intake for item in study.items("boxes")} == {"kept"}


def box_field(box: tuple[int, ...]) -> list[str]:
    return [str(side) for side in box]


def draw_boxes(study: Study) -> None:
    """Each finder draws the boxes of the pictures they found; nobody else is asked."""
    for country in COUNTRIES:
        finder, *others = study.people[country]
        assert [other.answer("Box drawing", lambda _text: None) for other in others] == [0, 0, 0]
        drawn = study.first_sheets.answer(finder, "Box drawing", lambda _text: {"box": box_field(FIRST)})
        assert drawn == (4 if country == "Brazil" else 5)
    assert study.answers("boxes") == 9
    do_waiting_work()


def verify_boxes(study: Study) -> None:
    """Another person draws each box again, without seeing the first one."""
    for country in COUNTRIES:
        finder, other = study.people[country][:2]
        assert finder.answer("Box verification", lambda _text: None) == 0

        def verify(text: str) -> Mapping[str, Any]:
            assert "50 % across" not in text.split("What to look for")[-1], "the first box is hidden"
            return {"box": box_field(APART if THING.findall(text)[-1] in DISPUTED else FIRST)}

        verified = study.first_sheets.answer(other, "Box verification", verify)
        assert verified == (4 if country == "Brazil" else 5)
    assert study.answers("verification") == 9
    do_waiting_work()


def settle_disputes(study: Study) -> None:
    """Two boxes are under 0.5: of one the finder's is chosen, for the other a third one is drawn."""
    assert {(item.origin, item.context["agreement"]) for item in study.items("box-adjudication")} == {
        ("Brazil", 0.0), ("India", 0.0),
    }  # fmt: skip
    study.researcher.go()
    assert "2 disagreements wait for a decision." in text_of(study.researcher.page)
    study.researcher.follow("View disagreements")
    assert "Box adjudication" in study.researcher.page
    for country in COUNTRIES:

        def settle(text: str) -> Mapping[str, Any]:
            thing = THING.findall(text)[-1]
            if thing == ("1", "India"):
                return {"decision": "another", "box": box_field(SECOND), "reason": "Both miss it."}
            [finder] = re.findall(r"Answer (\d) ?: Box from 10 to 50 % across", text)
            return {"decision": finder, "reason": "It is close to its edges."}

        first, second, third = study.people[country][:3]
        assert [person.answer("Box adjudication", lambda _text: None) for person in (first, second)] == [0, 0]
        assert study.first_sheets.answer(third, "Box adjudication", settle) == 1
    do_waiting_work()
    chosen = Resolution.objects.filter(live=True).values_list("chosen_annotation", flat=True)
    assert sorted(pk is None for pk in chosen) == [False, True]
    study.researcher.go()
    assert "disagreements wait" not in study.researcher.page


def ask_models(study: Study) -> None:
    """Eighteen calls, one of which ends without a box."""
    study.researcher.ask_models("Scripted", {"A": ("box_1000",), "B": ("box_1000",)}, "")
    assert Counter(Call.objects.values_list("run__model", "state")) == {
        ("A", "answered"): 9, ("B", "answered"): 8, ("B", "unparseable"): 1,
    }  # fmt: skip


def name_errors(study: Study) -> None:
    """The runs are chosen: every box at or under 0.5 is listed, and the one that is missing."""
    researcher = study.researcher
    assert study.items("error-types") == []
    researcher.go("Predictions", "Judged items Types of errors")
    runs = re.findall(r'name="run" value="(\d+-\d+)"', researcher.page)
    assert len(runs) == 2
    assert "Right, or waiting" in researcher.page and "Waiting for references" not in researcher.page
    researcher.submit("Save", {"run": runs})
    do_waiting_work()
    listed = {
        (item.context["candidate_by"], item.concept): item.context["agreement"] for item in study.items("error-types")
    }
    assert listed == {
        ("A", "thing 1 of Brazil"): 0.5, ("B", "thing 2 of Brazil"): None, ("B", "thing 2 of India"): 0.0,
    }  # fmt: skip

    def name(text: str) -> Mapping[str, str]:
        if "The model gave no answer." in text:
            return {"error": "no_box"}
        assert "Answer of the model : Box from" in text and "overlap" in text
        return {"error": "loose" if "0.5" in text else "unrelated"}

    last = [study.people[country][3] for country in COUNTRIES]
    assert [study.first_sheets.answer(person, "Types of errors", name) for person in last] == [2, 1]


def shown(study: Study, key: str, query: str = "") -> dict[str, list[str]]:
    table = table_data(study.researcher.client, study.benchmark.slug, key, query)
    return {row["label"]: [cell["shown"] for cell in row["cells"]] for row in table["rows"]}


def read_tables(study: Study) -> None:
    """Table 4 over nine items, and accuracy as it follows from what was said."""
    assert shown(study, "collected") == {
        "Brazil": ["4", "0.160", "5.000", "0.75"], "India": ["5", "0.160", "5.000", "0.80"],
    }  # fmt: skip
    assert shown(study, "grounding-countries") == {"Brazil": ["75.00", "75.00"], "India": ["100.00", "80.00"]}
    models = shown(study, "grounding")
    assert [cells[0] for cells in models.values()] == ["88.89", "77.78"]
    assert [cells[2] for cells in models.values()] == ["0.00", "11.11"], "the missing box is shown apart"
    for key in TABLES:
        table_forms(study.researcher.client, study.benchmark.slug, key)
    for key in ("overlays", "grounding-models", "grounding-countries", "grounding-regions"):
        figure_forms(study.researcher.client, study.benchmark.slug, key)


def read_agreement(study: Study) -> None:
    """The finder's box and the verifier's are of two stages, and are compared on the pages of both."""
    slug = study.benchmark.slug
    for stage in ("boxes", "verification"):
        study.researcher.open(f"/b/{slug}/agreement/?stage={stage}")
        page = text_of(study.researcher.page)
        assert "Box drawing · Box verification" in page and "Mean overlap (IoU)" in page
        assert "0.78" in page, "7 of 9 boxes are the same"
        study.researcher.follow("Items people disagree about")
        assert text_of(study.researcher.page).count("settled") == 2


def read_coco(study: Study) -> None:
    """One file of the export: nine annotations in pixels, with both boxes and what settled them. pycocotools is not
    among the packages of the tests, so its index of a file is built here."""
    researcher = study.researcher
    researcher.go("Export")
    stage = researcher.choose("stage", "Box drawing")
    reply = researcher.client.post(researcher.path, {"stage": stage, "campaign": "", "form": "jsonl"})
    with zipfile.ZipFile(io.BytesIO(b"".join(reply.streaming_content))) as archive:  # type: ignore[attr-defined]
        files = {name.rsplit("/", 1)[-1]: archive.read(name) for name in archive.namelist()}
    coco = json.loads(files["coco.json"])
    images, categories = ({row["id"]: row for row in coco[name]} for name in ("images", "categories"))
    assert len(images) == len(categories) == len({row["id"] for row in coco["annotations"]}) == 9
    gold = {}
    for row in coco["annotations"]:
        image, category = images[row["image_id"]], categories[row["category_id"]]
        assert (image["width"], image["height"]) == (320, 240) and image["country"] == category["supercategory"]
        assert row["concept"] == category["name"] and row["area"] == row["bbox"][2] * row["bbox"][3]
        assert {len(row[name]) for name in ("bbox", "finder_box", "verifier_box")} == {4} and row["iscrowd"] == 0
        assert row["finder_box"] == [32, 24, 128, 96]
        gold[row["concept"]] = row["bbox"], row["resolution"], row["resolution_reason"]
    assert gold.pop("thing 1 of India") == ([64, 48, 128, 96], "another", "Both miss it.")
    assert gold.pop("thing 0 of Brazil") == ([32, 24, 128, 96], "finder", "It is close to its edges.")
    assert all(entry == ([32, 24, 128, 96], "", "") for entry in gold.values()) and len(gold) == 7
    described = json.loads(files["codebook.json"])["documents"]["coco"]
    assert described["file"]["rows"] == 9
