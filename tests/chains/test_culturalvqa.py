"""CulturalVQA from an empty benchmark to its tables, by pages alone.

Two countries with four people each, one reviewer, a scripted model server. The researcher and the first two sheets of
each stage are in Chromium; what else people answer is posted to the forms that they are shown.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Page

from annotation.models import Annotation, Assignment, Review
from benchmarks.models import Benchmark, FilterResult, FilterVersion, Item, ItemImage
from papers.culturalvqa.recipe_verdicts import SETTINGS
from people.models import Cohort
from predictions.models import Call, PlanSet
from tests import pictures as draw
from tests.chains.annotators import Annotator
from tests.chains.browser_client import BrowserResearcher, BrowserSheets
from tests.chains.link_client import BUTTON, LINK, LinkClient, text_of
from tests.chains.researcher import Researcher, do_waiting_work
from tests.evaluation.output_forms import check_cells, figure_forms, table_data, table_forms
from tests.personas import World
from tests.predictions.model_server import Act, ReceivedRequest, Server
from tests.predictions.scripted_replies import REFUSES

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
COUNTRIES = ("Brazil", "India")
THING = re.compile(r"thing (\d+) of (\w+)")
ASSERTION = re.compile(r"It is (?:Brazil|India) (\w+)\.")  # what a picture is said to show
NAMES = ("Ana", "Bo", "Cy", "Dee")
FACETS = ("food", "drink", "rituals", "clothing")
BUDGET, PRICE = "1", "0.001"
TABLES = ("accuracy", "facets", "table-6", "table-7", "without-picture", "few-shot", "profile", "answers", "openers",
          "skips", "sub-categories", "stereotypes", "verdicts", "judge", "correlations", "releases", "gaps",
          "models")  # fmt: skip
FIGURES = ("by-release", "accuracy-map", "without-picture-map", "facets-map", "length")


Named = tuple[str, str]
"""A question by the number of its thing and its country."""


@dataclass(frozen=True)
class Size:
    """How much there is of each country: pictures that each filter drops (`each`), that all keep, that people label,
    and that are drawn with this seed. A picture of thing 3 is skipped by all who see it. `raters`: how many rate an
    answer of a model."""

    each: int
    kept: int
    labelled: int
    drawn: int
    seed: int
    raters: int
    returned: tuple[Named, ...]
    rejected: tuple[Named, ...]

    @property
    def things(self) -> dict[str, list[int]]:
        """By country the numbers of the accepted questions."""
        rejected = {(int(thing), country) for thing, country in self.rejected}
        numbers = [number for number in range(self.drawn) if number != 3]
        return {country: [n for n in numbers if (n, country) not in rejected] for country in COUNTRIES}

    @property
    def questions(self) -> dict[str, int]:
        return {country: len(things) for country, things in self.things.items()}

    @property
    def total(self) -> int:
        return sum(self.questions.values())


SHORT = Size(1, 5, 6, 4, 63, 1, (("2", "India"),), (("2", "Brazil"),))
FULL = Size(2, 16, 6, 14, 151741, 3, (("2", "India"), ("2", "Brazil")), (("5", "India"), ("5", "Brazil")))


def candidates(size: Size) -> tuple[list[dict[str, str]], dict[str, bytes]]:
    """Rows of both countries and their pictures; of each country some are dropped by each of the four filters."""
    rows, pictures = [], {}
    wrong = {"wide": (400, 150, 30), "small": (90, 80, 30), "logo": (200, 150, 30), "low": (200, 150, 12)}
    for country in COUNTRIES:
        shapes = {f"{n}": (200, 150, 30 + n) for n in range(size.kept)}
        shapes |= {f"{name}{n}": shape for name, shape in wrong.items() for n in range(size.each)}
        for number, (name, (width, height, score)) in enumerate(shapes.items()):
            file = f"{country.lower()}/{name}.png"
            pictures[file] = draw.png(width, height, seed=1000 + len(pictures))
            rows.append({
                "file": file, "key": f"{country}-{name}", "country": country, "concept": f"thing {name}",
                "facet": FACETS[number % 4], "assertion": f"It is {country} {name}.", "entities": f"Lamp {name}|Table",
                "source": f"https://example.org/{name}.png",
                "alt": "A drawing", "title": "Found", "licence": "CC BY 4.0", "fact.clip_score": str(score),
            })  # fmt: skip
    return rows, pictures


def reply(asked: ReceivedRequest) -> Act:
    """What the models and the judge say. With the picture A knows all but thing 2, B those of India, C all but one that
    it refuses; a thing N is called “Name N”. The judge is prose about two of A's answers without the picture."""
    model, text = asked.body["model"], asked.text
    thing, country = THING.findall(text)[-1]
    if model == "judge":
        [candidate] = re.findall(r"<candidate>\s*(.*?)\s*</candidate>", text, re.DOTALL)
        if candidate == "A riddle":
            return Act(text="Who could say.")
        return Act(text=f"It is compared. rating={2 if candidate == f'Name {thing}' else 1}")
    if model == "C" and (thing, country) == ("0", "Brazil"):
        return REFUSES
    knows = {"A": bool(asked.images) and thing != "2", "B": country == "India", "C": True}[model]
    alone = "do not see" in text and "Country:" not in text and "recognised" not in text
    riddle = model == "A" and alone and country == "India" and thing in ("0", "1")
    return Act(text=f"Name {thing}" if knows else "A riddle" if riddle else "A guess")


