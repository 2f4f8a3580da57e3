"""Benchmarks, and what can be read of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .campaigns import Campaigns
from .connection import Connection
from .errors import NotFound, Problem
from .jobs import Jobs
from .numbers import AgreementReport, Tables
from .plans import Plans
from .records import Annotation, Outcome, Rating, Review
from .releases import Exports, Releases
from .resolutions import Resolutions
from .review_batches import ReviewBatches
from .row_query import RowQuery
from .runs import Runs
from .stages import Stages
from .uploads import Items


class Benchmark:
    """One benchmark. Rows are narrowed by filters, several values as a list: `bench.ratings(cohort=["Egypt", 7])`.

    `/api/docs/` on the site lists the filters of each kind of rows.
    """

    def __init__(self, connection: Connection, data: Mapping[str, Any]) -> None:
        self._connection = connection
        self.raw = data
        self.slug: str = data["slug"]
        self.name: str = data["name"]
        self.recipe: str = data.get("recipe") or ""
        self.path = f"/api/v1/benchmarks/{self.slug}/"
        self.tables = Tables(connection, f"{self.path}tables/")
        self.items = Items(connection, self.path)
        self.jobs = Jobs(connection, benchmark=self.slug)
        self.campaigns = Campaigns(connection, self.path)
        self.runs = Runs(connection, self.path)
        self.plans = Plans(connection, self.path)
        self.stages = Stages(connection, self.path)
        self.resolutions = Resolutions(connection, self.path)
        self.review_batches = ReviewBatches(connection, self.path)
        self.releases = Releases(connection, self.path)
        self.exports = Exports(connection, self.path)

    def __repr__(self) -> str:
        return f"<Benchmark {self.slug}>"

    def annotations(self, **filters: Any) -> RowQuery[Annotation]:
        """One row for each answered sheet."""
        return RowQuery(self._connection, f"{self.path}annotations/", Annotation, filters)

    def ratings(self, **filters: Any) -> RowQuery[Rating]:
        """One row for each answered question that has a code."""
        return RowQuery(self._connection, f"{self.path}ratings/", Rating, filters)

    def outcomes(self, **filters: Any) -> RowQuery[Outcome]:
        return RowQuery(self._connection, f"{self.path}outcomes/", Outcome, filters)

    def reviews(self, **filters: Any) -> RowQuery[Review]:
        return RowQuery(self._connection, f"{self.path}reviews/", Review, filters)

    def plugin_rows(self, recipe: str, kind: str) -> Iterator[dict[str, Any]]:
        """Rows of a plugin's own models, as the site sends them: `plugin_rows("valueground", "builds")`."""
        query: RowQuery[Rating] = RowQuery(self._connection, f"{self.path}x/{recipe}/{kind}/", Rating, {})
        return query.to_dicts()

    def agreement(self, **options: Any) -> AgreementReport:
        """Options as on the page: measure, stage, field, cohort, condition, interval, counted, since, until."""
        return AgreementReport(self._connection.get(f"{self.path}agreement/", options))


class Benchmarks:
    """The benchmarks that the token's person may see."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self) -> list[Benchmark]:
        return list(self)

    def __iter__(self) -> Iterator[Benchmark]:
        return self.iter()

    def iter(self) -> Iterator[Benchmark]:
        for data in self._connection.pages("/api/v1/benchmarks/"):
            yield Benchmark(self._connection, data)

    def get(self, slug: str) -> Benchmark:
        """By the last part of its address, /b/<slug>/. Raises NotFound."""
        return Benchmark(self._connection, self._connection.get(path_of(slug)))

    def resolutions(self, slug: str) -> Resolutions:
        """Items in dispute of a benchmark, also for people who only answer there."""
        return Resolutions(self._connection, path_of(slug))

    def create(self, name: str, *, team: str, **options: Any) -> Benchmark:
        """Make a benchmark of a team (its slug): `recipe="caire"`, `question="How old is it?"`, or `file` with the
        content of a recipe file. The name becomes its address unless `slug` is given."""
        body = {"name": name, "team": team, **options}
        return Benchmark(self._connection, self._connection.post("/api/v1/benchmarks/", body))


def path_of(slug: str) -> str:
    """Raises NotFound where a benchmark cannot have this name."""
    if not slug or not slug.replace("-", "").replace("_", "").isalnum():
        raise NotFound(f"There is no benchmark {slug!r}.", Problem(status=404))
    return f"/api/v1/benchmarks/{slug}/"
