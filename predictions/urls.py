from django.urls import path

from predictions.views import exports, pages

app_name = "predictions"
urlpatterns = [
    path("b/<slug:slug>/predictions/", pages.index, name="index"),
    path("b/<slug:slug>/predictions/collection/", pages.collection_new, name="collection_new"),
    path("b/<slug:slug>/predictions/collections/<int:collection_id>.jsonl", exports.collection, name="collection_file"),
    path("b/<slug:slug>/predictions/runs/<int:run_id>.jsonl", exports.run, name="run_file"),
    path("b/<slug:slug>/predictions/run/", pages.run_new, name="run_new"),
    path("b/<slug:slug>/predictions/runs/<int:run_id>/", pages.run_do, name="run_do"),
]
