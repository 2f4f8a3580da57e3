"""Sheets that a person's program fills: what is shown, what it sends, and what became of it."""

from rest_framework import serializers as s


class ShownPicture(s.Serializer):
    role = s.CharField()
    alt = s.CharField(allow_blank=True)
    url = s.CharField(help_text="Valid for some hours.")


class ShownLine(s.Serializer):
    label = s.CharField(allow_blank=True)
    value = s.CharField(allow_blank=True)


class ShownItem(s.Serializer):
    text = s.CharField(allow_blank=True, help_text="Where the sheet shows it.")
    lines = ShownLine(many=True)
    pictures = ShownPicture(many=True)


class DraftLine(s.Serializer):
    answers = s.DictField()
    version = s.IntegerField()
    saved_at = s.DateTimeField()


class AssignmentSerializer(s.Serializer):
    id = s.IntegerField()
    campaign = s.IntegerField()
    state = s.CharField()
    lease_until = s.DateTimeField(allow_null=True, help_text="Until then the place is held; late answers are kept.")
    target = s.CharField(allow_blank=True, help_text="The culture that it is about.")
    item = ShownItem()
    sheet = s.DictField(help_text="See docs/reference/sheets.md.")
    draft = DraftLine(allow_null=True)


class Claim(s.Serializer):
    current = AssignmentSerializer()
    ahead = AssignmentSerializer(allow_null=True, help_text="Held for this person, too.")


class NewDraft(s.Serializer):
    answers = s.DictField(help_text="By the key of each question.")
    version = s.IntegerField(min_value=0, max_value=2**31 - 2, help_text="Of the draft that was read; 0: the first.")


class NewSubmission(s.Serializer):
    answers = s.DictField(help_text="By the key of each question.")
    client_key = s.CharField(max_length=64, help_text="Made once for each filled sheet; sending it again is harmless.")
    language = s.CharField(max_length=12, required=False)
    confirmed = s.ListField(
        child=s.CharField(max_length=120), required=False, max_length=100,
        help_text="Warnings that were read, as question:code.",
    )  # fmt: skip


class SubmissionDone(s.Serializer):
    annotation = s.IntegerField()
    version = s.IntegerField()
    counted = s.BooleanField()
    uncounted_because = s.CharField(allow_blank=True)
    repeated = s.BooleanField(help_text="The key was known: nothing was written.")
    next = AssignmentSerializer(allow_null=True)
    no_work = s.CharField(allow_null=True, help_text="Why there is no next one.")
