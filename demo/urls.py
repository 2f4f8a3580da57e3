from django.urls import path

from demo import views

app_name = "demo"
urlpatterns = [
    path("tour/", views.tour, name="tour"),
    path("tour/<slug:slug>/enter", views.enter, name="enter"),
]
