"""A study whose truth is known, through the file door, to the tables of the paper: small here, whole by hand
(tests/performance/caire.py)."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from django.http import QueryDict
from django.utils import timezone

from evaluation.metrics.correlation import mean_pairwise_pearson
from evaluation.metrics.counts import Ratings
from evaluation.tables.registry import table_of
from evaluation.tables.table import Table
from evaluation.tables.table_builder import build_table
from tests.evaluation import simulated_study
from tests.evaluation.simulation import Study, StudyDesign, draw
from tests.personas import World

SMALL = StudyDesign(images=60, raters=4)
ROOT = Path(__file__).resolve().parents[2]


def of_condition(study: Study, cohort: int, first: bool) -> Ratings:
    mine = (study.cohort == cohort) & ((study.image < study.recipe.images // 2) == first)
    rows = zip(study.image[mine].tolist(), study.rater[mine].tolist(), study.value[mine].tolist(), strict=True)
    return Ratings.from_labels(rows)


def test_tables_of_a_study_whose_truth_is_known(world: World) -> None:
    study = draw(SMALL, np.random.default_rng(7))
    campaign = simulated_study.make_benchmark(study, world.team, world.mara)
    assert simulated_study.import_ratings(campaign, world.mara, simulated_study.long_file(study)).state == "done"
    benchmark = campaign.stage.benchmark
    true = simulated_study.truths(SMALL, 30)

    def table(key: str) -> Table:
        spec = table_of(benchmark, key)
        assert spec is not None
        return build_table(benchmark, spec, QueryDict(""), timezone.now())

    tables = {key: table(key) for key in ("table-2", "table-14", "table-15", "table-16", "table-17")}
    pearson = tables["table-14"].rows[3].cells
    for cohort in range(10):
        for place, first in enumerate((True, False)):
            cell = pearson[2 * cohort + place].estimate
            direct = mean_pairwise_pearson(of_condition(study, cohort, first))
            assert cell is not None
            assert (cell.value, cell.n_ratings) == (pytest.approx(direct.value), direct.n_ratings)
    coverage = {
        key: simulated_study.covered_intervals(tables[key], true) for key in ("table-2", "table-14", "table-17")
    }
    cells = {"table-2": 60, "table-14": 60, "table-17": 120}  # few of them are of too little for an interval
    assert all(0.9 * n <= len(coverage[key]) <= n for key, n in cells.items()), {
        key: len(coverage[key]) for key in cells
    }
    assert all(np.mean(found) > 0.85 for found in coverage.values()), {k: np.mean(v) for k, v in coverage.items()}


@pytest.mark.slow
def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    command = [sys.executable, "tests/performance/coverage.py", "--quick"]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=os.environ).stdout
    [row] = [line for line in output.splitlines() if line.split()[:1] == ["8"]]
    shares = [float(word[:-1]) for word in row.split() if word.endswith("%")]
    assert len(shares) == 7
    assert all(share >= 85 for share in shares), output
