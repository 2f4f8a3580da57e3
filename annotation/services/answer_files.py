"""Answers out of a file: a job that takes rows one by one, can be stopped, and gone on with."""

import hashlib
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.displays.shown import shown_for, upload_of
from annotation.fields.messages import worded
from annotation.imports import source
from annotation.imports.rows import Said, clean, said
from annotation.models import (
    Annotation,
    Assignment,
    Campaign,
    CampaignCohort,
    Exclusion,
    Rating,
    Review,
    Unit,
    Upload,
)
from annotation.services import outbox, rules, slots
from annotation.services.file_raters import raters_for
from annotation.services.file_withdrawals import WITHDRAWN, keys_of
from annotation.services.reviews import BECOMES, REJECTED, Decision
from annotation.services.sheet_versions import sheet_of
from annotation.sheets import Parsed, Sheet
from benchmarks import storage
from benchmarks.imports.problems import RowProblem, SourceProblem
from benchmarks.models import Image, Item
from jobs import services as jobs
from jobs.kinds import Kind, Next
from jobs.models import Job, JobRow, record
from jobs.runner import JobFailed, Work
from people.models import Cohort, Rater, Team, User

KIND = "import_answers"
STEP = 100
Outcome = JobRow.Outcome
CLOSED = "closed"


@dataclass(frozen=True)
class Place:
    """Where the answers go."""

    campaign: Campaign
    sheet: Sheet
    cohorts: Mapping[str, CampaignCohort]
    digest: str

    @property
    def team(self) -> Team:
        return self.campaign.stage.benchmark.team

    def key(self, number: int | str) -> str:
        """Of the answer in a row: sending the same file again is harmless."""
        return f"{keys_of(self.digest, self.campaign.pk)}{number}"


@dataclass
class Ready:
    """A row that was understood; `rater` and `unit` are there once they have been looked up."""

    number: int
    said: Said
    item: Item
    cohort: Cohort | None
    target: str
    parsed: Parsed
    confirmed: tuple[str, ...]
    pictures: list[Image]


def start(campaign: Campaign, actor: User, upload: File) -> Job:  # type: ignore[type-arg]
    """Keep the file until the work is done, and queue it."""
    digest = hashlib.sha256()
    for chunk in upload.chunks():
        digest.update(chunk)
    upload.seek(0)
    name = default_storage.save(f"uploads/{uuid.uuid4().hex}", upload)
    params = {"campaign": campaign.pk, "file": name, "digest": digest.hexdigest()}
    title = _("Answers from %(file)s") % {"file": str(upload.name)[:150]}
    return jobs.start(KIND, title, scope=campaign.stage.benchmark.scope, actor=actor, params=params)


def run(work: Work) -> None:
    campaign = Campaign.objects.select_related("stage__benchmark__team", "sheet_version").get(
        pk=work.params["campaign"]
    )
    cohorts = CampaignCohort.objects.filter(campaign=campaign).select_related("cohort")
    place = Place(
        campaign, sheet_of(campaign.sheet_version), {row.cohort.label: row for row in cohorts}, work.params["digest"]
    )
    try:
        if work.job.total is None:
            with _rows(work) as rows:
                work.expect(sum(1 for _row in _beating(work, rows)))
        with _rows(work) as rows:
            _take(work, place, rows)
    except SourceProblem as problem:
        raise JobFailed(str(problem)) from problem
    except FileNotFoundError as error:
        raise JobFailed(_("The file is no longer there. Start a new import.")) from error
    counts = work.job.result.get("counts", {})
    scope, target = campaign.stage.benchmark.scope, f"campaign:{campaign.pk}"
    record(work.job.created_by, "answers.imported", scope=scope, target=target, implied=True, counts=counts)
    default_storage.delete(work.params["file"])


def after(job: Job) -> Next | None:
    campaign = Campaign.objects.select_related("stage__benchmark").filter(pk=job.params.get("campaign")).first()
    if campaign is None:
        return None
    to = reverse("annotation:answers_import", args=[campaign.stage.benchmark.slug, campaign.pk])
    return Next(_("Back to the campaign's imports"), to)


