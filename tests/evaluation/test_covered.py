"""How likely the codes were together stands beside what a model says by log-probabilities: run, models and judge."""

import json

import pytest

from predictions.models import Call, Run
from predictions.queries import code_mass
from predictions.queries.code_mass import CodeMass
from tests.evaluation.data import give_ratings
from tests.personas import World
from tests.predictions.model_server import Server
from tests.predictions.request_helpers import Plainly, a_campaign, a_plan, an_endpoint, drive_run, start_run, use

COVERED_TEXT = (
    "Probability of the codes together, of 4 answers by log-probabilities: least 5 %, median 70 %; less than half in 1."
)


@pytest.fixture
def asked(world: World, scripted_server: Server, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Five units, four of them by log-probabilities, one of which in words; people have rated them all."""
    use(monkeypatch, Plainly())
    campaign = a_campaign(world, 5)
    give_ratings(campaign, world.egypt, world.nour, dict.fromkeys(world.items[:5], "4"))
    run = drive_run(start_run(world, a_plan(campaign, an_endpoint(world, scripted_server.base_url), Plainly())))
    calls = list(Call.objects.filter(run=run).order_by("pk"))
    for call, share in zip(calls, (0.05, 0.6, 0.8, 0.9), strict=False):
        Call.objects.filter(pk=call.pk).update(how="logprobs", notes={"covered": share, "reading": 1})
    Call.objects.filter(pk=calls[4].pk).update(how="guided", notes={"covered": 0.01})
    return run


def test_it_is_counted_over_answers_by_log_probabilities_only(asked: Run) -> None:
    found = code_mass.code_mass_by_rater(Call.objects.filter(run=asked))
    assert found == {asked.rater_id: CodeMass(4, 0.05, pytest.approx(0.7), 1)}  # type: ignore[arg-type]
    Call.objects.filter(run=asked, notes__covered=0.05).update(state="unparseable", reason="no_number")
    assert code_mass.code_mass_by_rater(Call.objects.filter(run=asked))[asked.rater_id].least == 0.6
    Call.objects.filter(run=asked).update(how="text")
    assert code_mass.code_mass_by_rater(Call.objects.filter(run=asked)) == {} and code_mass.code_mass_text(None) == ""


def test_run_models_and_judge_say_it_and_hand_it_on(world: World, asked: Run) -> None:
    mara, base = world.client(world.mara), f"/b/{world.benchmark.slug}"
    for page in (f"{base}/predictions/run/{asked.pk}/", f"{base}/models/", f"{base}/judge/"):
        assert COVERED_TEXT in mara.get(page).content.decode(), page
    covered = {"n": 4, "least": 0.05, "median": pytest.approx(0.7), "below_half": 1}
    judge = json.loads(mara.get(f"{base}/judge.json").content)
    models = json.loads(mara.get(f"{base}/models.json").content)
    assert judge["covered"] == covered == models["models"][0]["covered"]
    Call.objects.filter(run=asked).update(how="likelihood")
    page = mara.get(f"{base}/models/").content.decode()
    assert "Answer methods: 5 from how likely the text is." in page and "log-probabilities" not in page
