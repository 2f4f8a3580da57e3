"""Webhooks and what was sent to them, as they are sent and taken."""

from rest_framework import serializers as s

from api.protocol.webhook_types import TYPES

SLUG = r"^[-a-zA-Z0-9_]+$"


class WebhookSerializer(s.Serializer):
    id = s.IntegerField()
    team = s.CharField(help_text="Slug.")
    benchmark = s.CharField(allow_null=True, help_text="Slug; null: all benchmarks of the team.")
    url = s.CharField()
    verbs = s.ListField(child=s.CharField())
    state = s.CharField(help_text="active, off or failed.")
    active = s.BooleanField()
    failing_since = s.DateTimeField(allow_null=True)
    old_secret_until = s.DateTimeField(allow_null=True, help_text="Until when messages bear two signatures.")
    created_at = s.DateTimeField()


class CreatedWebhook(WebhookSerializer):
    secret = s.CharField(allow_null=True, help_text="Sent once; null when the request is repeated.")


class NewWebhook(s.Serializer):
    team = s.RegexField(SLUG, max_length=50, help_text="Slug.")
    benchmark = s.RegexField(SLUG, max_length=50, required=False, help_text="Slug; all of the team without it.")
    url = s.CharField(max_length=500, help_text="Begins with https://.")
    verbs = s.ListField(child=s.CharField(max_length=40), min_length=1, help_text=", ".join(TYPES))


class WebhookChange(s.Serializer):
    url = s.CharField(max_length=500, required=False)
    verbs = s.ListField(child=s.CharField(max_length=40), min_length=1, required=False)
    active = s.BooleanField(required=False, help_text="false switches it off.")


class SecretSerializer(s.Serializer):
    secret = s.CharField(allow_null=True, help_text="Sent once; null when the request is repeated.")
    old_secret_until = s.DateTimeField(allow_null=True)


class AttemptSerializer(s.Serializer):
    at = s.DateTimeField()
    status = s.IntegerField(allow_null=True)
    seconds = s.FloatField()
    error = s.CharField(
        allow_blank=True, help_text="private, in_clear, timeout, connection, redirect, too_large, key or status."
    )


class DeliverySerializer(s.Serializer):
    """`message_id` is the header webhook-id, the same at every attempt."""

    id = s.IntegerField()
    message_id = s.CharField()
    type = s.CharField()
    data = s.DictField()
    state = s.CharField(help_text="waiting, delivered or failed.")
    happened_at = s.DateTimeField()
    next_at = s.DateTimeField(allow_null=True)
    attempts = AttemptSerializer(many=True)
