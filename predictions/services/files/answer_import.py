"""A model's answers made elsewhere, as a finished run: each row through the sheet, what is unreadable a coded failure.

A run that came in a file has calls as any other: answered, or the state in which a reply without a value ends.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.core.files.base import ContentFile
from django.core.files.base import File as Upload
from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.imports.row_groups import AnswerRowGroup
from annotation.imports.rows import model_info_problem
from annotation.models import Annotation, Campaign, CampaignCohort, Unit
from annotation.services.files import rows
from annotation.services.files.rows import ImportTarget, ParsedAnswer, RowsRejected
from annotation.services.files.writing import write
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.imports.problems import RowProblem
from benchmarks.services import storage
from jobs.models import Job, JobRow, record
from jobs.services import lifecycle as jobs
from jobs.services.job_context import JobContext, JobFailed
from jobs.services.kinds import JobKind, NextLink
from people.models import Team, User
from people.services.raters import add_model_info, model_conflict, models_of
from predictions.imports import coco
from predictions.imports.samples import FileDescription
from predictions.models import Call, Reply, Run
from predictions.requests.serialization import storable
from predictions.services.files import answer_samples, uploads
from predictions.services.files.answer_samples import AnswerFile, FileAnswer
from predictions.services.files.uploads import Outcome, report_row
from predictions.services.runs.engine.write import ended_state
from predictions.services.runs.result_runs import FileRunRefused
from predictions.texts.call_reasons import reason_text

KIND = "import_answers_run"
LOOKED_AT = "uploads/looked-at"
KEPT = timedelta(hours=25)  # of a file that was only looked at; the page that goes on with it holds for a day
STEP = 500
OUTSIDE = {"not_an_option", "box_outside", "box_too_large", "box_too_small"}
"""What a sheet says of an answer that can be read, and is outside the scale."""


@dataclass(frozen=True)
class ModelInfo:
    """Whose answers they are. `about`: what is known of the model."""

    name: str
    setting: str
    about: Mapping[str, Any]


def start(
    campaign: Campaign, actor: User, file: AnswerFile, description: FileDescription, model: ModelInfo, *, title: str
) -> Job | None:
    """Queue the import of a kept file; None when this very file is there already. Raises FileRunRefused."""
    benchmark = campaign.stage.benchmark
    digest = _digest(file)
    if campaign.opened_at is None:
        raise FileRunRefused(_("This campaign takes no answers yet. Open it, or open it for imports only."))
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=benchmark.team_id)
        rater = models_of(benchmark.team, [(model.name, model.setting)])[model.name, model.setting]
        if name := model_conflict(rater.about, model.about):
            raise FileRunRefused(model_info_problem(model.name, name, rater.about[name], model.about[name]))
        for run in Run.objects.filter(campaign=campaign, rater=rater, task=Run.Task.ANSWERS, withdrawn_at=None):
            if run.complete and run.digest == digest:
                return None
            _delete_incomplete(run)
        run = Run.objects.create(
            benchmark=benchmark, rater=rater, campaign=campaign, task=Run.Task.ANSWERS, source=file.format,
            model=model.name, digest=digest, state=Run.State.DONE, started_at=timezone.now(),
            options={"told": asdict(description), "file": title[:200], "about": dict(model.about)}, created_by=actor,
        )  # fmt: skip
        # the answers of a run are known by the run, so `digest` names it where imports of answers name their file
        params = {"run": run.pk, "campaign": campaign.pk, "digest": _key(run), "file": asdict(file)}
        words = _("%(model)s from %(file)s") % {"model": model.name[:60], "file": title[:120]}
        return jobs.start(KIND, words, scope=benchmark.scope, actor=actor, params=params)


def existing_run(campaign: Campaign, model: ModelInfo) -> Run | None:
    """The model's run that is in the way of another one."""
    rows = Run.objects.filter(campaign=campaign, task=Run.Task.ANSWERS, withdrawn_at=None)
    return rows.filter(rater__name=model.name, rater__setting=model.setting).order_by("-pk").first()


def _key(run: Run) -> str:
    return f"run-{run.pk}"


def _digest(file: AnswerFile) -> str:
    digest = hashlib.sha256()
    with storage.open_binary(file.name) as data:
        while chunk := data.read(1024**2):
            digest.update(chunk)
    return digest.hexdigest()


