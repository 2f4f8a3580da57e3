"""Who and what is counted: built once from a query string, passed down, printed beside the number, stored with it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as attribute
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, Protocol

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from annotation.sheets.rules import ShowIf
from annotation.sheets.sheet import localise
from evaluation.metrics.boxes import LabelRule
from evaluation.metrics.intervals import Interval, Over
from evaluation.selections.catalogue import CampaignEntry, Catalogue, StageEntry
from evaluation.selections.measures import BY_KEY, Labels, Measure, default_measure, measure_labels, select_measures

INTERVALS: dict[str, Over] = {
    "units-and-raters": "units and raters",
    "units": "units",
    "raters": "raters",
    "none": "none",
}
INTERVAL_LABELS: Labels = {
    "units-and-raters": gettext_lazy("Items and raters, 95 %"),
    "units": gettext_lazy("Items only, 95 %"),
    "raters": gettext_lazy("Raters only, 95 %"),
    "none": pgettext_lazy("interval", "None"),
}
COUNTED_LABELS: Labels = {"counted": gettext_lazy("Only counted answers"), "all": gettext_lazy("All submitted answers")}
REPEATS_LABELS: Labels = {"latest": gettext_lazy("Keep the latest"), "first": gettext_lazy("Keep the first")}
LABEL_RULE_LABELS: Labels = {
    "must_match": gettext_lazy("Boxes of different labels do not match"),
    "ignore": gettext_lazy("Labels are ignored"),
}
RATERS: dict[str, tuple[str, ...]] = {"people": ("person",), "models": ("model",), "both": ("person", "model")}
RATER_LABELS: Labels = {
    "people": gettext_lazy("People"),
    "models": gettext_lazy("Models"),
    "both": gettext_lazy("People and models"),
}
BY_LABELS: Labels = {
    "cohort": gettext_lazy("Cohort and condition"),
    "all": gettext_lazy("All cohorts together"),
    "field": gettext_lazy("Question"),
    "version": gettext_lazy("Version of the sheet"),
    "time": gettext_lazy("Week"),
}
DAY = timedelta(days=1)


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
    by: str = "cohort"  # what a report's rows are, besides cohorts
    zone: str = "UTC"  # whose days `since`, `until` and weeks are
    options: tuple[str, ...] = ()  # codes of a question with several choices
    label_rule: str = ""  # how labels of boxes count; empty where the sheet has none
    ask_as: tuple[tuple[str, str], ...] = ()  # questions of the sheet, each with its chosen measure
    show_if: ShowIf | None = attribute(default=None, compare=False)  # when the question is shown
    asked: tuple[tuple[str, str], ...] = attribute(default=(), compare=False)

    @property
    def measures(self) -> tuple[Measure, ...]:
        return select_measures(self.measure, self.level, self.options)

    @property
    def box_rule(self) -> LabelRule:
        """What measures of boxes do with labels."""
        return "ignore" if self.label_rule == "ignore" else "must_match"

    @property
    def interval_spec(self) -> Interval:
        return Interval(over=INTERVALS[self.interval])

    def to_params(self) -> list[tuple[str, str]]:
        """What the address has to carry: only what was asked for, so that new cohorts join a standing page."""
        return list(self.asked)

    def to_json(self) -> dict[str, Any]:
        names = ("benchmark_id", "stage", "field", "level", "measure", "counted", "repeats", "interval", "by", "zone")
        lists = ("campaigns", "cohorts", "conditions", "concepts", "raters", "versions", "options")
        dates = {"since": self.since, "until": self.until}
        return (
            {name: getattr(self, name) for name in names}
            | {name: list(getattr(self, name)) for name in lists}
            | {name: date.isoformat() if date else None for name, date in dates.items()}
            | {"ask_as": dict(self.ask_as)}
            | ({"label_rule": self.label_rule} if self.label_rule else {})
        )

    def inclusion_text(self) -> str:
        if self.counted == "counted":
            return _(
                "Only counted answers: no extra answers, none of excluded raters, and none rejected by a reviewer."
            )
        return _(
            "All submitted answers, also those over the wanted number, of excluded raters, and rejected ones; never "
            "those without the person's consent."
        )

    def description(self, catalogue: Catalogue, language: str) -> list[str]:
        """The sentences that stand beside the numbers."""
        stage = next(s for s in catalogue.stages if s.key == self.stage)
        texts = [self.raters_text(catalogue, "" if self.by == "field" else language)]
        if "model" in self.raters:
            texts.append(_("A model is one more rater in every cohort that was asked about the same item."))
        texts.append(self.inclusion_text())
        texts += [catalogue.withdrawn.words] if catalogue.withdrawn.answers else []
        texts += filter(None, [catalogue.withheld_text(self.stage)])
        if self.may_repeat:
            texts.append(self.repeats_text())
        texts.extend(self._narrowing_texts(stage))
        if self.concepts:
            texts.append(_("Only the concepts: %(concepts)s.") % {"concepts": ", ".join(self.concepts)})
        if self.by == "field":
            texts.append(_("Each question by the measure of its own level."))
        else:
            texts.extend(dict.fromkeys(str(measure.explained) for measure in self.measures))
        if self.label_rule:
            texts.append(f"{_('Labels of boxes')}: {LABEL_RULE_LABELS[self.label_rule]}.")
        if self.by == "all":
            texts.append(str(_TOGETHER[stage.has_target]))
        texts.append(self.interval_words())
        return texts

    def raters_text(self, catalogue: Catalogue, language: str) -> str:
        """Whose ratings, of the question in a language; without one, of every question."""
        stage = next(s for s in catalogue.stages if s.key == self.stage)
        campaigns = {c.id: c for c in stage.campaigns}
        names = ", ".join(campaigns[c].name for c in self.campaigns)
        label = self.question_label(catalogue, language)
        question = _("question “%(question)s”") % {"question": label} if language else _("every question")
        return str(_WHO[self.raters]) % {"stage": stage.name, "question": question, "campaigns": names}

    def question_label(self, catalogue: Catalogue, language: str) -> str:
        """The words of the question in a language, with “…” for the culture asked about."""
        stage = next(s for s in catalogue.stages if s.key == self.stage)
        campaign = next(c for c in stage.campaigns if c.id == self.campaigns[0])
        return localise(campaign.sheet.field(self.field).label, language).replace("{target}", "…")

    def interval_words(self) -> str:
        return str(_INTERVAL_WORDS[self.interval] % {})

    @property
    def may_repeat(self) -> bool:
        """Whether somebody can have answered a unit twice. One campaign counts one answer of each to a unit; among what
        does not count is also what a model said when it was asked again."""
        return len(self.campaigns) > 1 or self._asked_again

    @property
    def _asked_again(self) -> bool:
        return self.counted == "all" and "model" in self.raters

    def repeats_text(self) -> str:
        """Which of several answers counts."""
        latest = self.repeats == "latest"
        if self._asked_again:
            return (
                _("Where somebody answered twice, or a model was asked again, the latest answer.")
                if latest
                else _("Where somebody answered twice, or a model was asked again, the first answer.")
            )
        return (
            _("Where somebody answered twice, the latest answer.")
            if latest
            else _("Where somebody answered twice, the first answer.")
        )

    def dates_text(self) -> Iterator[str]:
        """Dates as they were asked for, with whose days they are."""
        days = {name: value for name, value in self.asked if name in ("since", "until")}
        if days:
            given = {name: date_format(date.fromisoformat(value), "DATE_FORMAT") for name, value in days.items()}
            words = _DATES["since" in given, "until" in given]
            yield str(words) % (given | {"zone": self.zone})

    def _narrowing_texts(self, stage: StageEntry) -> Iterator[str]:
        yield from self.dates_text()
        if self.versions:
            known = {pk: name for name, pk in stage.versions_of(self.campaigns).items()}
            named = ", ".join(known.get(pk, str(pk)) for pk in self.versions)
            yield _("Only versions of the sheet: %(versions)s.") % {"versions": named}


_WHO: dict[tuple[str, ...], Any] = {
    ("person",): gettext_lazy("Ratings by people, stage “%(stage)s”, %(question)s, from: %(campaigns)s."),
    ("model",): gettext_lazy("Ratings by models, stage “%(stage)s”, %(question)s, from: %(campaigns)s."),
    ("person", "model"): gettext_lazy(
        "Ratings by people and by models together, stage “%(stage)s”, %(question)s, from: %(campaigns)s."
    ),
}
_DATES: dict[tuple[bool, bool], Any] = {
    (True, True): gettext_lazy("Only answers submitted from %(since)s to %(until)s (%(zone)s)."),
    (True, False): gettext_lazy("Only answers submitted since %(since)s (%(zone)s)."),
    (False, True): gettext_lazy("Only answers submitted until %(until)s (%(zone)s)."),
}

_TOGETHER: dict[bool, Any] = {  # whether each cohort is asked about its own culture
    False: gettext_lazy("All cohorts together: answers of people of different cohorts to one item are compared too."),
    True: gettext_lazy("All cohorts together: the items of all, each compared within the cohort that was asked."),
}
_INTERVAL_WORDS: dict[str, Any] = {
    "units-and-raters": gettext_lazy("Interval: delete-one jackknife over items and raters, 95 %%."),
    "units": gettext_lazy("Interval: delete-one jackknife over items only, for the same people."),
    "raters": gettext_lazy("Interval: delete-one jackknife over raters only, for the same items."),
    "none": gettext_lazy("No interval was asked for."),
}


def select(
    catalogue: Catalogue, params: Params, *, field: str = "", zone: tzinfo = UTC, every_question: bool = False
) -> Selection:
    """Check a query string against what the benchmark has. Raises SelectionError; `catalogue` must have a stage.

    `field`: the question, where the caller and not the address says which; it need not have a measure (a text).
    `zone`: whose days the dates of the address are. `every_question`: for agreement of people, which every question of
    the sheet has; else only those whose answers are codes or groupings can be chosen.
    """
    stage = stage_of(catalogue, params, coded=not every_question and not field)
    campaigns = _campaigns(stage, params)
    entry = campaigns[0]
    fields = {f.key: f.key for f in (entry.sheet.fields if every_question else entry.fields)}
    if not fields and not field:
        raise SelectionError("field", _("No question of this stage has a measure of agreement."))
    first = entry.first_compared if every_question else next(iter(fields), "")
    field_key = field or _single(params, "field", fields, first)
    level: str = entry.sheet.agreement_level(field_key) if every_question else entry.sheet.level(field_key)
    options = entry.options_of(field_key) if every_question else ()
    measures = measure_labels(level, options)
    in_campaigns = {c for campaign in campaigns for c in campaign.cohorts}
    cohorts = {str(c): c for c in catalogue.cohorts if c in in_campaigns}
    wanted = {c for campaign in campaigns for c in (campaign.conditions or stage.conditions)}
    conditions = {c: c for c in stage.conditions if c in wanted}
    picked = _multiple(params, "cohort", cohorts) or list(cohorts)
    versions = stage.versions_of([c.id for c in campaigns])
    since, until = _period(params, zone)
    by = _parse_by(params, by_labels(entry, versions, len(cohorts)), pooled=not stage.has_target)
    return Selection(
        benchmark_id=catalogue.benchmark.pk,
        stage=stage.key,
        campaigns=tuple(sorted(c.id for c in campaigns)),
        field=field_key,
        level=level,
        measure=_single(params, "measure", measures, default_measure(level)),
        cohorts=tuple(cohorts[c] for c in picked),
        conditions=tuple(_multiple(params, "condition", conditions) or conditions),
        concepts=tuple(_multiple(params, "concept", {c: c for c in stage.concepts})),
        raters=RATERS[_single(params, "raters", rater_labels(stage, level), "people")],
        counted=_single(params, "counted", COUNTED_LABELS, "counted"),
        repeats=_single(params, "repeats", REPEATS_LABELS, "latest"),
        since=since,
        until=until,
        versions=tuple(versions[v] for v in _multiple(params, "version", versions)),
        interval=_single(params, "interval", INTERVAL_LABELS, "units-and-raters"),
        by=by,
        zone=str(zone),
        options=options,
        label_rule=_label_rule(params, entry),
        ask_as=_parse_measures(params, entry) if every_question else (),
        show_if=entry.sheet.field(field_key).show_if,
        asked=_request_params(params),
    )


def with_all_cohorts(selection: Selection) -> Selection:
    """The selection whose first row is of all its cohorts together, where it has several: the rule of the overview and
    of tables."""
    return replace(selection, by="all" if len(selection.cohorts) > 1 else "cohort")


def _label_rule(params: Params, entry: CampaignEntry) -> str:
    """`labels=ignore`, where some question asks for boxes with labels."""
    return _single(params, "labels", LABEL_RULE_LABELS, "must_match") if entry.has_labels else ""


def _parse_measures(params: Params, entry: CampaignEntry) -> tuple[tuple[str, str], ...]:
    """`as=question:measure`, once for each question at most."""
    known = {
        f"{one.key}:{measure}": (one.key, measure)
        for one in entry.sheet.fields
        for measure in measure_labels(entry.sheet.agreement_level(one.key), entry.options_of(one.key))
    }
    pairs = [known[value] for value in _multiple(params, "as", known)]
    if len(dict(pairs)) < len(pairs):
        raise SelectionError("as", _("Choose one measure for each question, not several."))
    return tuple(pairs)


def rater_labels(stage: StageEntry, level: str) -> Labels:
    """Models where some have answered; nobody compares a model's groupings yet."""
    return (
        RATER_LABELS if level not in ("partition", "none") and stage.has_models else {"people": RATER_LABELS["people"]}
    )