class Study:
    """The benchmark, its people, and what was counted on the way."""

    def __init__(
        self, world: World, server: Server, size: Size, researcher: Researcher, first_sheets: BrowserSheets
    ) -> None:
        self.world, self.server, self.size, self.researcher, self.first_sheets = (
            world,
            server,
            size,
            researcher,
            first_sheets,
        )
        self.people: dict[str, list[Annotator]] = {}
        self.reviewer: LinkClient

    @property
    def benchmark(self) -> Benchmark:
        return Benchmark.objects.get(recipe="culturalvqa")

    def items(self, stage: str) -> list[Item]:
        live = Item.objects.filter(stage__benchmark=self.benchmark, stage__key=stage, withdrawn_at=None)
        return list(live.order_by("key"))

    def by_country(self, stage: str) -> dict[str, int]:
        return dict(Counter(item.origin for item in self.items(stage)))

    def everybody(self) -> list[Annotator]:
        return [person for country in COUNTRIES for person in self.people[country]]


@pytest.fixture(params=[pytest.param(SHORT, id="short"), pytest.param(FULL, id="full", marks=pytest.mark.slow)])
def study(
    request: pytest.FixtureRequest, world: World, scripted_server: Server, media: None, open_as: Callable[..., Page]
) -> Study:
    Cohort.objects.filter(pk=world.brazil.pk).update(label="North", country="")  # none of the recipe's
    scripted_server.answer_by(reply)
    client = world.client(world.team_admin)
    researcher = BrowserResearcher(client, open_as(world.team_admin))
    return Study(world, scripted_server, request.param, researcher, BrowserSheets(open_as))


def test_culturalvqa_from_an_empty_benchmark_to_its_tables(study: Study) -> None:
    import_candidates(study)
    create_cohorts(study)
    open_chain(study)
    label_relevance(study)
    write_questions(study)
    review_questions(study)
    answer_questions(study)
    label_questions(study)
    ask_models(study)
    judge_answers(study)
    rate_model_answers(study)
    reject_a_question_and_accept_it_again(study)
    read_tables(study)
    browse_answers(study)
    assert set(study.first_sheets.shown.values()) == {2} and len(study.first_sheets.shown) == 6, (
        "two sheets of each stage in a browser"
    )