def _delete_incomplete(run: Run) -> None:
    """For another run of the same model over the same campaign. Raises FileRunRefused."""
    if Job.objects.filter(kind=KIND, params__run=run.pk, state__in=Job.LIVE).exists():
        raise FileRunRefused(_("A file of the same model is coming in now. Wait for it, or stop it."))
    if run.complete or run.source not in answer_samples.FORMATS or Call.objects.filter(run=run).exists():
        text = _("There is a run of this model over this campaign already, of %(day)s. Withdraw it first.")
        raise FileRunRefused(text % {"day": f"{run.created_at:%Y-%m-%d %H:%M}"})
    Run.objects.filter(pk=run.pk).update(withdrawn_at=timezone.now())


def run(work: JobContext) -> None:
    run = Run.objects.select_related("campaign__stage__benchmark__team", "campaign__sheet_version", "rater").get(
        pk=work.params["run"]
    )
    file, description = AnswerFile(**work.params["file"]), FileDescription(**run.options["told"])
    place = _load_target(run, work.job.created_by)
    with uploads.job_errors():
        if work.job.total is None:
            with answer_samples.open_file(file) as rows:
                work.expect(sum(1 for number, _row in work.with_heartbeat(rows) if number))
        with answer_samples.open_file(file) as rows:
            stage = place.campaign.stage
            answers = answer_samples.read_answers(file, rows, description, place.sheet, stage, work.beat)
            _import_in_batches(work, run, place, file, description, answers)
    _finish(work, run)
    for name in file.parts:
        uploads.delete_file(name)


def _load_target(run: Run, actor: User | None) -> ImportTarget:
    campaign = run.campaign
    if campaign is None or campaign.sheet_version is None:
        raise JobFailed(_("The campaign of this run takes no answers."))
    cohorts = CampaignCohort.objects.filter(campaign=campaign).select_related("cohort")
    by_label = {row.cohort.label: row for row in cohorts}
    return ImportTarget(campaign, sheet_of(campaign.sheet_version), by_label, _key(run), actor=actor, run=run.pk)


def _import_in_batches(
    work: JobContext,
    run: Run,
    place: ImportTarget,
    file: AnswerFile,
    description: FileDescription,
    answers: Iterator[Any],
) -> None:
    done, batch, passed = work.cursor.get("answers", 0), list[Any](), 0
    for count, answer in enumerate(answers):
        if count % 5000 == 0:
            work.beat()
        passed += 1
        if passed <= done:
            continue
        batch.append(answer)
        if len(batch) >= STEP:
            _step(work, run, place, file, description, batch, passed)
            batch = []
    if batch:
        _step(work, run, place, file, description, batch, passed)


def _step(
    work: JobContext,
    run: Run,
    place: ImportTarget,
    file: AnswerFile,
    description: FileDescription,
    batch: Sequence[Any],
    passed: int,
) -> None:
    work.check()
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=place.team.pk)
        locked_run = Run.objects.select_for_update(no_key=True).get(pk=run.pk)  # who withdraws it waits for the step
        if locked_run.withdrawn_at:
            raise JobFailed(_("This run was withdrawn meanwhile. Start a new import."))
        place.campaign.refresh_from_db(fields=["state"])
        placed = answer_samples.match_items(batch, file, description, place.sheet, place.campaign.stage)
        rows = import_batch(run, place, placed, timezone.now())
        done = work.job.done + sum(len(one.gathered.numbers) for one in placed)
        work.step(done=min(done, work.job.total or done), cursor={"answers": passed}, rows=rows)


def import_batch(run: Run, place: ImportTarget, batch: Sequence[FileAnswer], now: datetime) -> list[JobRow]:
    """What becomes of some answers, told for each of their rows. Needs a transaction that holds the team's row."""
    for answer in batch:
        _as_of_model(answer.gathered, run)
    known = rows.look_up(place, [one.gathered for one in batch])
    ready: list[tuple[FileAnswer, ParsedAnswer]] = []
    calls, report = _Calls(run, place, now, known), list[JobRow]()
    for answer in batch:
        try:
            if answer.unread is not None:
                report += calls.failed(answer, known, answer.unread.state, answer.unread.reason)
            else:
                taken = rows.resolve_answer(place, answer.gathered, known, now)
                calls.check_not_lost(taken)
                ready.append((answer, taken))
        except RowsRejected as refused:
            report += _refused(answer, known, refused, calls)
    judged = write(place, [taken for _one, taken in ready], now)
    for (answer, taken), (outcome, why, message) in zip(ready, judged, strict=True):
        problem = RowProblem(why, message) if why else None
        report += [report_row(number, taken.item.key, outcome, problem) for number in answer.gathered.numbers]
        if outcome != Outcome.ERROR:
            calls.answered(answer, taken)
    calls.save()
    return report


