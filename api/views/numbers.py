"""The numbers for programs: the same as the pages', by the same access rules."""

from datetime import tzinfo
from typing import Any

from django.http import Http404, HttpRequest, JsonResponse, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.pages.status_text import time_zone_for
from api.protocol.contents import check_parameters
from api.protocol.file_forms import described_reply, file_response, renderers_for
from api.protocol.operations import operation, query_parameter
from api.protocol.preconditions import is_known, not_modified, report_tag
from api.protocol.problems import NoData, not_found_response, plain_response
from api.schemas import numbers as schemas
from api.views.base import KEY, PROBLEMS, REFUSED, SLUG, ReadOnlyView, ResourceView
from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark
from evaluation.reports import stored_agreement
from evaluation.reports.report_files import REPORTS, ReportKind, report_kind
from evaluation.reports.report_requests import agreement_selection
from evaluation.selections.catalogue import Catalogue, catalogue_of
from evaluation.services import snapshots
from evaluation.tables import table_builder
from evaluation.tables.registry import table_of, tables_of
from evaluation.tables.spec import TableSpec
from evaluation.tables.table_formats import to_csv, to_latex

NARROWING = [
    query_parameter("cohort", "Id of a cohort; may be repeated.", many=True),
    query_parameter("condition", "Condition; may be repeated.", many=True),
    query_parameter("concept", "Concept; may be repeated.", many=True),
    query_parameter("counted", "counted or all."),
    query_parameter("repeats", "latest or first, where somebody answered twice."),
    query_parameter("interval", "units-and-raters, units, raters or none."),
    query_parameter("since", "First day, YYYY-MM-DD, by your own time zone."),
    query_parameter("until", "Last day, YYYY-MM-DD, by your own time zone."),
]
SELECTING = [
    *NARROWING,
    query_parameter("stage", "Key of the stage; the first without it."),
    query_parameter("campaign", "Id of a campaign; may be repeated.", many=True),
    query_parameter("field", "Key of the question whose rows are shown by condition."),
]
MEASURES = [
    query_parameter("labels", "must_match or ignore, where boxes have labels."),
    query_parameter("as", "question:measure, for questions of the sheet; may be repeated.", many=True),
    query_parameter("measure", "alpha_ordinal, spearman, table, ..."),
    query_parameter("second", "1 adds second_opinion: each alpha once more, by the package krippendorff."),
]
FRESH = query_parameter("fresh", "1 makes a table of large data anew, where answers came since.")


@csrf_exempt  # it changes nothing, and the page of a failed check would be HTML
def not_found(request: HttpRequest) -> JsonResponse:
    """Every other address: a program gets a problem document there, too, whatever its method."""
    return plain_response(404, not_found_response()[1])


# ---- reports ---------------------------------------------------------------------------------------------------------


class ReportList(ReadOnlyView):
    @extend_schema(
        operation_id="reports",
        summary="The reports and the forms each has",
        parameters=[SLUG],
        responses={200: schemas.Reports, **PROBLEMS},
        extensions={"x-emic-scope": "read"},
    )
    def get(self, request: Request, slug: str) -> Response:
        check_parameters(request, ())
        benchmark = benchmark_for(request.user, slug)
        return Response({"reports": [_report_line(benchmark, kind) for kind in REPORTS]})


def _report_line(benchmark: Benchmark, kind: ReportKind) -> dict[str, Any]:
    address = reverse("api:report", args=[benchmark.slug, kind.key])
    return {"key": kind.key, "title": str(kind.title), "forms": list(kind.forms), "address": address}