def create_cohorts(study: Study) -> None:
    """Two cohorts of four people, who join by the links, a reviewer, and the place where models answer."""
    researcher = study.researcher
    links = researcher.create_cohorts(list(COUNTRIES))
    for country in COUNTRIES:
        assert len(links[country]) == len(NAMES)
        study.people[country] = [
            Annotator(f"{name} {country}", country, link) for name, link in zip(NAMES, links[country], strict=True)
        ]
    researcher.go("Edit roles")
    researcher.submit("Add role", {"user": study.world.reviewer.pk, "name": "reviewer"})
    study.reviewer = LinkClient(study.world.client(study.world.reviewer), researcher.home)
    researcher.add_endpoint("Scripted", study.server.base_url)
    researcher.set_prices("Scripted", PRICE)


def import_candidates(study: Study) -> None:
    study.researcher.create_benchmark("culturalvqa", "Questions of two countries", study.world.team.pk)
    size = study.size
    rows, pictures = candidates(size)
    study.researcher.import_items(rows, pictures)
    states = Counter((item.origin, item.intake) for item in study.items("candidates"))
    assert states == {
        (c, state): n for c in COUNTRIES for state, n in (("kept", size.kept), ("dropped", 4 * size.each))
    }
    dropped = FilterResult.objects.filter(state="dropped").values_list("key", flat=True)
    assert Counter(dropped) == dict.fromkeys(("aspect", "shortest_side", "blocked_words", "clip_score"), 2 * size.each)


def open_chain(study: Study) -> None:
    """Some pictures of each country are drawn. The rating of model answers is opened for India alone."""
    researcher, size = study.researcher, study.size
    researcher.draw("Question writing", **{"params.n": size.drawn, "seed": size.seed})
    assert {item.key for item in study.items("questions")} == {f"{c}-{n}" for c in COUNTRIES for n in range(size.drawn)}
    researcher.go("Open the whole chain")
    rating = study.benchmark.stages.get(key="model-answers").pk
    brazil = Cohort.objects.get(label="Brazil").pk
    researcher.submit(
        researcher.button("Open "), {f"target_{rating}": str(size.raters), f"target_{rating}_{brazil}": "0"}
    )
    assert "7 stages are open." in text_of(researcher.page)
    do_waiting_work()


def label_relevance(study: Study) -> None:
    """Pictures of the right shape and words, whatever their score. One person of each country labels some of them, and
    the limit is chosen by that."""
    size, left = study.size, dict.fromkeys(COUNTRIES, study.size.labelled)
    assert study.by_country("relevance-labels") == dict.fromkeys(COUNTRIES, size.kept + size.each)
    sheets = 0
    for country in COUNTRIES:

        def label(text: str, country: str = country) -> Mapping[str, str] | None:
            left[country] -= 1
            is_low = ASSERTION.findall(text)[-1].startswith("low")
            return {"relevant": "irrelevant" if is_low else "relevant"} if left[country] >= 0 else None

        sheets += study.first_sheets.answer(study.people[country][3], "Relevance of pictures", label)
    assert sheets == 2 * size.labelled
    study.researcher.use_as_limit("relevant", "23")
    version = FilterVersion.objects.latest("number")
    chosen = version.seen["clip_score"]
    assert (version.number, chosen["limit"], chosen["n"], chosen["people"]) == (2, 23, sheets, 2)
    assert chosen["precision"]["value"] == chosen["recall"]["value"] == 1
    assert study.by_country("questions") == dict.fromkeys(COUNTRIES, size.drawn)


def write_questions(study: Study) -> None:
    """Of each country one picture is skipped by three people and retired, and the others get a question each."""
    item = study.items("questions")[0]
    assert item.context["entities"] == ["Lamp 0", "Table"]
    assert {use.source for use in item.images.all()} == {"https://example.org/0.png"}
    for person in study.everybody():

        def write(text: str, person: Annotator = person) -> Mapping[str, str] | str:
            number = ASSERTION.findall(text)[-1]
            if number == "3":
                return "unfamiliar"
            question = f"What is thing {number} of {person.cohort} called?"
            return {"familiarity": "familiar", "question": question, "answer": f"Name {number}"}

        study.first_sheets.answer(person, "Question writing", write)
    states = Counter(Assignment.objects.filter(campaign__stage__key="questions").values_list("state", flat=True))
    assert states["submitted"] == 2 * (study.size.drawn - 1), states
    assert states["skipped"] == 6, "three people of each country, then the picture is retired"


