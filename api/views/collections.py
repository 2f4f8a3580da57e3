"""Collections of a benchmark: what models search, and what they are asked."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Count, QuerySet
from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from api.protocol.contents import check_form, form_data, problem
from api.protocol.operations import PAGING, operation
from api.protocol.paging import page_of
from api.protocol.preconditions import with_etag
from api.protocol.problems import Refused
from api.schemas import collections as shapes
from api.schemas.pages import page_of_shape
from api.views.base import ResourceView
from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark
from predictions.forms.encoders import CollectionBuildForm
from predictions.models import Collection, Query
from predictions.services.collections import builder

NAMES = ("key", "version", "name", "licence", "seed", "created_at")
TYPED = ("languages", "words")
DEFAULTS = {"version": "1", "what": "images", "seed": 1}


class CollectionList(ResourceView):
    @operation(
        "collections", "Collections that are searched", parameters=PAGING, reply=page_of_shape(shapes.CollectionLine)
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        rows = collections_of(benchmark)
        return page_of(request, rows, "collections", lambda page: [collection_json(row) for row in page], benchmark.pk)

    @operation("collection_create", "Create a collection out of a stage's items, with its queries", scope="write",
               body=shapes.NewCollection, reply=shapes.CollectionBuilt, status=201)  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        form = CollectionBuildForm(form_data(form_values(benchmark, self.content)), benchmark=benchmark)
        check_form(form)
        built = builder.build_collection(form.plan(), request.user)
        shown = detail_json(collections_of(benchmark).get(pk=built.collection.pk))
        left_out = {name: dict(why) for name, why in built.left_out.items()}
        location = reverse("api:collection", args=[slug, built.collection.pk])
        return with_etag(request, {**shown, "left_out": left_out}, 201, location)


class CollectionDetail(ResourceView):
    @operation("collection", "One collection", reply=shapes.CollectionWithQueries)
    def get(self, request: Request, slug: str, collection_id: int) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        row = collections_of(benchmark).filter(pk=collection_id).first()
        if row is None:
            raise Http404
        return with_etag(request, detail_json(row))


def collections_of(benchmark: Benchmark) -> QuerySet[Any]:
    rows = Collection.objects.filter(benchmark=benchmark).select_related("stage")
    return rows.annotate(number=Count("entries"))


def form_values(benchmark: Benchmark, content: Mapping[str, Any]) -> dict[str, Any]:
    """As the form of the page has them. Raises Refused for a stage that is not there."""
    stages = dict(benchmark.stages.values_list("key", "pk"))
    values = {**DEFAULTS, **{name: value for name, value in content.items() if name not in TYPED}}
    for name in ("stage", *builder.STAGES):
        if name in values and values[name] not in stages:
            text = _("There is no such stage.")
            raise Refused(text, errors=[problem(f"/{name}", "unknown", text)])
        if name in values:
            values[name] = stages[values[name]]
    words = [
        (row["concept"], row.get("country", ""), row["language"], row["words"]) for row in content.get("words", ())
    ]
    values["words"] = "\n".join(" | ".join(_line(part) for part in row) for row in words)
    languages = content.get("languages", {})
    values["languages"] = "\n".join(f"{_line(country)} = {_line(name)}" for country, name in languages.items())
    return values


def _line(text: str) -> str:
    """One part of a line of the form."""
    return " ".join(text.replace("|", " ").split())


def collection_json(row: Any) -> dict[str, Any]:
    facts = {name: getattr(row, name) for name in NAMES}
    return {"id": row.pk, **facts, "stage": row.stage.key if row.stage else None, "entries": row.number}


def detail_json(row: Any) -> dict[str, Any]:
    sets = Query.objects.filter(collection=row).order_by("query_set").values_list("query_set")
    return {**collection_json(row), "queries": dict(sets.annotate(n=Count("pk")))}
