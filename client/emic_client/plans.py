"""Several models asked under several conditions: looked at, started, paused and stopped together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from .connection import Connection
from .remote_object import RemoteList, RemoteObject
from .resources import PlanCost, PlanPreview, PlanRecord


class Plan(RemoteObject[PlanRecord]):
    """A plan as it was when it was last asked for; `data.runs` are the numbers of its runs."""

    def __init__(self, connection: Connection, path: str, raw: Mapping[str, Any]) -> None:
        super().__init__(connection, path, PlanRecord, raw)

    def __repr__(self) -> str:
        return f"<Plan {self.id} of {len(self.data.runs)} runs: {self.state}>"

    def pause(self) -> Plan:
        """Send no more requests of any run."""
        return self._act("pause")

    def resume(self) -> Plan:
        """Go on with every run that is paused."""
        return self._act("resume")

    def stop(self) -> Plan:
        """End every run; their answers stay and count."""
        return self._act("stop")

    def raise_budget(self, budget: str | Decimal) -> Plan:
        """In US dollars, of all runs. What waited for it is asked."""
        return self._change({"budget": str(budget)})

    def cost(self) -> PlanCost:
        """How far its runs are, and what they cost so far."""
        return PlanCost.from_json(self._connection.get(f"{self.path}cost/"))


class Plans(RemoteList[Plan]):
    """The plans of a benchmark."""

    def __init__(self, connection: Connection, path: str) -> None:
        super().__init__(connection, f"{path}plans/")
        self._preview_path = f"{path}plans:preview/"
        self._conditions_path = f"{path}model-conditions/"

    def conditions(self) -> list[dict[str, Any]]:
        """Under which models are asked, each with its key, and whether it is ready."""
        conditions: list[dict[str, Any]] = self._connection.get(self._conditions_path)["conditions"]
        return conditions

    def preview(self, models: Mapping[str, Sequence[str]], *, endpoint: str | int, **options: Any) -> PlanPreview:
        """What each run would ask and cost. Nothing is sent to a model. Parameters as `start`."""
        return PlanPreview.from_json(self._connection.post(self._preview_path, body_of(models, endpoint, options)))

    def start(self, models: Mapping[str, Sequence[str]], *, endpoint: str | int, **options: Any) -> Plan:
        """Start a run for each model and condition; those that exist are left as they are. `models`: the keys of the
        conditions of each. `endpoint`: name or number. `options`: budget, seed, asked_about, confirmed (how many items
        cannot be asked, as the preview said)."""
        raw = self._connection.post(self._path, body_of(models, endpoint, options))
        return self._object(raw)

    def get(self, plan_id: int) -> Plan:
        return self._get(plan_id)

    def _object(self, raw: Mapping[str, Any]) -> Plan:
        return Plan(self._connection, self._path, raw)


def body_of(models: Mapping[str, Sequence[str]], endpoint: str | int, options: Mapping[str, Any]) -> dict[str, Any]:
    """
    >>> body_of({"small": ["main"]}, "practice", {"seed": 1})
    {'models': [{'endpoint_name': 'practice', 'model': 'small', 'conditions': ['main']}], 'seed': 1}
    """
    name = "endpoint_name" if isinstance(endpoint, str) else "endpoint"
    rows = [{name: endpoint, "model": model, "conditions": list(keys)} for model, keys in models.items()]
    return {"models": rows, **options}
