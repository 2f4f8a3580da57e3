"""Proverbs: a sixth benchmark, composed in the browser from an empty team, and run to its tables by pages alone.

Topics: four typed words, each cohort gives a proverb for each. How common: others of the same cohort rate it. Same
meaning: pairs of both cohorts, three people in all. A judge reads the reasons. The researcher and the first two sheets
of each stage are in Chromium; what else people answer is posted to the forms that they are shown.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from playwright.sync_api import Locator, Page, expect

from annotation.models import Annotation
from annotation.services.queue import recount
from benchmarks.models import Benchmark, Item
from people.models import Team, TeamMember, User
from predictions.models import Call, Run
from tests.chains.annotators import Annotator
from tests.chains.browser_client import BrowserResearcher, BrowserSheets
from tests.chains.link_client import LINK, text_of
from tests.chains.proverb_tables import ProverbTables
from tests.chains.researcher import LINK_FIELD, do_waiting_work
from tests.personas import World, make_consent_version, make_user
from tests.predictions.model_server import Act, ReceivedRequest, Server
from tests.releases.import_steps import differing, other_team, reimported, release_of, report_files, table_files
from tests.releases.second_release import unexplained

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
COHORTS = {"Brazil": "BR", "Egypt": "EG"}
NAMES = ("Ana", "Bo", "Cy")
RATINGS = {"patience": 1, "luck": 4, "honesty": 2, "guests": 3}
WORDS = tuple(RATINGS)
LAST_ANSWER = re.compile(r"Your last answer:.*?Undo", re.DOTALL)
PROVERB, RATED, COMPARED, REASON = "which_proverb_of", "how_common_is", "do_they_mean", "why"


class Composer:
    """A person at the form of a stage, who knows only what the labels say."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.set_default_timeout(30_000)

    def section(self, title: str) -> None:
        summary = self.page.locator("#swap summary").filter(has_text=title).first
        if summary.locator("xpath=..").get_attribute("open") is None:
            summary.click()

    def field(self, label: str) -> Locator:
        return self.page.get_by_label(label, exact=True).first

    def choose(self, label: str, option: str) -> None:
        """An option of a select, by a part of its text; the form may be drawn anew."""
        select = self.field(label)
        value = select.locator("option").filter(has_text=option).first.get_attribute("value")
        with self.drawn(select):
            select.select_option(value)

    def tick(self, label: str, checked: bool = True) -> None:
        box = self.field(label)
        with self.drawn(box):
            box.set_checked(checked)

    def drawn(self, control: Locator) -> "Drawn":
        return Drawn(self.page, control.get_attribute("data-redraws") is not None)

    def ask(self, kind: str, question: str) -> None:
        at = self.page.locator("li.q").count()
        self.page.get_by_role("button", name=kind, exact=True).click()
        label = self.page.locator(f"[name='w:sheet.fields[{at}].label.en']")
        expect(label).to_be_visible()
        label.fill(question)

    def name_options(self, *codes: str) -> None:
        """Of the first question: a choice between two sides begins with A and B."""
        for at, code in enumerate(codes):
            option = f"sheet.fields[0].config.options[{at}]"
            self.page.locator(f"[name='w:{option}.label.en']").fill(code.title())
            self.page.locator(f"[name='s:{option}.code']").fill(code)

    def publish(self) -> None:
        self.page.get_by_role("button", name="Publish").click()
        expect(self.page.get_by_text("is published.").first).to_be_visible(timeout=30_000)


class Drawn:
    """Waits until the form is another one, which the server drew, where the control asks for that."""

    def __init__(self, page: Page, redraws: bool) -> None:
        self.page, self.redraws = page, redraws

    def __enter__(self) -> None:
        if self.redraws:
            self.page.evaluate("document.getElementById('composer').dataset.before = ''")

    def __exit__(self, *error: object) -> None:
        if self.redraws:
            expect(self.page.locator("#composer[data-before]")).to_have_count(0)


class Study:
    """The researcher of an empty team, the people of both cohorts, and what the benchmark has."""

    def __init__(self, world: World, server: Server, open_as: Callable[..., Page]) -> None:
        self.world, self.server = world, server
        self.owner: User = make_user("Rosa")
        self.team = Team.objects.create(name="Proverb Lab", slug="proverb-lab")
        TeamMember.objects.create(team=self.team, user=self.owner, role=TeamMember.Role.ADMIN)
        make_consent_version(self.team)
        self.window = open_as(self.owner)
        self.researcher = BrowserResearcher(world.client(self.owner), self.window)
        self.composer = Composer(self.window)
        self.first_sheets = BrowserSheets(open_as)
        self.people: dict[str, list[Annotator]] = {}

    @property
    def benchmark(self) -> Benchmark:
        return Benchmark.objects.get(team=self.team)

    def items(self, stage: str) -> int:
        return Item.objects.filter(stage__benchmark=self.benchmark, stage__key=stage, withdrawn_at=None).count()

    def answers(self, stage: str, kind: str = "person") -> int:
        rows = Annotation.objects.filter(assignment__campaign__stage__benchmark=self.benchmark, counted=True, live=True)
        return rows.filter(assignment__campaign__stage__key=stage, rater__kind=kind).count()


