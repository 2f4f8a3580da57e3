from django.urls import path

from releases.views import export

app_name = "releases"
urlpatterns = [
    path("b/<slug:slug>/export/", export.page, name="export"),
]