def by_labels(entry: CampaignEntry, versions: Mapping[str, int], n_cohorts: int) -> Labels:
    """By what the rows may be cut: questions, versions and cohorts together where there are several."""
    hidden = {"field"} if len(entry.sheet.fields) < 2 else set()
    hidden |= {"version"} if len(versions) < 2 else set()
    hidden |= {"all"} if n_cohorts < 2 else set()
    return {key: label for key, label in BY_LABELS.items() if key not in hidden}


def _parse_by(params: Params, labels: Labels, *, pooled: bool) -> str:
    """`pooled`: whether all cohorts together are the default, where there are several: none is asked about itself."""
    by = _single(params, "by", labels, "all" if pooled and "all" in labels else "cohort")
    for name in ("field", "measure") if by == "field" else ():
        if any(params.getlist(name)):
            raise SelectionError(
                name,
                _("By question, each has the measure of its own level. Remove “%(name)s”.") % {"name": name},
            )
    return by


def _period(params: Params, zone: tzinfo) -> tuple[datetime | None, datetime | None]:
    """From the first moment of the one day to the last of the other, in the reader's zone."""
    since, until = _day(params, "since"), _day(params, "until")
    if since and until and since > until:
        raise SelectionError("until", _("“Until” is before “Since”. Swap the dates."))
    start = datetime.combine(since, time.min, zone) if since else None
    return start, datetime.combine(until + DAY, time.min, zone) if until else None


