"""CulturalVQA's tables from a few judged answers, counted by hand."""

from typing import Any

import numpy as np
import pytest
from django.http import QueryDict

from annotation.models import Annotation, Assignment, Campaign, Participation, Rating, SheetVersion, Unit
from annotation.services.campaigns import lifecycle
from benchmarks.models import Item
from benchmarks.services.benchmarks import create_from_recipe
from evaluation.rendering.report import Cell
from evaluation.tables.registry import table_of, tables_of
from evaluation.tables.table import MissingData, Table
from evaluation.tables.table_builder import build_table
from evaluation.tables.table_inputs import InvalidOption
from people.models import Cohort, ModelDetails, Rater
from people.services.raters import rater_of
from predictions.models import Call, Run
from tests.evaluation.data import NOON
from tests.evaluation.sample_tables import model, store_answers
from tests.module_world import built_once
from tests.personas import World, make_cohort, stand_in

pytestmark = pytest.mark.django_db
# question: country, facet, sub-category, text
QUESTIONS = {
    "q1": ("Brazil", "food", "Taste", "What is this dish?"),
    "q2": ("Brazil", "clothing", "Type/Name", "What is worn here, and when?"),
    "q3": ("Iran", "food", "Type/Name", "Which bread is this?"),
    "q4": ("Iran", "rituals", "Celebration", "Why do people jump?"),
    "q5": ("Canada", "food", "Type/Name", "What is poured on it?"),
}
# the judge's code for each model's answer, "" where it said nothing readable
JUDGED = {
    ("GPT-4", "vlm"): {"q1": "2", "q2": "2", "q3": "1", "q4": "2", "q5": "2"},
    ("InternVL", "vlm"): {"q1": "2", "q2": "1", "q3": "1", "q4": "", "q5": "2"},
    ("GPT-4", "vlm_few_shot"): {"q1": "2", "q2": "1", "q3": "2", "q4": "2", "q5": "2"},
    ("GPT-4", "llm_only"): {"q1": "1", "q2": "1", "q3": "1", "q4": "2", "q5": "1"},
}
PEOPLE = {"q1": ["2", "2", "1"], "q2": ["2", "2"], "q3": ["2", "2", "2", "1"], "q4": ["1"], "q5": ["2", "2", "2"]}


