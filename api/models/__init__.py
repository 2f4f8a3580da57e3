"""What the API remembers of programs."""

from api.models.request_counts import RequestCount
from api.models.requests import ApiRequest
from api.models.webhooks import Webhook, WebhookAttempt, WebhookDelivery

__all__ = ["ApiRequest", "RequestCount", "Webhook", "WebhookAttempt", "WebhookDelivery"]
