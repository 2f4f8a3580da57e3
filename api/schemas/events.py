"""The feed of events as it is sent."""

from rest_framework import serializers as s


class EventSerializer(s.Serializer):
    id = s.IntegerField()
    at = s.DateTimeField()
    verb = s.CharField()
    benchmark = s.CharField(help_text="Its slug.")
    target = s.CharField(allow_blank=True, help_text="What it is about, as kind:number.")
    data = s.DictField(help_text="Numbers and codes.")
    after = s.CharField(help_text="Send it as `after` to read on behind this event.")


class EventFeed(s.Serializer):
    results = EventSerializer(many=True)
    after = s.CharField(help_text="Send it as `after` to read on, now or later.")
    more = s.BooleanField(help_text="Whether there is a next page already.")