class Study:
    def __init__(self, world: World) -> None:
        self.world = world
        self.benchmark = create_from_recipe(world.team, "culturalvqa", "VQA", "vqa", world.owner)
        self.cohorts: dict[str, Cohort] = {"Brazil": world.brazil}
        self.cohorts |= {label: make_cohort(world.team, label) for label in ("Iran", "Canada")}
        self.people = {
            label: world.add_annotators(c, 3, prefix=f"p-{label.lower()}") for label, c in self.cohorts.items()
        }

    def open(self, key: str, *labels: str) -> Campaign:
        stage = self.benchmark.stages.get(key=key)
        asked = [self.cohorts[label] for label in labels or self.cohorts]
        made = lifecycle.create(stage, key, self.world.owner, dict.fromkeys(asked, 3))
        lifecycle.open_campaign(made, self.world.owner, NOON)
        return made

    def item(self, stage: str, key: str, question: str, **context: Any) -> Item:
        country, facet, sub, text = QUESTIONS[question]
        about = {"question": question, "facet": facet, "sub_category": sub, **context}
        where = self.benchmark.stages.get(key=stage)
        made = Item.objects.create(stage=where, key=key, origin=country, text=text, context=about)
        stand_in([made])
        return made

    def lave(self, *labels: str) -> None:
        verdicts = {}
        for (name, setting), codes in JUDGED.items():
            for question, code in codes.items():
                key = f"{question}/{name}/{setting}"
                item = self.item("lave", key, question, candidate_by=name, setting=setting, candidate="x")
                verdicts[item, ""] = code
        for question, codes in PEOPLE.items():
            for number, code in enumerate(codes):
                item = self.item("lave", f"{question}/human/{number}", question, candidate_by="human", candidate="x")
                verdicts[item, ""] = code
        judge = model(self.world.team, "Judge")
        store_answers(
            self.open("lave", *labels), judge, {what: code for what, code in verdicts.items() if code}, field="lave"
        )

    def answer(
        self, campaign: Campaign, place: int, item: Item, answers: dict[str, str], state: str = "submitted"
    ) -> None:
        """One of a country's people, with codes where the question has them."""
        rater = rater_of(self.people[item.origin][place])
        row = campaign.cohorts.get(cohort__label=item.origin)
        seat, _new = Participation.objects.get_or_create(cohort=row, rater=rater, defaults={"last_seen_at": NOON})
        unit, _new = Unit.objects.get_or_create(item=item, target=item.origin)
        assignment = Assignment.objects.create(
            campaign=campaign, participation=seat, unit=unit, rater=rater, state=state, in_hand=False, reserved_at=NOON,
            shown_at=NOON, changed_at=NOON, skip_reason="irrelevant" if state == "skipped" else "",
        )  # fmt: skip
        if state == "skipped":
            return
        annotation = Annotation.objects.create(
            assignment=assignment, rater=rater, version=1, client_key=f"{assignment.pk}", answers=answers,
            sheet_version=campaign.sheet_version, cohort=row.cohort, language="en", shown_at=NOON, submitted_at=NOON,
        )  # fmt: skip
        if "verdict" in answers:
            Rating.objects.create(
                annotation=annotation, campaign=campaign, cohort=row.cohort, unit=unit, rater=rater, field="verdict",
                code=answers["verdict"],
            )  # fmt: skip

    def answers(self) -> None:
        """q1 has the asker's answer and two more, q3 one, the others the asker's only."""
        items = {q: self.item("answers", q, q, asker_answer="rice" if q == "q1" else "it") for q in QUESTIONS}
        campaign = self.open("answers")
        for place, (question, text) in enumerate((("q1", "Rice "), ("q1", "black beans"), ("q3", "barbari"))):
            self.answer(campaign, place, items[question], {"answer": text, "sure": "yes"})

    def table(self, key: str, query: str = "") -> Table:
        spec = table_of(self.benchmark, key)
        assert spec is not None
        return build_table(self.benchmark, spec, QueryDict(query), NOON)


@built_once
def study(world: World) -> Study:
    return Study(world)


@built_once
def judged(study: Study) -> Study:
    study.lave()
    return study


def cell(table: Table, row: str, column: str) -> Cell:
    [found] = [one for one in table.rows if one.label == row]
    return found.cells[[str(name) for name in table.columns].index(column)]


def value(found: Cell) -> float:
    assert found.estimate is not None and found.estimate.value is not None, found
    return found.estimate.value


def test_every_table_of_the_spec_is_there(study: Study) -> None:
    numbers = {
        part.strip()
        for spec in tables_of(study.benchmark)
        for part in spec.number.replace("Tables", "Table").split(",")
    }
    for wanted in (
        "Table 2",
        "4",
        "Table 3",
        "Table 6",
        "Table 7",
        *(f"Figure {n}" for n in (1, 4, 5, 6, 7, 9, 10, 11, 12)),
    ):
        assert wanted in numbers, wanted


def test_a_later_judge_takes_no_earlier_ones_place_and_each_can_be_chosen_by_name(judged: Study) -> None:
    """ "Abel" comes before "Judge" by name, and finds everything wrong but what he cannot be read about."""
    before = judged.table("accuracy")
    [campaign] = Campaign.objects.filter(stage__key="lave")
    items = Item.objects.filter(stage__key="lave", context__setting="vlm")
    abel = model(judged.world.team, "Abel", "text")
    unread = items.get(key="q1/GPT-4/vlm")
    store_answers(campaign, abel, {(one, ""): "1" for one in items if one != unread}, field="lave")

    assert judged.table("accuracy").rows == before.rows
    by_abel = judged.table("accuracy", f"judge={abel.pk}")
    assert value(cell(by_abel, "Brazil", "GPT-4")) == 0
    assert "Judge: Abel (text). In percent." in [str(one) for one in by_abel.words]
    mean = judged.table("accuracy", "judge=mean")
    brazil = cell(mean, "Brazil", "GPT-4").estimate
    assert brazil is not None and brazil.value == 0.5 and brazil.extras["n_unreadable"] == 1
    notes = " ".join(map(str, mean.words))
    assert "answers were read by some of the judges only, and so have no mean." in notes
    assert "Judge: Abel (text), Judge. In percent." in notes
    with pytest.raises(InvalidOption):
        judged.table("accuracy", "judge=999999")


