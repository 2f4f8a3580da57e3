"""What a benchmark has to be chosen from: the allow-lists every selection is checked against."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from django.db.models import Count, Exists, Max, OuterRef
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Annotation, Campaign, CampaignCohort, SheetVersion, Tally
from annotation.queries.answers import Withdrawn, withdrawn_of
from annotation.sheets.conditions import sort_conditions
from annotation.sheets.sheet import Field, Sheet
from benchmarks.models import Benchmark, Item, Stage
from evaluation.selections.measures import CODED
from jobs.queries.read_once import read_once
from people.models import Cohort, Rater

JUDGING = "verdicts"  # the derivation that makes items of answers
POOLED = 0  # the id of all cohorts together, in place of a cohort's


@dataclass(frozen=True)
class CampaignEntry:
    id: int
    name: str
    state: str
    major: int
    sheet: Sheet
    conditions: tuple[str, ...]
    cohorts: tuple[int, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        """Questions whose answers are codes or groupings."""
        return tuple(field for field in self.sheet.fields if self.sheet.level(field.key) in (*CODED, "partition"))

    @property
    def has_labels(self) -> bool:
        """Whether some question asks for boxes with labels."""
        return any(field.spec.part_labels(field.config) for field in self.sheet.fields)

    @property
    def first_compared(self) -> str:
        """The question that stands for the sheet where none is chosen: the first with codes, else the first that is
        compared by default."""
        keys = [field.key for field in self.sheet.fields]
        compared = [key for key in keys if self.sheet.agreement_level(key) not in ("text", "none")]
        return next(iter([field.key for field in self.fields] or compared or keys))

    def options_of(self, key: str) -> tuple[str, ...]:
        """Codes of the options of a question with several choices, where they are the same for every item."""
        field = self.sheet.field(key)
        return tuple(option.code for option in field.spec.agreement_options(field.config))


@dataclass(frozen=True)
class StageEntry:
    """A stage with the campaigns that were ever opened, newest first."""

    id: int
    key: str
    name: str
    campaigns: tuple[CampaignEntry, ...]
    benchmark: Benchmark
    has_target: bool = True
    judges: bool = False  # whether its items are answers that were given in another stage
    asks_people: bool = True
    asks_own_culture: bool = False  # each cohort is asked about its own only: cohorts share no unit

    @property
    def called(self) -> str:
        """With its campaign, if there is one alone: people may know either name."""
        [first, *rest] = [campaign.name for campaign in self.campaigns]
        return self.name if rest or first == self.name else f"{self.name}: {first}"

    @property
    def current(self) -> tuple[CampaignEntry, ...]:
        """Campaigns that asked with the same codes as the newest one: only these can be counted together."""
        return tuple(c for c in self.campaigns if c.major == self.campaigns[0].major)

    @cached_property
    def conditions(self) -> tuple[str, ...]:
        rows = Item.objects.filter(stage_id=self.id).order_by("condition")
        return tuple(sort_conditions(self.benchmark, rows.values_list("condition", flat=True).distinct()))

    @cached_property
    def versions(self) -> tuple[tuple[int, int, int], ...]:
        """Of the stage's sheet, oldest first: key, major, minor."""
        rows = SheetVersion.objects.filter(stage_id=self.id).order_by("major", "minor")
        return tuple(rows.values_list("pk", "major", "minor"))

    def versions_of(self, campaigns: Collection[int]) -> dict[str, int]:
        """Those with the codes of these campaigns, as "1.2": others could not have been answered there."""
        majors = {c.major for c in self.campaigns if c.id in campaigns}
        return {f"{major}.{minor}": pk for pk, major, minor in self.versions if major in majors}

    @cached_property
    def has_models(self) -> bool:
        """Whether a model has answered in one of the campaigns. Models are few, so they are looked for first."""
        models = Rater.objects.filter(team=self.benchmark.team_id, kind=Rater.Kind.MODEL)
        annotations = Annotation.objects.filter(rater__in=models, live=True)
        return annotations.filter(assignment__campaign__in=[c.id for c in self.campaigns]).exists()

    @cached_property
    def concepts(self) -> tuple[str, ...]:
        rows = Item.objects.filter(stage_id=self.id).exclude(concept="").order_by("concept")
        return tuple(rows.values_list("concept", flat=True).distinct())