def _as_of_model(group: AnswerRowGroup, held: Run) -> None:
    """Whoever the file says gave them, the run's model did."""
    about = {"rater": held.rater.name, "rater_kind": "model", "setting": held.rater.setting}
    group.row = {
        **{name: value for name, value in group.row.items() if name not in ("about", "model_info", "cohort")},
        **about,
    } | ({"target": group.row["cohort"]} if group.row.get("cohort") and not group.row.get("target") else {})


def _refused(answer: FileAnswer, known: rows.RowLookup, refused: RowsRejected, calls: _Calls) -> Iterator[JobRow]:
    """What the sheet does not take is a failure of the model; all else is a fault of the file."""
    first = next(iter(refused.problems.values()))
    if refused.codes:
        state = Call.State.OUT_OF_RANGE if refused.codes <= OUTSIDE else Call.State.UNPARSEABLE
        why = "outside_scale" if state == Call.State.OUT_OF_RANGE else "sheet"
        yield from calls.failed(answer, known, state, why, first.message)
        return
    for number in answer.gathered.numbers:
        key = str(answer.gathered.row.get("item", ""))
        problem = answer_samples.reword_problem(refused.problems.get(number, first), key)
        yield report_row(number, key, Outcome.ERROR, problem)


class _Calls:
    """The calls of a step, written at its end. One item is asked once: another row of it is a fault of the file."""

    def __init__(self, run: Run, place: ImportTarget, now: datetime, known: rows.RowLookup) -> None:
        self.run, self.place, self.now = run, place, now
        items = [one.pk for one in known.items.values() if not isinstance(one, RowProblem)]
        rows = Call.objects.filter(run=run, item__in=items).exclude(state=Call.State.ANSWERED)
        self.lost: set[tuple[int, str, int | None]] = set(rows.values_list("item", "unit__target", "unit__label_set"))
        self.made: list[tuple[FileAnswer, Call, str]] = []

    def failed(
        self, answer: FileAnswer, known: rows.RowLookup, state: str, why: str, words: str = ""
    ) -> Iterator[JobRow]:
        key = str(answer.gathered.row.get("item", ""))
        item = known.items.get(key)
        target = str(answer.gathered.row.get("target") or "")
        text = _("Left out, without a value: %(why)s") % {"why": words or reason_text(why)}
        if answer.raw and answer.how:
            text += " " + _("It says “%(raw)s”.") % {"raw": answer.raw[:120]}
        for number in answer.gathered.numbers:
            yield report_row(number, key, Outcome.ERROR, RowProblem(why, text))
        asked = bool(target) == self.place.campaign.stage.has_target
        if item is not None and not isinstance(item, RowProblem) and asked:
            label_set = self.place.find_label_set(str(answer.gathered.row.get("label_set") or ""))
            unit, _made = Unit.objects.get_or_create(item=item, target=target, label_set=label_set)
            self.lost.add((item.pk, target, label_set.pk if label_set else None))
            self.made.append((answer, self._call(item.pk, unit.pk, answer, state, why), ""))

    def check_not_lost(self, taken: ParsedAnswer) -> None:
        """Raises RowsRejected where an earlier row of the file asked the same, and had no value."""
        if (taken.item.pk, taken.target, taken.label_set.pk if taken.label_set else None) in self.lost:
            text = _("An earlier row of this file is the answer here, and has no value. Delete one of the two rows.")
            raise RowsRejected(dict.fromkeys(taken.gathered.numbers, RowProblem("twice", text)))

    def answered(self, answer: FileAnswer, taken: ParsedAnswer) -> None:
        unit = Unit.objects.only("pk").get(item=taken.item, target=taken.target, label_set=taken.label_set)
        call = self._call(taken.item.pk, unit.pk, answer, Call.State.ANSWERED, "")
        self.made.append((answer, call, self.place.key(taken.number)))

    def _call(self, item: int, unit: int, answer: FileAnswer, state: str, why: str) -> Call:
        return Call(
            run=self.run, item_id=item, unit_id=unit, state=state, reason=why, how=answer.how, ended_at=self.now,
            notes=storable(dict(answer.notes or {})),
        )  # fmt: skip

    def save(self) -> None:
        """What is there of a unit stays: it was answered, or the file has it twice."""
        asked = [call.unit_id for _one, call, _key in self.made]
        taken: set[int | None] = set(
            Call.objects.filter(run=self.run, unit__in=asked).values_list("unit_id", flat=True)
        )
        keys = [key for _one, _call, key in self.made if key]
        rows = Annotation.objects.filter(client_key__in=keys, assignment__campaign=self.run.campaign_id)
        known = dict(rows.values_list("client_key", "pk"))
        fresh: list[tuple[FileAnswer, Call]] = []
        for answer, call, key in self.made:
            if call.unit_id not in taken:
                taken.add(call.unit_id)
                call.annotation_id = known.get(key)
                fresh.append((answer, call))
        with_reply = [(one, call) for one, call in fresh if one.raw]
        replies = Reply.objects.bulk_create([self._reply(one) for one, _call in with_reply])
        for (_one, call), made in zip(with_reply, replies, strict=True):
            call.replies = [made.pk]
        Call.objects.bulk_create([call for _one, call in fresh])

    def _reply(self, answer: FileAnswer) -> Reply:
        key = hashlib.sha256(f"file:{self.run.pk}:{answer.number}".encode()).hexdigest()
        request = {"file": self.run.digest, "row": answer.number}
        body = {"text": answer.raw, "way": answer.how or "text", "notes": dict(answer.notes or {})}
        return Reply(team=self.place.team, key=key, request=request, body=body, created_at=self.now)


