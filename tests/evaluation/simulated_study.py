"""A simulated CAIRE study (tests/evaluation/simulation.py) as a benchmark of the recipe and a file of ratings."""

import csv
import io
from dataclasses import replace

import numpy as np
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotation.models import Campaign
from annotation.services.campaigns import lifecycle
from annotation.services.files import answer_files
from benchmarks.models import Item
from benchmarks.services.benchmarks import create_from_recipe
from evaluation.tables.table import Table
from jobs.models import Job
from jobs.services import runner
from people.models import Cohort, Team, User
from tests.evaluation.simulation import Study, StudyDesign, truth
from tests.personas import stand_in

COUNTRIES = (
    "Brazil", "China", "Egypt", "Germany", "India", "Indonesia", "Mexico", "Nigeria", "Russia", "United States",
)  # fmt: skip
COLUMNS = ("item", "target", "cohort", "rater", "rater_kind", "setting", "field", "code")
MODELS = ("Keen", "Middling", "Guessing")
CONDITIONS = ("natural", "generated")


def key_of(image: int) -> str:
    return f"item-{image:05}"


def long_file(study: Study) -> bytes:
    """A row for each rating, item by item; every model scores every item for every country."""
    out = io.StringIO()
    write = csv.writer(out)
    write.writerow(COLUMNS)
    for image, cohort, rater, value in zip(study.image, study.cohort, study.rater, study.value, strict=True):
        place = COUNTRIES[cohort]
        write.writerow((key_of(image), place, place, f"{place} {rater}", "person", "", "relevance", int(value)))
    for model, scores in zip(MODELS, study.scores, strict=False):
        for image, row in enumerate(scores):
            for cohort, value in enumerate(row):
                model_row = (key_of(image), COUNTRIES[cohort], "", model, "model", "main", "relevance", int(value))
                write.writerow(model_row)
    return out.getvalue().encode()


def make_benchmark(study: Study, team: Team, actor: User, slug: str = "simulated-caire") -> Campaign:
    """From the recipe, with an item for each image and a cohort for each country; opened, nobody asked yet."""
    recipe = study.recipe
    benchmark = create_from_recipe(team, "caire-universal", name="Simulated CAIRE", slug=slug, actor=actor)
    stage = benchmark.stages.get(key="relevance")
    half = max(recipe.images // 2, 1)
    items = Item.objects.bulk_create(
        Item(
            stage=stage,
            key=key_of(image),
            concept=f"concept {image // recipe.cohorts % 20:02}",
            origin=COUNTRIES[study.origin[image]],
            condition=CONDITIONS[min(image // half, 1)],
        )
        for image in range(recipe.images)
    )
    stand_in(items)
    labels = COUNTRIES[: recipe.cohorts]
    asked = {Cohort.objects.get_or_create(team=team, label=label)[0]: recipe.raters for label in labels}
    campaign = lifecycle.create(stage, "Simulated", actor, asked)
    lifecycle.open_campaign(campaign, actor, timezone.now())
    return campaign


def import_ratings(campaign: Campaign, actor: User, data: bytes, name: str = "ratings.csv") -> Job:
    """Through the file door, as a worker would."""
    job = answer_files.start(campaign, actor, SimpleUploadedFile(name, data))
    runner.run(job.pk)
    job.refresh_from_db()
    return job


def truths(recipe: StudyDesign, draws: int, seed: int = 0) -> list[dict[str, float]]:
    """True values for each model of the recipe, by the names of `simulation.MEASURED`."""
    return [
        truth(replace(recipe, skills=(skill, skill)), draws, np.random.default_rng([seed, place]))
        for place, skill in enumerate(recipe.skills)
    ]


def covered_intervals(table: Table, true: list[dict[str, float]]) -> list[bool]:
    """Of the intervals in Tables 2, 14 and 17, averages left aside: whether each holds the truth."""
    models = dict(zip(MODELS, true, strict=False))
    coverage = []
    for number, row in enumerate(table.rows):
        cells = row.cells[: 2 * len(COUNTRIES)]
        if table.key == "table-14":
            name = {0: "alpha, ordinal", 2: "pairwise Spearman", 3: "pairwise Pearson"}.get(number)
            wanted = [true[0][name]] * len(cells) if name else []
        elif table.key == "table-2":
            wanted = [_truth_of(row.label, models)["model, image-wise"]] * len(cells)
        else:  # mean of the annotators, then four statistics of two conditions each, then with their average
            of = _truth_of(row.group, models)
            cells, wanted = (
                (*cells[:2], *cells[10:12]),
                [of["model, each rater"]] * 2 + [of["model, with the mean"]] * 2,
            )
        for cell, value in zip(cells[: len(wanted)], wanted, strict=True):
            if cell.estimate is not None and cell.estimate.low is not None and cell.estimate.high is not None:
                coverage.append(cell.estimate.low <= value <= cell.estimate.high)
    return coverage


def _truth_of(label: str, models: dict[str, dict[str, float]]) -> dict[str, float]:
    return next(true for name, true in models.items() if name in label)
