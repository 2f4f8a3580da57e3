from django.urls import path

from predictions.views import answer_runs, answers_made, calls, endpoints, exports, knowledge, links, new_run, pages

app_name = "predictions"
urlpatterns = [
    path("b/<slug:slug>/predictions/", pages.index, name="index"),
    path("b/<slug:slug>/predictions/collection/", pages.collection_new, name="collection_new"),
    path("b/<slug:slug>/predictions/collections/<int:collection_id>.jsonl", exports.collection, name="collection_file"),
    path("b/<slug:slug>/predictions/runs/<int:run_id>.jsonl", exports.run, name="run_file"),
    path("b/<slug:slug>/predictions/run/", pages.run_new, name="run_new"),
    path("b/<slug:slug>/predictions/run/new/", new_run.new, name="answer_run_new"),
    path("b/<slug:slug>/predictions/run/<int:run_id>/", answer_runs.run, name="answer_run"),
    path("b/<slug:slug>/predictions/run/<int:run_id>/live/", answer_runs.live, name="answer_run_live"),
    path("b/<slug:slug>/predictions/run/<int:run_id>/do/", answer_runs.do, name="answer_run_do"),
    path("b/<slug:slug>/predictions/run/<int:run_id>/calls.jsonl", calls.calls_file, name="calls_file"),
    path("b/<slug:slug>/predictions/run/<int:run_id>/calls/<int:call_id>/", calls.call, name="call"),
    path("b/<slug:slug>/predictions/answers/", answers_made.bring, name="answers_new"),
    path("b/<slug:slug>/predictions/runs/<int:run_id>/", pages.run_do, name="run_do"),
    path("teams/<slug:slug>/models/", endpoints.index, name="endpoints"),
    path("teams/<slug:slug>/models/new/", endpoints.new, name="endpoint_new"),
    path("teams/<slug:slug>/models/<int:endpoint_id>/", endpoints.endpoint, name="endpoint"),
    path("teams/<slug:slug>/models/<int:endpoint_id>/prices/", endpoints.prices, name="endpoint_prices"),
    path("teams/<slug:slug>/models/<int:endpoint_id>/do/", endpoints.do, name="endpoint_do"),
    path("teams/<slug:slug>/knowledge/", knowledge.index, name="knowledge"),
    path("teams/<slug:slug>/knowledge/<int:base_id>/", knowledge.base, name="knowledge_base"),
    path("teams/<slug:slug>/knowledge/<int:base_id>/import/", knowledge.entries_new, name="knowledge_import"),
    path("teams/<slug:slug>/knowledge/<int:base_id>/index/import/", knowledge.index_new, name="knowledge_index"),
    path("teams/<slug:slug>/knowledge/<int:base_id>/<int:entry_id>/", knowledge.entry, name="knowledge_entry"),
    path("b/<slug:slug>/links/", links.index, name="linking"),
    path("b/<slug:slug>/links/<int:run_id>/", links.run, name="links"),
    path("b/<slug:slug>/links/<int:run_id>/do/", links.do, name="links_do"),
    path("b/<slug:slug>/links/<int:run_id>/<int:item_id>/", links.link, name="link"),
]
