from django.urls import path, re_path

from evaluation.views import (
    agreement,
    benchmark_tables,
    figures,
    items,
    judge,
    models_page,
    my_statistics,
    people,
    reviewers,
    status,
    tables,
)

app_name = "evaluation"
urlpatterns = [
    path("b/<slug:slug>/agreement/", agreement.page, name="agreement"),
    path("b/<slug:slug>/agreement/live/", agreement.live, name="agreement_live"),
    path("b/<slug:slug>/agreement/recompute/", agreement.recompute, name="agreement_recompute"),
    path(
        "b/<slug:slug>/agreement/questions.csv",
        agreement.as_file,
        {"key": "questions", "form": "csv"},
        name="questions_csv",
    ),
    path(
        "b/<slug:slug>/agreement/questions.tex",
        agreement.as_file,
        {"key": "questions", "form": "tex"},
        name="questions_tex",
    ),
    path(
        "b/<slug:slug>/agreement.json", agreement.as_file, {"key": "agreement", "form": "json"}, name="agreement_json"
    ),
    path("b/<slug:slug>/agreement.csv", agreement.as_file, {"key": "agreement", "form": "csv"}, name="agreement_csv"),
    path("b/<slug:slug>/agreement.tex", agreement.as_file, {"key": "agreement", "form": "tex"}, name="agreement_tex"),
    path("b/<slug:slug>/models/", models_page.page, name="models"),
    path("b/<slug:slug>/models.json", models_page.as_file, {"form": "json"}, name="models_json"),
    path("b/<slug:slug>/models.csv", models_page.as_file, {"form": "csv"}, name="models_csv"),
    path("b/<slug:slug>/judge/", judge.page, name="judge"),
    path("b/<slug:slug>/judge.json", judge.as_file, {"form": "json"}, name="judge_json"),
    path("b/<slug:slug>/judge.csv", judge.as_file, {"form": "csv"}, name="judge_csv"),
    path("b/<slug:slug>/disagreement/", items.page, name="items"),
    path("b/<slug:slug>/disagreement/<int:unit_id>/", items.unit, name="item_answers"),
    path("b/<slug:slug>/people/", people.page, name="people"),
    path("b/<slug:slug>/people/<int:rater_id>/", people.person, name="person"),
    path("b/<slug:slug>/people/<int:rater_id>/summary/", people.summary, name="person_summary"),
    path("b/<slug:slug>/review/agreement/", reviewers.page, name="reviewers"),
    path("b/<slug:slug>/review/agreement.csv", reviewers.as_csv, name="reviewers_csv"),
    path("b/<slug:slug>/tables/", tables.index, name="tables"),
    path("b/<slug:slug>/tables/new/", benchmark_tables.edit_table, name="table_new"),
    path("b/<slug:slug>/tables/<slug:key>/", tables.page, name="table"),
    re_path(r"^b/(?P<slug>[-\w]+)/tables/(?P<key>[-\w]+)\.(?P<form>csv|json|tex)$", tables.download, name="table_file"),
    path("b/<slug:slug>/figures/", figures.page, name="figures"),
    re_path(
        r"^b/(?P<slug>[-\w]+)/figures/(?P<key>[-\w]+)\.(?P<form>svg|png|csv)$", figures.download, name="figure_file"
    ),
    path("me/statistics/", my_statistics.page, name="own"),
    path("status/", status.page, name="status"),
]