def test_answers_that_a_judge_was_never_asked_about_are_not_left_out_answers(judged: Study) -> None:
    """A sample of two of Brazil's: one answered, one not readable. The other judge has no calls: all was put to it."""
    [campaign] = Campaign.objects.filter(stage__key="lave")
    sampler = model(judged.world.team, "Sampler")
    read, unread = (Item.objects.get(stage__key="lave", key=f"{q}/GPT-4/vlm") for q in ("q1", "q2"))
    run = Run.objects.create(
        benchmark=judged.benchmark, campaign=campaign, rater=sampler, model="s", task="answers", source="here",
        state="done", complete=True,
    )  # fmt: skip
    store_answers(campaign, sampler, {(read, ""): "2"}, field="lave")
    for item, state in ((read, "answered"), (unread, "unparseable")):
        Call.objects.create(run=run, item=item, unit=Unit.objects.get(item=item), repeat=0, state=state,
                            reason="" if state == "answered" else "no_verdict", attempts_made=1,
                            how="schema" if state == "answered" else "")  # fmt: skip
    brazil = cell(judged.table("accuracy", f"judge={sampler.pk}"), "Brazil", "GPT-4").estimate
    assert brazil is not None and brazil.value == 1
    assert (brazil.extras["n_unreadable"], brazil.extras["worst"], brazil.extras["best"]) == (1, 0.5, 1)
    by_sampler = judged.table("accuracy", f"judge={sampler.pk}")
    assert [row.label for row in by_sampler.rows] == ["Brazil", "Average"]
    assert "Answer methods: 1 by JSON schema." in [str(one) for one in by_sampler.words]


def test_an_answer_that_was_withdrawn_is_in_no_table(judged: Study) -> None:
    Item.objects.filter(stage__key="lave", key="q4/InternVL/vlm").update(withdrawn_at=NOON)
    iran = cell(judged.table("accuracy"), "Iran", "InternVL").estimate
    assert iran is not None and iran.extras["n_unreadable"] == 0


def test_the_average_says_what_was_left_out_and_between_which_ends_it_lies(judged: Study) -> None:
    """InternVL's q4 (Iran, of two answers): Brazil .5, Iran 0, or .5 were it right, Canada 1."""
    average = cell(judged.table("accuracy"), "Average", "InternVL").estimate
    assert average is not None and average.extras["n_unreadable"] == 1
    assert average.extras["worst"] == pytest.approx(0.5)
    assert average.extras["best"] == pytest.approx(2 / 3)


def test_accuracy_by_country_and_its_plain_mean(judged: Study) -> None:
    """GPT-4: Brazil 2/2, Iran 1/2, Canada 1/1: mean (1 + .5 + 1) / 3. InternVL's q4 could not be read: Iran 0/1."""
    table = judged.table("accuracy")
    assert [cell(table, c, "GPT-4").shown for c in ("Brazil", "Iran", "Canada")] == ["100.00", "50.00", "100.00"]
    assert value(cell(table, "Average", "GPT-4")) == pytest.approx(2.5 / 3)
    iran = cell(table, "Iran", "InternVL")
    assert value(iran) == 0 and iran.estimate.n_units == 1
    assert (iran.estimate.extras["n_unreadable"], iran.estimate.extras["best"]) == (1, 0.5)
    assert cell(table, "Brazil", "GPT-4").printed.text == "76.44"
    assert any("Judge: Judge" in str(words) for words in table.words)


def test_the_scale_and_the_way_of_asking_are_options(judged: Study) -> None:
    with pytest.raises(MissingData, match="has the scale “1 wrong, 2 right”"):
        judged.table("accuracy", "scale=1-3")
    assert judged.table("accuracy", "scale=1-2").rows == judged.table("accuracy").rows
    assert value(cell(judged.table("accuracy", "setting=llm_only"), "Iran", "GPT-4")) == 0.5
    with pytest.raises(MissingData, match="llm_country"):
        judged.table("accuracy", "setting=llm_country")