def decide(study: Study, decision: str, thing: str = "", reason: str = "", comment: str = "") -> None:
    """Decide a question that waits: by default the one shown after a decision, or the one that waits longest."""
    reviewer = study.reviewer
    labels = {"accept": "Accept A", "return": "Return to author R", "reject": "Reject X"}
    if thing or not reviewer.has_button(labels[decision]):
        if not reviewer.has("Review"):
            reviewer.open(study.researcher.home)
        reviewer.follow("Review")
    if thing:
        row = next(row for row in reviewer.page.split("<li")[1:] if thing in text_of(f"<li{row}"))
        reviewer.open(re.findall(r'href="([^"]+/review/\d+/)', row)[0])
    elif not reviewer.has_button(labels[decision]):
        reviewer.follow("Start reviewing")
    reviewer.submit(labels[decision], {"reason": reason or None, "comment": comment})


def review_questions(study: Study) -> None:
    """Some are returned, corrected and accepted, some are rejected, the others are accepted."""
    size = study.size
    for thing, country in size.returned:
        decide(study, "return", f"thing {thing} of {country}", "language", "Write it shorter.")
        author = next(person for person in study.people[country] if _has_returned(person))
        author.correct({"question": f"What is this, thing {thing} of {country}?"})
    for thing, country in size.rejected:
        decide(study, "reject", f"thing {thing} of {country}", "not_true")
    for _question in range(size.total):
        decide(study, "accept")
    do_waiting_work()
    assert study.by_country("answers") == size.questions
    assert Review.objects.filter(undone_at=None).count() == size.total + len(size.returned) + len(size.rejected)
    for item in study.items("answers"):
        assert item.context["entities"] and item.context["facet"] and item.concept.startswith("thing")
        assert [use.licence for use in item.images.all()] == ["CC BY 4.0"]


def _has_returned(person: Annotator) -> bool:
    person.visitor.open("/work/")
    return "returned to you" in person.visitor.page


def answer_questions(study: Study) -> None:
    """Three answers to each question, none by who asked it. Dee says something else than the others."""
    for person in study.everybody():

        def answer(text: str, person: Annotator = person) -> Mapping[str, str]:
            thing = THING.findall(text)[-1][0]
            return {"answer": f"{'Other' if person.name.startswith('Dee') else 'Name'} {thing}", "sure": "yes"}

        study.first_sheets.answer(person, "Answer writing", answer)
    do_waiting_work()
    given = Annotation.objects.filter(assignment__campaign__stage__key="answers", live=True, rater__kind="person")
    assert given.count() == 3 * study.size.total
    for annotation in given.select_related("assignment__unit__item"):
        owners = set(annotation.assignment.unit.item.contributors.filter(own=True).values_list("rater", flat=True))
        assert owners and annotation.rater_id not in owners
    assert Counter(item.context["candidate_by"] for item in study.items("lave")) == {"human": 3 * study.size.total}


def label_questions(study: Study) -> None:
    for country, n in study.size.questions.items():
        person = study.people[country][1]
        sub_category, stereotype = {"sub_category": "type_name"}, {"stereotype": "neither"}
        assert (
            study.first_sheets.answer(person, "Sub-categories of questions", lambda _text, kind=sub_category: kind) == n
        )
        assert study.first_sheets.answer(person, "Stereotype check", lambda _text, kind=stereotype: kind) == n


