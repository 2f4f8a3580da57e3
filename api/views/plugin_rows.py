"""Rows of a plugin's own models, such as the survey of ValueGround: those that its releases have, read the same way."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from django.http import Http404
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from api.protocol.operations import PAGING
from api.protocol.problems import InvalidParameter
from api.protocol.streams import MEDIA_TYPE
from api.schemas.rows import RowCount, page_serializer
from api.views.base import INVALID, PROBLEMS, SLUG
from api.views.rows import RowCountView, RowList, RowsOfKind, view_of_kind
from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark
from releases.rows.filters import Condition
from releases.rows.kinds import RowKind, RowScope
from releases.rows.registry import benchmark_scope
from releases.rows.site.kinds import SiteScope
from releases.rows.site.registry import BY_RECIPE, site_kinds

NO_BENCHMARK = SiteScope(Benchmark(pk=0, team_id=0), (), ())
"""For the description: the columns are those of any benchmark."""


class PluginRows(RowsOfKind):
    """Of a benchmark of the recipe alone; any other has no such thing. What has changed since is not asked for."""

    recipe: str
    site_kind: str

    def parts(self, request: Request, slug: str, *others: str) -> tuple[Benchmark, RowScope, list[Condition]]:
        """Raises Http404 and InvalidParameter."""
        benchmark = benchmark_for(request.user, slug, can="work_on")
        if benchmark.recipe != self.recipe:
            raise Http404
        if unknown := [name for name in request.query_params if name not in others]:
            names = ", ".join(others) or "-"
            raise InvalidParameter(unknown[0], _("This parameter is unknown. There are: %(names)s.") % {"names": names})
        scope = benchmark_scope(benchmark)
        whole = SiteScope(benchmark, scope.campaigns, scope.stages, versions=True)
        self.kind = plugin_kind(self.recipe, self.site_kind, whole)
        return benchmark, scope, []

    def moment_headers(self) -> dict[str, str]:
        return {}


class PluginRowList(PluginRows, RowList):
    pass


class PluginRowCount(PluginRows, RowCountView):
    pass


def plugin_kind(recipe: str, key: str, scope: SiteScope) -> RowKind:
    """A kind of the plugin's rows, under a key that no other kind has."""
    kinds = site_kinds(recipe)
    return replace(kinds[key].row_kind(kinds, scope), key=f"{recipe}_{key}")


def plugin_paths(before: str) -> Iterator[URLPattern]:
    """Addresses for each kind of rows that each plugin brings to releases. `before`: the address of a benchmark."""
    for recipe, part in BY_RECIPE.items():
        for site_kind in part.kinds:
            kind = plugin_kind(recipe, site_kind.key, NO_BENCHMARK)
            facts = {"recipe": recipe, "site_kind": site_kind.key}
            address = f"{before}x/{recipe}/{site_kind.key.replace('_', '-')}/"
            words = f"{recipe}: {site_kind.key.replace('_', ' ')}"
            described = f"{kind.meaning} With `Accept: {MEDIA_TYPE}` all rows come as lines of JSON."
            rows = _describe(kind, kind.key, words, described, page_serializer(kind), PAGING)
            count = _describe(kind, f"{kind.key}_count", f"Number of {words}", kind.meaning, RowCount)
            yield path(address, view_of_kind(PluginRowList, kind, rows, **facts), name=kind.key)
            yield path(f"{address}count/", view_of_kind(PluginRowCount, kind, count, **facts), name=f"{kind.key}_count")


def _describe(
    kind: RowKind, name: str, summary: str, words: str, reply: Any, parameters: Sequence[Any] = ()
) -> Any:  # fmt: skip
    return extend_schema(
        operation_id=name, summary=summary, description=words, parameters=[SLUG, *parameters],
        responses={200: reply, **INVALID, **PROBLEMS}, extensions={"x-emic-scope": kind.scope},
    )  # fmt: skip