def reply(asked: ReceivedRequest) -> Act:
    """What models say: A as most people do, B always the same, and the judge finds each reason poor."""
    if "verdict" in asked.text:
        return Act(text=json.dumps({"verdict": "1", "reason": "It says the same."}))
    is_near = asked.body["model"] == "A"
    if COMPARED in asked.text:
        same = means_the_same(asked.text) or not is_near
        return Act(text=json.dumps({COMPARED: "yes" if same else "no", REASON: "It says so."}))
    return Act(text=json.dumps({RATED: str(rating_of(asked.text) if is_near else 2)}))


def rating_of(text: str) -> int:
    return next(rating for word, rating in RATINGS.items() if f"on {word}" in text)


def means_the_same(text: str) -> bool:
    return any(all(f"{cohort} on {word}" in text for cohort in COHORTS) for word in WORDS)


@pytest.fixture
def study(world: World, scripted_server: Server, media: None, open_as: Callable[..., Page]) -> Study:
    scripted_server.answer_by(reply)
    return Study(world, scripted_server, open_as)


def test_proverbs_from_an_empty_team_to_its_tables(study: Study) -> None:
    compose(study)
    create_cohorts(study)
    open_chain(study)
    give_proverbs(study)
    review_proverbs(study)
    rate_and_compare(study)
    ask_models(study)
    compose_tables(study)
    reject_a_proverb_and_accept_it_again(study)
    import_its_release(study)
    assert list(recount.iter_differences()) == []


def create_cohorts(study: Study) -> None:
    """Both in one form, with a link for each of their people; the next press opens the chain."""
    study.researcher.go("Create cohorts")
    rows = {
        f"cohorts-{at}-{name}": value
        for at, (label, country) in enumerate(COHORTS.items())
        for name, value in (("label", label), ("country", country), ("languages", "en"))
    }
    study.researcher.submit("Create cohorts", {**rows, "count": len(NAMES)})
    links = LINK_FIELD.findall(study.researcher.page)
    for label in COHORTS:
        study.people[label] = [Annotator(f"{name} {label}", label, links.pop(0)) for name in NAMES]
    assert not links


def compose(study: Study) -> None:
    """Three stages by the form of a stage, the judge by one form, the words by typing them."""
    researcher, composer = study.researcher, study.composer
    researcher.open("/benchmarks/")
    researcher.follow("Create benchmark")
    researcher.submit("Create benchmark", {"recipe": "blank", "name": "Proverbs", "team": study.team.pk})
    researcher.home = researcher.path
    researcher.follow("Add a stage")
    compose_topics(study)
    compose_how_common(study)
    compose_same_meaning(study)
    researcher.go("Stages", "Add a judge")
    researcher.submit("Create the judging stage", {
        "answers": f"same-meaning|{REASON}", "question": "Does the reason convince?", "name": "Judge",
    })  # fmt: skip
    researcher.go("Import items")
    researcher.submit("Add items", {"rows-rows": "\n".join(WORDS)})
    do_waiting_work()
    assert study.items("topics") == len(WORDS)
    assert [stage.key for stage in study.benchmark.stages.all()] == ["topics", "how-common", "same-meaning", "judge"]
    assert composer.page.locator("text=as JSON").count() == 0


def compose_topics(study: Study) -> None:
    composer = new_stage(study, "Topics", "Text without a picture")
    composer.ask("Rating on a scale", "How common is this topic in {target}?")
    composer.ask("Text", "Which proverb of {target} speaks of this?")
    composer.section("Who answers, and how often")
    composer.field("Answers for each item and cohort").fill("1")
    composer.section("When an answer is accepted")
    composer.choose("How an answer is accepted", "Accepted by a reviewer")
    composer.publish()


def new_stage(study: Study, name: str, display: str) -> Composer:
    study.researcher.go("Stages")
    study.researcher.submit("Create stage", {"name": name})
    study.composer.choose("What is shown", display)
    return study.composer


