from django.urls import path, re_path
from drf_spectacular.views import SpectacularJSONAPIView

from evaluation.api import views

app_name = "api"
urlpatterns = [
    path("schema/", SpectacularJSONAPIView.as_view(), name="schema"),
    path("v1/benchmarks/", views.BenchmarkList.as_view(), name="benchmarks"),
    path("v1/benchmarks/<slug:slug>/agreement/", views.AgreementView.as_view(), name="agreement"),
    path("v1/benchmarks/<slug:slug>/tables/", views.TableList.as_view(), name="tables"),
    path("v1/benchmarks/<slug:slug>/tables/<slug:key>/", views.TableView.as_view(), name="table"),
    re_path(r"^v1/", views.not_found, name="nothing"),
]