def _day(params: Params, name: str) -> date | None:
    values = [value for value in params.getlist(name) if value]
    if len(values) > 1:
        raise SelectionError(name, _("Choose one value of “%(name)s”, not several.") % {"name": name})
    try:
        day = date.fromisoformat(values[0]) if values else None
    except ValueError:
        day = date.min
    if day and not date(1970, 1, 2) <= day <= date(9000, 1, 1):
        raise SelectionError(
            name,
            _("“%(value)s” is not a day for “%(name)s”. Write it as 2026-03-01.")
            % {"value": values[0][:60], "name": name},
        )
    return day


NAMES = (
    "stage", "campaign", "field", "by", "as", "measure", "interval", "counted", "repeats", "labels", "raters", "cohort",
    "condition", "concept", "version", "since", "until",
)  # fmt: skip


def _request_params(params: Params) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name in NAMES for value in params.getlist(name) if value)


def stage_of(catalogue: Catalogue, params: Params, *, coded: bool = False) -> StageEntry:
    """The stage that the address names, or that of its campaign; else the one that can be compared by now, with `coded`
    one that has a question with codes. Raises SelectionError."""
    stages = {stage.key: stage for stage in catalogue.stages}
    if named := _single(params, "stage", stages, ""):
        return stages[named]
    campaigns = {value for value in params.getlist("campaign") if value}
    if of_campaign := [stage for stage in catalogue.stages if campaigns & {str(one.id) for one in stage.campaigns}]:
        return of_campaign[0]
    first = catalogue.shown_first
    if first.current[0].fields or not coded:
        return first
    return next((stage for stage in catalogue.stages if stage.current[0].fields), first)


