"""Tables that a researcher composes: created, changed and removed as on their pages."""

from typing import Any

from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from api.protocol.contents import check_form, form_data
from api.protocol.operations import PAGING, operation
from api.protocol.paging import page_of
from api.protocol.preconditions import check_match, with_etag
from api.schemas import table_specs as shapes
from api.schemas.pages import page_of_shape
from api.views.base import ResourceView
from benchmarks.access import Can, benchmark_for
from benchmarks.models import Benchmark
from evaluation.forms.benchmark_tables import BenchmarkTableForm, initial_of
from evaluation.models import BenchmarkTable
from evaluation.services.benchmark_tables import remove_table, save_table

HEAD = ("key", "name", "kind", "stage", "field", "rows", "measure", "options", "version")


class TableSpecList(ResourceView):
    @operation("table_specs", "Tables that were composed", parameters=PAGING, reply=page_of_shape(shapes.TableSpecLine))
    def get(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug)
        rows = BenchmarkTable.objects.filter(benchmark=benchmark, removed_at=None)
        return page_of(request, rows, "table_specs", lambda page: [spec_json(row) for row in page], benchmark.pk)

    @operation("table_spec_create", "Compose a table", scope="write", body=shapes.NewTableSpec,
               reply=shapes.TableSpecLine, status=201)  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        content = {**self.content, "question": f"{self.content['stage']}|{self.content.get('field', '')}"}
        values = checked(benchmark, content["kind"], content)
        table = save_table(benchmark, None, values, request.user)
        return with_etag(request, spec_json(table), 201, reverse("api:table_spec", args=[slug, table.key]))


class TableSpecDetail(ResourceView):
    def table(self, request: Request, slug: str, key: str, can: Can = "see") -> BenchmarkTable:
        benchmark = benchmark_for(request.user, slug, can=can)
        table = BenchmarkTable.objects.filter(benchmark=benchmark, key=key, removed_at=None).first()
        if table is None:
            raise Http404
        table.benchmark = benchmark
        return table

    @operation("table_spec", "What a composed table is of", reply=shapes.TableSpecLine)
    def get(self, request: Request, slug: str, key: str) -> Response:
        return with_etag(request, spec_json(self.table(request, slug, key)))

    @operation("table_spec_update", "Change a composed table: its next version", scope="write",
               body=shapes.TableSpecChange, reply=shapes.TableSpecLine)  # fmt: skip
    def patch(self, request: Request, slug: str, key: str) -> Response:
        table = self.table(request, slug, key, "work_on")
        check_match(request, spec_json(table))
        stage, field = (self.content.get(name, getattr(table, name)) for name in ("stage", "field"))
        content = {**initial_of(table), **self.content, "question": f"{stage}|{field}"}
        saved = save_table(table.benchmark, table, checked(table.benchmark, table.kind, content), request.user)
        return with_etag(request, spec_json(saved))

    @operation("table_spec_delete", "Remove a composed table", scope="write", reply=shapes.TableSpecLine)
    def delete(self, request: Request, slug: str, key: str) -> Response:
        table = self.table(request, slug, key, "work_on")
        check_match(request, spec_json(table))
        remove_table(table, request.user, timezone.now())
        return Response(spec_json(table))


def checked(benchmark: Benchmark, kind: str, content: dict[str, Any]) -> dict[str, Any]:
    """As the form of the page takes it. Raises Refused."""
    form = BenchmarkTableForm(form_data(content), benchmark=benchmark, kind=kind)
    check_form(form)
    return form.values()


def spec_json(table: BenchmarkTable) -> dict[str, Any]:
    return {name: getattr(table, name) for name in HEAD}
