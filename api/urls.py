from django.urls import path, re_path
from drf_spectacular.views import SpectacularJSONAPIView

from api.views import docs, numbers, rows
from releases.rows.registry import KINDS

B = "v1/benchmarks/<slug:slug>/"
app_name = "api"
urlpatterns = [
    path("schema/", SpectacularJSONAPIView.as_view(), name="schema"),
    path("docs/", docs.page, name="docs"),
    path("v1/benchmarks/", numbers.BenchmarkList.as_view(), name="benchmarks"),
    path(f"{B}agreement/", numbers.AgreementView.as_view(), name="agreement"),
    path(f"{B}tables/", numbers.TableList.as_view(), name="tables"),
    path(f"{B}tables/<slug:key>/", numbers.TableView.as_view(), name="table"),
    *[path(f"{B}{kind.key}/", rows.list_view(kind), name=kind.key) for kind in KINDS],
    *[path(f"{B}{kind.key}/count/", rows.count_view(kind), name=f"{kind.key}_count") for kind in KINDS],
    *[
        path(f"{B}{kind.key}/<int:row_id>/", rows.detail_view(kind), name=kind.key.removesuffix("s"))
        for kind in KINDS
        if len(kind.order) == 1
    ],
    re_path(r"^v1/", numbers.not_found, name="nothing"),
]