def compose_how_common(study: Study) -> None:
    composer = new_stage(study, "How common", "Text without a picture")
    composer.ask("Rating on a scale", "How common is this proverb in {target}?")
    composer.section("Source of items")
    composer.choose("Its items", "One item per accepted answer")
    composer.tick("Topics")
    composer.choose("Text", "Which proverb of")
    composer.choose("Origin", "the cohort of who answered")
    composer.section("Who answers, and how often")
    composer.field("Answers for each item and cohort").fill("2")
    composer.tick("A cohort gets only items of its own culture")
    composer.choose("Who may answer", "Only people who did not contribute")
    composer.publish()


def compose_same_meaning(study: Study) -> None:
    composer = new_stage(study, "Same meaning", "Two pictures or texts side by side")
    composer.ask("Choice", "Do they mean the same?")
    composer.name_options("yes", "no")
    composer.ask("Text", "Why?")
    composer.section("Source of items")
    composer.choose("Its items", "Accepted items are paired")
    composer.tick("Topics")
    composer.choose("Each side shows", "Which proverb of")
    composer.choose("Sides must differ in", "the cohort of who answered")
    composer.section("Who answers, and how often")
    composer.tick("Ask each cohort about its own culture (name the target in {target})", checked=False)
    composer.tick("These answers are wanted in all, not of each cohort")
    composer.choose("Who may answer", "Only people who did not contribute")
    composer.publish()
    params = study.benchmark.stages.get(key="same-meaning").derivation["params"]
    assert params["context"] == {"option_a": f"a.{PROVERB}", "option_b": f"b.{PROVERB}"}, params


def open_chain(study: Study) -> None:
    researcher = study.researcher
    researcher.follow("Open the whole chain")
    researcher.submit(researcher.button("Open "))
    assert "4 stages are open." in text_of(researcher.page)
    do_waiting_work()
    researcher.go("Predictions", "Model endpoints", "Add an endpoint")
    researcher.submit("Save endpoint", {"name": "Scripted", "base_url": study.server.base_url, "timeout_seconds": 5})


def give_proverbs(study: Study) -> None:
    """One answer of each cohort: who comes first gives all, and for the others nothing is left."""
    for label, (first, *others) in study.people.items():

        def give(text: str, label: str = label) -> Mapping[str, str]:
            asked = LAST_ANSWER.sub("", text)
            return {RATED: "3", PROVERB: f"{label} on {next(word for word in WORDS if word in asked)}"}

        assert study.first_sheets.answer(first, "Topics", give) == len(WORDS)
        assert not any(person.answer("Topics", give) for person in others)
    assert study.answers("topics") == 8


def decide(study: Study, decision: str, reason: str | None = None) -> None:
    study.researcher.submit(study.researcher.button(decision), {"reason": reason} if reason else {})


def review_proverbs(study: Study) -> None:
    """Seven are accepted, one of Egypt is rejected. `decide` takes the sheet that is shown."""
    study.researcher.go("Review", "Start reviewing")
    for _proverb in range(8):
        is_poor = "Egypt on guests" in text_of(study.researcher.page)
        decide(study, *(("Reject", "other") if is_poor else ("Accept",)))
    do_waiting_work()
    assert (study.items("how-common"), study.items("same-meaning")) == (7, 12)


def rate_and_compare(study: Study) -> None:
    """Nobody is asked about a proverb of their own: what each may answer is all that there is for them."""
    own: dict[str, set[str]] = {}
    for annotation in Annotation.objects.filter(assignment__campaign__stage__key="topics").select_related(
        "rater__user"
    ):
        own.setdefault(annotation.rater.user.email, set()).add(annotation.answers[PROVERB])
    for person in [person for people in study.people.values() for person in people]:

        def shown(text: str, person: Annotator = person) -> str:
            asked = LAST_ANSWER.sub("", text)
            assert not [proverb for proverb in own.get(person.email, ()) if proverb in asked]
            return asked

        def rate(text: str, shown: Callable[[str], str] = shown, person: Annotator = person) -> Mapping[str, str]:
            differs = person.name == "Cy Brazil" or (person.name == "Cy Egypt" and "honesty" in shown(text))
            return {RATED: str(rating_of(shown(text)) + differs)}

        def compare(text: str, shown: Callable[[str], str] = shown, person: Annotator = person) -> Mapping[str, str]:
            same = means_the_same(shown(text)) or (person.name == "Bo Egypt" and "Brazil on luck" in shown(text))
            return {COMPARED: "yes" if same else "no", REASON: "Both speak of the same" if same else "They differ"}

        study.first_sheets.answer(person, "How common", rate)
        study.first_sheets.answer(person, "Same meaning", compare)
    assert (study.answers("how-common"), study.answers("same-meaning")) == (14, 36)
    by_item = Counter(
        Annotation.objects.filter(assignment__campaign__stage__key="same-meaning").values_list(
            "assignment__unit__item", flat=True
        )
    )
    assert set(by_item.values()) == {3}, "three people in all"
    do_waiting_work()
    assert study.items("judge") == 36