IMPORT = Kind(KIND, run, after)


@contextmanager
def _rows(work: Work) -> Iterator[Iterator[source.Row]]:
    file: BinaryIO
    with storage.open_binary(work.params["file"]) as file, source.opened(file, settings.IMPORT_MAX_BYTES) as found:
        yield source.rows(found)


def _beating(work: Work, rows: Iterator[source.Row]) -> Iterator[source.Row]:
    for count, row in enumerate(rows):
        if count % 5000 == 0:
            work.beat()
        yield row


def _take(work: Work, place: Place, rows: Iterator[source.Row]) -> None:
    done = work.cursor.get("rows", 0)
    batch: list[source.Row] = []
    for count, row in enumerate(_beating(work, rows)):
        if count < done:
            continue
        batch.append(row)
        if len(batch) >= STEP:
            done, batch = _step(work, place, batch, done), []
    if batch:
        _step(work, place, batch, done)


def _step(work: Work, place: Place, batch: Sequence[source.Row], done: int) -> int:
    work.check()
    with transaction.atomic():
        # Imports into one campaign take turns, and so do those that make raters of one team.
        Team.objects.select_for_update(no_key=True).get(pk=place.team.pk)
        place.campaign.refresh_from_db(fields=["state"])
        rows = settle(place, batch, timezone.now())
        work.step(done=done + len(batch), cursor={"rows": done + len(batch)}, rows=rows)
    return done + len(batch)


def settle(place: Place, batch: Sequence[source.Row], now: datetime) -> list[JobRow]:
    """What becomes of some rows. Needs a transaction that holds the team's row."""
    ready: list[Ready] = []
    report: dict[int, JobRow] = {}
    batch = [(number, _clean(row)) for number, row in batch]
    items = _items(place, batch)
    pictures = _pictures(place, batch)
    for number, row in batch:
        try:
            if isinstance(row, RowProblem):
                raise row
            one = said(row, place.sheet, now)
            ready.append(_understood(place, number, one, items, pictures))
        except RowProblem as problem:
            name = str(row.get("item", "")) if isinstance(row, Mapping) else ""
            report[number] = _line(number, name, Outcome.ERROR, problem.code, problem.message)
    _write(place, ready, report, now)
    return [report[number] for number, _row in batch]


def _clean(row: Mapping[str, Any] | RowProblem) -> Mapping[str, Any] | RowProblem:
    try:
        return row if isinstance(row, RowProblem) else dict(clean(row))
    except RowProblem as problem:
        return problem


def _line(number: int, name: str, outcome: str, reason: str = "", message: str = "") -> JobRow:
    return JobRow(number=number, name=name[:300], outcome=outcome, reason=reason, message=message)


def _items(place: Place, batch: Sequence[source.Row]) -> dict[str, Item]:
    keys = {str(row.get("item", "")) for _number, row in batch if isinstance(row, Mapping)}
    found = Item.objects.filter(stage=place.campaign.stage, key__in=keys)
    return {item.key: item for item in found.prefetch_related("images__image", "facts")}


def _pictures(place: Place, batch: Sequence[source.Row]) -> dict[str, Image]:
    """The team's pictures that the rows speak of, where the sheet asks for some."""
    if not any(one.spec.takes_uploads for one in place.sheet.fields):
        return {}
    shas = set(re.findall(r"\b[0-9a-f]{64}\b", " ".join(str(row) for _number, row in batch)))
    return {image.sha256: image for image in Image.objects.filter(team=place.team, sha256__in=shas)}


