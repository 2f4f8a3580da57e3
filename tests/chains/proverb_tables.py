"""What the tables of Proverbs must say: counted anew, in a few lines each, from the answers that are stored."""

import csv
import io
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import permutations
from statistics import mean, multimode
from typing import Any

import pytest
from django.test import Client
from scipy.stats import spearmanr

from annotation.models import Annotation
from benchmarks.models import Benchmark, Item
from tests.chains.link_client import text_of
from tests.evaluation.output_forms import table_data, table_forms

Distance = Callable[[str, str], float]
ByItem = Mapping[str, Sequence[str]]
"""Of each item, by its text, the answers of people."""


class ProverbTables:
    """The tables of a benchmark whose stages and questions have these keys: `rated` is a scale, `compared` a choice."""

    def __init__(self, client: Client, benchmark: Benchmark, rated: tuple[str, str], compared: tuple[str, str]) -> None:
        self.client, self.benchmark, self.rated, self.compared = client, benchmark, rated, compared

    def check(self) -> None:
        """Each number of each table is that of the answers that are there now."""
        self._check_agreement()
        self._check_models()
        self._check_ranking()

    def check_forms(self, keys: Iterable[str]) -> None:
        """Page, JSON, CSV and LaTeX of each table have the same rows and numbers."""
        for key in keys:
            forms = table_forms(self.client, self.benchmark.slug, key)
            lines = list(csv.DictReader(io.StringIO(forms["csv"])))
            numbers = {float(line["value"]) for line in lines if line["value"]}
            for row in json.loads(forms["json"])["rows"]:
                assert all(row["label"] in text for text in (text_of(forms["page"]), forms["csv"], forms["tex"])), key
                for cell in [cell for cell in row["cells"] if cell["estimate"] and cell["shown"]]:
                    assert cell["shown"] in forms["page"] and cell["estimate"]["value"] in numbers, (key, cell)

    def answers(self, question: tuple[str, str], kind: str = "person") -> list[Annotation]:
        """To items that are still there."""
        stage, field = question
        rows = Annotation.objects.filter(
            assignment__campaign__stage__benchmark=self.benchmark, assignment__campaign__stage__key=stage,
            assignment__unit__item__withdrawn_at=None, rater__kind=kind, live=True, counted=True,
        )  # fmt: skip
        return [row for row in rows.select_related("rater__user", "assignment__unit__item") if field in row.answers]

    def by_item(self, question: tuple[str, str], origin: str = "", kind: str = "person") -> ByItem:
        codes: dict[str, list[str]] = defaultdict(list)
        for row in self.answers(question, kind):
            item = row.assignment.unit.item
            if not origin or (item.text or "").startswith(origin):
                codes[item.key].append(row.answers[question[1]])
        return codes

    def _rows(self, key: str) -> dict[str, list[dict[str, Any]]]:
        data = table_data(self.client, self.benchmark.slug, key)
        return {row["label"]: [cell["estimate"] for cell in row["cells"]] for row in data["rows"]}

    def _check_agreement(self) -> None:
        rows = self._rows("common-by-cohort")
        assert list(rows) == ["All cohorts", "Brazil", "Egypt"]
        answers = self.by_item(self.rated)
        [pooled, *_others] = rows.pop("All cohorts")
        assert pooled["value"] == pytest.approx(alpha(answers, ordinal_distance(answers)))
        assert pooled["n_units"] == len(answers)
        for cohort, estimates in rows.items():
            answers = self.by_item(self.rated, origin=cohort)
            assert estimates[0]["value"] == pytest.approx(alpha(answers, ordinal_distance(answers)))
            assert (estimates[0]["n_units"], estimates[0]["n_raters"]) == (len(answers), 2)
        over_all = self._rows("same-over-all")
        answers = self.by_item(self.compared)
        assert next(iter(over_all)) == "All cohorts"
        [estimate] = over_all["All cohorts"]
        assert estimate["value"] == pytest.approx(alpha(answers, nominal_distance))
        assert (estimate["n_units"], estimate["n_ratings"]) == (len(answers), 3 * len(answers))

    def _check_models(self) -> None:
        """A says what most people say, B always the same."""
        rows, means = self._rows("models-on-common"), self._means()
        near = [self._model_answers(self.rated, "A")[key] for key in means]
        assert rows["A"][0]["value"] == pytest.approx(spearmanr([int(code) for code in near], list(means.values()))[0])
        assert {(estimate["value"], estimate["reason"]) for estimate in rows["B"]} == {(None, "constant_side")}
        for model, estimates in self._rows("models-on-same").items():
            answers = self._model_answers(self.compared, model)
            hits = [answers[key] == code for key, code in self._majorities().items()]
            assert estimates[0]["value"] == pytest.approx(mean(hits)), model

    def _means(self) -> dict[str, float]:
        return {key: mean(map(int, codes)) for key, codes in self.by_item(self.rated).items()}

    def _model_answers(self, question: tuple[str, str], model: str) -> dict[str, str]:
        rows = [row for row in self.answers(question, "model") if row.rater.name == model]
        return {row.assignment.unit.item.key: row.answers[question[1]] for row in rows}

    def _majorities(self) -> dict[str, str]:
        """Of each item what most people of all cohorts said, for none is asked about itself; where it is not a tie."""
        most = {key: multimode(codes) for key, codes in self.by_item(self.compared).items()}
        return {key: codes[0] for key, codes in most.items() if len(codes) == 1}

    def _check_ranking(self) -> None:
        """The highest mean first; equal means share the middle of their places."""
        rows, numbers = self._rows("ranking-of-proverbs"), self._means()
        items = Item.objects.filter(stage__benchmark=self.benchmark, stage__key=self.rated[0])
        texts = dict(items.values_list("key", "text"))
        means = {texts[key]: number for key, number in numbers.items()}
        assert set(rows) == set(means)
        for proverb, (place, number, *_more) in rows.items():
            above = sum(other > means[proverb] for other in means.values())
            equal = list(means.values()).count(means[proverb])
            assert number["value"] == pytest.approx(means[proverb])
            assert place["value"] == pytest.approx(above + (equal + 1) / 2)
            assert 1 <= place["low"] <= place["value"] <= place["high"] <= len(rows)
            assert place["n_ratings"] == 2
        assert any(place["low"] < place["high"] for place, *_more in rows.values())


def alpha(answers: ByItem, distance: Distance) -> float:
    """Krippendorff's: one less the disagreement within items over that of all answers, whoever gave them."""
    units = [codes for codes in answers.values() if len(codes) > 1]
    values = [code for codes in units for code in codes]
    within = sum(distance(a, b) / (len(codes) - 1) for codes in units for a, b in permutations(codes, 2)) / len(values)
    between = mean(distance(a, b) for a, b in permutations(values, 2))
    return 1 - within / between


def nominal_distance(first: str, second: str) -> float:
    return float(first != second)


def ordinal_distance(answers: ByItem) -> Distance:
    """The answers from the one to the other, both ends counted half; squared."""
    counts = Counter(int(code) for codes in answers.values() if len(codes) > 1 for code in codes)

    def distance(first: str, second: str) -> float:
        low, high = sorted((int(first), int(second)))
        return (sum(counts[code] for code in range(low, high + 1)) - (counts[low] + counts[high]) / 2) ** 2

    return distance