def test_the_scale_is_the_sheets_though_nobody_gave_its_highest_code(judged: Study) -> None:
    sheet = judged.benchmark.stages.get(key="lave").sheet
    [three] = [one for one in sheet["fields"] if one["key"] == "lave"]
    three["config"]["options"].append({**three["config"]["options"][0], "code": "3"})
    SheetVersion.objects.filter(stage__key="lave").update(definition=sheet)
    assert value(cell(judged.table("accuracy"), "Brazil", "GPT-4")) == 0.5, "2 is half right there"


def test_calls_without_an_answer_are_counted_apart_from_unreadable_verdicts(judged: Study) -> None:
    """InternVL refused a further question of Iran's, twice; of q3, which was judged, a call failed, too."""
    stage, internvl = judged.item("answers", "q3", "q3").stage, model(judged.world.team, "InternVL", "vlm")
    Item.objects.create(stage=stage, key="q6", origin="Iran", text="?", context={"facet": "food"})
    for _round in range(2):
        run = Run.objects.create(
            benchmark=judged.benchmark, campaign=judged.open("answers"), rater=internvl, model="m", task="answers",
            source="here", state="done", complete=True,
        )  # fmt: skip
        for item in Item.objects.filter(stage=stage):
            unit, _new = Unit.objects.get_or_create(item=item, target="Iran")
            Call.objects.create(run=run, item=item, unit=unit, state="refused", reason="said_no", attempts_made=1)
    table = judged.table("accuracy")
    iran = cell(table, "Iran", "InternVL").estimate
    assert iran is not None and (iran.value, iran.extras["n_unreadable"], iran.extras["n_no_answer"]) == (0, 1, 1)
    assert "n_no_answer" not in cell(table, "Iran", "GPT-4").estimate.extras
    assert any("InternVL (vlm): 1" in str(words) for words in table.words)
    assert "n_no_answer" not in cell(judged.table("accuracy", "setting=llm_only"), "Iran", "GPT-4").estimate.extras
    Run.objects.update(withdrawn_at=NOON)
    assert "n_no_answer" not in cell(judged.table("accuracy"), "Iran", "InternVL").estimate.extras


def test_people_have_a_column_of_their_own(judged: Study) -> None:
    """Leave-one-out verdicts of questions with three or more answers: Brazil q1 2/3, Iran q3 3/4, Canada q5 3/3."""
    table = judged.table("accuracy")
    assert [str(name) for name in table.columns] == ["GPT-4", "InternVL", "People"]
    values = [value(cell(table, country, "People")) for country in ("Brazil", "Iran", "Canada")]
    assert values == pytest.approx([2 / 3, 3 / 4, 1])
    assert value(cell(table, "Average", "People")) == pytest.approx(sum(values) / 3)
    Item.objects.filter(stage__key="lave", context__candidate_by="human").update(withdrawn_at=NOON)
    assert "People" not in [str(name) for name in judged.table("accuracy").columns]


def test_sub_categories_are_counted_without_any_judge(study: Study) -> None:
    with pytest.raises(MissingData, match="no campaign yet"):
        study.table("sub-categories")
    study.answers()
    table = study.table("sub-categories")
    assert [row.label for row in table.rows] == ["Celebration", "Taste", "Type/Name"]
    assert cell(table, "Type/Name", "food").text == "2" and value(cell(table, "Taste", "food, percent")) == 1 / 3
    Item.objects.filter(stage__key="answers").update(context={"facet": "food"})
    with pytest.raises(MissingData, match="no sub-categories"):
        study.table("sub-categories")


def test_countries_can_be_left_out(judged: Study) -> None:
    table = judged.table("accuracy", f"cohort={judged.cohorts['Iran'].pk}")
    assert [row.label for row in table.rows] == ["Iran", "Average"]


def test_a_judge_may_judge_what_no_cohort_of_the_campaign_was_asked(study: Study) -> None:
    study.lave("Brazil")
    assert [row.label for row in study.table("accuracy").rows] == ["Brazil", "Canada", "Iran", "Average"]