def _understood(
    place: Place, number: int, one: Said, items: Mapping[str, Item], pictures: Mapping[str, Image]
) -> Ready:
    item = items.get(one.item)
    if item is None:
        text = _("There is no item “%(key)s” in this stage. Import the items first.")
        raise RowProblem("no_item", text % {"key": one.item})
    if one.cohort and one.cohort not in place.cohorts:
        text = _("The cohort “%(name)s” is not asked in this campaign. There are: %(known)s.")
        raise RowProblem("no_cohort", text % {"name": one.cohort, "known": ", ".join(place.cohorts)})
    cohort = place.cohorts[one.cohort].cohort if one.cohort else None
    target = _target(place, one)
    unit = Unit(item=item, target=target)
    shown = shown_for(unit, cohort, [upload_of(image) for image in pictures.values()])
    confirmed = place.sheet.warned(one.raw, shown, one.confirmed)
    parsed = place.sheet.parse(one.raw, shown, confirmed)
    if not parsed.ok:
        raise RowProblem("not_an_answer", _complaint(place.sheet, parsed))
    used = [image for sha, image in pictures.items() if sha in _shas(place.sheet, parsed)]
    return Ready(number, one, item, cohort, target, parsed, confirmed, used)


def _target(place: Place, one: Said) -> str:
    if not place.campaign.stage.has_target:
        if one.target:
            raise RowProblem("no_target", _("This stage asks about no culture, and the row names one."))
        return ""
    target = one.target or one.cohort
    if target not in place.cohorts:
        text = _("The culture “%(name)s” is not asked about in this campaign. There are: %(known)s.")
        raise RowProblem("no_target", text % {"name": target, "known": ", ".join(place.cohorts)})
    return target


def _shas(sheet: Sheet, parsed: Parsed) -> set[str]:
    fields = [one for one in sheet.fields if one.key in parsed.answers]
    return {sha for one in fields for sha in one.spec.uploads(parsed.answers[one.key])}


def _complaint(sheet: Sheet, parsed: Parsed) -> str:
    """Question, what is wrong with its answer, and what to do; for each that is wrong."""
    said_: list[str] = []
    for key, problems in [*parsed.errors.items(), *parsed.warnings.items()]:
        for problem in problems:
            words = worded(problem)
            said_.append(f"{key}: {words.title} {words.advice}".strip())
    return " ".join(said_)


def _write(place: Place, ready: list[Ready], report: dict[int, JobRow], now: datetime) -> None:
    raters = raters_for(place.campaign, {(one.said.kind, one.said.rater) for one in ready})
    units = _units(ready)
    excluded = set(
        Exclusion.objects.filter(
            benchmark=place.campaign.stage.benchmark, lifted_at=None, rater__in=[one.pk for one in raters.values()]
        ).values_list("rater_id", flat=True)
    )
    touched: set[int] = set()
    changed: set[int] = set()
    for one in ready:
        rater = raters[one.said.kind, one.said.rater]
        unit = units[one.item.pk, one.target]
        outcome, reason, message = _one(place, one, rater, unit, rater.pk in excluded, now)
        report[one.number] = _line(one.number, one.said.item, outcome, reason, message)
        if outcome in (Outcome.CREATED, Outcome.UPDATED):
            changed.add(one.item.pk)
            touched.update([place.cohorts[one.said.cohort].pk] if one.said.cohort else [])
    outbox.note(changed)
    for cohort in sorted(touched):
        slots.tally(cohort, 0)  # imported answers take no place, and pages of numbers see that there are new ones


def _units(ready: Sequence[Ready]) -> dict[tuple[int, str], Unit]:
    wanted = {(one.item.pk, one.target) for one in ready}
    Unit.objects.bulk_create([Unit(item_id=item, target=target) for item, target in wanted], ignore_conflicts=True)
    rows = Unit.objects.filter(item__in={item for item, _target in wanted})
    return {(row.item_id, row.target): row for row in rows}


