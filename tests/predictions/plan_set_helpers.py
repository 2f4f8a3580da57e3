"""Conditions of the tests' own, and the form *Ask models* filled in."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from benchmarks.queries import model_conditions
from benchmarks.recipes.contract import ModelCondition
from predictions.models import Endpoint, PlanSet, Run
from predictions.services.runs import asked_about
from tests.forms import inputs_of
from tests.personas import World
from tests.predictions.request_helpers import Plainly, use

FIRST, SECOND = "first", "second"
Row = tuple[Endpoint, str, Sequence[str]]


def use_conditions(monkeypatch: Any, stage: str = "relevance", *more: ModelCondition) -> None:
    """Two conditions of a stage with a prompt each, and `more`. The recipe asks about the cohorts."""
    prompts = (Plainly(key=FIRST, setting=FIRST), Plainly(key=SECOND, setting=SECOND))
    use(monkeypatch, *prompts)
    conditions = tuple(ModelCondition(one.key, {"en": one.key.title()}, stage, one.key) for one in prompts)
    recipe = SimpleNamespace(model_conditions=(*conditions, *more), stages=(SimpleNamespace(key=stage),))
    monkeypatch.setattr(model_conditions, "recipe_of", lambda _benchmark: recipe)
    spec = SimpleNamespace(key=stage, asked_about="cohorts")
    monkeypatch.setattr(asked_about, "recipe_of", lambda _benchmark: SimpleNamespace(stages=(spec,), own_label_set=""))


def path(world: World) -> str:
    return f"/b/{world.benchmark.slug}/predictions/ask/"


def form_data(*rows: Row, **more: Any) -> dict[str, Any]:
    data: dict[str, Any] = {"m-TOTAL_FORMS": len(rows), "m-INITIAL_FORMS": 0, "budget": "", "seed": "3"}
    for number, (endpoint, model, conditions) in enumerate(rows):
        data |= {f"m-{number}-endpoint": endpoint.pk, f"m-{number}-model": model, f"m-{number}-conditions": conditions}
    return data | more


def press(world: World, do: str, data: Mapping[str, Any]) -> Any:
    return world.client(world.mara).post(path(world), {**data, "do": do})


def seen_in(page: str) -> str:
    return dict(inputs_of(page))["seen"]


def start_set(world: World, *rows: Row, **more: Any) -> PlanSet:
    """Looked at, confirmed and started."""
    data = form_data(*rows, **more)
    look = press(world, "look", data)
    assert look.status_code == 200, look.content.decode()
    reply = press(world, "start", data | {"seen": seen_in(look.content.decode())})
    assert reply.status_code == 302, reply.content.decode()
    return PlanSet.objects.latest("pk")


def runs_of(plan_set: PlanSet) -> list[Run]:
    return list(Run.objects.filter(plan_set=plan_set).order_by("pk"))


def act_on(world: World, plan_set: PlanSet, do: str, **more: Any) -> str:
    address = f"/b/{world.benchmark.slug}/predictions/plans/{plan_set.pk}/action/"
    return str(world.client(world.mara).post(address, {"do": do, **more}, follow=True).content.decode())
