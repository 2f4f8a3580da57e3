"""ValueGround's numbers as the test counts them, from the survey's counts and the answers that are stored."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from operator import mul
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


def reversals_of(
    models: Iterable[Answers], counts: Callable[[Instance], bool] = lambda _one: True
) -> tuple[float, float, float, float]:
    """Reversal, harmful, beneficial, and what accuracy loses from words to pictures; models pooled."""
    answers = [(own.text[one], own.main[one]) for own in models for one in own.both if counts(one)]
    harmful = fmean(text and not main for text, main in answers)
    beneficial = fmean(main and not text for text, main in answers)
    drop = fmean(text for text, _main in answers) - fmean(main for _text, main in answers)
    return harmful + beneficial, harmful, beneficial, drop


def margins_of(study: Study) -> dict[tuple[str, str], float]:
    """By question and country with a label: how far the mean lies from the middle of the two options, 0 to 0.5."""
    margins = {}
    for (question, country), label in labels_of(study).items():
        if label in ("a", "b"):
            counts, places = study.counts[question][country], PLACES[question]
            least, greatest = min(places.values()), max(places.values())
            mean = Fraction(sum(places[int(code)] * n for code, n in counts.items()), sum(counts.values()))
            margins[question, country] = float(abs((mean - least) / (greatest - least) - Fraction(1, 2)))
    return margins


def bins_of(margins: Mapping[tuple[str, str], float], count: int) -> list[list[tuple[str, str]]]:
    """Bins of equal size, the smallest margins first."""
    assert len(set(margins.values())) == len(margins), "equal margins would stay together"
    ordered = sorted(margins, key=lambda pair: margins[pair])
    ends = [round(len(ordered) * number / count) for number in range(count + 1)]
    return [ordered[start:end] for start, end in pairwise(ends)]


def rank_bands(models: Sequence[Answers]) -> list[str]:
    """Of one or two models: two have ranks of their own where so great a difference is rare when whole questions change
    sides, of which all ways are tried."""
    if len(models) == 1:
        return ["1"]
    first, second = (own.main for own in models)
    by_question: dict[str, int] = defaultdict(int)
    for one in set(first) & set(second):
        by_question[one[0]] += first[one] - second[one]
    total = abs(sum(by_question.values()))
    ways = [abs(sum(map(mul, signs, by_question.values()))) for signs in product((-1, 1), repeat=len(by_question))]
    if fmean(way >= total for way in ways) > 0.05:
        return ["1–2", "1–2"]
    return ["1", "2"] if sum(by_question.values()) > 0 else ["2", "1"]


def correlations_of(study: Study) -> list[list[float | None]]:
    """The rows of Table 4: Pearson and Spearman of the judges' mean with that of people, and of people with the others,
    by field and in total; None where a side does not vary."""
    sheets = {kind: scores_by_pair(study.answers("pair-review", kind)) for kind in ("model", "person")}
    rows = []
    for field in range(len(FIELDS) + 1):
        people = {pair: {who: scores[field] for who, scores in by.items()} for pair, by in sheets["person"].items()}
        judged = [
            (fmean(s[field] for s in sheets["model"][pair].values()), fmean(by.values())) for pair, by in people.items()
        ]
        alone = [
            [(by[who], fmean(score for other, score in by.items() if other != who)) for by in people.values()
             if who in by and len(by) > 1]
            for who in {who for by in people.values() for who in by}
        ]  # fmt: skip
        row = []
        for of in (pearson, spearman):
            each = [value for points in alone if (value := of(points)) is not None]
            row += [of(judged), fmean(each) if each else None]
        rows.append([row[0], row[2], row[1], row[3]])
    return rows


def pearson(points: Sequence[tuple[float, float]]) -> float | None:
    """None for less than three points, or where a side does not vary."""
    sides = list(zip(*points, strict=True))
    if len(points) < 3 or any(len(set(side)) == 1 for side in sides):
        return None
    return correlation(*sides)


def spearman(points: Sequence[tuple[float, float]]) -> float | None:
    """Equal values share the mean of their ranks."""
    sides = [[sum(b < a for b in side) + (side.count(a) + 1) / 2 for a in side] for side in zip(*points, strict=True)]
    return pearson(list(zip(*sides, strict=True)))


def scores_by_pair(annotations: Iterable[Annotation]) -> dict[tuple[str, str], dict[int, list[float]]]:
    """By pair and rater the four scores and the total."""
    sheets: dict[tuple[str, str], dict[int, list[float]]] = defaultdict(dict)
    for annotation in annotations:
        scores = [float(annotation.answers[name]) for name in FIELDS]
        total = (sum(scores[:3]) / 2 + scores[3]) / 4
        sheets[pair_of(annotation.assignment.unit.item)][annotation.rater_id] = [*scores, total]
    return sheets


def rubric_means(annotations: Iterable[Annotation]) -> dict[str, list[float]]:
    """By source the four scores and the total: of each pair the mean over its sheets, then the mean over pairs."""
    means: dict[str, list[list[float]]] = defaultdict(list)
    for (_question, source), sheets in scores_by_pair(annotations).items():
        means[source].append([fmean(column) for column in zip(*sheets.values(), strict=True)])
    return {source: [fmean(column) for column in zip(*means[source], strict=True)] for source in SOURCES}


def mean_costs(study: Study, *, with_revisions: bool) -> dict[str, float]:
    """By source the mean over its pairs of what all steps of their builds cost."""
    builds = [*study.builds(), *(study.builds(revision=2) if with_revisions else ())]
    costs: dict[tuple[str, str], float] = defaultdict(float)
    for build in builds:
        costs[build.question.key, build.source.key] += sum(float(step.cost) for step in build.steps.all())
    return {source: fmean(cost for pair, cost in costs.items() if pair[1] == source) for source in SOURCES}
