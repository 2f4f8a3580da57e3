"""A practice model in the demo: an endpoint that answers on this machine, and a run for the worker to begin with."""

from annotation.models import Campaign
from config.demo_workflows import Stuff
from predictions.models import Endpoint
from predictions.prompts import registry
from predictions.services import answer_runs, endpoints
from predictions.services.answer_runs import Plan

MODEL = "practice-wren"
SAMPLE = 60
SEED = 20261120


def load(stuff: Stuff, address: str) -> None:
    endpoint = endpoints.create(
        stuff.team,
        stuff.actor,
        stuff.now,
        kind=Endpoint.Kind.OPENAI,
        name="Practice model",
        base_url=address,
        offers=["images", "guided", "schema"],
        most_in_flight=4,
        timeout_seconds=30,
    )
    endpoints.set_prices(endpoint, {"*": {"in": "0", "out": "0"}}, stuff.actor, stuff.now)
    campaign = Campaign.objects.get(stage__benchmark__slug="caire-demo", name="Relevance, natural photos")
    plan = Plan(
        campaign=campaign,
        endpoint=endpoint,
        model=MODEL,
        prompt=registry.prompt("sheet"),
        selection={"sample": SAMPLE},
        seed=SEED,
        name="Practice Wren",
    )
    answer_runs.open_run(plan, stuff.actor, stuff.now)