def test_sub_categories_have_only_the_cells_that_exist(judged: Study) -> None:
    table = judged.table("table-6")
    assert cell(table, "Taste", "clothing, GPT-4").empty and not cell(table, "Taste", "food, GPT-4").empty
    assert cell(table, "Type/Name", "food, GPT-4").shown == "50.0"  # q3 wrong, q5 right
    mean = cell(table, "Type/Name", "Average")  # food .5 and .5, clothing 1 and 0
    assert value(mean) == pytest.approx(0.5) and mean.estimate.extras["n_undefined"] == 0
    assert cell(table, "Type/Name", "drink, GPT-4").empty, "drink has no answers"
    assert "Customs Associated" not in [row.label for row in table.rows], "no question is of this kind"
    assert any("Customs Associated" in str(words) for words in table.words)
    assert mean.printed.text == "57.18"
    assert value(cell(judged.table("table-7"), "Celebration", "rituals, GPT-4")) == 1


def test_people_are_the_ceiling(judged: Study) -> None:
    """Questions with three answers: q1 2/3, q3 3/4, q5 3/3; food has them all: 8/10 over answers."""
    table = judged.table("facets")
    assert value(cell(table, "food", "People")) == pytest.approx(8 / 10)
    assert cell(table, "food", "People").printed.text == "74"
    assert cell(table, "clothing", "People").estimate.reason == "too_few_answers", "q2 has two"
    over = judged.table("facets", "ceiling=questions")
    assert value(cell(over, "food", "People")) == pytest.approx((2 / 3 + 3 / 4 + 1) / 3)


def test_tables_without_model_details_name_the_models_and_lead_to_the_form(judged: Study) -> None:
    team, slug = judged.world.team, judged.benchmark.slug
    client = judged.world.client(judged.world.owner)
    for key in ("releases", "gaps"):
        page = client.get(f"/b/{slug}/tables/{key}/").content.decode()
        assert "GPT-4, InternVL" in page and f'href="/b/{slug}/predictions/models/"' in page, key
    form = client.get(f"/b/{slug}/predictions/models/").url
    client.post(form, {"model": "GPT-4", "access": "closed", "released": "2024-04"})
    assert ModelDetails.objects.get().team == team
    for key in ("releases", "gaps"):
        sentences = [str(text) for text in judged.table(key).words]
        assert any("these models" in text and "InternVL" in text and "GPT-4" not in text for text in sentences), key


def test_gaps_are_of_the_best_open_and_the_best_closed(judged: Study) -> None:
    """InternVL open, GPT-4 closed. Brazil: people 2/3; GPT-4 2/2, InternVL 1/2."""
    with pytest.raises(MissingData, match="open"):
        judged.table("gaps")
    for name, is_open in (("GPT-4", False), ("InternVL", True)):
        model(judged.world.team, name, "vlm", open=is_open, released="2024-05" if is_open else "2024-04")
    table = judged.table("gaps")
    assert value(cell(table, "Brazil", "People")) == pytest.approx(2 / 3)
    assert cell(table, "Brazil", "Best open model").text == "InternVL"
    assert value(cell(table, "Brazil", "Best open model, less people")) == pytest.approx(1 / 2 - 2 / 3)
    assert value(cell(table, "Brazil", "Best closed model, less people")) == pytest.approx(1 - 2 / 3)
    releases = judged.table("releases")
    assert [row.label for row in releases.rows] == ["GPT-4", "InternVL"]
    western = cell(releases, "GPT-4", "Western countries").estimate
    assert western is not None and western.reason == "one_of_many", "one country is no average"
    assert value(cell(releases, "GPT-4", "Other countries")) == pytest.approx(0.75)


def test_gaps_name_all_that_tie_and_say_why_people_have_no_number(judged: Study) -> None:
    """Both open: in Canada both are right in all; in Brazil q1 has two people's answers now."""
    for name in ("GPT-4", "InternVL"):
        model(judged.world.team, name, "vlm", open=True)
    item = Item.objects.get(key="q1/human/2")
    Item.objects.filter(pk=item.pk).update(context=item.context | {"candidate_by": "another"})
    table = judged.table("gaps")
    assert cell(table, "Canada", "Best open model").text == "GPT-4, InternVL"
    assert cell(table, "Brazil", "Best open model").text == "GPT-4"
    for name in ("People", "Best open model, less people"):
        assert cell(table, "Brazil", name).estimate.reason == "too_few_answers"


