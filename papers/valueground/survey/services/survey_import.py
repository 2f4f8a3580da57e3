"""The import of a survey's files: one job that reads all of them, and writes the next version in one transaction.

A fault in any file stops the import before anything is written, since a count that is missing would change a label
unseen. The same files with the same settings write nothing. What a file does not bring is taken from the version
before it, with the decisions about questions that have not changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, BinaryIO

from django.core.files.base import File
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmarks.models import Benchmark, Label
from benchmarks.queries.label_sets import find_set, spec_of
from benchmarks.recipes.contract import slug
from benchmarks.rules.label_sets.contract import LabelSetSpec, fold, spellings
from benchmarks.rules.label_sets.countries import country_code
from benchmarks.services import storage
from benchmarks.services.label_sets import ensure
from jobs.models import Job, JobRow, record
from jobs.services import lifecycle as jobs
from jobs.services.job_context import JobContext, JobFailed, Requeue
from jobs.services.kinds import JobKind, NextLink
from papers.valueground.survey import files
from papers.valueground.survey.files import CodebookEntry, FileFault
from papers.valueground.survey.models import Survey
from papers.valueground.survey.queries import current_survey
from papers.valueground.survey.services.option_items import write_option_items
from papers.valueground.survey.services.versions import VersionContent, write_version
from people.models import User
from predictions.services.files.uploads import delete_file, digest_of, job_errors

KIND = "import_survey"
REPORTED_FAULTS = 500
MAXIMUM_COUNTS = 1_000_000
COUNT_RULES = ("keep_counts", "skip_countries")
"""Settings that decide which counts a version has of the same file; stored with it."""


@dataclass(frozen=True)
class SurveySettings:
    """What the form says beside the files. `label_set` is a set's key. `keep_counts`: counts of other questions and
    countries stay. `skip_countries`: countries that the set does not have are left out."""

    name: str
    terms: str = ""
    citation: str = ""
    weighted: bool = False
    label_set: str = "countries"
    keep_counts: bool = False
    skip_countries: bool = False


def start(benchmark: Benchmark, actor: User, uploads: Mapping[str, File[Any]], survey_settings: SurveySettings) -> Job:
    """Keep the files, by kind, until the work is done, and queue it."""
    stored = {}
    for kind, upload in uploads.items():
        digest = digest_of(upload)
        stored[kind] = {"name": str(upload.name)[:150], "sha256": digest, "file": storage.keep_upload(upload)}
    params = {"benchmark": benchmark.pk, "files": stored, "settings": asdict(survey_settings)}
    with transaction.atomic():
        title = _("Survey: %(name)s") % {"name": survey_settings.name}
        return jobs.start(KIND, title, scope=benchmark.scope, actor=actor, params=params)


def run(work: JobContext) -> None:
    benchmark = Benchmark.objects.select_related("team").get(pk=work.params["benchmark"])
    survey_settings = SurveySettings(**work.params["settings"])
    with job_errors():
        if _is_unchanged(work, current_survey(benchmark), survey_settings):
            work.note(_("The newest version rests on these files already. Nothing was changed."))
        else:
            reader = _Reader(work, benchmark, survey_settings)
            reader.read()
            _write(work, reader, benchmark)
    for stored in work.params["files"].values():
        delete_file(stored["file"])


def next_link(job: Job) -> NextLink | None:
    benchmark = Benchmark.objects.filter(pk=job.params.get("benchmark")).first()
    if benchmark is None:
        return None
    return NextLink(_("View the survey"), reverse("benchmarks:plugin_page", args=[benchmark.slug, "survey"]))


IMPORT = JobKind(KIND, run, next_link)


def _is_unchanged(work: JobContext, survey: Survey | None, survey_settings: SurveySettings) -> bool:
    if survey is None:
        return False
    same_files = all(
        survey.files.get(kind, {}).get("sha256") == stored["sha256"] for kind, stored in work.params["files"].items()
    )
    chosen = asdict(survey_settings)
    same_texts = all(getattr(survey, name) == chosen[name] for name in ("name", "terms", "citation"))
    if "counts" not in work.params["files"]:
        return same_files and same_texts
    newest_set = find_set(survey.benchmark.team, survey_settings.label_set)
    same_set = survey.label_set is None or survey.label_set == newest_set  # one more country may be in the newest
    former_rules = survey.files.get("counts", {})
    same_rules = all(former_rules.get(name, chosen[name]) == chosen[name] for name in COUNT_RULES)
    return same_files and same_texts and same_set and same_rules and survey.weighted == survey_settings.weighted


class _Reader:
    """One reading of all files. Every fault is collected; with any, the job fails and reports them."""

    def __init__(self, work: JobContext, benchmark: Benchmark, survey_settings: SurveySettings) -> None:
        self.work, self.settings = work, survey_settings
        self.base = current_survey(benchmark)
        self.faults: list[FileFault] = []
        self.content = VersionContent()
        self.known: dict[str, CodebookEntry | None] = {}  # None: a variable that is no question
        if "counts" in work.params["files"]:
            self.content.label_set = ensure(benchmark.team, survey_settings.label_set)
            self.labels = label_index(spec_of(self.content.label_set), self.content.label_set.pk)

    def read(self) -> None:
        """Fill `content`. Raises JobFailed with every fault reported."""
        if "codebook" not in self.work.params["files"] and self.base is None:
            raise JobFailed(_("The survey has no codebook yet. Import it together with the other files."))
        self._read_codebook()
        for kind, reader in (("metadata", self._read_metadata), ("adjustment", self._read_adjustment)):
            if kind in self.work.params["files"]:
                with self._open(kind) as file:
                    reader(file, self._name(kind))
        if "counts" in self.work.params["files"]:
            with self._open("counts") as file:
                self._read_counts(file, self._name("counts"))
        if self.faults:
            self._fail()

    def _open(self, kind: str) -> Any:
        return closing(storage.open_binary(self.work.params["files"][kind]["file"]))

    def _name(self, kind: str) -> str:
        return str(self.work.params["files"][kind]["name"])

    def _read_codebook(self) -> None:
        if "codebook" in self.work.params["files"]:
            with self._open("codebook") as file:
                entries, others, faults = files.parse_codebook(file, self._name("codebook"))
            self.content.codebook, self.content.other_variables = entries, others
            self.faults += faults
        else:
            assert self.base is not None
            entries, others = list(_stored_entries(self.base)), list(self.base.other_variables)
        self.known = {**dict.fromkeys(others), **{entry.key: entry for entry in entries}}

    def _is_known(self, name: str, place: str, key: str) -> bool:
        """Whether a file may speak of this key; a key that is not in the codebook is a fault."""
        if key not in self.known:
            message = _("%(key)s is not in the codebook. Correct the key, or add the question to the codebook.")
            self.faults.append(FileFault(name, place, "unknown_question", message % {"key": key[:60] or "–"}))
        return self.known.get(key) is not None

    def _read_metadata(self, file: BinaryIO, name: str) -> None:
        self.content.metadata = {}
        for entry in files.parse_metadata(file, name):
            if isinstance(entry, FileFault):
                self.faults.append(entry)
            elif self._is_known(name, entry.key, entry.key):
                self.content.metadata[entry.key] = entry

    def _read_adjustment(self, file: BinaryIO, name: str) -> None:
        self.content.adjustment = {}
        for entry in files.parse_adjustment(file, name):
            if isinstance(entry, FileFault):
                self.faults.append(entry)
                continue
            place, key, codes = entry
            if not self._is_known(name, place, key):
                continue
            question = self.known[key]
            unknown = [code for code in codes if question is not None and code not in question.options]
            if unknown:
                message = _("Code %(code)s is no option of %(key)s.") % {"code": unknown[0], "key": key}
                self.faults.append(FileFault(name, place, "unknown_code", message))
            self.content.adjustment[key] = codes

    def _read_counts(self, file: BinaryIO, name: str) -> None:
        counts = self.content.counts = {}
        skipped: set[str] = set()
        for number, row in enumerate(self.work.with_heartbeat(files.parse_counts(file, name))):
            if number >= MAXIMUM_COUNTS:
                text = _("The file has more than %(n)s counts. Leave out questions that you do not need.")
                raise JobFailed(text % {"n": f"{MAXIMUM_COUNTS:,}"})
            if isinstance(row, FileFault):
                self.faults.append(row)
                continue
            if not self._is_known(name, row.place, row.key):
                continue
            label = self.labels.get(fold(row.country)) or self.labels.get(country_code(row.country))
            if label is None and self.settings.skip_countries:
                skipped.add(row.country)
                continue
            code, count = self._code_of(row), files.parse_count(row.count, weighted=self.settings.weighted)
            problem = self._problem_of(row, label, code, count)
            if problem is None and label is not None and code is not None and (row.key, label, code) in counts:
                problem = "count_twice", _("%(key)s, %(country)s, code %(code)s occurs twice. Delete one of the rows.")
            if problem is not None:
                values = {"key": row.key, "country": row.country[:60], "code": row.code[:40], "count": row.count[:40]}
                self.faults.append(FileFault(name, row.place, problem[0], problem[1] % values))
            elif label is not None and code is not None and count is not None:
                counts[row.key, label, code] = count
        if skipped:
            text = _("Countries that the set does not have were left out: %(names)s.")
            self.work.note(text % {"names": ", ".join(sorted(skipped)[:50])})

    def _code_of(self, row: files.CountRow) -> int | None:
        """By what the codebook writes, or by the number; a question without options takes any number."""
        question = self.known[row.key]
        assert question is not None
        code = question.written.get(row.code, files.parse_code(row.code))
        has_options = any(option >= 0 for option in question.options)
        return code if code is None or code < 0 or code in question.options or not has_options else None

    def _problem_of(
        self, row: files.CountRow, label: int | None, code: int | None, count: float | None
    ) -> tuple[str, str] | None:
        if label is None:
            return "unknown_country", _(
                "“%(country)s” is not in the set. Correct it, choose another set, or leave such countries out."
            )
        if code is None:
            return "unknown_code", _("Code “%(code)s” is no option of %(key)s.")
        if count is None and self.settings.weighted:
            return "count", _("“%(count)s” is no count. Write a number that is 0 or more.")
        if count is None:
            return "count", _("“%(count)s” is no count. Write a whole number, or mark the counts as weighted.")
        return None

    def _fail(self) -> None:
        """Report the faults as rows of the job, and end it."""
        reported = [
            JobRow(number=number, name=f"{fault.file}, {fault.place}"[:300], outcome=JobRow.Outcome.ERROR,
                   reason=fault.code, message=fault.message)
            for number, fault in enumerate(islice(self.faults, REPORTED_FAULTS), start=1)
        ]  # fmt: skip
        with transaction.atomic():
            self.work.step(done=0, cursor={}, rows=reported)
        text = ngettext(
            "Nothing was imported: the files have %(n)s fault. Correct it, then import the files again.",
            "Nothing was imported: the files have %(n)s faults. Correct them, then import the files again.",
            len(self.faults),
        )
        raise JobFailed(text % {"n": len(self.faults)})


def _stored_entries(survey: Survey) -> Iterator[CodebookEntry]:
    for question in survey.questions.all():
        options = {int(code): label for code, label in question.options.items()}
        yield CodebookEntry(question.key, "", question.title, options=options, written=dict(question.written))


def label_index(spec: LabelSetSpec, label_set_id: int) -> dict[str, int]:
    """The id of a label by each of its spellings, and by the code of its country; the first label wins."""
    ids = dict(Label.objects.filter(label_set_id=label_set_id).values_list("key", "pk"))
    index: dict[str, int] = {}
    for label in spec.labels:
        for text in (*spellings(label), *([label.country] if label.country else [])):
            index.setdefault(text, ids[label.key])
    return index


def _write(work: JobContext, reader: _Reader, benchmark: Benchmark) -> None:
    """The next version, whole or not at all. Locks the benchmark's row, so that two imports make two versions."""
    content = reader.content
    n_counts = len(content.counts or ())
    work.expect(n_counts)
    with transaction.atomic():
        Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
        base = current_survey(benchmark)
        if (base and base.pk) != (reader.base and reader.base.pk):
            raise Requeue  # somebody else's import was written meanwhile: read again on top of it
        header = _header(work, reader, benchmark, base)
        result = write_version(header, base, content, keep_counts=reader.settings.keep_counts, check=work.check)
        work.step(done=n_counts, cursor={})
        survey = result.survey
        write_option_items(survey)
        record(
            work.job.created_by, "survey.imported", scope=benchmark.scope, target=f"survey:{survey.pk}",
            implied=True, version=survey.version, questions=result.questions, counts=n_counts,
        )  # fmt: skip
        text = _("Version %(version)s: %(variables)s variables, %(questions)s questions, %(counts)s counts.")
        values = {"version": survey.version, "questions": result.questions, "counts": f"{n_counts:,}"}
        work.note(text % {**values, "variables": result.questions + len(survey.other_variables)})
        if result.to_decide_again:
            text = _("These questions changed and need a decision again: %(keys)s.")
            work.note(text % {"keys": ", ".join(result.to_decide_again[:100])})


def _header(work: JobContext, reader: _Reader, benchmark: Benchmark, base: Survey | None) -> Survey:
    """The version's own row, not saved."""
    stored = {kind: {"name": x["name"], "sha256": x["sha256"]} for kind, x in work.params["files"].items()}
    name, content = reader.settings.name, reader.content
    if "counts" in stored:
        stored["counts"] |= {rule: getattr(reader.settings, rule) for rule in COUNT_RULES}
    new_counts = content.counts is not None
    return Survey(
        benchmark=benchmark,
        key=base.key if base else slug(name)[:80] or "survey",
        version=base.version + 1 if base else 1,
        name=name,
        terms=reader.settings.terms,
        citation=reader.settings.citation,
        weighted=reader.settings.weighted if new_counts or base is None else base.weighted,
        label_set=content.label_set if new_counts or base is None else base.label_set,
        files={**(base.files if base else {}), **stored},
        other_variables=base.other_variables if base and content.codebook is None else content.other_variables,
        created_by=work.job.created_by,
    )
