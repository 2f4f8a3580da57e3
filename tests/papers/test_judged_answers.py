"""Figure 8 as a page: questions with references, every answer, and what the judge and people say of it."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Campaign, Unit
from benchmarks.models import Item
from people.models import Rater
from predictions.models import Call, Run
from tests.chains.link_client import text_of
from tests.evaluation.test_tables_culturalvqa import Study, judged, study  # noqa: F401  (fixtures)

pytestmark = pytest.mark.django_db
PAGE = "/b/vqa/pages/judged-answers/"


def sections(study: Study, query: str = "", path: str = PAGE) -> dict[str, str]:  # noqa: F811
    """By question what is shown of it."""
    reply = study.world.client(study.world.owner).get(f"{path}?{query}")
    assert reply.status_code == 200
    parts = reply.content.decode().split('<section class="plate stack" aria-labelledby="question-')[1:]
    texts = [text_of(f"<i {part}".split("</section>")[0]) for part in parts]
    return {re.search(r"[^?]*\?", text)[0].strip(): text for text in texts}  # type: ignore[index]


def rate(study: Study, question: str, model: str, codes: str) -> None:  # noqa: F811
    item = study.item("model-answers", f"{question}/rated", question, candidate_by=model, setting="vlm", candidate="x")
    campaign = Campaign.objects.filter(stage=item.stage).first() or study.open("model-answers")
    for place, code in enumerate(codes):
        study.answer(campaign, place, item, {"verdict": code})


def add_call(study: Study, stage: str, key: str, rater: Rater, state: str, **more: object) -> None:  # noqa: F811
    """A call of a model about an item of a stage, in the model's one run there."""
    campaign = Campaign.objects.filter(stage__key=stage).latest("pk")
    run, _new = Run.objects.get_or_create(
        benchmark=study.benchmark, campaign=campaign, rater=rater, model="m", task="answers", source="here",
        state="done", complete=True,
    )  # fmt: skip
    item = Item.objects.get(stage__key=stage, key=key)
    unit, _new = Unit.objects.get_or_create(item=item, target="")
    Call.objects.create(
        run=run, item=item, unit=unit, repeat=0, state=state, attempts_made=1,
        reason="" if state == "answered" else "no_verdict", **more,
    )  # fmt: skip


@pytest.fixture
def browsed(judged: Study) -> Study:  # noqa: F811
    """GPT-4's answer to q3 is wrong to the judge and right to people; of InternVL's to q4 the judge could not be read;
    GPT-4 refused to answer q5 without the picture."""
    judged.answers()
    rate(judged, "q3", "GPT-4", "115")
    rate(judged, "q1", "GPT-4", "112")
    judge = Rater.objects.get(name="Judge")
    add_call(judged, "lave", "q4/InternVL/vlm", judge, "unparseable")
    add_call(judged, "lave", "q1/GPT-4/vlm", judge, "answered", notes={"rationale": "It is the same dish."})
    alone = Rater.objects.create(kind="model", team=judged.world.team, name="Gemini", setting="llm_only")
    add_call(judged, "answers", "q5", alone, "refused")
    return judged


def test_each_question_shows_references_answers_and_verdicts(browsed: Study) -> None:
    shown = sections(browsed)
    assert len(shown) == 5
    dish = shown["What is this dish?"]
    assert "References rice · Rice · black beans" in dish and "Brazil · food" in dish
    assert "GPT-4 From the picture x Right Why It is the same dish. 2 of 3: completely correct" in dish
    assert "GPT-4 From the question alone x Wrong" in dish and "InternVL From the picture x Right" in dish
    assert dish.count("A person") == 3, "each answer of a person was judged against the others"
    assert "InternVL From the picture x Unreadable reply" in shown["Why do people jump?"]
    assert "Gemini From the question alone Refused by the model" in shown["What is poured on it?"]
    assert "2 of 3: completely correct Differs" in shown["Which bread is this?"]


def test_questions_are_chosen_by_country_facet_and_verdicts(browsed: Study) -> None:
    assert list(sections(browsed, "only=differ")) == ["Which bread is this?"]
    assert list(sections(browsed, "only=differ&country=Brazil")) == []
    assert list(sections(browsed, "only=unreadable")) == ["Why do people jump?"]
    assert set(sections(browsed, "country=Brazil")) == {"What is this dish?", "What is worn here, and when?"}
    assert list(sections(browsed, "facet=clothing")) == ["What is worn here, and when?"]
    assert len(sections(browsed, "only=wrong")) == 5, "GPT-4 was asked without the picture, too"
    assert len(sections(browsed, "only=nonsense&page=99&judge=x")) == 5


def test_a_sheet_with_another_scale_changes_no_verdict_of_before(browsed: Study) -> None:
    """On a scale of three the code 2 is half right; who said it had two codes, of which it is the right one."""
    before = sections(browsed)
    stage = browsed.benchmark.stages.get(key="lave")
    [field] = [field for field in stage.sheet["fields"] if field["key"] == "lave"]
    field["config"]["options"].append({**field["config"]["options"][-1], "code": "3"})
    stage.save()
    assert sections(browsed) == before
    assert "GPT-4 From the picture x Right" in before["What is this dish?"]


def test_without_a_question_or_a_judge_the_page_says_so(study: Study) -> None:  # noqa: F811
    page = study.world.client(study.world.owner).get(PAGE).content.decode()
    assert "No question is accepted yet." in page
    study.answers()
    page = study.world.client(study.world.owner).get(f"{PAGE}?only=differ").content.decode()
    assert "No judge has read an answer yet." in page and "No answer was judged or rated yet." in page


def test_only_those_who_see_the_benchmark_see_the_answers(browsed: Study) -> None:
    world = browsed.world
    for user in (world.stranger, world.rival, world.nour, world.bia):
        assert world.client(user).get(PAGE).status_code == 404, user.name
    assert world.client(world.owner).post(PAGE).status_code == 405
    assert world.client(world.owner).get("/b/sea-and-river/pages/judged-answers/").status_code == 404


def test_more_questions_take_no_more_queries(browsed: Study) -> None:
    client = browsed.world.client(browsed.world.owner)

    def count_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(f"{PAGE}?only=wrong").status_code == 200
        return len(queries)

    count_queries()
    before = count_queries()
    for number in range(4):
        browsed.item("answers", f"m{number}", "q1")
        item = browsed.item("lave", f"more-{number}", "q1", candidate_by="GPT-4", candidate="y")
        Item.objects.filter(pk=item.pk).update(context=item.context | {"question": f"m{number}"})
    assert count_queries() == before
