"""The page on which the limit of a filter is chosen: precision and recall at every limit, by the labels of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from annotation.sheets.sheet import Sheet, SheetError, localise
from benchmarks.models import Stage
from benchmarks.pages.filter_texts import filter_name, rule_text
from benchmarks.pages.filters import read_rules
from benchmarks.rules.filters import FilterRule
from predictions.forms.calibration import limit_of
from predictions.queries.calibration_labels import LabelledScores, Limit, labelled_scores, labelling_stages
from predictions.retrieval import calibration
from predictions.retrieval.calibration import CalibrationPoint

POINTS = 25
Options = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class CalibrationChoice:
    """Which filter is held against which answers. `fields`: codes with their labels, by question of `labels`."""

    rule: FilterRule
    labels: Stage
    field: str
    codes: frozenset[str]
    fields: Mapping[str, tuple[str, Options]]

    @property
    def limit(self) -> Limit:
        return Limit.of_rule(self.rule)

    @property
    def options(self) -> Options:
        return self.fields[self.field][1] if self.field else ()

    @property
    def draws_without(self) -> bool:
        """Whether the labels are of candidates on both sides of the limit."""
        return bool(self.labels.derivation.get("without") == self.rule.key)

    def is_posted_by(self, posted: QueryDict) -> bool:
        """Whether the form asks for exactly this choice: what is gone since is not replaced by something else."""
        names = {"filter": self.rule.key, "labels": self.labels.key, "field": self.field}
        return all(posted.get(name) == value for name, value in names.items()) and self.codes == frozenset(
            posted.getlist("codes")
        )

    def query(self, **more: str) -> str:
        """The address of the page with this choice."""
        chosen = [("filter", self.rule.key), ("labels", self.labels.key), ("field", self.field)]
        return urlencode([*chosen, *(("codes", code) for code in sorted(self.codes)), *more.items()])


@dataclass(frozen=True)
class Select:
    """`clears`: fields of the form that another choice makes meaningless."""

    name: str
    label: Any
    options: Sequence[tuple[str, str, bool]]
    clears: str


@dataclass(frozen=True)
class PointRow:
    """A row of the table. `limit`: as the filter has it."""

    limit: str
    point: CalibrationPoint
    query: str
    chosen: bool


@dataclass(frozen=True)
class CalibrationPage:
    """`proposed`: whether the limit shown is the one of highest F1; `limits`: how many there are in all."""

    choice: CalibrationChoice
    selects: Sequence[Select]
    labelled: LabelledScores | None
    rows: Sequence[PointRow]
    limits: int
    chosen: CalibrationPoint | None
    limit: str
    proposed: bool
    curves: Mapping[str, str]

    @property
    def axis(self) -> list[str]:
        """The limits at the left, in the middle and at the right of the curves."""
        if not self.rows:
            return []
        sign = self.choice.limit.sign
        first, last = self.rows[0].point.threshold, self.rows[-1].point.threshold
        return [f"{sign * at:.2f}" for at in (first, (first + last) / 2, last)]

    @property
    def right(self) -> int:
        return sum(self.labelled.right) if self.labelled else 0


def fact_rules(stage: Stage) -> list[FilterRule]:
    """The filters that compare a fact with a limit."""
    rules, _error = read_rules(stage)
    return [rule for rule in rules if rule.kind == "fact"]


def choose(stage: Stage, query: QueryDict) -> CalibrationChoice | None:
    """What the address asks for; where it leaves something open what was chosen last, else the first there is.

    None where the stage has no filter by a fact.
    """
    rules = fact_rules(stage)
    if not rules:
        return None
    rule = next((rule for rule in rules if rule.key == query.get("filter")), rules[0])
    version = stage.filter_versions.order_by("-number").first()
    before = dict(version.seen.get(rule.key, {})) if version else {}
    possible = labelling_stages(stage, rule.key)
    by_key = {labels.key: labels for labels in possible}
    named = by_key.get(query.get("labels", "")) or by_key.get(before.get("labels", ""))
    labels = named or next((labels for labels in possible if coded_fields(labels)), possible[0])
    fields = coded_fields(labels)
    known = before if before.get("labels") == labels.key else {}
    wanted = (query.get("field", ""), known.get("field", ""), *fields)
    field = next((name for name in wanted if name in fields), "")
    asked = query.getlist("codes") or (known.get("codes", ()) if known.get("field") == field else ())
    options = fields[field][1] if field else ()
    return CalibrationChoice(rule, labels, field, frozenset(asked) & {code for code, _text in options}, fields)


def coded_fields(stage: Stage) -> dict[str, tuple[str, Options]]:
    """The questions of a stage whose answer is one of several codes: label and options."""
    try:
        sheet = Sheet.from_json(stage.sheet, stored=True)
    except SheetError:
        return {}
    language = get_language() or "en"
    coded: dict[str, tuple[str, Options]] = {}
    for field in sheet.fields:
        lists = [rows for rows in field.spec.config_json(field.config).values() if isinstance(rows, list)]
        rows = [row for rows in lists for row in rows if isinstance(row, dict) and {"code", "label"} <= row.keys()]
        if rows and sheet.agreement_level(field.key) in ("nominal", "ordinal", "interval", "ratio"):
            options = [(str(row["code"]), localise(row["label"], language)) for row in rows]
            coded[field.key] = localise(field.label, language, "…"), options
    return coded


def calibration_page(stage: Stage, choice: CalibrationChoice, typed: str) -> CalibrationPage:
    """`typed`: the limit to look at; without one that of highest F1."""
    labelled = labelled_scores(stage, choice.rule, choice.labels, choice.field, choice.codes) if choice.codes else None
    sign, number = choice.limit.sign, limit_of(typed)
    chosen, limits = None, 0
    points: list[CalibrationPoint] = []
    if labelled and labelled.items:
        points = calibration.curve(labelled.scores, labelled.right, POINTS)
        limits = len(calibration.thresholds(labelled.scores))
        best = calibration.best(labelled.scores, labelled.right)
        at = best.threshold if number is None and best else None if number is None else sign * number
        chosen = None if at is None else calibration.point(labelled.scores, labelled.right, at)
    limit = typed if chosen is None else calibration.exact_text(sign * chosen.threshold)
    return CalibrationPage(
        choice=choice,
        selects=_selects(stage, choice),
        labelled=labelled,
        rows=[_point_row(point, choice, chosen) for point in points],
        limits=limits,
        chosen=chosen,
        limit=limit,
        proposed=number is None,
        curves=curves(points),
    )


def _point_row(point: CalibrationPoint, choice: CalibrationChoice, chosen: CalibrationPoint | None) -> PointRow:
    text = calibration.exact_text(choice.limit.sign * point.threshold)
    same = chosen is not None and chosen.threshold == point.threshold
    return PointRow(text, point, choice.query(limit=text), same)


def _selects(stage: Stage, choice: CalibrationChoice) -> list[Select]:
    rules = [(rule.key, f"{filter_name(rule)}: {rule_text(rule)}") for rule in fact_rules(stage)]
    labels = [(labels.key, labels.name) for labels in labelling_stages(stage, choice.rule.key)]
    fields = [(key, label) for key, (label, _options) in choice.fields.items()]
    return [
        Select("filter", _("Filter"), _chosen(rules, choice.rule.key), "labels field codes"),
        Select("labels", _("Stage with the labels"), _chosen(labels, choice.labels.key), "field codes"),
        Select("field", _("Question"), _chosen(fields, choice.field), "codes"),
    ]


def _chosen(options: Options, value: str) -> list[tuple[str, str, bool]]:
    return [(key, label, key == value) for key, label in options]


def curves(points: Sequence[CalibrationPoint]) -> dict[str, str]:
    """Precision and recall as lines and their intervals as areas, in a box of 100 by 100, the loosest limit first."""
    if len(points) < 2:
        return {}
    first, last = points[0].threshold, points[-1].threshold
    x = [100 * (point.threshold - first) / ((last - first) or 1) for point in points]
    drawn = {}
    for name in ("precision", "recall"):
        rows = [
            (place, value, ends)
            for place, point in zip(x, points, strict=True)
            if (value := getattr(point, name)) is not None and (ends := getattr(point, f"{name}_ends")) is not None
        ]
        drawn[name] = _polyline([(place, value) for place, value, _ends in rows])
        upper, lower = [(place, ends[1]) for place, _v, ends in rows], [(place, ends[0]) for place, _v, ends in rows]
        drawn[f"{name}_area"] = _polyline([*upper, *reversed(lower)])
    return drawn


def _polyline(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{100 - 100 * y:.1f}" for x, y in places)
