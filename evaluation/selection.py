"""Who and what is counted: built once from a query string, passed down, printed beside the number, stored with it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import field as attribute
from datetime import datetime
from typing import Any, Protocol

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from annotation.sheets import say
from evaluation.catalogue import CampaignEntry, Catalogue, StageEntry
from evaluation.measures import BY_KEY, GROUPINGS_LABEL, TABLE, TABLE_LABEL, Measure, chosen, default_measure, offered
from evaluation.metrics.intervals import Interval, Over

Labels = dict[str, str | Promise]
INTERVALS: dict[str, Over] = {
    "units-and-raters": "units and raters",
    "units": "units",
    "raters": "raters",
    "none": "none",
}
INTERVAL_LABELS: Labels = {
    "units-and-raters": gettext_lazy("Units and raters, 95 %"),
    "units": gettext_lazy("Units only, 95 %"),
    "raters": gettext_lazy("Raters only, 95 %"),
    "none": pgettext_lazy("interval", "None"),
}
COUNTED_LABELS: Labels = {"counted": gettext_lazy("Counted ratings"), "all": gettext_lazy("All submitted")}
REPEATS_LABELS: Labels = {"latest": gettext_lazy("Latest answer"), "first": gettext_lazy("First answer")}
RATER_LABELS: Labels = {"person": gettext_lazy("People")}


class Params(Protocol):
    """What a query string offers: Django's QueryDict."""

    def getlist(self, key: str) -> list[Any]: ...