def ask_models(study: Study) -> None:
    """Model A in five ways, B and C with the picture. Two questions are examples, about which A is not asked with
    examples, and C refuses one. The judge stands by from now on."""
    ways = {"A": SETTINGS, "B": ("vlm",), "C": ("vlm",), "judge": ("lave",)}
    study.researcher.ask_models("Scripted", ways, BUDGET)
    states = Counter(Call.objects.filter(run__campaign__stage__key="answers").values_list("state", flat=True))
    n = study.size.total
    assert states == {"answered": 7 * n - 3, "refused": 1, "failed": 2}, "an example is not asked about"
    assert PlanSet.objects.get().runs.count() == 8
    entities = [asked.text for asked in study.server.asked if "recognised" in asked.text]
    assert len(entities) == n and all(re.search(r"Lamp \d+, Table", text) for text in entities)


def judge_answers(study: Study) -> None:
    """The judge, started by nobody else, has read all answers of models and of people but two."""
    items, n = study.items("lave"), study.size.total
    by = Counter(item.context["candidate_by"] for item in items)
    assert by == {"A": 5 * n - 2, "B": n, "C": n - 1, "human": 3 * n}
    assert not ItemImage.objects.filter(item__in=items).exists()
    states = Counter(Call.objects.filter(run__campaign__stage__key="lave").values_list("state", flat=True))
    assert states == {"answered": len(items) - 2, "unparseable": 2}
    people = next(item for item in items if item.context["candidate_by"] == "human")
    assert len(people.context["references"]) == 3, "the asker's answer and those of the two others"


def rate_model_answers(study: Study) -> None:
    """The answers with the picture are chosen; India's are rated, none by who asked."""
    researcher = study.researcher
    researcher.go("Predictions", "Judged items Rating model answers")
    rows = re.findall(r'<tr role="row" data-run="(\d+-\d+)">(.*?)</tr>', researcher.page, re.DOTALL)
    chosen = [run for run, row in rows if "<bdi>From the picture</bdi>" in row]
    assert len(chosen) == 3
    researcher.submit("Save", {"run": chosen})
    do_waiting_work()
    n = {country: 3 * count for country, count in study.size.questions.items()}
    assert study.by_country("model-answers") == {"Brazil": n["Brazil"] - 1, "India": n["India"]}

    def rate(text: str) -> Mapping[str, str]:
        return {"verdict": "1" if "Name" in text else "5"}

    sheets = 0
    for person in study.people["India"]:
        sheets += study.first_sheets.answer(person, "Rating model answers", rate)
    assert sheets == study.size.raters * n["India"]
    assert study.people["Brazil"][0].answer("Rating model answers", lambda _text: None) == 0


def reject_a_question_and_accept_it_again(study: Study) -> None:
    """A question that is no example takes its items along, seven answers of models and three of people, and brings them
    back."""
    lave, rated = ({item.pk for item in study.items(stage)} for stage in ("lave", "model-answers"))
    requests, examples = study.server.counts()["total"], Call.objects.filter(state="failed").values("item")
    asked = Item.objects.filter(stage__key="answers", origin="India", withdrawn_at=None).exclude(pk__in=examples)
    question = next(item for item in asked if "What is thing" in item.text)
    thing, _country = THING.findall(question.text)[0]
    gone = {item.pk for item in study.items("lave") if item.context["question"] == question.key}
    assert len(gone) == 10
    change_decision(study, f"thing {thing} of India", "reject", "not_true")
    assert {item.pk for item in study.items("lave")} == lave - gone
    assert study.by_country("answers")["India"] == study.size.questions["India"] - 1
    change_decision(study, f"thing {thing} of India", "accept")
    assert {item.pk for item in study.items("lave")} == lave
    assert {item.pk for item in study.items("model-answers")} == rated
    assert study.server.counts()["total"] == requests, "nothing is asked again"


def change_decision(study: Study, thing: str, decision: str, reason: str = "") -> None:
    """The reviewer takes the decision back, and decides again."""
    reviewer = study.reviewer
    reviewer.open(study.researcher.home)
    reviewer.follow("Review")
    states = [text_of(inside) for _address, inside in LINK.findall(reviewer.page)]
    decided = "Rejected" if decision == "accept" else "Accepted"
    reviewer.follow(next(state for state in states if state.startswith(decided)))
    row = next(row for row in reviewer.page.split("<li")[1:] if thing in text_of(f"<li{row}"))
    undo = next(label for button in BUTTON.findall(row) if (label := text_of(button[1])).startswith("Undo decision"))
    reviewer.submit(undo, within=row)
    decide(study, decision, thing, reason)
    do_waiting_work()


