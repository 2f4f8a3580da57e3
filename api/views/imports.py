"""Imports of items, answers and predictions: the same jobs as those of the pages, from uploads of a program."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404
from django.utils import timezone
from django.utils.datastructures import MultiValueDict
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import campaign_for
from annotation.forms.answer_files import AnswersForm
from annotation.services.files import answer_files, withdrawals
from annotation.services.files.campaigns import can_create_items
from api.protocol.contents import check_content, check_form, form_data, problem, refused
from api.protocol.operations import PAGING, operation
from api.protocol.paging import page_of
from api.protocol.parts import CONTENT, PartsParser, is_in_parts, read_parts
from api.protocol.preconditions import with_etag
from api.protocol.problems import BadContent, Conflict
from api.schemas.imports import ImportInParts, ImportPreview, NewImport
from api.schemas.jobs import JobSerializer
from api.schemas.pages import page_of_shape
from api.views.base import ResourceView
from api.views.foreign_imports import foreign_preview_json, start_foreign
from api.views.jobs import jobs_json
from api.views.people_imports import people_preview_json, start_people
from api.views.prediction_imports import predictions_preview_json, start_predictions
from api.views.uploads import find_upload
from benchmarks.access import benchmark_for
from benchmarks.forms.imports import ImportForm
from benchmarks.imports.manifest import has_known_columns
from benchmarks.imports.problems import SourceProblem
from benchmarks.imports.tables.mapping import ColumnMapping, MappedTable, MappingError
from benchmarks.imports.tables.roles import ColumnRole
from benchmarks.imports.tables.table import NeedsAnswer, TableLook, look
from benchmarks.models import Benchmark, Stage
from benchmarks.queries.saved_recipes import recipe_of
from benchmarks.queries.table_columns import proposals_for
from benchmarks.services import imports
from benchmarks.services.imports import StoredImport
from benchmarks.services.storage import open_binary
from jobs.models import Job
from jobs.services import upload_parts
from jobs.services.upload_parts import PartialUpload, PartRefused
from people.models import User
from predictions.services.files import answer_import
from releases.services.foreign import foreign_import

KINDS = (imports.KIND, answer_files.KIND, foreign_import.KIND, answer_import.KIND)
SHOWN_ROWS = 20
FILE_PARTS, SEVERAL_FILES = ("table", "archive", "pictures", "names"), "files"
FORM = ("condition", "source", "licence", "complete", "correct_facts")


class ImportList(ResourceView):
    """The files of an import come with it in parts, or were uploaded before."""

    parser_classes = [JSONParser, PartsParser]

    @cached_property
    def content(self) -> dict[str, Any]:
        """Files that came along become uploads, which are deleted if the import is refused."""
        if not is_in_parts(self.request):
            return super().content
        data, files = read_parts(self.request, FILE_PARTS, SEVERAL_FILES)
        if not isinstance(data, dict) or set(files) & set(data):
            raise BadContent([problem(f"/{CONTENT}", "invalid", _("It has to be an object without the files."))])
        self.kept: list[PartialUpload] = []
        for name, named in files.items():
            rows = [{"upload": self._keep(file), "name": str(file.name)[:200]} for file in named]
            data[name] = rows if name == SEVERAL_FILES else rows[0]["upload"]
            if name == "table":
                data.setdefault("table_name", rows[0]["name"])
        return check_content(data, NewImport)

    def _keep(self, file: UploadedFile[Any]) -> str:
        """Raises Conflict."""
        try:
            self.kept.append(upload_parts.keep(self.request.user.pk, file))
        except PartRefused as error:
            raise Conflict(error.message) from error
        return self.kept[-1].key

    def handle_exception(self, exc: Exception) -> Response:
        for upload in getattr(self, "kept", ()):
            upload_parts.discard(upload)
        return super().handle_exception(exc)

    @operation("imports", "Imports of items and answers", parameters=PAGING, reply=page_of_shape(JobSerializer))
    def get(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        rows = Job.objects.filter(scope=benchmark.scope, kind__in=KINDS)
        return page_of(request, rows, "imports", jobs_json, benchmark.pk)

    @operation("import_create", "Import items, answers or the files of another tool; the reply is the job",
               scope="write", body=NewImport, reply=JobSerializer, status=201, needs_key=True,
               parts=ImportInParts)  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        if self.content.get("format"):
            job = start_foreign(benchmark, _stage(benchmark, self.content), request.user, self.content)
        else:
            if self.content["kind"] == "people":
                table = finished_upload(request.user, self.content, "table")
                return with_etag(request, jobs_json([start_people(request, benchmark, self.content, table)])[0], 201)
            starts = {"answers": start_answers, "predictions": _start_predictions, "items": start_items}
            job = starts[self.content["kind"]](benchmark, request.user, self.content)
        return with_etag(request, jobs_json([job])[0], 201)


class ImportPreviewView(ResourceView):
    @operation("import_preview", "How a table or the files of another tool would be read", scope="write",
               body=NewImport, reply=ImportPreview)  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        if self.content.get("format"):
            return Response(foreign_preview_json(_stage(benchmark, self.content), request.user, self.content))
        if self.content["kind"] == "people":
            people = finished_upload(request.user, self.content, "table")
            return Response(people_preview_json(request, benchmark, self.content, people))
        if self.content["kind"] == "predictions":
            uploads = [finished_upload(request.user, self.content, name) for name in ("table", "names")]
            return Response(predictions_preview_json(benchmark, request.user, self.content, *uploads))
        stage, file = _stage(benchmark, self.content), finished_upload(request.user, self.content, "table")
        if file is None:
            raise refused("table", _("Name the upload that holds the table."))
        with open_binary(file.stored) as table:
            return Response(preview_json(stage, _look(table, self.content), has_known_columns(table)))


class ImportWithdraw(ResourceView):
    @operation("import_withdraw", "Take back the answers of an import: kept, and not counted", scope="write",
               reply=JobSerializer)  # fmt: skip
    def post(self, request: Request, slug: str, job_id: int) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        job = Job.objects.filter(pk=job_id, scope=benchmark.scope, kind__in=KINDS).first()
        if job is None:
            raise Http404
        if job.kind == answer_import.KIND:
            raise Conflict(_("Withdraw the run that this import made."))
        if job.kind not in withdrawals.KINDS or not job.params.get("campaign"):
            raise Conflict(_("Items are withdrawn one by one, on their pages."))
        if job.state in Job.LIVE:
            raise Conflict(_("This import is under way. Stop it first, then withdraw its answers."))
        withdrawals.withdraw(job, request.user, timezone.now())
        return with_etag(request, jobs_json([job])[0])


class StoredUpload(UploadedFile):  # type: ignore[type-arg]
    """An upload that is whole, for the forms of the pages: they look at name and size. `stored`: in the storage."""

    def __init__(self, stored: str, name: str, size: int) -> None:
        super().__init__(None, name, "application/octet-stream", size)
        self.stored = stored


def finished_upload(user: User, content: dict[str, Any], member: str) -> StoredUpload | None:
    """Raises Refused for what is not there or not whole."""
    if not (key := content.get(member)):
        return None
    try:
        upload = find_upload(user, key)
    except Http404 as error:
        raise refused(member, _("There is no such upload. Uploads are kept for a day.")) from error
    if not upload.is_whole:
        text = _("The upload is not whole: %(n)s bytes are missing.")
        raise refused(member, text % {"n": upload.size - upload.offset})
    name = content.get("table_name", "table") if member == "table" else f"{member}.zip"
    return StoredUpload(upload.stored, name, upload.size)


def _stage(benchmark: Benchmark, content: dict[str, Any]) -> Stage:
    """Raises Refused."""
    stages, recipe = list(benchmark.stages.order_by("pk")), recipe_of(benchmark)
    key = content.get("stage") or (recipe.expected_stage if recipe else "")
    named = [stage for stage in stages if stage.key == key]
    if not named and "stage" not in content:
        named = [stage for stage in stages if not stage.derivation]
    if not named:
        raise refused("stage", _("There is no such stage."))
    return named[0]


def start_items(benchmark: Benchmark, user: User, content: dict[str, Any]) -> Job:
    """Raises Refused."""
    stage = _stage(benchmark, content)
    table, archive, pictures = (finished_upload(user, content, name) for name in ("table", "archive", "pictures"))
    files = {"manifest": table, "archive": archive or pictures}
    form = ImportForm(form_data({name: content.get(name) for name in FORM}), _files(files), stage=stage)
    with ExitStack() as stack:
        if table:
            table.file = stack.enter_context(open_binary(table.stored))  # the form looks for addresses in it
        data = check_form(form)
    mapped = _mapped(table, content) if table else None
    stored = StoredImport(
        name=content["table_name"] if table else "pictures", manifest_name=content["table_name"],
        archive=archive.stored if archive else "", manifest=table.stored if table else "",
        defaults=asdict(form.defaults()), complete=data["complete"], correct_facts=data["correct_facts"],
        pictures=pictures.stored if pictures else "",
    )  # fmt: skip
    return imports.start_stored(stage, user, stored, mapped)


def _files(files: dict[str, StoredUpload | None]) -> Any:
    return MultiValueDict({name: [file] for name, file in files.items() if file})


def _mapped(table: StoredUpload, content: dict[str, Any]) -> MappedTable | None:
    """What the columns are; None of a manifest with our own. Raises Refused."""
    with open_binary(table.stored) as file:
        if "mapping" not in content and has_known_columns(file):
            return None
        beginning = _look(file, content)
    if "mapping" not in content:
        text = _("The table has columns of its own: send a mapping. There are: %(names)s.")
        raise refused("mapping", text % {"names": ", ".join(beginning.columns)[:500]})
    try:
        mapping = ColumnMapping.from_json(content["mapping"]).with_named_columns(beginning.columns)
        mapping.check(beginning.columns)
    except MappingError as error:
        raise refused(f"mapping/{error.name}".rstrip("/"), error.message) from error
    return MappedTable(beginning.format, mapping, beginning.columns)


def _look(file: Any, content: dict[str, Any]) -> TableLook:
    """Raises Refused."""
    try:
        return look(file, encoding=content.get("encoding", ""), sheet=content.get("sheet", ""))
    except NeedsAnswer as question:
        text = _("The file does not say its %(what)s. Choose one of: %(names)s.")
        names = ", ".join(question.choices)
        raise refused(question.name, text % {"what": question.name, "names": names}) from question
    except SourceProblem as error:
        raise refused("table", str(error)) from error


def start_answers(benchmark: Benchmark, user: User, content: dict[str, Any]) -> Job:
    """Raises Refused, Conflict and Http404."""
    file = finished_upload(user, content, "table")
    if file is None or "campaign" not in content:
        raise refused("campaign" if file else "table", _("Answers need a campaign and the upload with their table."))
    campaign = campaign_for(user, benchmark, content["campaign"])
    if campaign.opened_at is None:
        raise Conflict(_("The campaign has not been opened. Open it for imports first."))
    form = AnswersForm(form_data({"makes_items": content.get("makes_items")}), _files({"file": file}))
    data = check_form(form)
    if data["makes_items"] and not can_create_items(campaign):
        raise Conflict(_("The campaign is open, so people would be given these items. Pause it first."))
    with default_storage.open(file.stored, "rb") as stored:
        return answer_files.start(campaign, user, File(stored.file, file.name), makes_items=data["makes_items"])


def _start_predictions(benchmark: Benchmark, user: User, content: dict[str, Any]) -> Job:
    uploads = [finished_upload(user, content, name) for name in ("table", "names")]
    return start_predictions(benchmark, user, content, *uploads)


def preview_json(stage: Stage, beginning: TableLook, known: bool) -> dict[str, Any]:
    proposed = proposals_for(stage, beginning)
    format = beginning.format
    return {
        "format": format.kind, "encoding": format.encoding, "separator": format.separator, "sheet": format.sheet,
        "needs_mapping": not known,
        "columns": [{"column": entry.column, "role": entry.role, "reason": entry.reason} for entry in proposed],
        "mapping": mapping_of(proposed).to_json(),
        "rows": list(beginning.rows[:SHOWN_ROWS]),
    }  # fmt: skip


def mapping_of(proposed: list[ColumnRole]) -> ColumnMapping:
    """The proposals as a mapping."""
    answers = {entry.column: entry.column for entry in proposed if entry.role == "answer"}
    columns = {entry.role: entry.column for entry in proposed if entry.role not in ("", "answer")}
    return ColumnMapping(columns, tuple(entry.column for entry in proposed if not entry.role), answers=answers)
