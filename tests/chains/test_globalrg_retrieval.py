"""GlobalRG's retrieval from an empty benchmark to its tables, by pages alone: candidates of searches, screening that
stops at full cells, the retrieval set as a collection, and its second version after a rejection.

Two countries with four people each, and a label set with a third that has no cohort. The researcher and the first two
sheets are in Chromium; what else people answer is posted to the forms that they are shown.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from django.test import Client
from PIL import Image
from playwright.sync_api import Page

from annotation.models import Annotation, Outcome, Slot
from benchmarks.models import Benchmark, FilterResult, Item
from benchmarks.rules.label_sets.globalrg import RETRIEVAL
from people.models import Cohort
from predictions.models import Collection, Entry
from tests import pictures as draw
from tests.chains.annotators import Annotator
from tests.chains.browser_client import BrowserResearcher, BrowserSheets
from tests.chains.link_client import LINK, text_of
from tests.chains.researcher import do_waiting_work
from tests.evaluation.output_forms import figure_forms, table_data, table_forms
from tests.personas import World
from tests.predictions.colour_encoder import find_by_colour
from tests.predictions.conftest import models_root, needs_models, trained  # noqa: F401

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
COUNTRIES, OTHER = ("Brazil", "India"), "Egypt"
UNIVERSALS = ("breakfast", "dance", "music")
NAMES = ("Ana", "Bo", "Cy", "Dee")
RANKS = range(1, 6)
COLOURS = {"breakfast": (230, 40, 40), "dance": (40, 230, 40), "music": (40, 40, 230)}
REPEATS = {("Brazil", "breakfast", 4): 2, ("India", "dance", 5): 1}  # of the cell's picture of this rank
SMALL = {("India", "music", 3)}
WRONG = {("Brazil", "breakfast", 2), ("India", "music", 1), ("India", "music", 4)}  # as people of the country see it
SHEETS_EACH = 3  # that one person may send: three people make nine sheets, and the fourth what is left
SHOWN = re.compile(r"Picture (\d) of (\w+) in (\w+)")
TABLES = ("retrieval", "retrieval-universals", "first-countries", "first-regions")
Cell = tuple[str, str, int]
"""Country, universal and rank of a candidate."""


def candidates() -> tuple[list[dict[str, str]], dict[str, bytes]]:
    """Five of each cell, near the colour of their universal; some repeat another one of the cell, or are too small."""
    rows, pictures = [], {}
    for country in COUNTRIES:
        for universal in UNIVERSALS:
            for rank in RANKS:
                file = f"{country}-{universal}-{rank}.jpg".lower()
                pictures[file] = picture_of((country, universal, rank))
                rows.append({
                    "file": file, "key": file.removesuffix(".jpg"), "country": country, "concept": universal,
                    "sentence": f"{universal} in {country}", "rank": str(rank), "licence": "CC BY 4.0",
                    "source": f"https://example.org/{file}", "alt": f"Picture {rank} of {universal} in {country}",
                })  # fmt: skip
    return rows, pictures


def picture_of(cell: Cell) -> bytes:
    country, universal, rank = cell
    shown = REPEATS.get(cell, rank)
    seed = 1000 * COUNTRIES.index(country) + 100 * UNIVERSALS.index(universal) + shown
    page = Image.blend(draw.noise(16, 12, seed), Image.new("RGB", (16, 12), COLOURS[universal]), 0.35)
    size = (120, 90) if cell in SMALL else (200, 150)
    page = page.resize(size, Image.Resampling.BICUBIC)
    return draw.encode_picture(page, "JPEG", quality=85 if cell in REPEATS else 95)


class Study:
    """The benchmark and its people."""

    def __init__(self, world: World, open_as: Callable[..., Page]) -> None:
        self.world, self.first_sheets = world, BrowserSheets(open_as)
        self.researcher = BrowserResearcher(world.client(world.team_admin), open_as(world.team_admin))
        self.people: dict[str, list[Annotator]] = {}

    @property
    def benchmark(self) -> Benchmark:
        return Benchmark.objects.get(recipe="globalrg-retrieval")

    @property
    def client(self) -> Client:
        return self.researcher.client

    def items(self, stage: str) -> list[Item]:
        live = Item.objects.filter(stage__benchmark=self.benchmark, stage__key=stage, withdrawn_at=None)
        return list(live.order_by("key"))


@pytest.fixture
def study(world: World, settings: Any, tmp_path: Any, media: None, open_as: Callable[..., Page]) -> Study:
    for cohort, label in ((world.brazil, "North"), (world.egypt, "South")):  # none of the recipe's
        Cohort.objects.filter(pk=cohort.pk).update(label=label, country="")
    settings.VECTORS_ROOT = tmp_path / "vectors"
    return Study(world, open_as)


@pytest.fixture(params=["colours", pytest.param("tiny CLIP", marks=pytest.mark.slow)])
def encoder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in that knows the colours of the universals, or a small model that knows nothing of them."""
    if request.param == "colours":
        find_by_colour(monkeypatch, COLOURS)
    else:
        request.getfixturevalue("models_root")