@dataclass(frozen=True)
class Catalogue:
    benchmark: Benchmark
    stages: tuple[StageEntry, ...]
    cohorts: dict[int, Cohort]

    def with_pooled(self) -> "Catalogue":
        """With all cohorts together, which stand in tables as a cohort does."""
        return replace(self, cohorts={POOLED: Cohort(pk=POOLED, label=_("All cohorts")), **self.cohorts})

    @property
    def names(self) -> list[object]:
        """What reports say of stages, campaigns and cohorts, besides their numbers."""
        stages = [
            (stage.key, stage.name, [(c.id, c.name, c.state, c.major) for c in stage.campaigns])
            for stage in self.stages
        ]
        cohorts = [(pk, cohort.label, cohort.name, cohort.country) for pk, cohort in self.cohorts.items()]
        return [self.benchmark.name, stages, cohorts, *self.withheld.items()]

    @cached_property
    def shown_first(self) -> StageEntry:
        """The first stage with answers of people to a question with codes: one that wants several of each item, where
        there is one. The first of all stages while nobody has answered."""
        if len(self.stages) == 1:
            return self.stages[0]
        wanted = self.answered
        answered = [stage for stage in self.stages if stage.id in wanted and stage.current[0].fields]
        return next((stage for stage in answered if wanted[stage.id] > 1), next(iter(answered), self.stages[0]))

    @cached_property
    def answered(self) -> dict[int, int]:
        """Stages in which people have answered, with the most answers that one cohort was asked for of an item."""
        rows = Tally.objects.filter(cohort__campaign__stage__in=[stage.id for stage in self.stages], submitted__gt=0)
        return dict(rows.values_list("cohort__campaign__stage").annotate(Max("cohort__target_answers")))

    @cached_property
    def with_people(self) -> frozenset[str]:
        """Stages, by key, that ask people or have answers of theirs, also of a file."""
        without = [stage.id for stage in self.stages if not stage.asks_people and stage.id not in self.answered]
        of_people = Annotation.objects.filter(live=True, rater__kind=Rater.Kind.PERSON)
        imported = of_people.filter(assignment__campaign__stage=OuterRef("pk"))
        there = Stage.objects.filter(Exists(imported), pk__in=without).values_list("pk", flat=True) if without else ()
        left_out = {*without} - {*there}
        return frozenset(stage.key for stage in self.stages if stage.id not in left_out)

    @cached_property
    def withheld(self) -> Mapping[str, int]:
        """Of a benchmark that was imported: by stage how many items have answers that the release withholds."""
        if not self.benchmark.imported:
            return {}
        items = Item.objects.filter(stage__in=[stage.id for stage in self.stages], answers_withheld=True)
        return dict(items.values_list("stage__key").annotate(n=Count("pk")).order_by("stage__key"))

    def withheld_text(self, key: str) -> str:
        """A sentence on the withheld answers of a stage; empty where there are none."""
        n = self.withheld.get(key, 0)
        if not n:
            return ""
        text = ngettext(
            "The answers to %(n)s item of the stage “%(stage)s” are withheld in the release that it was imported from.",
            "The answers to %(n)s items of the stage “%(stage)s” are withheld in the release that they were imported"
            " from.",
            n,
        )
        return text % {"n": n, "stage": next(stage.name for stage in self.stages if stage.key == key)}

    @cached_property
    def withdrawn(self) -> Withdrawn:
        """Answers of the benchmark that no number counts, because their authors withdrew their consent."""
        return withdrawn_of(self.benchmark)


def catalogue_of(benchmark: Benchmark) -> Catalogue:
    """Stages with at least one campaign that was ever opened; a discarded draft was not."""
    return read_once(("catalogue", benchmark.pk), lambda: _read_catalogue(benchmark))


def _read_catalogue(benchmark: Benchmark) -> Catalogue:
    campaigns = (
        Campaign.objects.filter(stage__benchmark=benchmark)
        .exclude(opened_at=None)
        .select_related("sheet_version")
        .order_by("-pk")
    )
    cohorts: dict[int, list[int]] = defaultdict(list)
    people: dict[int, Cohort] = {}
    opened = CampaignCohort.objects.filter(campaign__in=campaigns).select_related("cohort").order_by("cohort__label")
    for row in opened:
        cohorts[row.campaign_id].append(row.cohort_id)
        people[row.cohort_id] = row.cohort
    by_stage: dict[int, list[CampaignEntry]] = defaultdict(list)
    for campaign in campaigns:
        by_stage[campaign.stage_id].append(_entry(campaign, tuple(cohorts[campaign.pk])))
    stages = Stage.objects.filter(pk__in=by_stage).order_by("position", "pk")
    entries = tuple(
        StageEntry(
            s.pk, s.key, s.name, tuple(by_stage[s.pk]), benchmark, s.has_target,
            judges=bool(s.derivation) and s.derivation.get("kind") == JUDGING, asks_people=s.target_answers > 0,
            asks_own_culture=s.asks_own_culture,
        )
        for s in stages
    )  # fmt: skip
    return Catalogue(benchmark, entries, dict(sorted(people.items(), key=lambda pair: pair[1].name)))


def _entry(campaign: Campaign, cohorts: tuple[int, ...]) -> CampaignEntry:
    return CampaignEntry(
        id=campaign.pk,
        name=campaign.name,
        state=campaign.state,
        major=campaign.sheet_version.major,
        sheet=Sheet.from_json(campaign.sheet_version.definition, stored=True),
        conditions=tuple(campaign.conditions),
        cohorts=cohorts,
    )
