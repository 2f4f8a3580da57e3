"""Campaigns as they are sent and taken."""

from rest_framework import serializers as s

BIG = 2**53


class CampaignCohortLine(s.Serializer):
    cohort = s.IntegerField()
    label = s.CharField()
    wanted = s.IntegerField(help_text="Answers wanted of each item.")
    most_per_person = s.IntegerField(allow_null=True)
    most_per_day = s.IntegerField(allow_null=True)
    paused = s.BooleanField()


class CampaignSerializer(s.Serializer):
    id = s.IntegerField()
    stage = s.CharField(help_text="Key of the stage.")
    name = s.CharField()
    summary = s.CharField(allow_blank=True)
    state = s.CharField(help_text="draft, open, paused or closed.")
    conditions = s.ListField(child=s.CharField(), help_text="Empty: all.")
    sheet_version = s.CharField()
    opens_on = s.DateField(allow_null=True)
    closes_on = s.DateField(allow_null=True)
    created_at = s.DateTimeField()
    opened_at = s.DateTimeField(allow_null=True)
    closed_at = s.DateTimeField(allow_null=True)
    cohorts = CampaignCohortLine(many=True)


class NewCampaign(s.Serializer):
    """A draft of one stage. As the form of the page."""

    stage = s.CharField(max_length=60, help_text="Key of the stage.")
    name = s.CharField(max_length=120, required=False, help_text="The stage's without it.")
    summary = s.CharField(max_length=200, required=False, allow_blank=True)
    opens_on = s.DateField(required=False, allow_null=True)
    closes_on = s.DateField(required=False, allow_null=True)
    conditions = s.ListField(child=s.CharField(), required=False, help_text="All without it.")
    cohorts = s.DictField(
        child=s.IntegerField(min_value=1, max_value=1000),
        help_text="Label or number of each cohort, with the number of answers wanted of each item.",
    )
    instructions = s.DictField(
        child=s.CharField(allow_blank=True, max_length=20_000),
        required=False,
        help_text="By language; else the stage's.",
    )


class NewCampaignCohort(s.Serializer):
    cohort = s.IntegerField(min_value=1, max_value=BIG)
    wanted = s.IntegerField(min_value=1, max_value=1000)


class CampaignCohortChange(s.Serializer):
    wanted = s.IntegerField(min_value=1, max_value=1000, required=False)
    paused = s.BooleanField(required=False)
    most_per_person = s.IntegerField(min_value=1, max_value=100_000, required=False, allow_null=True)
    most_per_day = s.IntegerField(min_value=1, max_value=100_000, required=False, allow_null=True)


class AssignmentLine(s.Serializer):
    id = s.IntegerField()
    state = s.CharField(help_text="reserved, submitted, returned, accepted, rejected, skipped or released.")
    item = s.CharField(help_text="Key of the item.")
    target = s.CharField(allow_blank=True)
    cohort = s.CharField(allow_blank=True, help_text="Empty: a model, or a file.")
    rater = s.CharField(help_text="Pseudonym; name of a model.")
    repeat = s.IntegerField()
    skip_reason = s.CharField(allow_blank=True)
    reserved_at = s.DateTimeField()
    shown_at = s.DateTimeField(allow_null=True)
    changed_at = s.DateTimeField()
    lease_until = s.DateTimeField(allow_null=True)


class CohortProgressLine(s.Serializer):
    cohort = s.IntegerField()
    label = s.CharField()
    wanted = s.IntegerField()
    reserved = s.IntegerField(help_text="In progress now.")
    submitted = s.IntegerField()
    skipped = s.IntegerField()


class CampaignProgress(s.Serializer):
    state = s.CharField()
    cohorts = CohortProgressLine(many=True)


class CoverageCellLine(s.Serializer):
    cohort = s.IntegerField()
    items = s.IntegerField()
    wanted = s.IntegerField()
    submitted = s.IntegerField()
    reserved = s.IntegerField()
    accepted = s.IntegerField(help_text="Items.")


class CoverageLine(s.Serializer):
    concept = s.CharField(allow_blank=True)
    part = s.CharField(allow_blank=True, help_text="Origin, or key of the item.")
    cells = CoverageCellLine(many=True)


class CampaignCoverage(s.Serializer):
    rows = CoverageLine(many=True)
    total = s.IntegerField(help_text="Rows on all pages.")