def read_tables(study: Study) -> None:
    """Table 2 as it follows from what was said, and the numbers of every table; of the full size each form."""
    slug = study.benchmark.slug
    table = table_data(study.researcher.client, slug, "accuracy")
    assert table["columns"] == ["A", "B", "C", "People"]
    shown = {row["label"]: [cell["shown"] for cell in row["cells"]] for row in table["rows"]}
    for country, things in study.size.things.items():
        known = 100 * sum(thing != 2 for thing in things) / len(things)
        assert shown[country] == [f"{known:.2f}", "100.00" if country == "India" else "0.00", "100.00", "66.67"]
    brazil = next(row for row in table["rows"] if row["label"] == "Brazil")
    assert brazil["cells"][2]["estimate"]["extras"]["n_no_answer"] == 1
    assert any("C (vlm): 1" in words for words in table["words"])
    alone = table_data(study.researcher.client, slug, "accuracy", "setting=llm_only")
    assert [row["cells"][0]["estimate"]["extras"]["n_unreadable"] for row in alone["rows"]][:2] == [0, 2]
    study.researcher.tell_models(("A", "closed", "2024-05"), ("B", "open", "2023-12"), ("C", "open", "2024-02-01"))
    for key in TABLES:
        if study.size is FULL or key == "accuracy":
            table_forms(study.researcher.client, slug, key)
        else:
            check_cells(key, table_data(study.researcher.client, slug, key))
    read_tables_of_lists(study)
    for key in FIGURES if study.size is FULL else FIGURES[:1]:
        figure_forms(study.researcher.client, slug, key)


def read_tables_of_lists(study: Study) -> None:
    """Two tables need a list that no page has: each says so, and reads it once it is imported."""
    client, slug = study.researcher.client, study.benchmark.slug
    for key, name in (("in-corpus", "Corpus counts"), ("in-titles", "Wikipedia titles")):
        assert name in client.get(f"/b/{slug}/tables/{key}/").content.decode()
    study.researcher.import_collection("Corpus counts", [{"key": f"Name {n}", "count": n} for n in range(20)])
    study.researcher.import_collection("Wikipedia titles", [{"key": "Other_(novel)"}, {"key": "Nameless"}])
    corpus, titles = (table_data(client, slug, key) for key in ("in-corpus", "in-titles"))
    occurrences = {row["label"]: shown_in(corpus, row, "Occurrences") for row in corpus["rows"]}
    accepted = {thing for things in study.size.things.values() for thing in things}
    assert occurrences["drink"] == str(sum(thing for thing in accepted if FACETS[thing % 4] == "drink"))
    answers = Annotation.objects.filter(assignment__campaign__stage__key="answers", live=True, rater__kind="person")
    others = answers.filter(answers__answer__startswith="Other").count()
    percent = shown_in(titles, titles["rows"][-1], "With a word in a title, percent")
    assert round(float(percent)) == round(100 * others / (4 * study.size.total)), "three people and the asker"
    for key in ("in-corpus", "in-titles"):
        table_forms(client, slug, key)


def shown_in(table: Mapping[str, Any], row: Mapping[str, Any], column: str) -> str:
    return str(row["cells"][table["columns"].index(column)]["shown"])


def browse_answers(study: Study) -> None:
    """Everything that was said of each answer; judge and people differ nowhere."""
    researcher = study.researcher
    researcher.go("Items", "Judged answers")
    questions = min(10, study.size.total)
    assert text_of(researcher.page).count("A person") == 3 * questions
    assert "Refused by the model" in researcher.page
    researcher.submit("View", {"only": "unreadable"})
    assert researcher.page.count("Unreadable reply") == 2
    researcher.submit("View", {"only": "differ"})
    assert "No question fits these filters." in researcher.page
