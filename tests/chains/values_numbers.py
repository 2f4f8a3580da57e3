"""ValueGround's numbers as the test counts them, from the survey's counts and the answers that are stored."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from statistics import correlation, fmean

from annotation.models import Annotation
from papers.valueground.recipe import LABELLED
from tests.chains.values_study import FIELDS, PLACES, SOURCES, Study, pair_of

Instance = tuple[str, str, str]
"""Question, source and country."""


def label_of(counts: Mapping[str, int], places: Mapping[int, int]) -> str:
    """The option nearer to the mean: "a", "b", "tie", or empty without counts."""
    total = sum(counts.values())
    if not total:
        return ""
    mean = Fraction(sum(places[int(code)] * n for code, n in counts.items()), total)
    to_a, to_b = mean - min(places.values()), max(places.values()) - mean
    return "tie" if to_a == to_b else "a" if to_a < to_b else "b"


def labels_of(study: Study) -> dict[tuple[str, str], str]:
    """By question and country."""
    return {
        (question, country): label_of(study.counts[question].get(country, {}), PLACES[question])
        for question in study.size.kept
        for country in LABELLED
    }


@dataclass(frozen=True)
class Answers:
    """Of one model: whether it was right, by instance with a label; and the pairs that it matched rightly."""

    main: Mapping[Instance, bool]
    text: Mapping[Instance, bool]
    aligned: Mapping[tuple[str, str], bool]

    @property
    def both(self) -> list[Instance]:
        return sorted(set(self.main) & set(self.text))

    def reversals(self, country: str = "") -> tuple[float, float, float, float]:
        """Reversal, harmful, beneficial, and what accuracy loses from words to pictures."""
        instances = [one for one in self.both if country in ("", one[2])]
        harmful = fmean(self.text[one] and not self.main[one] for one in instances)
        beneficial = fmean(self.main[one] and not self.text[one] for one in instances)
        drop = fmean(self.text[one] for one in instances) - fmean(self.main[one] for one in instances)
        return harmful + beneficial, harmful, beneficial, drop

    def settings(self) -> tuple[float, float, float, float, float, float]:
        """The row of Table 2."""
        matched = [one for one in self.both if self.aligned[one[:2]]]
        main, text = (fmean(side[one] for one in matched) for side in (self.main, self.text))
        return (
            fmean(self.main.values()), fmean(self.text.values()), fmean(self.aligned.values()), main, text, main - text,
        )  # fmt: skip

    def by_country(self) -> tuple[list[float], list[float]]:
        """Accuracy in words and in pictures, of each country."""
        sides = (self.text, self.main)
        words, pictures = (
            [fmean(right for one, right in side.items() if one[2] == country) for country in LABELLED] for side in sides
        )
        return words, pictures

    def pearson(self) -> float:
        return correlation(*self.by_country())


def answers_of(study: Study, model: str) -> Answers:
    labels = labels_of(study)
    right: dict[str, dict[Instance, bool]] = {"main": {}, "text_only": {}}
    for annotation in study.answers("choice", "model"):
        unit = annotation.assignment.unit
        question, source = pair_of(unit.item)
        label = labels[question, unit.target]
        if annotation.rater.name == model and label in ("a", "b"):
            right[annotation.rater.setting][question, source, unit.target] = annotation.answers["choice"] == label
    aligned = {
        pair_of(annotation.assignment.unit.item): annotation.answers["alignment"] == "aligned"
        for annotation in study.answers("alignment", "model")
        if annotation.rater.name == model
    }
    return Answers(right["main"], right["text_only"], aligned)


def rubric_means(annotations: Iterable[Annotation]) -> dict[str, list[float]]:
    """By source the four scores and the total: of each pair the mean over its sheets, then the mean over pairs."""
    sheets: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
    for annotation in annotations:
        scores = [float(annotation.answers[name]) for name in FIELDS]
        total = (sum(scores[:3]) / 2 + scores[3]) / 4
        sheets[pair_of(annotation.assignment.unit.item)].append([*scores, total])
    means: dict[str, list[list[float]]] = defaultdict(list)
    for (_question, source), rows in sheets.items():
        means[source].append([fmean(column) for column in zip(*rows, strict=True)])
    return {source: [fmean(column) for column in zip(*means[source], strict=True)] for source in SOURCES}


def mean_costs(study: Study, *, with_revisions: bool) -> dict[str, float]:
    """By source the mean over its pairs of what all steps of their builds cost."""
    builds = [*study.builds(), *(study.builds(revision=2) if with_revisions else ())]
    costs: dict[tuple[str, str], float] = defaultdict(float)
    for build in builds:
        costs[build.question.key, build.source.key] += sum(float(step.cost) for step in build.steps.all())
    return {source: fmean(cost for pair, cost in costs.items() if pair[1] == source) for source in SOURCES}