def _campaigns(stage: StageEntry, params: Params) -> list[CampaignEntry]:
    known = {str(c.id): c for c in stage.campaigns}
    campaigns = [known[c] for c in _multiple(params, "campaign", known)] or list(stage.current)
    if len({c.major for c in campaigns}) > 1:
        raise SelectionError("campaign", _("These campaigns use different options. Choose one campaign."))
    return campaigns


def _multiple(params: Params, name: str, known: Mapping[str, Any]) -> list[str]:
    values = [value for value in params.getlist(name) if value]
    for value in values:
        if value not in known:
            raise SelectionError(name, _unknown(name, value, known))
    return [value for value in known if value in values]


def _single(params: Params, name: str, known: Mapping[str, Any], default: str) -> str:
    values = _multiple(params, name, known)
    if len(values) > 1:
        raise SelectionError(name, _("Choose one value of “%(name)s”, not several.") % {"name": name})
    return values[0] if values else default


def refuse_unknown(name: str, value: str, known: Iterable[str]) -> None:
    """For what a page has to choose besides the selection: raises SelectionError where `value` is not of `known`."""
    if value and value not in list(known):
        raise SelectionError(name, _unknown(name, value, known))


def _unknown(name: str, value: str, known: Iterable[str]) -> str:
    listed = list(known)
    some = ", ".join(listed[:12]) + (", …" if len(listed) > 12 else "")
    return _("“%(value)s” is not a value of “%(name)s” here. There are: %(known)s.") % {
        "value": value[:60], "name": name, "known": some or "-",
    }  # fmt: skip


__all__ = ["BY_KEY", "Selection", "SelectionError", "measure_labels", "select"]
