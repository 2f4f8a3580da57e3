"""Jobs and the rows of their reports, as they are sent."""

from rest_framework import serializers as s


class JobSerializer(s.Serializer):
    """`done` of `total`: rows or steps. `counts` is by outcome: created, unchanged, updated, error."""

    id = s.IntegerField()
    kind = s.CharField()
    title = s.CharField()
    state = s.ChoiceField(["queued", "running", "done", "cancelled", "failed"])
    benchmark = s.CharField(allow_null=True, help_text="Slug of the benchmark it belongs to; null of a team's job.")
    team = s.CharField(allow_null=True, help_text="Slug of the team it belongs to; null of a benchmark's job.")
    done = s.IntegerField()
    total = s.IntegerField(allow_null=True, help_text="Null: not known yet.")
    counts = s.DictField(child=s.IntegerField())
    remarks = s.DictField(child=s.IntegerField(), help_text="How many rows were taken with a remark, by its code.")
    notes = s.ListField(child=s.CharField())
    error = s.CharField(allow_blank=True, help_text="Why it failed.")
    summary = s.CharField(help_text="How far it is or how it ended, in the words of its page.")
    created_at = s.DateTimeField()
    started_at = s.DateTimeField(allow_null=True)
    finished_at = s.DateTimeField(allow_null=True)
    page = s.CharField(help_text="Address of its page.")


class JobRowSerializer(s.Serializer):
    number = s.IntegerField(help_text="As a person sees it: the head of a table is row 1.")
    name = s.CharField()
    outcome = s.ChoiceField(["created", "unchanged", "updated", "error"])
    reason = s.CharField(allow_blank=True)
    message = s.CharField(allow_blank=True)