@pytest.mark.usefixtures("encoder")
def test_globalrg_from_searches_to_the_tables_of_two_versions(study: Study) -> None:
    import_candidates(study)
    create_cohorts(study)
    open_screening(study)
    screen(study)
    read_coverage(study)
    one_rejection_reopens_a_full_cell(study)
    create_collection(study)
    first = read_tables(study, "1")
    reject_a_picture_of_a_cell_that_is_used_up(study)
    create_second_version(study)
    read_second_version(study, first)
    assert study.first_sheets.shown == {"Image screening": 2}


def import_candidates(study: Study) -> None:
    researcher = study.researcher
    researcher.create_benchmark("globalrg-retrieval", "Three universals", study.world.team.pk)
    researcher.import_items(*candidates())
    assert Counter(item.intake for item in study.items("candidates")) == {"kept": 27, "dropped": 3}
    dropped = FilterResult.objects.filter(state="dropped").values_list("key", "item__key")
    assert sorted(dropped) == [
        ("near_duplicate", "brazil-breakfast-4"),
        ("near_duplicate", "india-dance-5"),
        ("shortest_side", "india-music-3"),
    ]
    assert len(study.items("screening")) == 27


def create_cohorts(study: Study) -> None:
    """Two cohorts by one press, four people of each by the links, and a label set with a third country."""
    researcher = study.researcher
    links = researcher.create_cohorts(list(COUNTRIES))
    for country in COUNTRIES:
        study.people[country] = [
            Annotator(f"{name} {country}", country, link) for name, link in zip(NAMES, links[country], strict=True)
        ]
    researcher.go("Stages", "Image screening")
    researcher.follow("Label sets")
    researcher.follow("Add a set")
    lines = "\n".join((*COUNTRIES, OTHER))
    researcher.submit("Save", {"name": "Three countries", "kind": "countries", "lines": lines})


def open_screening(study: Study) -> None:
    """Rows and columns of the coverage are chosen; one person may answer three sheets."""
    researcher = study.researcher
    researcher.go("Stages", "Image screening")
    rows = researcher.choose("s:coverage.rows", "Three countries")
    researcher.submit("Publish", {"s:coverage.rows": rows, "l:coverage.names": "\n".join(UNIVERSALS)})
    researcher.go("Open the whole chain")
    researcher.submit(researcher.button("Open "))
    assert "1 stage is open." in text_of(researcher.page)
    do_waiting_work()
    researcher.go("Campaigns", "Image screening")
    for country in COUNTRIES:
        part = next(row for row in researcher.page.split("<tr")[1:] if f"Answers one person of {country}" in row)
        researcher.submit("Set limits", {"most_per_person": str(SHEETS_EACH)}, within=part)


def cell_of(text: str) -> Cell:
    """Of the picture on the sheet."""
    match = SHOWN.search(text)
    assert match, "the sheet shows no picture"
    return match[3], match[2], int(match[1])


def judge(text: str) -> Mapping[str, str]:
    return {"keep": "no", "reason": "wrong_concept"} if cell_of(text) in WRONG else {"keep": "yes"}


