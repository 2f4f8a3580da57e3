from django.urls import path

from api.views import webhook_pages

app_name = "webhooks"
ACTIONS = ("test", "on", "off", "secret", "save", "delete")
urlpatterns = [
    path("teams/<slug:slug>/webhooks/", webhook_pages.index, name="team"),
    path("webhooks/<int:webhook_id>/", webhook_pages.webhook, name="webhook"),
    *[
        path(f"webhooks/<int:webhook_id>/{action}", webhook_pages.act, {"action": action}, name=action)
        for action in ACTIONS
    ],
    path("webhooks/<int:webhook_id>/deliveries/<int:delivery_id>/redeliver", webhook_pages.redeliver, name="redeliver"),
]