def _one(place: Place, one: Ready, rater: Rater, unit: Unit, excluded: bool, now: datetime) -> tuple[str, str, str]:
    assignment, _made = Assignment.objects.get_or_create(
        campaign=place.campaign,
        unit=unit,
        rater=rater,
        defaults={
            "state": Assignment.State.SUBMITTED, "in_hand": False, "reserved_at": one.said.shown_at,
            "shown_at": one.said.shown_at, "changed_at": now,
        },
    )  # fmt: skip
    if assignment.participation_id is not None:
        return _theirs(one, assignment)
    key = place.key(one.number)
    for known in Annotation.objects.filter(assignment=assignment).order_by("-live", "-version"):
        if known.client_key == key and not known.live and known.uncounted_because == WITHDRAWN:
            _bring_back(place, known, one, excluded, now)
            return Outcome.UPDATED, "brought_back", _("It was withdrawn, and is back.")
        if known.client_key == key or (known.live and known.answers == one.parsed.answers):
            return Outcome.UNCHANGED, "", ""
        if known.live:
            message = _("“%(rater)s” has answered this differently in the campaign. Withdraw that answer first.")
            return Outcome.ERROR, "answered", message % {"rater": one.said.rater}
    _create(place, one, assignment, key, excluded)
    return Outcome.CREATED, "", ""


def _theirs(one: Ready, assignment: Assignment) -> tuple[str, str, str]:
    """Whom the campaign gave the item answers it there: a file says nothing in their place."""
    if Annotation.objects.filter(assignment=assignment, live=True, answers=one.parsed.answers).exists():
        return Outcome.UNCHANGED, "", ""
    message = _("“%(rater)s” was given this item in the campaign itself. What is there stays; take the row out.")
    return Outcome.ERROR, "already_there", message % {"rater": one.said.rater}


def _because(place: Place, one: Ready, excluded: bool) -> str:
    """Why an answer of a file does not count. What a closed campaign says is said."""
    if one.said.because:
        return one.said.because
    if place.campaign.state == Campaign.State.CLOSED:
        return CLOSED
    return "excluded" if excluded else ""


def _state(because: str) -> str:
    return Assignment.State.REJECTED if because == REJECTED else Assignment.State.SUBMITTED


def _create(place: Place, one: Ready, assignment: Assignment, key: str, excluded: bool) -> None:
    latest = Annotation.objects.filter(assignment=assignment).order_by("-version").first()
    because = _because(place, one, excluded)
    Assignment.objects.filter(pk=assignment.pk).update(state=_state(because))
    annotation = Annotation.objects.create(
        assignment=assignment,
        rater_id=assignment.rater_id,
        version=max(one.said.version, latest.version + 1 if latest else 1),
        client_key=key,
        answers=one.parsed.answers,
        sheet_version=place.campaign.sheet_version,
        rule_version=rules.stamp(place.campaign) if one.said.rule is None else one.said.rule,
        cohort=one.cohort,
        language=one.said.language,
        shown_at=one.said.shown_at,
        submitted_at=one.said.at,
        active_seconds=one.said.seconds,
        confirmed=list(one.confirmed),
        trace=dict(one.said.trace),
        live=True,
        counted=not because,
        uncounted_because=because,
    )
    shared: dict[str, Any] = {
        "annotation": annotation,
        "campaign": place.campaign,
        "cohort": one.cohort,
        "unit_id": assignment.unit_id,
    }
    shared |= {"rater_id": assignment.rater_id, "live": True, "counted": not because}
    Rating.objects.bulk_create(
        Rating(**shared, field=code.field, code=code.code, value=code.value) for code in one.parsed.codes
    )
    for image in one.pictures:
        Upload.objects.get_or_create(assignment=assignment, image=image, defaults={"at": one.said.at})


def _bring_back(place: Place, known: Annotation, one: Ready, excluded: bool, now: datetime) -> None:
    """As it was: what reviewers decided before it was withdrawn holds."""
    review = Review.objects.filter(annotation=known, undone_at=None).first()
    rejected = review is not None and review.decision == Decision.REJECT
    because = REJECTED if rejected else _because(place, one, excluded)
    state = BECOMES[Decision(review.decision)] if review else _state(because)
    Annotation.objects.filter(pk=known.pk).update(live=True, counted=not because, uncounted_because=because)
    Rating.objects.filter(annotation=known).update(live=True, counted=not because)
    Assignment.objects.filter(pk=known.assignment_id).update(state=state, changed_at=now)