class ReportView(ReadOnlyView):
    """One report in one form. Agreement is known by its selection and watermark, the others by their content."""

    form = "json"

    def get(self, request: Request, slug: str, key: str) -> Any:
        kind = _kind_of(key, self.form)
        catalogue = catalogue_of(benchmark_for(request.user, slug, can=kind.can))
        check_parameters(request, kind.names)
        if kind.needs_campaign and not catalogue.stages:
            raise NoData(_("No campaign has been opened yet."))
        params, zone, language = request.query_params, time_zone_for(request.user), get_language() or "en"
        tag = _tag_of_agreement(catalogue, params, zone, kind, self.form) if kind.kept else ""
        if tag and is_known(request, tag):
            return not_modified(tag)
        report = kind.build(catalogue, params, zone, timezone.now())
        if not tag:
            content = kind.forms["json"](report, params, language)
            tag = report_tag({**content, "computed_at": ""}, self.form, language)
            if is_known(request, tag):
                return not_modified(tag)
        return _sent(kind.forms[self.form](report, params, language), self.form, f"{slug}-{key}", tag)


def _kind_of(key: str, form: str) -> ReportKind:
    """Raises Http404."""
    kind = report_kind(key)
    if kind is None or form not in kind.forms:
        raise Http404
    return kind


def _tag_of_agreement(catalogue: Catalogue, params: QueryDict, zone: tzinfo, kind: ReportKind, form: str) -> str:
    """Raises SelectionError."""
    state = stored_agreement.version_of(catalogue, agreement_selection(catalogue, params, zone))
    return report_tag(state, kind.key, form, params.getlist("second"), get_language())


def _sent(content: Any, form: str, name: str, tag: str) -> Any:
    if form == "json":
        return Response(content, headers={"ETag": tag})
    return file_response(content, form, name, tag)


def report_view(form: str) -> Any:
    """The view of all reports in a form."""
    described = extend_schema(
        operation_id="report" if form == "json" else f"report_{form}",
        summary="One report, as its page's JSON" if form == "json" else f"One report, as its page's .{form}",
        description="The list of reports names keys and forms. A report refuses parameters that it does not read.",
        parameters=[SLUG, KEY, *SELECTING, *MEASURES],
        responses={**described_reply(form, schemas.ReportSerializer), **REFUSED, **PROBLEMS},
        extensions={"x-emic-scope": "read"},
    )

    def get(self: Any, request: Request, slug: str, key: str) -> Any:
        return ReportView.get(self, request, slug, key)

    return _view("Report", ReportView, form, described(get))


def agreement_view(form: str) -> Any:
    """Agreement at the address that it had before there were other reports."""
    described = extend_schema(
        operation_id="agreement" if form == "json" else f"agreement_{form}",
        summary=f"Agreement within each cohort, as the page's {'JSON' if form == 'json' else '.' + form}",
        parameters=[SLUG, *SELECTING, *MEASURES],
        responses={**described_reply(form, schemas.AgreementSerializer), **REFUSED, **PROBLEMS},
        extensions={"x-emic-scope": "read"},
    )

    def get(self: Any, request: Request, slug: str) -> Any:
        return ReportView.get(self, request, slug, "agreement")

    return _view("Agreement", ReportView, form, described(get))


def _view(name: str, base: Any, form: str, get: Any) -> Any:
    facts = {"form": form, "renderer_classes": renderers_for(form), "get": get}
    return type(f"{name}{form.capitalize()}View", (base,), facts).as_view()  # type: ignore[attr-defined]