def screen(study: Study) -> None:
    """Each cell has its best ranked pictures judged first, and no more than three accepted."""
    sheets: dict[str, list[int]] = {}
    for country in COUNTRIES:
        for person in study.people[country]:
            do_waiting_work()
            sent = study.first_sheets.answer(person, "Image screening", judge)
            sheets.setdefault(country, []).append(sent)
    do_waiting_work()
    assert sheets == {country: [3, 3, 3, 1] for country in COUNTRIES}
    assert Annotation.objects.filter(live=True).count() == 20
    assert Counter(Outcome.objects.values_list("state", flat=True)) == {"accepted": 17, "rejected": 3}
    assert Slot.objects.filter(cell_full=True, submitted=0, open=False).count() == 7
    assert not Slot.objects.filter(open=True).exists()
    assert keys(study.items("retrieval-set")) == keys_of_accepted()


def keys(items: Sequence[Item]) -> list[str]:
    return sorted(item.key for item in items)


def keys_of_accepted() -> list[str]:
    return sorted(Outcome.objects.filter(state="accepted").values_list("unit__item__key", flat=True))


def read_coverage(study: Study) -> None:
    """Three by three: five cells are full, one has nothing left, and for three there is no cohort."""
    researcher = study.researcher
    researcher.go("Coverage")
    assert "5 of 9 cells are full" in text_of(researcher.page)
    cells = {cell.split(":")[0]: cell for cell in re.findall(r"\w+, \w+: \d of 3[^\"<]*", researcher.page)}
    assert len(cells) == 9 and cells["India, music"] == "India, music: 2 of 3; Items used up"
    assert all(cells[f"{OTHER}, {universal}"].endswith(": 0 of 3; No cohort") for universal in UNIVERSALS)
    assert sum(": 3 of 3" in cell for cell in cells.values()) == 5


def one_rejection_reopens_a_full_cell(study: Study) -> None:
    """Who accepted a picture of a cell that has others left changes the answer: the cell is open until it is back."""
    author = next(person for person in study.people["Brazil"] if changes(person, "Picture 1 of dance in Brazil"))
    last = study.people["Brazil"][-1]
    assert last.answer("Image screening", lambda _text: None) == 0 and not last.visitor.has("Start : Image screening")
    author.change("Picture 1 of dance in Brazil", {"keep": "no", "reason": "text"})
    do_waiting_work()
    assert Slot.objects.filter(open=True).count() == 2, "two pictures of dance in Brazil are left"
    assert len(study.items("retrieval-set")) == 16
    last.visitor.open("/work/")
    assert last.visitor.has("Continue : Image screening") or last.visitor.has("Start : Image screening")
    author.change("Picture 1 of dance in Brazil", {"keep": "yes", "reason": None})
    do_waiting_work()
    read_coverage(study)
    assert not Slot.objects.filter(open=True).exists() and len(study.items("retrieval-set")) == 17


def changes(person: Annotator, picture: str) -> bool:
    """Whether it is among the answers of this person."""
    person.visitor.open("/work/history/")
    return picture in person.visitor.page


def create_collection(study: Study) -> None:
    """Of the stage that the form offers first, with a query for each universal."""
    researcher = study.researcher
    researcher.go("Create collection")
    researcher.submit("Create collection", {"name": "Retrieval set", "queries": ["universals"]})
    assert "The collection has 17 entries and 3 queries: universals 3." in text_of(researcher.page)
    collection = Collection.objects.get()
    assert sorted(Entry.objects.filter(collection=collection).values_list("key", flat=True)) == keys_of_accepted()
    assert {entry.about["licence"] for entry in Entry.objects.all()} == {"CC BY 4.0"}
    researcher.add_local_encoder("Here")
    researcher.go()
    assert researcher.has("Run an encoder")
    run_encoder(study, "1: 17 entries")


def run_encoder(study: Study, version: str) -> None:
    """Over the newest version, which the form offers first."""
    researcher = study.researcher
    researcher.go("Predictions", "Encoders")
    first = text_of(re.findall(r'<select[^>]*name="collection".*?</option>', researcher.page, re.DOTALL)[0])
    assert first == f"Retrieval set, version {version}"
    values = {"model": "local-dir:tiny", "name": "Tiny", "task": "retrieval", "query_set": "universals"}
    researcher.submit("Run", values)
    do_waiting_work()


