"""The numbers for programs: the same as the pages', by the same access rules."""

from typing import Any

from django.http import Http404, HttpRequest, JsonResponse, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.pages.status_text import time_zone_for
from api.protocol.operations import query_parameter
from api.protocol.problems import NoData, not_found_response, plain_response
from api.schemas import numbers as schemas
from api.views.base import PROBLEMS, REFUSED, SLUG, ReadOnlyView
from benchmarks.access import benchmark_for
from evaluation.reports.agreement_formats import to_json
from evaluation.reports.alpha_check import check_json
from evaluation.reports.stored_agreement import load_report
from evaluation.selections.catalogue import Catalogue, catalogue_of
from evaluation.selections.selection import select
from evaluation.tables.registry import table_of, tables_of
from evaluation.tables.spec import TableSpec
from evaluation.tables.table_builder import build_or_load, missing_data

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


FRESH = query_parameter("fresh", "1 makes a table of large data anew, where answers came since.")


def not_found(request: HttpRequest) -> JsonResponse:
    """Every other address: a program gets a problem document there, too."""
    return plain_response(404, not_found_response()[1])


class AgreementView(ReadOnlyView):
    @extend_schema(
        operation_id="agreement",
        summary="Agreement within each cohort, as the page's JSON",
        parameters=[
            SLUG,
            *NARROWING,
            query_parameter("stage", "Key of the stage; the first without it."),
            query_parameter("campaign", "Id of a campaign; may be repeated.", many=True),
            query_parameter("field", "Key of the question whose rows are shown by condition."),
            query_parameter("as", "question:measure, for questions of the sheet; may be repeated.", many=True),
            query_parameter("measure", "alpha_ordinal, spearman, table, ..."),
            query_parameter("second", "1 adds second_opinion: each alpha once more, by the package krippendorff."),
        ],
        responses={200: schemas.AgreementSerializer, **REFUSED, **PROBLEMS},
        extensions={"x-emic-scope": "read"},
    )
    def get(self, request: Request, slug: str) -> Response:
        catalogue = catalogue_of(benchmark_for(request.user, slug))
        if not catalogue.stages:
            raise NoData(_("No campaign has been opened yet."))
        selection = select(catalogue, request.query_params, zone=time_zone_for(request.user), every_question=True)
        report, _found = load_report(catalogue, selection, timezone.now())
        return Response(to_json(report, get_language() or "en") | check_json(report, request.query_params))


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
    lack = missing_data(catalogue, spec, QueryDict(), timezone.now())
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
    @extend_schema(
        operation_id="table",
        summary="One table, as the page's JSON",
        description="Its options (see the list of tables) go into the address, too.",
        parameters=[SLUG, OpenApiParameter("key", OpenApiTypes.STR, OpenApiParameter.PATH), *NARROWING, FRESH],
        responses={200: schemas.TableSerializer, **REFUSED, **PROBLEMS},
        extensions={"x-emic-scope": "read"},
    )
    def get(self, request: Request, slug: str, key: str) -> Response:
        benchmark = benchmark_for(request.user, slug)
        spec = table_of(benchmark, key)
        if spec is None:
            raise Http404
        return Response(
            build_or_load(benchmark, spec, request.query_params, timezone.now(), time_zone_for(request.user))
        )
