from django.urls import path

from benchmarks.views import images

app_name = "benchmarks"
urlpatterns = [
    path("image/<str:signed>/", images.image, name="image"),
]