class SelectionError(Exception):
    """Something was asked for that is not there to be chosen; `message` says what, in the reader's language."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name, self.message = name, message


@dataclass(frozen=True)
class Selection:
    """Everything is written out: a stored selection still says what was counted when the campaigns have moved on."""

    benchmark_id: int
    stage: str
    campaigns: tuple[int, ...]
    field: str
    level: str
    measure: str
    cohorts: tuple[int, ...]
    conditions: tuple[str, ...]
    concepts: tuple[str, ...] = ()  # none named: all
    raters: tuple[str, ...] = ("person",)
    counted: str = "counted"
    repeats: str = "latest"
    since: datetime | None = None  # submitted at or after
    until: datetime | None = None  # submitted before
    versions: tuple[int, ...] = ()  # sheet versions; none named: all
    interval: str = "units-and-raters"
    asked: tuple[tuple[str, str], ...] = attribute(default=(), compare=False)

    @property
    def measures(self) -> tuple[Measure, ...]:
        return chosen(self.measure, self.level)

    @property
    def wanted_interval(self) -> Interval:
        return Interval(over=INTERVALS[self.interval])

    def to_params(self) -> list[tuple[str, str]]:
        """What the address has to carry: only what was asked for, so that new cohorts join a standing page."""
        return list(self.asked)

    def to_json(self) -> dict[str, Any]:
        names = ("benchmark_id", "stage", "field", "level", "measure", "counted", "repeats", "interval")
        lists = ("campaigns", "cohorts", "conditions", "concepts", "raters", "versions")
        dates = {"since": self.since, "until": self.until}
        return (
            {name: getattr(self, name) for name in names}
            | {name: list(getattr(self, name)) for name in lists}
            | {name: date.isoformat() if date else None for name, date in dates.items()}
        )

    def words(self, catalogue: Catalogue, language: str) -> list[str]:
        """The sentences that stand beside the numbers."""
        stage = next(s for s in catalogue.stages if s.key == self.stage)
        campaigns = {c.id: c for c in stage.campaigns}
        names = ", ".join(campaigns[c].name for c in self.campaigns)
        question = say(campaigns[self.campaigns[0]].sheet.field(self.field).label, language)
        said = [
            _("Ratings by people, stage “%(stage)s”, question “%(question)s”, from: %(campaigns)s.")
            % {"stage": stage.name, "question": question.replace("{target}", "…"), "campaigns": names}
        ]
        if self.counted == "counted":
            said.append(_("Only answers that count: not those over the wanted number, nor those of excluded raters."))
        else:
            said.append(_("All submitted answers, also those over the wanted number and those of excluded raters."))
        if len(self.campaigns) > 1:
            latest = self.repeats == "latest"
            said.append(
                _("Where a person answered twice, the latest answer.")
                if latest
                else _("Where a person answered twice, the first answer.")
            )
        if self.concepts:
            said.append(_("Only the concepts: %(concepts)s.") % {"concepts": ", ".join(self.concepts)})
        said.extend(str(measure.explained) for measure in self.measures)
        said.append(_INTERVAL_WORDS[self.interval] % {})
        return said


_INTERVAL_WORDS: dict[str, Any] = {
    "units-and-raters": gettext_lazy("Interval: delete-one jackknife over units and raters, 95 %%."),
    "units": gettext_lazy("Interval: delete-one jackknife over units only, so it speaks of the same people."),
    "raters": gettext_lazy("Interval: delete-one jackknife over raters only, so it speaks of the same units."),
    "none": gettext_lazy("No interval was asked for."),
}


def select(catalogue: Catalogue, params: Params) -> Selection:
    """Check a query string against what the benchmark has. Raises SelectionError; `catalogue` must have a stage."""
    stage = _stage(catalogue, params)
    campaigns = _campaigns(stage, params)
    fields = {f.key: f.key for f in campaigns[0].fields}
    if not fields:
        raise SelectionError("field", _("No question of this stage has a measure of agreement."))
    field_key = _one(params, "field", fields, next(iter(fields)))
    level = campaigns[0].sheet.level(field_key)
    measures = measure_labels(level)
    in_campaigns = {c for campaign in campaigns for c in campaign.cohorts}
    cohorts = {str(c): c for c in catalogue.cohorts if c in in_campaigns}
    wanted = {c for campaign in campaigns for c in (campaign.conditions or stage.conditions)}
    conditions = {c: c for c in stage.conditions if c in wanted}
    picked = _many(params, "cohort", cohorts) or list(cohorts)
    return Selection(
        benchmark_id=catalogue.benchmark.pk,
        stage=stage.key,
        campaigns=tuple(sorted(c.id for c in campaigns)),
        field=field_key,
        level=level,
        measure=_one(params, "measure", measures, default_measure(level)),
        cohorts=tuple(cohorts[c] for c in picked),
        conditions=tuple(_many(params, "condition", conditions) or conditions),
        concepts=tuple(_many(params, "concept", {c: c for c in stage.concepts})),
        raters=(_one(params, "raters", RATER_LABELS, "person"),),
        counted=_one(params, "counted", COUNTED_LABELS, "counted"),
        repeats=_one(params, "repeats", REPEATS_LABELS, "latest"),
        interval=_one(params, "interval", INTERVAL_LABELS, "units-and-raters"),
        asked=_asked(params),
    )


def measure_labels(level: str) -> Labels:
    labels: Labels = {m.key: m.label for m in offered(level)}
    if "spearman" in labels:
        labels[TABLE] = TABLE_LABEL
    if level == "partition":
        labels[TABLE] = GROUPINGS_LABEL
    return dict(sorted(labels.items(), key=lambda pair: pair[0] != default_measure(level)))


NAMES = (
    "stage", "campaign", "field", "measure", "interval", "counted", "repeats", "raters", "cohort", "condition",
    "concept",
)  # fmt: skip


def _asked(params: Params) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name in NAMES for value in params.getlist(name) if value)


def _stage(catalogue: Catalogue, params: Params) -> StageEntry:
    stages = {stage.key: stage for stage in catalogue.stages}
    return stages[_one(params, "stage", stages, catalogue.stages[0].key)]


def _campaigns(stage: StageEntry, params: Params) -> list[CampaignEntry]:
    known = {str(c.id): c for c in stage.campaigns}
    campaigns = [known[c] for c in _many(params, "campaign", known)] or list(stage.current)
    if len({c.major for c in campaigns}) > 1:
        raise SelectionError(
            "campaign", _("These campaigns asked with different codes. Look at one of them at a time.")
        )
    return campaigns


def _many(params: Params, name: str, known: Mapping[str, Any]) -> list[str]:
    given = [value for value in params.getlist(name) if value]
    for value in given:
        if value not in known:
            raise SelectionError(name, _unknown(name, value, known))
    return [value for value in known if value in given]


def _one(params: Params, name: str, known: Mapping[str, Any], default: str) -> str:
    given = _many(params, name, known)
    if len(given) > 1:
        raise SelectionError(name, _("Choose one value of “%(name)s”, not several.") % {"name": name})
    return given[0] if given else default


def _unknown(name: str, value: str, known: Iterable[str]) -> str:
    listed = list(known)
    some = ", ".join(listed[:12]) + (", …" if len(listed) > 12 else "")
    return _("“%(value)s” is not a value of “%(name)s” here. There are: %(known)s.") % {
        "value": value[:60], "name": name, "known": some or "-",
    }  # fmt: skip


__all__ = ["BY_KEY", "Selection", "SelectionError", "measure_labels", "select"]