def _finish(work: JobContext, run: Run) -> None:
    counts = work.job.result.get("counts", {})
    answered = Call.objects.filter(run=run, state=Call.State.ANSWERED).count()
    failed = Call.objects.filter(run=run).exclude(state=Call.State.ANSWERED).count()
    now = timezone.now()
    options = {**run.options, "rows": answered, "failed": failed}
    gone = {} if answered or failed else {"withdrawn_at": now}
    with transaction.atomic():
        Run.objects.filter(pk=run.pk).update(options=options, complete=bool(answered), finished_at=now, **gone)
        Run.objects.filter(pk=run.pk).update(state=ended_state(run.pk))
        if answered:
            add_model_info(run.rater, run.options.get("about", {}), work.job.created_by, run.benchmark.scope)
        record(
            work.job.created_by, "run.imported", scope=run.benchmark.scope, target=f"run:{run.pk}", implied=True,
            counts=counts, complete=bool(answered), at=now.isoformat(),
        )  # fmt: skip
    if not answered:
        work.note(_("No rows were imported. The reason is shown for each row."))
        return
    text = _("Answers of this run: %(n)s. Replies without a value, left out and counted: %(failed)s.")
    work.note(text % {"n": answered, "failed": failed})


def next_link(job: Job) -> NextLink | None:
    run = Run.objects.select_related("benchmark", "campaign__stage").filter(pk=job.params.get("run")).first()
    if run is None:
        return None
    if run.complete:
        stage = urlencode({"stage": run.campaign.stage.key}) if run.campaign else ""
        models = reverse("evaluation:models", args=[run.benchmark.slug])
        return NextLink(_("Compare with people"), f"{models}?{stage}")
    return NextLink(_("Back to the predictions"), reverse("predictions:index", args=[run.benchmark.slug]))


IMPORT = JobKind(KIND, run, next_link)


def store_upload(upload: Upload[Any], names: Upload[Any] | None) -> AnswerFile:
    """Keep what was sent, and say what it is. Raises SourceProblem."""
    kind = answer_samples.format_of(upload)  # type: ignore[arg-type]
    upload.seek(0)
    summary = coco.summarise_release(names, names.size) if names is not None and kind == coco.KEY else b""  # type: ignore[arg-type]
    uploads.delete_stale(LOOKED_AT, timezone.now() - KEPT, _files_in_use)
    stored_file = AnswerFile(uploads.store_upload(upload, LOOKED_AT), kind)
    return (
        AnswerFile(stored_file.name, kind, uploads.store_upload(ContentFile(summary, "names.json"), LOOKED_AT))
        if summary
        else stored_file
    )


def _files_in_use(names: list[str]) -> set[str]:
    """Those that the job of an import reads, or may read when somebody goes on with it."""
    jobs_ = Job.objects.filter(kind=KIND).filter(Q(params__file__name__in=names) | Q(params__file__names__in=names))
    return {name for params in jobs_.values_list("params", flat=True) for name in AnswerFile(**params["file"]).parts}
