"""What the site says of campaigns, runs, releases and events. A test compares each with the description of the API."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from .records import RowRecord


@dataclass(frozen=True)
class CampaignRecord(RowRecord):
    """`cohorts` are as the site sends them: cohort, label, wanted, most_per_person, most_per_day, paused."""

    id: int = 0
    stage: str = ""
    name: str = ""
    summary: str = ""
    state: str = ""
    conditions: list[str] = field(default_factory=list)
    sheet_version: str = ""
    opens_on: date | None = None
    closes_on: date | None = None
    created_at: datetime | None = None
    opened_at: datetime | None = None
    closed_at: datetime | None = None
    cohorts: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class CohortProgress(RowRecord):
    """How far a cohort is: answers wanted, in progress, submitted, and items skipped."""

    cohort: int = 0
    label: str = ""
    wanted: int = 0
    reserved: int = 0
    submitted: int = 0
    skipped: int = 0


@dataclass(frozen=True)
class RunRecord(RowRecord):
    """`rater` is the name of the model in tables; money is text, so that no digit is lost."""

    id: int = 0
    task: str = ""
    state: str = ""
    stopped_because: str = ""
    campaign: int | None = None
    endpoint: int | None = None
    rater: str = ""
    setting: str = ""
    model: str = ""
    revision: str = ""
    prompt: str = ""
    prompt_version: str = ""
    prompt_options: dict[str, Any] = field(default_factory=dict)
    decoding: dict[str, Any] = field(default_factory=dict)
    selection: dict[str, Any] = field(default_factory=dict)
    repeats: int = 0
    seed: int = 0
    budget: str | None = None
    follows: bool = False
    job: int | None = None
    created_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    withdrawn_at: datetime | None = None


@dataclass(frozen=True)
class RunPlan(RowRecord):
    """What a run would ask and cost. `tokens_in`, `tokens_out`: least and most. `dollars` is None without a price."""

    prompt: str = ""
    model: str = ""
    units: int = 0
    calls: int = 0
    cached: int = 0
    to_ask: int = 0
    cannot_be_asked: dict[str, int] = field(default_factory=dict)
    tokens_in: list[int] = field(default_factory=list)
    tokens_out: list[int] = field(default_factory=list)
    dollars: dict[str, str] | None = None
    exact: bool = True
    item: str = ""
    target: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list, repr=False)


@dataclass(frozen=True)
class RunCost(RowRecord):
    """How far a run is, and what it cost. `dollars` leaves out `calls_of_unknown_cost`."""

    total: int = 0
    ended: int = 0
    in_flight: int = 0
    by_state: dict[str, int] = field(default_factory=dict)
    cached: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: str = ""
    unaccounted: str = ""
    calls_of_unknown_cost: int = 0
    calls_a_minute: float | None = None
    seconds_left: float | None = None


@dataclass(frozen=True)
class PlanRecord(RowRecord):
    """Runs that were planned together. `state`: what was last wanted of it; `PlanCost` says what its runs do."""

    id: int = 0
    state: str = ""
    budget: str | None = None
    seed: int = 0
    created_at: datetime | None = None
    runs: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class PlanPreview(RowRecord):
    """What a plan would start. `cannot_be_asked`: items over all runs, which `confirmed` has to name. `runs`: as the
    site sends them; a run that exists has its number, and one that cannot start a reason."""

    new: int = 0
    existing: int = 0
    requests: int = 0
    cannot_be_asked: int = 0
    dollars: dict[str, str] | None = None
    runs: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class PlanCost(RowRecord):
    """How far the runs of a plan are, and what they cost. `failed`: runs."""

    state: str = ""
    answered: int = 0
    total: int = 0
    ended: int = 0
    failed: int = 0
    dollars: str = ""
    unaccounted: str = ""
    has_unknown_cost: bool = False


@dataclass(frozen=True)
class ReviewBatchRecord(RowRecord):
    """A sample of an author's waiting answers. `limit`: the share that may be refused; `accepted`, `refused` and
    `undecided` are of the sample."""

    id: int = 0
    stage: str = ""
    author: str = ""
    state: str = ""
    drawn: int = 0
    population: int = 0
    seed: int = 0
    limit: float = 0.0
    accepted: int = 0
    refused: int = 0
    undecided: int = 0
    at: datetime | None = None
    accepted_at: datetime | None = None


@dataclass(frozen=True)
class ResolutionRecord(RowRecord):
    """What settled one question. `answer` is None where it cannot be decided, `chosen_annotation` where another answer
    was given, `ended_at` while it holds."""

    id: int = 0
    item: str = ""
    target: str = ""
    field: str = ""
    code: str = ""
    answer: Any = None
    chosen_annotation: int | None = None
    annotation: int = 0
    reason: str = ""
    by: str = ""
    at: datetime | None = None
    version: int = 0
    ended_at: datetime | None = None


@dataclass(frozen=True)
class StageInput(RowRecord):
    """A run whose answers a stage may judge. `id` is of the model and its run together; counts are of answers and the
    items that were made of them."""

    answers: int = 0
    waiting: int = 0
    items: int = 0
    judged: int = 0
    unreadable: int = 0
    renewed: int = 0
    without_answer: int | None = None
    id: str = ""
    model: str = ""
    setting: str = ""
    run: int | None = None
    chosen: bool = False


@dataclass(frozen=True)
class SecondReviews(RowRecord):
    """How many decisions are made a second time: `percent` of them; those that were drawn, decided, and in conflict."""

    percent: float = 0.0
    drawn: int = 0
    decided: int = 0
    conflicts: int = 0


@dataclass(frozen=True)
class WebhookRecord(RowRecord):
    """`state`: active, off or failed. `benchmark` is None where it is of all benchmarks of the team."""

    id: int = 0
    team: str = ""
    benchmark: str | None = None
    url: str = ""
    verbs: list[str] = field(default_factory=list)
    state: str = ""
    active: bool = True
    failing_since: datetime | None = None
    old_secret_until: datetime | None = None
    created_at: datetime | None = None


@dataclass(frozen=True)
class DeliveryRecord(RowRecord):
    """A message of a webhook. `state`: waiting, delivered or failed. `message_id` is the same at every attempt."""

    id: int = 0
    message_id: str = ""
    type: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    state: str = ""
    happened_at: datetime | None = None
    next_at: datetime | None = None
    attempts: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class ServiceAccount(RowRecord):
    """A program of a team, which has tokens of its own."""

    id: int = 0
    name: str = ""
    created_at: datetime | None = None


@dataclass(frozen=True)
class ServiceToken(RowRecord):
    """A token of a service account. `token` is its text where it was made just now; it is never shown in a repr."""

    id: int = 0
    name: str = ""
    prefix: str = ""
    scopes: list[str] = field(default_factory=list)
    benchmarks: list[int] = field(default_factory=list)
    created_at: datetime | None = None
    last_used_at: datetime | None = None
    expires_at: datetime | None = None
    rate: int | None = None
    token: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class ReleaseRecord(RowRecord):
    """`errors` must be put right and `warnings` confirmed before it is published; a release out of a list has None, and
    `refresh` reads them. `rows` are by table, `splits` in percent; `withheld` is the split whose answers are not in the
    files; `need` is the lowest version, with reasons."""

    id: int = 0
    version: str = ""
    state: str = ""
    notes: str = ""
    stages: list[str] = field(default_factory=list)
    formats: list[str] = field(default_factory=list)
    images: str = ""
    embed: bool = False
    vectors: bool = False
    splits: dict[str, int] = field(default_factory=dict)
    group_by: str = ""
    seed: int = 0
    withheld: str = ""
    versions: bool = False
    parent: str | None = None
    job: int | None = None
    watermark: int | None = None
    manifest_sha256: str = ""
    created_at: datetime | None = None
    frozen_at: datetime | None = None
    built_at: datetime | None = None
    published_at: datetime | None = None
    withdrawn_at: datetime | None = None
    withdrawn_because: str = ""
    errors: list[str] | None = None
    warnings: list[str] | None = None
    withdrawn_since: dict[str, int] | None = None
    rows: dict[str, int] = field(default_factory=dict)
    need: dict[str, Any] | None = None
    files: str = field(default="", repr=False)


@dataclass(frozen=True)
class ReleaseFile(RowRecord):
    """A file of a release. `rows` is None where it is no table."""

    path: str = ""
    sha256: str = ""
    bytes: int = 0
    rows: int | None = None
    media_type: str = ""
    address: str = field(default="", repr=False)


@dataclass(frozen=True)
class ExportRecord(RowRecord):
    """An export. `file` is None until it is done, and when the site keeps it no longer."""

    id: int = 0
    state: str = ""
    stage: str = ""
    campaigns: list[int] = field(default_factory=list)
    format: str = ""
    versions: bool = False
    created_at: datetime | None = None
    error: str = ""
    file: dict[str, Any] | None = None


@dataclass(frozen=True)
class Event(RowRecord):
    """Something that happened. `target` is what it is about, as kind:number; `data` holds numbers and codes. `after` is
    the position behind it."""

    id: int = 0
    at: datetime | None = None
    verb: str = ""
    benchmark: str = ""
    target: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    after: str = field(default="", repr=False)


@dataclass(frozen=True)
class TeamRecord(RowRecord):
    id: int = 0
    slug: str = ""
    name: str = ""
    cohorts: str = field(default="", repr=False)


@dataclass(frozen=True)
class Cohort(RowRecord):
    """A group of people who answer for one culture. `members` is the number of active ones."""

    id: int = 0
    label: str = ""
    names: dict[str, str] = field(default_factory=dict)
    country: str = ""
    languages: list[str] = field(default_factory=list)
    direction: str = ""
    time_zone: str = ""
    paused: bool = False
    members: int = 0