def ask_models(study: Study) -> None:
    """Two answer and one judges, whose run takes what comes while it runs."""
    chosen = {"A": ("how-common", "same-meaning"), "B": ("how-common", "same-meaning"), "judge": ("judge",)}
    study.researcher.ask_models("Scripted", chosen, "", asked_about="cohorts")
    do_waiting_work()
    calls = Counter(Call.objects.values_list("run__campaign__stage__key", "state"))
    assert calls == {
        ("how-common", "answered"): 14, ("same-meaning", "answered"): 24, ("judge", "answered"): 60,
    }  # fmt: skip
    assert study.items("judge") == 24 + 36
    assert Run.objects.filter(follows=True).count() == 1


TABLES = {
    "Common by cohort": ("agreement", {"question": f"how-common|{RATED}"}),
    "Same over all": ("agreement", {"question": f"same-meaning|{COMPARED}"}),
    "Models on common": ("models", {"question": f"how-common|{RATED}", "measure": ""}),
    "Models on same": ("models", {"question": f"same-meaning|{COMPARED}", "measure": ""}),
    "Ranking of proverbs": ("ranking", {"question": f"how-common|{RATED}", "measure": "mean", "rows": "item"}),
}


def compose_tables(study: Study) -> None:
    kinds = {"agreement": "Agreement by cohort", "models": "Models against people", "ranking": "Ranking"}
    for name, (kind, values) in TABLES.items():
        study.researcher.go("Results", "Tables", "Create a table", kinds[kind])
        if kind == "ranking":
            choose_question(study.window, values["question"])
            values = {label: value for label, value in values.items() if label != "question"}
        study.researcher.submit("Save table", {"name": name, **values})
    tables = tables_of(study)
    tables.check()
    tables.check_forms(name.lower().replace(" ", "-") for name in TABLES)


def choose_question(page: Page, question: str) -> None:
    """The form then offers what belongs to it."""
    page.get_by_label("Question").select_option(question)
    expect(page).to_have_url(re.compile("question="))
    expect(page.locator(f"form input[name='question'][value='{question}']")).to_have_count(1)


def tables_of(study: Study) -> ProverbTables:
    rated, compared = ("how-common", RATED), ("same-meaning", COMPARED)
    return ProverbTables(study.researcher.client, study.benchmark, rated, compared)


def reject_a_proverb_and_accept_it_again(study: Study) -> None:
    """What hangs on it goes, and comes back with its answers and verdicts; nothing is asked again."""
    requests, judged = study.server.counts()["total"], study.items("judge")
    change_decision(study, "Accepted", "Reject", "other")
    assert (study.items("how-common"), study.items("same-meaning"), study.items("judge")) == (6, 9, 45)
    tables_of(study).check()
    change_decision(study, "Rejected", "Accept")
    assert (study.items("how-common"), study.items("same-meaning"), study.items("judge")) == (7, 12, judged)
    tables_of(study).check()
    assert study.server.counts()["total"] == requests


def import_its_release(study: Study) -> None:
    """Into an empty team: every table and report says the same, byte by byte, and a second release, too."""
    release = release_of(study.world, study.benchmark.pk)
    before = table_files(release.benchmark) | report_files(release.benchmark)
    assert {name.lower().replace(" ", "-") for name in TABLES} <= before.keys()
    team, user = other_team()
    benchmark, job = reimported(release, team, user)
    assert not job.rows.filter(outcome="error").exists(), list(job.rows.values_list("name", "message")[:10])
    assert differing(before, table_files(benchmark) | report_files(benchmark)) == {}
    assert unexplained(replace(study.world, owner=user), release, benchmark) == []


def change_decision(study: Study, shown: str, decision: str, reason: str | None = None) -> None:
    """A Brazilian proverb: its decision is undone, and the other one taken."""
    researcher = study.researcher
    researcher.go("Review")
    states = [text_of(inside) for _address, inside in LINK.findall(researcher.page)]
    researcher.follow(next(state for state in states if state.startswith(shown)))
    row = researcher.window.locator("#list li").filter(has_text="Brazil on luck")
    row.get_by_role("button", name="Undo decision").click()
    expect(row.get_by_role("button", name="Undo decision")).to_have_count(0)
    researcher.go("Review", "Start reviewing")
    decide(study, decision, reason)
    do_waiting_work()
