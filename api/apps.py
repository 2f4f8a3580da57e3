from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "api"

    def ready(self) -> None:
        from api.models import Webhook
        from api.services.webhooks import rotate_secrets
        from people.views.one_time_link import register_made_for
        from predictions.services.endpoints.secrets import register_rotation

        register_made_for("webhook", Webhook)
        register_rotation("webhooks", rotate_secrets)
