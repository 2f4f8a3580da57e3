from django.urls import path

from predictions.views import pages

app_name = "predictions"
urlpatterns = [
    path("b/<slug:slug>/predictions/", pages.index, name="index"),
    path("b/<slug:slug>/predictions/collection/", pages.collection_new, name="collection_new"),
    path("b/<slug:slug>/predictions/run/", pages.run_new, name="run_new"),
    path("b/<slug:slug>/predictions/runs/<int:run_id>/", pages.run_do, name="run_do"),
]
