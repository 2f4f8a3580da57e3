"""Endpoints of a team as they are sent and taken. The secret is taken and never sent."""

from rest_framework import serializers as s

KINDS = ["openai", "open_clip", "detector", "grounding"]
OFFERS = ["images", "schema", "guided", "logprobs", "continuation", "seed"]


class EndpointLine(s.Serializer):
    id = s.IntegerField()
    kind = s.CharField()
    name = s.CharField()
    base_url = s.CharField(allow_blank=True)
    offers = s.ListField(child=s.CharField())
    most_in_flight = s.IntegerField()
    per_minute = s.IntegerField(allow_null=True)
    timeout_seconds = s.IntegerField()
    has_secret = s.BooleanField()
    created_at = s.DateTimeField()
    retired_at = s.DateTimeField(allow_null=True)


class EndpointChange(s.Serializer):
    name = s.CharField(max_length=80, required=False)
    base_url = s.CharField(max_length=500, required=False, allow_blank=True, help_text="Up to /v1.")
    offers = s.ListField(child=s.ChoiceField(OFFERS), required=False)
    most_in_flight = s.IntegerField(min_value=1, max_value=512, required=False)
    per_minute = s.IntegerField(min_value=1, max_value=1_000_000, required=False, allow_null=True)
    timeout_seconds = s.IntegerField(min_value=1, max_value=3600, required=False)
    secret = s.CharField(max_length=4000, required=False, allow_blank=True, help_text="Never sent; empty deletes it.")
    retired = s.BooleanField(required=False, help_text="true: nothing is asked of it any more. For good.")


class NewEndpoint(EndpointChange):
    kind = s.ChoiceField(KINDS, required=False, help_text="openai without it.")
    name = s.CharField(max_length=80)
    retired = None


class NewCheck(s.Serializer):
    model = s.CharField(max_length=200, required=False, allow_blank=True, help_text="Also try what it can do.")


class CheckResult(s.Serializer):
    works = s.BooleanField()
    answered = s.BooleanField()
    models = s.ListField(child=s.CharField())
    words = s.CharField()
    offers = s.ListField(child=s.CharField(), allow_null=True, help_text="Null: nothing was tried.")
    model = s.CharField(allow_blank=True)