class AgreementRefresh(ResourceView):
    @operation(
        "agreement_refresh",
        "Have agreement that is kept computed again",
        parameters=[*SELECTING, *MEASURES[:-1]],
        reply=schemas.RefreshSerializer,
        status=202,
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        catalogue = catalogue_of(benchmark)
        if not catalogue.stages:
            raise NoData(_("No campaign has been opened yet."))
        selection = agreement_selection(catalogue, request.query_params, time_zone_for(request.user))
        check_requests(request.user.pk)
        return Response({"requested": stored_agreement.request(benchmark, selection, timezone.now())}, status=202)


def check_requests(person: int) -> None:
    """Raises Throttled."""
    if not snapshots.may_request(person):
        raise Throttled(snapshots.WHILE)


# ---- tables ----------------------------------------------------------------------------------------------------------


class TableList(ReadOnlyView):
    @extend_schema(
        operation_id="tables",
        summary="The benchmark's tables, and what each lacks",
        parameters=[SLUG],
        responses={200: schemas.Tables, **PROBLEMS},
        extensions={"x-emic-scope": "read"},
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug)
        catalogue = catalogue_of(benchmark)
        lines = [_table_line(catalogue, spec) for spec in tables_of(benchmark)]
        return Response({"benchmark": {"slug": benchmark.slug, "name": benchmark.name}, "tables": lines})


def _table_line(catalogue: Catalogue, spec: TableSpec) -> dict[str, Any]:
    lack = table_builder.missing_data(catalogue, spec, QueryDict(), timezone.now())
    options = [
        {"key": o.key, "label": str(o.label), "values": {value: str(words) for value, words in o.values.items()}}
        for o in spec.within(catalogue.benchmark).options
    ]
    return {
        "key": spec.key,
        "number": spec.number,
        "title": str(spec.title),
        "needs": str(spec.needs),
        "options": options,
        "lacking": str(lack.message) if lack else "",
        "address": reverse("api:table", args=[catalogue.benchmark.slug, spec.key]),
    }


class TableView(ReadOnlyView):
    """One table in one form."""

    form = "json"

    def get(self, request: Request, slug: str, key: str) -> Any:
        benchmark = benchmark_for(request.user, slug)
        spec = spec_of(benchmark, key)
        params, zone = request.query_params, time_zone_for(request.user)
        check_parameters(request, [*table_builder.names_of(spec.within(benchmark)), "fresh"])
        # The tag is made before the table: one that is older than its content is answered in full, once more.
        tag = report_tag(table_builder.version_of(benchmark, spec, params, zone), self.form)
        if "fresh" not in params and is_known(request, tag):
            return not_modified(tag)
        data = table_builder.build_or_load(benchmark, spec, params, timezone.now(), zone)
        if self.form == "json":
            return Response(data, headers={"ETag": tag})
        text = "".join(to_csv(data)) if self.form == "csv" else to_latex(data)
        return file_response(text, self.form, f"{slug}-{key}", tag)


def spec_of(benchmark: Benchmark, key: str) -> TableSpec:
    """Raises Http404."""
    spec = table_of(benchmark, key)
    if spec is None:
        raise Http404
    return spec


def table_view(form: str) -> Any:
    name = "table" if form == "json" else f"table_{form}"
    described = extend_schema(
        operation_id=name,
        summary="One table, as the page's JSON" if form == "json" else f"One table, as the page's .{form}",
        description="Its options (see the list of tables) go into the address, too.",
        parameters=[SLUG, KEY, *NARROWING, FRESH],
        responses={**described_reply(form, schemas.TableSerializer), **REFUSED, **PROBLEMS},
        extensions={"x-emic-scope": "read"},
    )

    def get(self: Any, request: Request, slug: str, key: str) -> Any:
        return TableView.get(self, request, slug, key)

    return _view("Table", TableView, form, described(get))


class TableRefresh(ResourceView):
    @operation(
        "table_refresh",
        "Have a table that is kept computed again",
        parameters=None,
        reply=schemas.RefreshSerializer,
        status=202,
        description="The address narrows what is counted as that of the table does.",
    )
    def post(self, request: Request, slug: str, key: str) -> Response:
        benchmark = benchmark_for(request.user, slug)
        spec = spec_of(benchmark, key)
        check_parameters(request, table_builder.names_of(spec.within(benchmark)))
        check_requests(request.user.pk)
        zone = time_zone_for(request.user)
        requested = table_builder.request_refresh(benchmark, spec, request.query_params, timezone.now(), zone)
        return Response({"requested": requested}, status=202)
