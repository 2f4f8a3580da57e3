"""The practice model: an endpoint that answers on this machine, and a run for the worker to begin with."""

from annotation.models import Campaign
from demo.context import Demo
from demo.relevance import CAMPAIGNS, SEED
from predictions.models import Endpoint
from predictions.prompts import registry
from predictions.services.endpoints import endpoints
from predictions.services.runs import answer_runs
from predictions.services.runs.answer_runs import RunPlan

MODEL = "practice-wren"
SAMPLE = 60


def ask_practice_model(demo: Demo) -> None:
    """Nothing, where no practice model answers."""
    if not demo.practice_address:
        return
    endpoint = endpoints.create(
        demo.team,
        demo.actor,
        demo.now,
        kind=Endpoint.Kind.OPENAI,
        name="Practice model",
        base_url=demo.practice_address,
        offers=["images", "guided", "schema"],
        most_in_flight=4,
        timeout_seconds=30,
    )
    endpoints.set_prices(endpoint, {"*": {"in": "0", "out": "0"}}, demo.actor, demo.now)
    campaign = Campaign.objects.get(stage__benchmark__slug="caire-demo", name=CAMPAIGNS[0][1])
    plan = RunPlan(
        campaign=campaign,
        endpoint=endpoint,
        model=MODEL,
        prompt=registry.prompt("sheet"),
        selection={"sample": SAMPLE},
        seed=SEED,
        name="Practice Wren",
    )
    answer_runs.open_run(plan, demo.actor, demo.now)