def test_ways_of_asking_side_by_side(judged: Study) -> None:
    table = judged.table("without-picture")
    assert [str(name) for name in table.columns] == ["GPT-4, with the question only", "GPT-4, with the picture"]
    assert value(cell(table, "Average", "GPT-4, with the question only")) == pytest.approx(0.5 / 3)
    few = judged.table("few-shot")
    assert value(cell(few, "Iran", "GPT-4")) == 0.5 and value(cell(few, "Brazil", "GPT-4")) == -0.5
    assert value(cell(few, "Average", "GPT-4")) == pytest.approx(0)


def test_the_data_by_country(judged: Study) -> None:
    """q1 has 4 words, q2 6: 5 in the mean. Brazil's answers: rice, Rice, black beans, it: 5 words in 4 answers."""
    judged.answers()
    table = judged.table("profile")
    brazil = {str(name): found for name, found in zip(table.columns, table.rows[0].cells, strict=True)}
    assert (brazil["Questions"].text, brazil["Answers"].text, brazil["Annotators"].text) == ("2", "4", "2")
    assert value(brazil["Words in a question"]) == 5 and value(brazil["Words in an answer"]) == 1.25
    assert value(brazil["Answers per question"]) == 2
    assert brazil["References LAVE keeps"].text == "4", "rice and Rice are two, as they are in the prompt"
    assert brazil["Annotators"].printed.text == "5" and table.rows[-1].cells[1].printed.text == "2378"
    apart = judged.table("profile", "asker=apart")
    assert apart.rows[0].cells[2].text == "2" and apart.rows[-1].cells[2].text == "3"
    correlations = judged.table("correlations")
    gpt = [value(cell(judged.table("accuracy"), c, "GPT-4")) for c in ("Brazil", "Canada", "Iran")]
    people = [2 / 3, 1, 3 / 4]
    expected = np.corrcoef(gpt, people)[0, 1]
    assert value(cell(correlations, "GPT-4", "Pearson with people's accuracy")) == pytest.approx(expected)


def test_facets_openers_and_answers(judged: Study) -> None:
    judged.answers()
    facets = judged.table("answers")
    food = next(row for row in facets.rows if row.label == "food")
    assert [one.text for one in food.cells if one.estimate is None] == [
        "3", "6", "4", "it (2), rice (2), barbari (1), black beans (1)",
    ]  # fmt: skip
    assert value(food.cells[1]) == 3 / 5 and food.cells[1].printed.text == "37.3"
    openers = judged.table("openers")
    assert [(row.label, row.cells[0].text) for row in openers.rows] == [("What", "3"), ("Which", "1"), ("Why", "1")]
    assert value(openers.rows[0].cells[1]) == 3 / 5
    subs = judged.table("sub-categories")
    assert value(cell(subs, "Type/Name", "food, percent")) == pytest.approx(2 / 3)
    assert cell(subs, "Type/Name", "food, percent").printed.text == "38.2"


def test_skips_are_counted_of_what_was_shown(study: Study) -> None:
    items = [study.item("questions", f"w{n}", q) for n, q in enumerate(("q1", "q1", "q1", "q3"))]
    campaign = study.open("questions")
    answers = {"familiarity": "familiar", "question": "What?", "answer": "it"}
    for place, (item, state) in enumerate(zip(items, ("skipped", "submitted", "submitted", "submitted"), strict=True)):
        study.answer(campaign, place % 3, item, answers, state)
    table = study.table("skips")
    assert [one.text for one in table.rows[0].cells[:2]] == ["3", "1"] and value(table.rows[0].cells[2]) == 1 / 3
    assert value(table.rows[-1].cells[2]) == 1 / 4 and table.rows[-1].cells[2].printed.text == "19.64"


