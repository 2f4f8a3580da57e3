"""What a table is made from: the benchmark's answers and runs, each read once, and the options in force."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from urllib.parse import urlencode

import numpy as np
from django.db.models import Exists, OuterRef
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Annotation
from benchmarks.models import Benchmark
from evaluation.metrics.intervals import Interval, Scale
from evaluation.queries.observations import Observations, RawAnswer, answers, observe
from evaluation.rendering.report import Row, Words
from evaluation.selections.catalogue import CampaignEntry, Catalogue, StageEntry
from evaluation.selections.selection import Params, Selection, select
from evaluation.tables.ranked_lists import RankedLists, labels_of, ranked_lists
from evaluation.tables.sources import (
    CAMPAIGNS,
    COLLECTION,
    RUNS,
    SETTINGS,
    Choice,
    SourceError,
    Usable,
    by_collection,
    choose_one,
    choose_some,
    every,
    name_of,
    setting_of,
    title_of,
)
from evaluation.tables.table import ActionLink, MissingData, Table, TableHeading
from people.models import Rater
from predictions.models import Collection, Run
from predictions.queries.results import VECTORS_LEFT_OUT, runs_of

EVERYBODY = ("person", "model")
NARROWING = ("cohort", "condition", "concept", "counted", "repeats", "interval", "since", "until")


PREDICTIONS = ActionLink("predictions:index", gettext_lazy("View predictions"))


def _open_one(stage: str) -> ActionLink:
    return ActionLink("annotation:campaign_new", _("Open a campaign"), query=urlencode({"stage": stage}))


def _import_answers_link(campaign: int, *, by_people: bool) -> ActionLink:
    run = None if by_people else campaign
    return ActionLink("annotation:answers_import", _("Import answers"), (campaign,), campaign=run)


@dataclass
class TableInputs:
    """`params` is the address's query; `chosen` the options, each checked against those of the heading."""

    heading: TableHeading
    benchmark: Benchmark
    catalogue: Catalogue
    params: Params
    chosen: Mapping[str, str]
    at: datetime
    watermark: int
    zone: tzinfo = UTC  # whose days the address's dates are
    used_selections: list[Selection] = field(default_factory=list)
    used_runs: dict[int, Run] = field(default_factory=dict)
    choices: dict[str, Choice] = field(default_factory=dict)  # of what is read, as far as it has been read
    _seen: dict[tuple[str, str, tuple[str, ...]], Observations] = field(default_factory=dict)

    def selection(self, stage: str, field_key: str, raters: tuple[str, ...] = EVERYBODY) -> Selection:
        """By the address's cohorts, conditions, dates and so on; the stage and the question are the table's own.

        Raises MissingData when nobody has been asked yet, SelectionError when the address asks for what is not there.
        """
        entry = self._entry(stage)
        query = QueryDict(mutable=True)
        for name in NARROWING:
            query.setlist(name, self.params.getlist(name))
        query["stage"] = stage
        campaigns = self.campaigns_of(entry)
        if campaigns != entry.current:
            query.setlist("campaign", [str(one.id) for one in campaigns])
        if field_key not in {one.key for one in campaigns[0].sheet.fields}:
            text = _("The stage “%(stage)s” does not ask for “%(field)s”. Open a campaign whose sheet does.")
            raise MissingData(text % {"stage": entry.name, "field": field_key}, _open_one(stage))
        return replace(select(self.catalogue, query, field=field_key, zone=self.zone), raters=raters)

    def _entry(self, stage: str) -> StageEntry:
        """Raises MissingData where no campaign of the stage was opened yet."""
        entry = next((one for one in self.catalogue.stages if one.key == stage), None)
        if entry is None:
            raise self._missing_campaign(stage)
        return entry

    def campaigns_of(self, entry: StageEntry) -> tuple[CampaignEntry, ...]:
        """The stage's campaigns that the address asks for, else those that asked with the newest codes."""
        values = {str(one.id): f"{entry.name}: {one.name}" for one in entry.campaigns}
        known = [str(one.id) for stage in self.catalogue.stages for one in stage.campaigns]
        asked = self._asked(CAMPAIGNS, known)
        self._some(CAMPAIGNS, values, asked, known)
        picked = tuple(one for one in entry.campaigns if str(one.id) in asked) or entry.current
        before = self.choices.get(CAMPAIGNS, Choice(CAMPAIGNS, {}, (), several=True))
        ids = [*before.chosen, *(str(one.id) for one in picked)]
        merged = {**before.values, **values}
        self.choices[CAMPAIGNS] = replace(before, values=merged, chosen=tuple(dict.fromkeys(ids)))
        return picked

    def scale(self, stage: str, field_key: str) -> Scale | None:
        """The ends of a question's rating scale, beyond which no mean lies; None where it has no such ends."""
        config = self.campaigns_of(self._entry(stage))[0].sheet.field(field_key).config
        try:
            codes = [float(point.code) for point in getattr(config, "points", ())]
        except ValueError:
            return None
        return Scale("identity", limits=(min(codes), max(codes))) if len(codes) > 1 else None

    def observed(self, stage: str, field_key: str, raters: tuple[str, ...] = EVERYBODY) -> Observations:
        """Raises MissingData without any rating."""
        key = (stage, field_key, raters)
        if key not in self._seen:
            selection = self.selection(stage, field_key, raters)
            self.used_selections.append(selection)
            seen, without = observe(selection), self.models_left_out(selection)
            place = [n for n, who in enumerate(seen.raters) if who.pk in without]
            self._seen[key] = seen.where(~np.isin(seen.rater, place)) if place else seen
        if not self._seen[key].n:
            raise self.no_ratings(stage, raters)
        return self._seen[key]

    def models_left_out(self, selection: Selection) -> frozenset[int]:
        """Ids of the team's model raters whose prompt variant is not among those chosen; none by default."""
        if "model" not in selection.raters:
            return frozenset()
        models = Rater.objects.filter(kind=Rater.Kind.MODEL, team=self.benchmark.team_id)
        answered = Annotation.objects.filter(
            rater=OuterRef("pk"), live=True, assignment__campaign__in=selection.campaigns
        )
        answered_settings = (
            models.filter(Exists(answered)).order_by("setting").values_list("setting", flat=True).distinct()
        )
        settings = {pk: setting_of(setting) for pk, setting in models.values_list("pk", "setting")}
        before = self.choices.get(SETTINGS)
        values = {
            **(before.values if before else {}),
            **{setting_of(one): setting_of(one) for one in answered_settings},
        }
        known = list(settings.values())
        chosen = self._some(SETTINGS, values, self._asked(SETTINGS, known), known)
        if not chosen.narrowed:
            return frozenset()
        return frozenset(pk for pk, setting in settings.items() if setting not in chosen.chosen)

    def no_ratings(self, stage: str, raters: tuple[str, ...] = EVERYBODY) -> MissingData:
        entry = next(one for one in self.catalogue.stages if one.key == stage)
        text = _("There are no ratings in the stage “%(stage)s” yet.") % {"stage": entry.name}
        text = " ".join(filter(None, (text, self.catalogue.withheld_text(stage))))
        return MissingData(text, _import_answers_link(entry.current[0].id, by_people="model" not in raters))

    def _missing_campaign(self, key: str) -> MissingData:
        stage = self.benchmark.stages.filter(key=key).first()
        if stage is None:
            text = _("This benchmark has no stage “%(stage)s”. Add it under Stages.") % {"stage": key}
            return MissingData(text, ActionLink("annotation:stages", _("View stages")))
        text = _("The stage “%(stage)s” has no campaign yet. Open one, or import answers into it.")
        return MissingData(text % {"stage": stage.name}, _open_one(key))

    def action_for(self, missing: MissingData) -> ActionLink | None:
        """Where the last thing that was read came in."""
        if self.used_runs:
            return PREDICTIONS
        return (
            _import_answers_link(self.used_selections[-1].campaigns[-1], by_people=missing.by_people)
            if self.used_selections
            else None
        )

    def answers(self, stage: str, field_key: str, raters: tuple[str, ...] = EVERYBODY) -> Iterator[RawAnswer]:
        selection = self.selection(stage, field_key, raters)
        self.used_selections.append(selection)
        without = self.models_left_out(selection)
        return (one for one in answers(selection) if one.rater.pk not in without)

    def runs(self, task: str, usable: Usable = every, option: str = COLLECTION) -> list[Run]:
        """Complete runs of the task over one collection: the one that the address asks for (`option`), else the newest
        that has usable runs. Empty where no collection has any.

        Raises MissingData without any complete run of the task, InvalidOption for an unknown collection or run.
        """
        runs = runs_of(self.benchmark, task)
        if not runs:
            raise MissingData(_("There are no predictions of this kind yet."), PREDICTIONS)
        return self.of_collection(by_collection(runs, usable), option)

    def ranked_lists(self) -> list[RankedLists]:
        """Of the retrieval runs. Raises MissingData where they have none."""
        lists_of_runs = ranked_lists(self.runs("retrieval"))
        if not lists_of_runs:
            raise MissingData(_("The runs have no lists. Import them again."))
        return lists_of_runs

    def of_collection(self, grouped: Mapping[Collection, list[Run]], option: str = COLLECTION) -> list[Run]:
        """The runs over the collection that is chosen. The collection that the table is about (COLLECTION) goes before
        a newer one where embeddings are looked for, and its runs can be chosen one by one."""
        if not grouped:
            return []
        named = {name_of(one): one for one in grouped}
        ids = {name: [str(run.pk) for run in grouped[one]] for name, one in named.items()}
        known = [pk for some in ids.values() for pk in some]
        asked = self._asked(RUNS, known) if option == COLLECTION else []
        own = self.choices[COLLECTION].chosen[0] if COLLECTION in self.choices else ""
        default = next((name for name, some in ids.items() if set(asked) & set(some)), own if own in named else "")
        default = self.preferred(grouped) or default
        name = self.choose(option, {one: title_of(named[one]) for one in named}, default)
        runs = grouped[named[name]]
        if option == COLLECTION:
            return self.choose_runs(runs, labels_of(runs), known)
        self.used_runs |= {run.pk: run for run in runs}
        return runs

    def preferred(self, grouped: Mapping[Collection, list[Run]]) -> str:
        """The collection that another choice of the address needs, for who has such; else empty."""
        return ""

    def leave_out(self, runs: Iterable[Run]) -> None:
        """Runs that were read and that no row shows: the note of what was counted does not name them."""
        for run in runs:
            self.used_runs.pop(run.pk, None)

    def choose_runs(self, runs: Sequence[Run], labels: Mapping[int, str], known: Sequence[str] = ()) -> list[Run]:
        """Those of the runs that the address asks for, else all. `known`: ids of runs over other collections, which
        choose nothing here. Raises InvalidOption."""
        picked = self._some(RUNS, {str(run.pk): labels[run.pk] for run in runs}, self._asked(RUNS, known), known)
        kept = [run for run in runs if str(run.pk) in picked.chosen]
        self.used_runs |= {run.pk: run for run in kept}
        return kept

    def choose(self, key: str, values: Mapping[str, Words], default: str = "") -> str:
        """The one value in force. Raises InvalidOption."""
        try:
            self.choices[key] = choose_one(key, values, self._asked(key, list(values)), default)
        except SourceError as error:
            raise invalid_option(error.name, error.value, error.known) from None
        return self.choices[key].chosen[0]

    def _some(self, key: str, values: Mapping[str, Words], asked: Sequence[str], known: Sequence[str]) -> Choice:
        try:
            choice = choose_some(key, values, asked, known)
        except SourceError as error:
            raise invalid_option(error.name, error.value, error.known) from None
        if key != CAMPAIGNS:  # whose default is not all of them
            self.choices[key] = choice
        return choice

    def _asked(self, key: str, known: Sequence[str]) -> list[str]:
        """Values in the address; `known` is for who reads only what is known."""
        return [str(value) for value in self.params.getlist(key) if value]

    @property
    def interval(self) -> Interval:
        return self.used_selections[-1].interval_spec if self.used_selections else Interval()

    def table(self, *, corner: Words, columns: list[Words], rows: list[Row], words: list[Words] | None = None) -> Table:
        """The table with what stands beside it: what was counted, and the options."""
        return Table(
            key=self.heading.key,
            number=self.heading.number,
            title=self.heading.title,
            corner=corner,
            columns=tuple(columns),
            rows=tuple(rows),
            words=(*(words or ()), *self.source_words(), *self._options()),
            counted=tuple(dict.fromkeys(self.used_selections)),
            runs=tuple(self.used_runs.values()),
            chosen={**self.chosen, **{key: choice.value for key, choice in self.choices.items()}},
            choices=tuple(self.choices.values()),
            computed_at=self.at,
            watermark=self.watermark,
        )

    def source_words(self) -> Iterator[str]:
        """What was chosen of what there is to read. All runs, campaigns and variants are named elsewhere."""
        for choice in self.choices.values():
            if choice.narrowed or not choice.several:
                yield choice.sentence()
        if without := [run for run in self.used_runs.values() if run.options.get(VECTORS_LEFT_OUT)]:
            text = _(
                "Vectors of %(runs)s are not in the release that they came with; numbers made of them are missing."
            )
            yield text % {"runs": ", ".join(sorted({run.rater.name for run in without}))}

    def _options(self) -> Iterator[str]:
        for option in self.heading.options:
            yield f"{option.label}: {option.values[self.chosen[option.key]]}."


class InvalidOption(ValueError):
    """`name` has a value the table does not offer; `message` says which there are, in the reader's language."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name, self.message = name, message


def invalid_option(name: str, value: str, known: Sequence[str]) -> InvalidOption:
    text = _("“%(value)s” is not a value of “%(name)s” here. There are: %(known)s.")
    return InvalidOption(name, text % {"value": value[:60], "name": name, "known": ", ".join(known) or "-"})
