"""Webhooks by REST: what the page of a team does."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from api import access
from api.models import Webhook, WebhookDelivery
from api.protocol.authentication import TokenLimited, allowed_benchmarks
from api.protocol.operations import PAGING, operation, query_parameter
from api.protocol.paging import page_of
from api.protocol.preconditions import check_match, with_etag
from api.protocol.problems import InvalidParameter, Refused
from api.schemas import webhooks as shapes
from api.schemas.pages import page_of_shape
from api.services import webhook_sender, webhooks
from api.views.base import ResourceView
from benchmarks.models import Benchmark

STATE = query_parameter("state", "waiting, delivered or failed.")


class WebhookView(ResourceView):
    """A webhook is of a benchmark or a team: a token for chosen benchmarks opens those of its benchmarks."""

    def _check_benchmark(self, request: Request, slug: str | None) -> None:
        """It is no part of the address: `find_webhook` looks at the webhook."""

    def find_webhook(self, webhook_id: int) -> Webhook:
        """Raises Http404."""
        webhook = access.webhook_for(self.request.user, webhook_id)
        chosen = allowed_benchmarks(self.request)
        if chosen is not None and webhook.benchmark_id not in chosen:
            raise Http404
        return webhook


class WebhookList(WebhookView):
    @operation("webhooks", "Webhooks that you may change", parameters=PAGING,
               reply=page_of_shape(shapes.WebhookSerializer))  # fmt: skip
    def get(self, request: Request) -> Response:
        rows, chosen = access.webhooks_of(request.user), allowed_benchmarks(request)
        if chosen is not None:
            rows = rows.filter(benchmark__in=chosen)
        return page_of(request, rows, "webhooks", lambda page: [webhook_json(row) for row in page], request.user.pk)

    @operation(
        "webhook_create",
        "Create a webhook; its secret is sent once",
        scope="write",
        body=shapes.NewWebhook,
        reply=shapes.CreatedWebhook,
        status=201,
        secrets=("secret",),
    )
    def post(self, request: Request) -> Response:
        slug, chosen = self.content.get("benchmark", ""), allowed_benchmarks(request)
        if chosen is not None and not slug:
            raise TokenLimited
        if chosen is not None and not Benchmark.objects.filter(slug=slug, pk__in=chosen).exists():
            raise Http404
        team, benchmark = access.place_for_webhook(request.user, self.content["team"], slug)
        with refused_members():
            webhook, secret = webhooks.create(
                team, benchmark, self.content["url"], self.content["verbs"], request.user
            )  # fmt: skip
        location = reverse("api:webhook", args=[webhook.pk])
        reply = with_etag(request, webhook_json(webhook), 201, location)
        reply.data = {**webhook_json(webhook), "secret": secret}
        return reply


class WebhookDetail(WebhookView):
    @operation("webhook", "One webhook", reply=shapes.WebhookSerializer)
    def get(self, request: Request, webhook_id: int) -> Response:
        return with_etag(request, webhook_json(self.find_webhook(webhook_id)))

    @operation(
        "webhook_update",
        "Change a webhook, or switch it on or off",
        scope="write",
        body=shapes.WebhookChange,
        reply=shapes.WebhookSerializer,
    )
    def patch(self, request: Request, webhook_id: int) -> Response:
        webhook = webhooks.lock(self.find_webhook(webhook_id))
        check_match(request, webhook_json(webhook))
        with refused_members():
            changed = webhooks.change(webhook, self.content, request.user)
        return with_etag(request, webhook_json(changed))

    @operation("webhook_delete", "Delete a webhook with its deliveries", scope="write", status=204)
    def delete(self, request: Request, webhook_id: int) -> Response:
        webhook = webhooks.lock(self.find_webhook(webhook_id))
        check_match(request, webhook_json(webhook))
        webhooks.delete(webhook, request.user)
        return Response(status=204)


class WebhookSecret(WebhookView):
    @operation(
        "webhook_secret",
        "Replace the secret; the old one is valid for a day more",
        scope="write",
        reply=shapes.SecretSerializer,
        secrets=("secret",),
    )
    def post(self, request: Request, webhook_id: int) -> Response:
        webhook = self.find_webhook(webhook_id)
        with refused_members():
            secret = webhooks.replace_secret(webhook, request.user, timezone.now())
        webhook.refresh_from_db()
        return Response({"secret": secret, "old_secret_until": webhook.old_secret_until})


class WebhookTest(WebhookView):
    @operation("webhook_test", "Send a test message", scope="write", reply=shapes.DeliverySerializer, status=202)
    def post(self, request: Request, webhook_id: int) -> Response:
        webhook = self.find_webhook(webhook_id)
        with refused_members():
            delivery = webhooks.send_test(webhook, timezone.now())
        return Response(deliveries_json([delivery])[0], status=202)


class DeliveryList(WebhookView):
    @operation("webhook_deliveries", "What was sent, with each attempt", parameters=(*PAGING, STATE),
               reply=page_of_shape(shapes.DeliverySerializer))  # fmt: skip
    def get(self, request: Request, webhook_id: int) -> Response:
        rows = self.find_webhook(webhook_id).deliveries.all()
        if state := request.query_params.get("state"):
            if state not in WebhookDelivery.State.values:
                names = ", ".join(WebhookDelivery.State.values)
                raise InvalidParameter("state", _("There are: %(names)s.") % {"names": names})
            rows = rows.filter(state=state)
        return page_of(request, rows, "deliveries", deliveries_json, webhook_id)


class DeliveryDetail(WebhookView):
    @operation("webhook_delivery", "One message with its attempts", reply=shapes.DeliverySerializer)
    def get(self, request: Request, webhook_id: int, delivery_id: int) -> Response:
        return with_etag(request, deliveries_json([find_delivery(self.find_webhook(webhook_id), delivery_id)])[0])


class Redelivery(WebhookView):
    @operation("webhook_redeliver", "Send a message again, with the same id", scope="write",
               reply=shapes.DeliverySerializer, status=202)  # fmt: skip
    def post(self, request: Request, webhook_id: int, delivery_id: int) -> Response:
        delivery = find_delivery(self.find_webhook(webhook_id), delivery_id)
        with refused_members():
            again = webhooks.redeliver(delivery, timezone.now())
        return Response(deliveries_json([again])[0], status=202)


@contextmanager
def refused_members() -> Iterator[None]:
    """What the service refuses, at the member that it is about. Raises Refused."""
    try:
        yield
    except webhooks.WebhookRefused as error:
        entry = {"pointer": f"/{error.member}" if error.member else "", "code": "refused", "detail": error.message}
        raise Refused(error.message, errors=[entry]) from error


def find_delivery(webhook: Webhook, delivery_id: int) -> WebhookDelivery:
    """Raises Http404."""
    delivery = webhook.deliveries.filter(pk=delivery_id).first()
    if delivery is None:
        raise Http404
    delivery.webhook = webhook
    return delivery


def webhook_json(webhook: Webhook) -> dict[str, Any]:
    names = ("url", "verbs", "state", "failing_since", "old_secret_until", "created_at")
    return {
        "id": webhook.pk,
        "team": webhook.team.slug,
        "benchmark": webhook.benchmark.slug if webhook.benchmark else None,
        **{name: getattr(webhook, name) for name in names},
        "active": webhook.state == Webhook.State.ACTIVE,
    }


def deliveries_json(deliveries: list[WebhookDelivery]) -> list[dict[str, Any]]:
    attempts = webhook_sender.last_attempts(deliveries)
    names = ("message_id", "type", "data", "state", "happened_at", "next_at")
    return [
        {"id": row.pk, **{name: getattr(row, name) for name in names}, "attempts": attempts[row.pk]}
        for row in deliveries
    ]