def test_verdicts_are_shares_and_are_shown_with_the_judge(judged: Study) -> None:
    """q1: people 1 1 2, judge right. q2: 5 5 5, judge right. q3: 1 2, no majority. q5: 1 1 5, judge right: 2 of 3
    agree, the base rate is 2 of 3; and when anything but 5 is right, q3 counts, which the judge finds wrong: 2 of 4.
    """
    codes_by_question = {"q1": "112", "q2": "555", "q3": "12", "q5": "115"}
    items = {q: judged.item("model-answers", f"{q}/a", q, model="GPT-4", candidate="x") for q in codes_by_question}
    campaign = judged.open("model-answers")
    for question, codes in codes_by_question.items():
        for place, code in enumerate(codes):
            judged.answer(campaign, place, items[question], {"verdict": code})
    table = judged.table("verdicts")
    assert [one.shown for one in table.rows[0].cells[:5]] == [
        "45.5",
        "18.2",
        "0.0",
        "0.0",
        "36.4",
    ]  # 5, 2, 0, 0, 4 of 11
    judge = judged.table("judge")
    agreement, base, _kappa = next(row for row in judge.rows if row.label == "GPT-4").cells
    assert value(agreement) == value(base) == pytest.approx(2 / 3) and agreement.printed.text == "79"
    assert value(judged.table("judge", "correct=1-4").rows[0].cells[0]) == pytest.approx(2 / 4)


def test_unreadable_judge_replies_are_listed(judged: Study) -> None:
    """InternVL: people find q1 right and q4 wrong; the judge finds q1 right and cannot be read about q4, nor about q5,
    which people are split about: 1 of 1 agrees, between 1 of 2 and 2 of 2."""
    codes_by_question = {"q1": "11", "q4": "55", "q5": "15"}
    items = {q: judged.item("model-answers", f"{q}/b", q, model="InternVL", candidate="x") for q in codes_by_question}
    campaign = judged.open("model-answers")
    Rating.objects.filter(unit__item__key="q5/InternVL/vlm").delete()
    for question, codes in codes_by_question.items():
        for place, code in enumerate(codes):
            judged.answer(campaign, place, items[question], {"verdict": code})
    found = cell(judged.table("judge"), "InternVL", "Agreement, percent").estimate
    assert found is not None and (found.value, found.n_units) == (1, 1)
    assert [found.extras[name] for name in ("n_unreadable", "worst", "best")] == [1, 0.5, 1]


def test_what_is_missing_is_named(study: Study) -> None:
    for key in ("accuracy", "table-6", "gaps", "facets", "verdicts", "judge", "profile", "openers", "skips"):
        with pytest.raises(MissingData, match="no campaign yet"):
            study.table(key)
    study.item("lave", "x", "q1", candidate_by="GPT-4", setting="vlm", candidate="x")
    study.open("lave")
    with pytest.raises(MissingData, match="no ratings"):
        study.table("accuracy")
    assert Rater.objects.filter(kind="model").count() == 0


def test_chosen_concepts_narrow_the_questions_as_they_narrow_the_answers(study: Study) -> None:
    study.answers()
    Item.objects.filter(stage__key="answers", key="q1").update(concept="rice")
    Item.objects.filter(stage__key="answers", key="q3").update(concept="bread")
    profile = study.table("profile", "concept=rice")
    assert [str(row.label) for row in profile.rows] == ["Brazil", "All"]
    assert [str(cell(profile, "All", name).text) for name in ("Questions", "Answers")] == ["1", "3"]
    for key, label in (("answers", "food"), ("sub-categories", "Taste")):
        assert [str(row.label) for row in study.table(key, "concept=rice").rows] == [label]


def test_skips_are_those_of_the_chosen_concepts_and_of_items_in_use(study: Study) -> None:
    items = {q: study.item("questions", q, q) for q in ("q1", "q2", "q3")}
    campaign = study.open("questions")
    for number, (question, state) in enumerate((("q1", "skipped"), ("q2", "skipped"), ("q3", "submitted"))):
        Item.objects.filter(pk=items[question].pk).update(concept="rice" if question != "q2" else "cloth")
        study.answer(campaign, number, items[question], {"question": "What?", "answer": "it"}, state)

    def shown(query: str = "") -> list[str]:
        return [str(one.text) for one in study.table("skips", query).rows[-1].cells[:2]]

    assert (shown(), shown("concept=rice")) == (["3", "2"], ["2", "1"])
    Item.objects.filter(pk=items["q1"].pk).update(withdrawn_at=NOON, withdrawn_because="by_hand")
    assert shown() == ["2", "1"]
