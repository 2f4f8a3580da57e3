from django.urls import path

from evaluation.views import agreement, export, people, status

app_name = "evaluation"
urlpatterns = [
    path("b/<slug:slug>/agreement/", agreement.page, name="agreement"),
    path("b/<slug:slug>/agreement/live/", agreement.live, name="agreement_live"),
    path("b/<slug:slug>/agreement.json", agreement.as_json, name="agreement_json"),
    path("b/<slug:slug>/agreement.csv", agreement.as_csv, name="agreement_csv"),
    path("b/<slug:slug>/agreement.tex", agreement.as_latex, name="agreement_tex"),
    path("b/<slug:slug>/export/", export.page, name="export"),
    path("b/<slug:slug>/people/", people.page, name="people"),
    path("b/<slug:slug>/people/<int:rater_id>/", people.person, name="person"),
    path("status/", status.page, name="status"),
]
