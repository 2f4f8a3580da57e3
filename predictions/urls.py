from django.urls import path

from predictions.views import answers_made, endpoints, exports, pages

app_name = "predictions"
urlpatterns = [
    path("b/<slug:slug>/predictions/", pages.index, name="index"),
    path("b/<slug:slug>/predictions/collection/", pages.collection_new, name="collection_new"),
    path("b/<slug:slug>/predictions/collections/<int:collection_id>.jsonl", exports.collection, name="collection_file"),
    path("b/<slug:slug>/predictions/runs/<int:run_id>.jsonl", exports.run, name="run_file"),
    path("b/<slug:slug>/predictions/run/", pages.run_new, name="run_new"),
    path("b/<slug:slug>/predictions/answers/", answers_made.bring, name="answers_new"),
    path("b/<slug:slug>/predictions/runs/<int:run_id>/", pages.run_do, name="run_do"),
    path("teams/<slug:slug>/models/", endpoints.index, name="endpoints"),
    path("teams/<slug:slug>/models/new/", endpoints.new, name="endpoint_new"),
    path("teams/<slug:slug>/models/<int:endpoint_id>/", endpoints.endpoint, name="endpoint"),
    path("teams/<slug:slug>/models/<int:endpoint_id>/prices/", endpoints.prices, name="endpoint_prices"),
    path("teams/<slug:slug>/models/<int:endpoint_id>/do/", endpoints.do, name="endpoint_do"),
]
