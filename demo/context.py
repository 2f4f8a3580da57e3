"""What every part of the loader uses: whose demo it is, and imports that run at once.

The loader writes through the same services as the pages, so whatever the demo shows can be made by hand.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.files.base import ContentFile

from annotation.services.campaigns import chain_opening
from annotation.services.campaigns.chain_opening import StageOpening
from benchmarks.imports.records import Defaults
from benchmarks.models import Benchmark, Role, Stage
from benchmarks.services import imports
from benchmarks.services.benchmarks import create_from_recipe
from benchmarks.services.roles import set_role
from benchmarks.services.settings import SETTING_NAMES, change
from demo import pictures
from demo.pictures import DemoPicture
from jobs.models import Job
from jobs.queries import job_reports
from jobs.services import runner
from people.models import Cohort, Rater, Team, User
from predictions.models import Collection
from predictions.services.collections import collection_import

SEED = 31
OPENED_BEFORE = timedelta(days=4)
ANSWERED_BEFORE = timedelta(hours=4)  # longer than a lease, so that the simulated raters hold no item at the end
WARNINGS = ("words", "in_question", "other_script")
Report = Callable[[str], None]
Row = Mapping[str, Any]


class DemoError(Exception):
    """An import of the demo refused a row, which is an error in the demo itself."""


@dataclass
class Demo:
    """The team of the demo, its people, and the time at which it is loaded.

    Attributes:
        actor: the researcher who owns the benchmarks.
        researchers: others who run every benchmark.
        reviewers: two simulated people who review answers in every benchmark.
        raters: the simulated raters by the label of their cohort.
        report: shows progress, such as "people".
        practice_address: where the practice model answers; empty where there is none.
    """

    team: Team
    actor: User
    researchers: Sequence[User]
    reviewers: Sequence[User]
    cohorts: Mapping[str, Cohort]
    raters: Mapping[str, Sequence[Rater]]
    now: datetime
    report: Report
    practice_address: str = ""

    def create_benchmark(self, recipe: str, name: str, slug: str = "") -> Benchmark:
        """With its people: the owner, and those who run it and review answers with them."""
        benchmark = create_from_recipe(self.team, recipe, name=name, slug=slug or f"{recipe}-demo", actor=self.actor)
        for role, users in ((Role.Name.RESEARCHER, self.researchers), (Role.Name.REVIEWER, self.reviewers)):
            for user in users:
                set_role(benchmark, user, role, self.actor)
        return benchmark

    def make_public(self, benchmark: Benchmark) -> None:
        """Give it a public page, which the front page of the site shows."""
        values = {name: getattr(benchmark, name) for name in SETTING_NAMES}
        change(benchmark, values | {"is_public": True}, self.actor)

    def import_items(self, stage: Stage, rows: Iterable[Row], *, complete: bool = False) -> None:
        """Import a manifest of items, with the pictures that its rows name. Raises DemoError."""
        rows = list(rows)
        with TemporaryDirectory() as folder:
            manifest = Path(folder) / "items.jsonl"
            manifest.write_bytes(json_lines(rows))
            files = {str(row["file"]) for row in rows if row.get("file")}
            path = pictures.FOLDER if files else manifest.parent
            finish(
                imports.start_path(
                    stage, self.actor, path=path, manifest=manifest, defaults=Defaults(), complete=complete
                )
            )

    def import_collection(self, slug: str, key: str, name: str, rows: Iterable[Row]) -> Collection:
        """Entries and queries into version 1 of a collection. Raises DemoError."""
        benchmark, file = Benchmark.objects.get(slug=slug), ContentFile(json_lines(rows), name=f"{key}.jsonl")
        finish(
            collection_import.start(benchmark, self.actor, file, key=key, version="1", name=name, licence="Apache-2.0")
        )
        return Collection.objects.get(benchmark=benchmark, key=key)

    def open_chain(
        self, slug: str, targets: Mapping[str, int] | None = None, *, only: Mapping[str, str] | None = None
    ) -> None:
        """All stages at once, for all cohorts. `targets`: how many answers a stage wants, where not the recipe's; a
        stage that asks nobody is open for models. `only`: the one cohort that a stage asks, by its label."""
        benchmark, wanted = Benchmark.objects.get(slug=slug), targets or {}
        openings = [
            StageOpening(stage.pk, self._targets(stage, wanted, only or {}))
            for stage in benchmark.stages.order_by("position")
        ]
        chain_opening.open_chain(benchmark, openings, self.actor, self.now - OPENED_BEFORE)

    def _targets(self, stage: Stage, wanted: Mapping[str, int], only: Mapping[str, str]) -> dict[int, int]:
        target = wanted.get(stage.key, stage.target_answers)
        asked = {only[stage.key]} if stage.key in only else set(self.cohorts)
        return {cohort.pk: target for label, cohort in self.cohorts.items() if label in asked}


def picture_row(picture: DemoPicture, **more: Any) -> dict[str, Any]:
    """A picture as a row of a manifest."""
    names = ("file", "key", "role", "concept", "country", "condition", "alt", "source", "licence")
    return {name: getattr(picture, name) for name in names} | more


def scene_row(concept: str, country: str, **more: Any) -> dict[str, Any]:
    """The natural scene of a concept in a country, as an item of its own."""
    row = picture_row(pictures.scene(concept, country), key=f"{country}/{concept}", condition="")
    return row | more


def json_lines(rows: Iterable[Row]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def finish(job: Job) -> Job:
    """Run an import at once. Raises DemoError with the first row that was refused."""
    runner.run(job.pk)
    job.refresh_from_db()
    refused, _more = job_reports.page(job, only_errors=True, after=0)
    if refused:
        raise DemoError(f"{job.title}: row {refused[0].number} {refused[0].name}: {refused[0].message}")
    if job.state != Job.State.DONE:
        raise DemoError(f"{job.title}: {job.error or job.state}")
    return job
