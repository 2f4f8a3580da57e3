"""What is known of a team's endpoints: the last check, the price list that holds, the runs that were asked there."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count

from jobs.models import Event
from people.models import Team
from predictions.models import Endpoint, Prices, Run
from predictions.texts.call_reasons import OFFERS

CHECKED = "endpoint.checked"
OFFERED = {key: label for key, label, _words in OFFERS}


MOST_MODELS = 500


@dataclass(frozen=True)
class ConnectionCheck:
    """What the last press of "Check the connection" found. `model`: the one that was tried, with what worked, as codes
    and in words. `answered`: whether anything came. `stale`: the address is another one since."""

    at: datetime
    works: bool
    words: str
    models: Sequence[str]
    model: str = ""
    kept: Sequence[str] = ()
    answered: bool = True
    stale: bool = False

    @property
    def offers(self) -> list[str]:
        return [str(OFFERED.get(name, name)) for name in self.kept]


@dataclass(frozen=True)
class EndpointRow:
    """An endpoint with what its list shows."""

    endpoint: Endpoint
    check: ConnectionCheck | None
    prices: int | None
    runs: int

    @property
    def state(self) -> str:
        """ "retired", "unchecked", "works" or "silent"."""
        if self.endpoint.retired_at:
            return "retired"
        if self.check is None or self.check.stale:
            return "unchecked"
        return "works" if self.check.works else "silent"


def endpoint_rows(team: Team) -> list[EndpointRow]:
    """By name, those in use first. Four queries, however many there are."""
    rows = list(Endpoint.objects.filter(team=team).order_by("name"))
    checks = _last_checks(rows)
    prices = Prices.objects.filter(endpoint__in=rows).order_by("endpoint", "-number").distinct("endpoint")
    numbers = dict(prices.values_list("endpoint", "number"))
    runs = dict(Run.objects.filter(endpoint__in=rows).order_by().values_list("endpoint").annotate(n=Count("pk")))
    known = [EndpointRow(row, checks.get(row.pk), numbers.get(row.pk), runs.get(row.pk, 0)) for row in rows]
    return sorted(known, key=lambda endpoint_row: endpoint_row.endpoint.retired_at is not None)


def _last_checks(endpoints: Sequence[Endpoint]) -> dict[int, ConnectionCheck]:
    """Of each endpoint of a team that was ever checked, by its id."""
    known = {f"endpoint:{endpoint.pk}": endpoint for endpoint in endpoints}
    rows = Event.objects.filter(
        scope__in={f"team:{endpoint.team_id}" for endpoint in endpoints}, verb=CHECKED, target__in=known
    )
    newest = rows.order_by("target", "-pk").distinct("target")
    return {known[row.target].pk: _check(row, known[row.target]) for row in newest}


def last_check(endpoint: Endpoint) -> ConnectionCheck | None:
    rows = Event.objects.filter(scope=f"team:{endpoint.team_id}", verb=CHECKED, target=f"endpoint:{endpoint.pk}")
    row = rows.order_by("-pk").first()
    return _check(row, endpoint) if row else None


def models_of(endpoint: Endpoint) -> list[str]:
    """Names its models are known by here: named at the last check, asked in runs (the newest first), or priced."""
    check, prices = last_check(endpoint), prices_of(endpoint)
    asked = Run.objects.filter(endpoint=endpoint).order_by("-pk").values_list("model", flat=True)[:MOST_MODELS]
    named = [*(check.models if check and not check.stale else ()), *asked, *(prices.table if prices else ())]
    return [name for name in dict.fromkeys(named) if name not in ("", "*")][:MOST_MODELS]


def prices_of(endpoint: Endpoint) -> Prices | None:
    """The price list that holds now."""
    return endpoint.prices.select_related("created_by").order_by("-number").first()


def _check(row: Event, endpoint: Endpoint) -> ConnectionCheck:
    data: dict[str, Any] = row.data
    works = bool(data.get("works"))
    return ConnectionCheck(
        row.at, works, str(data.get("words", "")), list(data.get("models", [])), str(data.get("model", "")),
        list(data.get("offers") or ()), works or bool(data.get("answered")),
        data.get("address", endpoint.base_url) != endpoint.base_url,
    )  # fmt: skip
