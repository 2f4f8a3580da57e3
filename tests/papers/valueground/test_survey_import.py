"""A survey out of its files: what is stored, what is refused, and that the same files change nothing."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.core.files.base import ContentFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchmarks.models import Benchmark
from benchmarks.rules.label_sets.contract import LabelSetSpec, LabelSpec
from benchmarks.services.label_sets import store
from jobs.models import Job
from jobs.services import runner
from papers.valueground.survey.models import OptionPair, Survey, SurveyCount, SurveyQuestion
from papers.valueground.survey.services import decisions, survey_import, versions
from papers.valueground.survey.services.survey_import import SurveySettings
from tests.papers.valueground.survey_samples import (
    CODEBOOK,
    EIGHT,
    Files,
    new_benchmark,
    page_of,
    questions_of,
    random_counts,
    upload,
    wvs_files,
)
from tests.personas import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark(world: World) -> Benchmark:
    return new_benchmark(world)


def pairs_of(survey: Survey) -> dict[str, OptionPair]:
    return {pair.question.key: pair for pair in OptionPair.objects.filter(question__survey=survey, current=True)}


def test_the_real_files_give_the_known_numbers(world: World, benchmark: Benchmark) -> None:
    upload(world.client(world.owner), benchmark, wvs_files())
    survey = Survey.objects.get()
    questions, pairs = questions_of(survey), pairs_of(survey)
    assert len(questions) + len(survey.other_variables) == 377
    assert list(questions) == [f"Q{number}" for number in range(1, 291)]
    assert sum(question.has_metadata for question in questions.values()) == 269
    states = [question.state for question in questions.values()]
    assert [states.count(state) for state in ("excluded", "to_decide", "proposed", "confirmed")] == [31, 21, 238, 0]
    assert {question.reason for question in questions.values() if question.state == "excluded"} == {"demographic"}
    assert sum(bool(question.adjustment) for question in questions.values()) == 15
    proposed = {key: pair for key, pair in pairs.items() if pair.state == "proposed"}
    zeros = {f"Q{n}" for n in (*range(94, 105), *range(122, 130))}
    for flag in ("zero", "ends_differ"):
        assert {key for key, pair in proposed.items() if flag in pair.flags} == zeros, flag
    assert {key for key, pair in proposed.items() if decisions.blocking(pair.flags)} == zeros
    assert sum("elliptic" in pair.flags for pair in proposed.values()) == 39
    assert sum(not pair.flags for pair in proposed.values()) == 173
    many = {"Q223", "Q266", "Q267", "Q268", "Q272", "Q290"}
    assert {key for key, pair in pairs.items() if "many" in pair.flags} == many
    assert {key for key, pair in pairs.items() if "few" in pair.flags} == {"Q261", "Q262"}
    expected = {"Q56": (1, 3), "Q111": (1, 2), "Q119": (1, 5), "Q221": (1, 3), "Q241": (1, 10)}
    assert {key: (pairs[key].a, pairs[key].b) for key in expected} == expected
    assert {pairs[key].how for key in expected} == {"metadata"}
    assert questions["Q56"].text.startswith("On a scale of 1 to 3, 1 meaning 'Better off'")


def test_eight_invented_questions_get_the_pairs_of_the_rules(world: World, benchmark: Benchmark) -> None:
    job = upload(world.client(world.owner), benchmark, EIGHT)
    survey = Survey.objects.get()
    proposals = {
        key: (pair.state, pair.a, pair.b, pair.how, " ".join(pair.flags)) for key, pair in pairs_of(survey).items()
    }
    assert proposals == {
        "Q10": ("proposed", 1, 2, "metadata", ""),
        "Q2": ("proposed", 1, 3, "metadata", "adjusted"),
        "Q3": ("proposed", 1, 2, "ends", "zero ends_differ"),
        "Q4": ("proposed", 1, 2, "metadata", "adjusted"),
        "Q5": ("proposed", 1, 3, "metadata", "adjusted"),
        "Q6": ("proposed", 1, 2, "metadata", "elliptic"),
        "Q7": ("excluded", None, None, "", "few"),
        "Q8": ("to_decide", 1, 2, "ends", "no_metadata"),
    }
    assert survey.other_variables == ["version"]
    assert "Version 1: 9 variables, 8 questions, 0 counts." in job.result["notes"]


def test_csv_files_say_the_same_and_labels_may_bring_the_codes(world: World, benchmark: Benchmark) -> None:
    codebook = "question,text,code,label\nhope,Is there hope?,a,1. Much\nhope,,c,3. None\nhope,,b,2. Some\n"
    counts = "question,country,code,count\nhope,BR,a,4\nhope, brazil,c,2\nhope,Great Britain,3,7\n"
    upload(world.client(world.owner), benchmark, {"codebook": codebook, "counts": counts})
    pair = OptionPair.objects.get()
    assert (pair.a, pair.b, pair.how, pair.state) == (1, 3, "prefix", "to_decide")
    rows = SurveyCount.objects.order_by("label__text", "code").values_list("label__text", "code", "count")
    assert list(rows) == [("Brazil", 1, 4), ("Brazil", 3, 2), ("United Kingdom", 3, 7)]


def test_a_question_without_options_gets_the_codes_that_were_counted(world: World, benchmark: Benchmark) -> None:
    client = world.client(world.owner)
    upload(client, benchmark, EIGHT)
    upload(client, benchmark, {"counts": {"Q7": {"Japan": {"18": 3, "90": 1, "-1": 5}}}})
    pair = pairs_of(Survey.objects.get(version=2))["Q7"]
    assert (pair.a, pair.b, pair.how) == (18, 90, "extremes")


def test_the_same_files_change_nothing_and_a_changed_one_is_a_new_version(world: World, benchmark: Benchmark) -> None:
    client = world.client(world.owner)
    upload(client, benchmark, EIGHT)
    job = upload(client, benchmark, EIGHT)
    assert job.result["notes"] == ["The newest version rests on these files already. Nothing was changed."]
    assert Survey.objects.count() == 1
    questions = questions_of(Survey.objects.get())
    decisions.confirm(questions["Q10"], world.owner)
    decisions.confirm(questions["Q2"], world.owner)
    decisions.exclude(questions["Q8"], "factual", "", world.owner)
    job = upload(client, benchmark, {"adjustment": {"Q4": {"3": ""}}})
    assert "These questions changed and need a decision again: Q2." in job.result["notes"]
    newest = Survey.objects.get(version=2)
    states = {key: question.state for key, question in questions_of(newest).items()}
    assert (states["Q10"], states["Q2"], states["Q8"]) == ("confirmed", "proposed", "excluded")
    assert pairs_of(newest)["Q5"].flags == ["zero"], "its adjustment is gone"
    assert questions_of(newest)["Q10"].looked_by == world.owner
    assert questions_of(Survey.objects.get(version=1))["Q2"].state == "confirmed", "a version does not change"


def test_counts_replace_those_before_or_join_them(world: World, benchmark: Benchmark) -> None:
    client = world.client(world.owner)
    upload(client, benchmark, {**EIGHT, "counts": {"Q10": {"Japan": {"1": 5}, "Brazil": {"1": 6}}}})
    upload(client, benchmark, {"counts": {"Q10": {"Japan": {"2": 9}}}}, keep_counts="on")
    counts = SurveyCount.objects.values_list("label__text", "code", "count").order_by("label__text")
    assert list(counts.filter(question__survey__version=2)) == [("Brazil", 1, 6), ("Japan", 2, 9)]
    upload(client, benchmark, {"counts": {"Q10": {"Kenya": {"2": 1.5}}}}, weighted="on")
    assert list(counts.filter(question__survey__version=3)) == [("Kenya", 2, 1.5)]
    upload(client, benchmark, {"codebook": {**CODEBOOK, "Q9": {"question": "New", "choices": {"1": "x", "2": "y"}}}})
    assert list(counts.filter(question__survey__version=4)) == [("Kenya", 2, 1.5)], "counts stay with a new codebook"
    assert Survey.objects.get(version=4).weighted


@pytest.mark.parametrize(
    ("files", "place", "message"),
    [
        ({"codebook": {**CODEBOOK, "Q9": {"question": "x", "choices": {"a": "b"}}}}, "codebook.txt, entry 10, Q9",
         "Code “a” of Q9 is no whole number"),
        ({"codebook": "question,text,code,label\nQ1,x,1,a\nQ1,x,1,b\n"}, "codebook.txt, row 3", "occurs twice"),
        ({**EIGHT, "metadata": {"Q99": {"question": "x"}}}, "metadata.txt, Q99", "not in the codebook"),
        ({**EIGHT, "metadata": {"Q2": {"use_case": "fun"}}}, "metadata.txt, entry 1, Q2", "“use_case” is “fun”"),
        ({**EIGHT, "adjustment": {"Q2": {"2": "0"}}}, "adjustment.txt, entry 1, Q2", "1 or more"),
        ({**EIGHT, "adjustment": {"Q2": {"9": "1"}}}, "adjustment.txt, entry 1, Q2", "Code 9 is no option"),
        ({**EIGHT, "counts": "question,country,code,count\nQ2,Japan,1,4\nQ2,Narnia,1,4\n"}, "counts.txt, row 3",
         "“Narnia” is not in the set"),
        ({**EIGHT, "counts": {"Q2": {"JP": {"9": 4}}}}, "counts.txt, entry 1, Q2, JP", "Code “9” is no option of Q2"),
        ({**EIGHT, "counts": {"Q2": {"JP": {"1": -4}}}}, "counts.txt, entry 1, Q2, JP", "“-4” is no count"),
        ({**EIGHT, "counts": {"Q2": {"JP": {"1": 1.5}}}}, "counts.txt, entry 1, Q2, JP", "mark the counts as weighted"),
        ({**EIGHT, "counts": {"Q2": {"JP": {"1": 1}, "Japan": {"1": 2}}}}, "counts.txt, entry 1, Q2, Japan", "twice"),
    ],
)  # fmt: skip
def test_a_fault_names_file_row_and_reason_and_nothing_is_stored(
    world: World, benchmark: Benchmark, files: Files, place: str, message: str
) -> None:
    job = upload(world.client(world.owner), benchmark, files, state="failed")
    row = job.rows.get()
    assert row.name == place
    assert message in row.message
    assert job.error.startswith("Nothing was imported: the files have 1 fault.")
    assert not Survey.objects.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "one JSON object"),
        ('{"Q1": {"question": "x"', "not whole JSON"),
        ('{"Q1": {"question": "x"}, "Q1": {"question": "y"}}', "“Q1” occurs twice in the file"),
        ('{"Q1": {"question": "x", "choices": {"1": "a", "1": "b"}}}', "“1” occurs twice in entry 1 of the file"),
        ("question,text,code\n", "no question"),
        ("question,text,code\nQ1,x,1\n", "The column “label” is missing"),
        ("PK\x03\x04", "a zip"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(world: World, benchmark: Benchmark, text: str, message: str) -> None:
    job = upload(world.client(world.owner), benchmark, {"codebook": text}, state="failed")
    assert message in job.error


def test_of_two_counts_of_a_country_in_one_entry_none_is_lost_unseen(world: World, benchmark: Benchmark) -> None:
    counts = '{"Q2": {"Kenya": {"1": 3}}, "Q10": {"Japan": {"1": 5}, "Brazil": {"1": 6}, "Japan": {"2": 9}}}'
    job = upload(world.client(world.owner), benchmark, {**EIGHT, "counts": counts}, state="failed")
    assert "“Japan” occurs twice in entry 2 of the file" in job.error
    assert not Survey.objects.exists()


def test_the_same_counts_are_read_again_with_other_rules_or_a_newer_label_set(
    world: World, benchmark: Benchmark
) -> None:
    client = world.client(world.owner)
    first, second = ({"counts": {"Q10": {name: {"1": n}}}} for name, n in (("Japan", 5), ("Brazil", 6)))
    upload(client, benchmark, {**EIGHT, **first})
    upload(client, benchmark, second, keep_counts="on")
    job = upload(client, benchmark, second, keep_counts="on")
    assert job.result["notes"] == ["The newest version rests on these files already. Nothing was changed."]
    upload(client, benchmark, second)
    newest = SurveyCount.objects.filter(question__survey__version=3)
    assert [row.label.text for row in newest] == ["Brazil"], "counts of before no longer stay"

    both = {"counts": {"Q10": {"Japan": {"1": 5}, "Narnia": {"1": 7}}}}
    for version, names in ((4, ("Japan",)), (5, ("Japan", "Narnia"))):
        labels = tuple(LabelSpec(key=name.lower(), text=name) for name in names)
        store(world.team, LabelSetSpec("lands", "Lands", "other", labels), world.owner)
        upload(client, benchmark, both, label_set="lands", skip_countries="on")
        rows = SurveyCount.objects.filter(question__survey__version=version)
        assert sorted(row.label.text for row in rows) == list(names)


def test_countries_outside_the_set_can_be_left_out(world: World, benchmark: Benchmark) -> None:
    files = {**EIGHT, "counts": {"Q2": {"Narnia": {"1": 4}, "Japan": {"1": 2}}}}
    job = upload(world.client(world.owner), benchmark, files, skip_countries="on")
    assert "Countries that the set does not have were left out: Narnia." in job.result["notes"]
    assert SurveyCount.objects.get().count == 2


def test_the_form_says_what_is_missing(world: World, benchmark: Benchmark) -> None:
    client = world.client(world.owner)
    page = client.post(page_of(benchmark, "import"), {"name": "x", "label_set": "countries"})
    assert page.status_code == 400
    assert "This field is required." in page.content.decode()
    assert client.get(f"{page_of(benchmark, 'import')}?sample=codebook").content.startswith(b"question,text,code")
    upload(client, benchmark, EIGHT)
    page = client.post(page_of(benchmark, "import"), {"name": "x", "label_set": "countries"})
    assert "Choose at least one file." in page.content.decode()


def test_a_stop_while_rows_are_written_leaves_nothing_and_resumes(
    world: World, benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = random_counts({"Q10": [1, 2], "Q2": [1, 2, 3]}, seed=1)
    monkeypatch.setattr(versions, "COUNT_STEP", 10)
    real, calls = versions.insert_rows, []

    def insert(*args: object, **more: object) -> object:
        calls.append(args)
        if len(calls) == 3:
            raise ConnectionError("the database is gone")
        return real(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(versions, "insert_rows", insert)
    with pytest.raises((ConnectionError, AssertionError)):
        upload(world.client(world.owner), benchmark, {**EIGHT, "counts": counts})
    assert not Survey.objects.exists()
    assert not SurveyQuestion.objects.exists()
    upload(world.client(world.owner), benchmark, {**EIGHT, "counts": counts})
    assert SurveyCount.objects.count() == 13 * 5


@pytest.mark.django_db(transaction=True)
def test_two_imports_at_once_make_two_versions_and_lose_nothing(
    world: World, benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload(world.client(world.owner), benchmark, EIGHT)
    files = {"Q10": b'{"Q10": {"Japan": {"1": 5}}}', "Q2": b'{"Q2": {"Kenya": {"3": 7}}}'}
    settings = SurveySettings("Survey", keep_counts=True)
    imports = [
        survey_import.start(benchmark, world.owner, {"counts": ContentFile(data, f"{key}.json")}, settings)
        for key, data in files.items()
    ]
    both_have_read, real = Barrier(2, timeout=20), survey_import._write

    def write_together(*values: object) -> None:
        both_have_read.wait()
        real(*values)  # type: ignore[arg-type]

    monkeypatch.setattr(survey_import, "_write", write_together)
    run_at_once([lambda job=job: runner.run(job.pk) for job in imports])
    states = Job.objects.filter(pk__in=[job.pk for job in imports]).values_list("state", flat=True)
    assert sorted(states) == ["done", "queued"] and Survey.objects.count() == 2, "who comes second reads again"
    monkeypatch.setattr(survey_import, "_write", real)
    for job in imports:
        runner.run(job.pk)
    assert set(states.all()) == {"done"} and list(Survey.objects.order_by("pk").values_list("version", flat=True)) == [
        1, 2, 3,
    ]  # fmt: skip
    counts = SurveyCount.objects.filter(question__survey__version=3).order_by("question__key")
    assert list(counts.values_list("question__key", "label__text", "count")) == [
        ("Q10", "Japan", 5),
        ("Q2", "Kenya", 7),
    ]


def run_at_once(acts: list[Callable[[], None]]) -> None:
    """Each in a thread with a connection of its own."""

    def do(act: Callable[[], None]) -> None:
        try:
            act()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        list(pool.map(do, acts))


def test_more_counts_take_no_more_queries_a_row(world: World, benchmark: Benchmark) -> None:
    client = world.client(world.owner)

    def count_queries(keys: dict[str, list[int]]) -> int:
        with CaptureQueriesContext(connection) as queries:
            upload(client, benchmark, {**EIGHT, "counts": random_counts(keys, seed=len(keys))})
        return len(queries)

    count_queries({"Q8": [1, 2]})
    few = count_queries({"Q10": [1, 2]})
    assert abs(count_queries({"Q10": [1, 2], "Q2": [1, 2, 3], "Q8": [1, 2], "Q3": [0, 1, 2]}) - few) <= 1


def test_only_those_who_work_on_the_benchmark_see_it(world: World, benchmark: Benchmark) -> None:
    upload(world.client(world.owner), benchmark, EIGHT)
    other = new_benchmark(world, "second")
    for key in ("survey", "import"):
        for user in (world.stranger, world.rival, world.nour, world.manager, world.reviewer):
            client = world.client(user)
            for address in (page_of(benchmark, key), f"{page_of(benchmark, key)}?view=counts&sample=codebook"):
                assert client.get(address).status_code == 404, user.name
            assert client.post(page_of(benchmark, key), {"action": "confirm", "question": "Q10"}).status_code == 404
        assert world.client(world.owner).get(page_of(benchmark, key)).status_code == 200
        assert world.client().get(page_of(benchmark, key)).status_code == 302
    assert "There is no survey yet." in world.client(world.owner).get(page_of(other)).content.decode()
    assert world.client(world.owner).get("/b/sea-and-river/pages/survey/").status_code == 404
    assert SurveyQuestion.objects.get(key="Q10").state == "proposed"


def test_the_import_is_an_event(world: World, benchmark: Benchmark) -> None:
    from jobs.models import Event

    upload(world.client(world.owner), benchmark, EIGHT)
    event = Event.objects.get(verb="survey.imported")
    assert (event.scope, event.data["questions"], event.data["version"]) == (benchmark.scope, 8, 1)
    assert survey_import.next_link(survey_import.Job.objects.latest("pk")) is not None