def export(study: Study, start: str) -> list[dict[str, Any]]:
    """The file of the first link of this label: collections and runs stand with the newest first."""
    researcher = study.researcher
    researcher.go("Predictions")
    address = next(to for to, inside in LINK.findall(researcher.page) if text_of(inside).startswith(start))
    content = b"".join(study.client.get(address).streaming_content)  # type: ignore[attr-defined]
    return [json.loads(line) for line in content.decode().splitlines()]


def expected_means(study: Study, version: str) -> list[float]:
    """Precision, diversity of countries and of regions at 5 and at 10, from the files: means over universals."""
    rows = export(study, f"Download Retrieval set {version}")
    entries = {row["key"]: row["about"] for row in rows if row["kind"] == "entry"}
    lists = export(study, "Download Tiny")
    means = []
    for of in ("concept", "country", "region"):
        for k in (5, 10):
            scores = []
            for row in lists:
                top = [entries[key] for key in row["keys"][:k]]
                if of == "concept":
                    scores.append(sum(entry["concept"] == row["query"] for entry in top) / k)
                    continue
                labels = [entry["country"] if of == "country" else RETRIEVAL.of(entry["country"]) for entry in top]
                shares = [n / k for n in Counter(labels).values()]
                scores.append(-sum(share * math.log(share) for share in shares) / math.log(k))
            means.append(sum(scores) / len(scores))
    return means


def read_tables(study: Study, version: str, query: str = "") -> dict[str, Any]:
    """Every table and Figure 2 in each form, Table 3 recomputed; says what the tables were."""
    slug, tables = study.benchmark.slug, {}
    for key in TABLES:
        forms = table_forms(study.client, slug, key, query)
        assert all(f"Retrieval set, version {version}" in forms[form] for form in ("page", "tex"))
        assert f"collection=retrieval-set@{version}" in forms["csv"]
        tables[key] = json.loads(forms["json"])["rows"]
    [row] = tables["retrieval"]
    values = [cell["estimate"]["value"] for cell in row["cells"]]
    if not query:
        assert values == pytest.approx(expected_means(study, version))
    strips = figure_forms(study.client, slug, "strips", query)
    assert strips["svg"].count(b"<image") == 5, "pictures of the first five"
    tables["strips"] = strips["csv"]
    return tables


def reject_a_picture_of_a_cell_that_is_used_up(study: Study) -> None:
    gone = "Picture 2 of music in India"
    author = next(person for person in study.people["India"] if changes(person, gone))
    author.change(gone, {"keep": "no", "reason": "text"})
    do_waiting_work()
    assert len(study.items("retrieval-set")) == 16 and not Slot.objects.filter(open=True).exists()
    study.researcher.go("Coverage")
    assert "India, music: 1 of 3; Items used up" in study.researcher.page


def create_second_version(study: Study) -> None:
    """What goes is shown before the version is made."""
    researcher = study.researcher
    first = list(Entry.objects.order_by("pk").values())
    researcher.go("Predictions", "Next version Retrieval set 1")
    text = text_of(researcher.page)
    assert "Entries that go (1)" in text and "india-music-2" in text and "Entries that come" not in text
    assert "no longer accepted" in text and "The new version has 16 entries." in text
    researcher.submit("Create version 2")
    assert "The collection has 16 entries and 3 queries: universals 3." in text_of(researcher.page)
    second = Collection.objects.get(version="2")
    assert sorted(Entry.objects.filter(collection=second).values_list("key", flat=True)) == keys_of_accepted()
    assert list(Entry.objects.exclude(collection=second).order_by("pk").values()) == first


def read_second_version(study: Study, first: Mapping[str, Any]) -> None:
    """Until the next run tables are of version 1; then of version 2, and those of version 1 are as they were."""
    assert read_tables(study, "1") == first
    run_encoder(study, "2: 16 entries")
    second = read_tables(study, "2")
    assert "india-music-2" in first["strips"].decode() or second != first
    assert read_tables(study, "1", "collection=retrieval-set@1") == first
    data = table_data(study.client, study.benchmark.slug, "retrieval")
    assert [row["label"] for row in data["rows"]] == ["Tiny"], "rows of two versions never stand together"
    assert data["options"]["collection"] == "retrieval-set@2"
