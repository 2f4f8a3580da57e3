"""The page Survey: pairs are confirmed, changed and excluded by people, and every press can be undone."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from benchmarks.models import Benchmark
from papers.valueground.survey.models import OptionPair, Survey, SurveyQuestion
from papers.valueground.survey.services import decisions
from tests.chains.link_client import text_of
from tests.module_world import built_once
from tests.papers.valueground.survey_samples import CODEBOOK, EIGHT, METADATA, about, new_benchmark, page_of, upload
from tests.personas import World

pytestmark = pytest.mark.django_db


@built_once
def benchmark(world: World) -> Benchmark:
    benchmark = new_benchmark(world)
    upload(world.client(world.owner), benchmark, EIGHT)
    return benchmark


@pytest.fixture
def client(world: World) -> Client:
    return world.client(world.owner)


def press(client: Client, benchmark: Benchmark, action: str, key: str = "", query: str = "", **more: Any) -> Any:
    return client.post(f"{page_of(benchmark)}?{query}", {"action": action, "question": key, **more})


def question(key: str) -> SurveyQuestion:
    return SurveyQuestion.objects.get(key=key, survey=Survey.objects.first())


def pair_of(key: str) -> OptionPair:
    return OptionPair.objects.get(question=question(key), current=True)


def act_of(reply: Any) -> str:
    return re.search(r"act=([0-9a-f-]+)", reply.url)[1]  # type: ignore[index]


def test_the_list_is_filtered_by_state_and_flag(client: Client, benchmark: Benchmark) -> None:
    def listed(query: str) -> list[str]:
        page = client.get(f"{page_of(benchmark)}?{query}").content.decode()
        return re.findall(r'<b dir="ltr">(\w+)</b> <bdi>', page)

    assert listed("") == ["Q10", "Q2", "Q3", "Q4", "Q5", "Q6", "Q7", "Q8"]
    assert listed("state=excluded") == ["Q7"]
    assert listed("state=proposed&flag=adjusted") == ["Q2", "Q4", "Q5"]
    assert listed("flag=none") == ["Q10"]
    assert listed("flag=nonsense&page=99&act=x") == []
    assert "No question fits these filters." in client.get(f"{page_of(benchmark)}?flag=nonsense").content.decode()


def test_the_options_are_shown_as_a_scale_with_their_counts(client: Client, benchmark: Benchmark) -> None:
    counts = {"Q2": {"Japan": {"1": 5, "2": 10, "3": 20, "-1": 7}, "Brazil": {"1": 1}}}
    upload(client, benchmark, {"counts": counts})
    page = text_of(client.get(f"{page_of(benchmark)}?q=Q2").content.decode())
    assert "1 A Better 6 2 code 3 About the same 20 3 code 2 B Worse 10" in page
    assert "n = 36 in all countries; 7 without an answer." in page
    table = text_of(client.get(f"{page_of(benchmark)}?view=counts").content.decode())
    assert "Question Brazil Japan Q10 – – Q2 1 35 Q3" in table


def test_confirm_goes_on_to_the_next_open_question_and_can_be_undone(client: Client, benchmark: Benchmark) -> None:
    reply = press(client, benchmark, "confirm", "Q2", "flag=adjusted")
    assert "q=Q4" in reply.url and "flag=adjusted" in reply.url
    assert (question("Q2").state, pair_of("Q2").by.name) == ("confirmed", "Owner")
    page = text_of(client.get(reply.url).content.decode())
    assert "Q2: Confirmed Undo" in page
    press(client, benchmark, "undo", act=act_of(reply))
    assert (question("Q2").state, pair_of("Q2").by) == ("proposed", None)
    reply = client.post(f"{page_of(benchmark)}", {"action": "undo", "act": act_of(reply)}, follow=True)
    assert "There is nothing to undo" in reply.content.decode()


def test_a_blocked_proposal_needs_a_pair_that_a_person_chose(client: Client, benchmark: Benchmark) -> None:
    reply = press(client, benchmark, "confirm", "Q3")
    assert reply.status_code == 400
    assert "Q3 needs a pair that you choose." in text_of(reply.content.decode())
    assert question("Q3").state == "proposed"
    page = client.get(f"{page_of(benchmark)}?q=Q3").content.decode()
    places = re.findall(r'name="(place-\d)" value="(\d*)"', page)
    assert places == [("place-0", "1"), ("place-1", "2"), ("place-2", "3")], "all moved up by one, to be checked"
    press(client, benchmark, "change", "Q3", a="0", b="2", **dict(places))
    pair = pair_of("Q3")
    assert (pair.state, pair.a, pair.b, pair.how, pair.flags) == ("confirmed", 1, 3, "options", ["adjusted"])
    assert question("Q3").adjustment == {"0": 1, "1": 2, "2": 3}
    assert question("Q3").file_adjustment == {}


@pytest.mark.parametrize(
    ("posted", "message"),
    [
        ({"a": "1"}, "Choose an option A and an option B."),
        ({"a": "1", "b": "1"}, "Options A and B have one place."),
        ({"a": "1", "b": "2", "place-2": ""}, "Options A and B both need a place."),
        ({"a": "1", "b": "2", "place-2": "x"}, "The place of code 2 is “x”."),
        ({"a": "1", "b": "2", "place-2": "0"}, "A place must be a whole number from 1"),
        ({"a": "1", "b": "99"}, "Choose an option A and an option B."),
    ],
)
def test_a_wrong_pair_is_refused_and_what_was_typed_stays(
    client: Client, benchmark: Benchmark, posted: dict[str, str], message: str
) -> None:
    reply = press(client, benchmark, "change", "Q10", **({"place-1": "1", "place-2": "7"} | posted))
    assert reply.status_code == 400
    page = reply.content.decode()
    assert message in text_of(page)
    assert f'name="place-2" value="{posted.get("place-2", "7")}"' in page
    assert question("Q10").state == "proposed"


def test_an_excluded_question_says_why_and_can_be_included(client: Client, benchmark: Benchmark) -> None:
    assert "Choose a reason" in press(client, benchmark, "exclude", "Q2").content.decode()
    assert "Write the reason" in press(client, benchmark, "exclude", "Q2", reason="other").content.decode()
    press(client, benchmark, "exclude", "Q2", reason="behaviour", note="It is a habit.")
    page = text_of(client.get(f"{page_of(benchmark)}?q=Q2").content.decode())
    assert "Excluded Behaviour or membership · It is a habit." in page
    press(client, benchmark, "include", "Q2")
    assert question("Q2").state == "to_decide"
    assert "is not excluded" in press(client, benchmark, "include", "Q2").content.decode()
    assert press(client, benchmark, "confirm", "Q99").status_code == 404
    assert press(client, benchmark, "dance", "Q2").status_code == 404


def test_numbers_of_flags_are_those_of_the_chosen_state(client: Client, benchmark: Benchmark) -> None:
    address = page_of(benchmark)
    everywhere = text_of(client.get(address).content.decode())
    press(client, benchmark, "exclude", "Q2", reason="behaviour")
    counts = {}
    for state in ("", "excluded", "proposed"):
        page = text_of(client.get(f"{address}?state={state}").content.decode())
        listed = [int(n) for n in re.findall(r"Without a flag \((\d+)\)", page)]
        counts[state] = listed[0] if listed else 0
    assert counts["excluded"] + counts["proposed"] <= counts[""]
    assert counts["excluded"] < counts[""] and f"Without a flag ({counts['']})" in everywhere


def test_those_without_a_flag_are_confirmed_together_after_ten_looks(
    world: World, client: Client, benchmark: Benchmark
) -> None:
    more = {f"Q{n}": {"question": f"Question {n}", "choices": {"1": "Much", "2": "Little"}} for n in range(20, 31)}
    metadata = METADATA | {key: about(1, 2) for key in more}
    upload(client, benchmark, {"codebook": CODEBOOK | more, "metadata": metadata})
    page = client.get(page_of(benchmark)).content.decode()
    assert "Confirm the 12 without a flag" in page and "Looked at 0 of 10 so far." in page
    for key in list(more)[:9]:
        press(client, benchmark, "look", key)
        press(client, benchmark, "look", key)
    reply = client.post(page_of(benchmark), {"action": "confirm_unflagged"}, follow=True)
    assert "Look at 1 more question without a flag first." in reply.content.decode()
    press(client, benchmark, "look", "Q2")
    assert "Looked at 9 of 10" in client.get(page_of(benchmark)).content.decode(), "Q2 has a flag"
    press(client, benchmark, "confirm", "Q10")
    reply = client.post(page_of(benchmark), {"action": "confirm_unflagged"})
    states = list(SurveyQuestion.objects.filter(survey__version=2).values_list("state", flat=True))
    assert states.count("confirmed") == 12
    assert "11 questions confirmed." in client.get(reply.url).content.decode()
    client.post(page_of(benchmark), {"action": "undo", "act": act_of(reply)})
    assert SurveyQuestion.objects.filter(survey__version=2, state="confirmed").count() == 1


def test_nothing_is_decided_on_a_version_that_was_replaced(world: World, benchmark: Benchmark, client: Client) -> None:
    stale = question("Q10")
    upload(client, benchmark, {"adjustment": {}})
    with pytest.raises(decisions.DecisionRefused, match="A newer version"):
        decisions.confirm(stale, world.owner)
    other = new_benchmark(world, "second")
    upload(client, other, EIGHT)
    with pytest.raises(decisions.DecisionRefused, match="nothing to undo"):
        act = decisions.confirm(question("Q10"), world.owner)
        decisions.undo(Survey.objects.get(benchmark=other), act, world.owner)


def test_more_questions_take_no_more_queries(client: Client, benchmark: Benchmark) -> None:
    def count_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(f"{page_of(benchmark)}?q=Q2").status_code == 200
        return len(queries)

    before = count_queries()
    more = {f"Q{n}": {"question": f"Question {n}", "choices": {"1": "Much", "2": "Little"}} for n in range(20, 31)}
    upload(client, benchmark, {"codebook": CODEBOOK | more})
    assert count_queries() == before
