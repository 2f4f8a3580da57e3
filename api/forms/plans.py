"""Several runs planned by a program: the form *Ask models*, with its defaults for what was not sent."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from api.forms.run_plans import endpoint_named
from api.protocol.contents import check_form, form_data, form_problems, problem
from api.protocol.problems import Refused
from benchmarks.models import Benchmark
from predictions.forms.ask_models import AskModelsForm, ModelRows, planned_runs
from predictions.models import Endpoint
from predictions.queries.model_conditions import OfferedCondition
from predictions.services.runs.plan_sets import PlannedRun

PREFIX = "m"


@dataclass(frozen=True)
class AskedPlan:
    runs: list[PlannedRun]
    budget: Decimal | None
    seed: int


def plan_of(benchmark: Benchmark, offers: list[OfferedCondition], content: Mapping[str, Any]) -> AskedPlan:
    """Raises Refused, with the errors of the form."""
    ready = [offer for offer in offers if offer.is_ready]
    rest = {name: content[name] for name in ("budget", "asked_about") if name in content}
    form = AskModelsForm(form_data({"seed": 0, "asked_about": "cohorts", **rest, **_seed(content)}), ready=ready)
    if "asked_about" in content and "asked_about" not in form.fields:
        text = _("The recipe says what models are asked about.")
        raise Refused(text, errors=[problem("/asked_about", "unknown", text)])
    data = check_form(form)
    endpoints = Endpoint.objects.filter(team=benchmark.team, retired_at=None).order_by("name", "pk")
    rows = ModelRows(
        form_data(_row_values(content["models"], list(endpoints))), prefix=PREFIX,
        form_kwargs={"endpoints": endpoints, "ready": ready},
    )  # fmt: skip
    _check_rows(rows)
    try:
        return AskedPlan(planned_runs(benchmark, form, rows, ready), data["budget"], data["seed"])
    except ValidationError as error:
        raise Refused(" ".join(error.messages)) from error


def _seed(content: Mapping[str, Any]) -> dict[str, Any]:
    return {"seed": content["seed"]} if "seed" in content else {}


def _row_values(models: list[Any], endpoints: list[Endpoint]) -> dict[str, Any]:
    """As the page posts them. Raises Refused."""
    values: dict[str, Any] = {f"{PREFIX}-TOTAL_FORMS": len(models), f"{PREFIX}-INITIAL_FORMS": 0}
    for place, row in enumerate(models):
        endpoint = row.get("endpoint")
        if endpoint is None and "endpoint_name" in row:
            endpoint = endpoint_named(endpoints, row["endpoint_name"], f"models/{place}/endpoint_name").pk
        for name, value in (("endpoint", endpoint), ("model", row["model"]), ("conditions", row["conditions"])):
            values[f"{PREFIX}-{place}-{name}"] = value
    return values


def _check_rows(rows: Any) -> None:
    """Raises Refused with the errors of each row."""
    if rows.is_valid():
        return
    errors = [entry for place, row in enumerate(rows.forms) for entry in form_problems(row, f"/models/{place}")]
    errors += [problem("/models", "invalid", text) for text in rows.non_form_errors()]
    raise Refused(_("The form of the page would refuse this."), errors=errors)
