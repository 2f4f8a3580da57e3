"""People, teams and cohorts as they are sent and taken."""

from rest_framework import serializers as s

BIG = 2**53
MOST_INVITED = 500


class TokenSerializer(s.Serializer):
    name = s.CharField()
    scopes = s.ListField(child=s.CharField())
    benchmarks = s.ListField(child=s.IntegerField(), help_text="Numbers; empty: all that the person may see.")
    expires_at = s.DateTimeField()


class OwnTokenSerializer(TokenSerializer):
    prefix = s.CharField(help_text="Its first letters.")
    created_at = s.DateTimeField()
    last_used_at = s.DateTimeField(allow_null=True)
    requests_left = s.IntegerField(allow_null=True, help_text="In this minute, of the limit that has the fewest left.")
    rate = s.IntegerField(allow_null=True, help_text="Requests a minute of this token; null: as the site.")


class MyTokenSerializer(s.Serializer):
    token = OwnTokenSerializer(allow_null=True, help_text="Null in a browser.")


class MeSerializer(s.Serializer):
    name = s.CharField()
    language = s.CharField(allow_blank=True)
    time_zone = s.CharField(allow_blank=True)
    token = TokenSerializer(allow_null=True, help_text="Null in a browser.")


class TeamSerializer(s.Serializer):
    id = s.IntegerField()
    slug = s.CharField()
    name = s.CharField()
    cohorts = s.CharField(help_text="Address of its cohorts.")


class CohortSerializer(s.Serializer):
    id = s.IntegerField()
    label = s.CharField()
    names = s.DictField(child=s.CharField(), help_text="The label in other languages.")
    country = s.CharField(allow_blank=True)
    languages = s.ListField(child=s.CharField())
    direction = s.CharField()
    time_zone = s.CharField()
    paused = s.BooleanField()
    members = s.IntegerField(help_text="Active ones.")


class NewCohort(s.Serializer):
    label = s.CharField(max_length=120, help_text="As people see it: a country, a region, a faith.")
    names = s.DictField(child=s.CharField(max_length=120), required=False)
    country = s.CharField(max_length=2, required=False, allow_blank=True)
    languages = s.ListField(child=s.CharField(max_length=12), required=False)
    direction = s.ChoiceField(["ltr", "rtl"], required=False)
    time_zone = s.CharField(max_length=60, required=False)


class CohortChange(NewCohort):
    label = s.CharField(max_length=120, required=False)
    paused = s.BooleanField(required=False, help_text="Nobody of it is given new work in any campaign.")


class MemberSerializer(s.Serializer):
    id = s.IntegerField(help_text="Of the membership.")
    pseudonym = s.CharField(help_text="Of the membership; not that of the person's answers.")
    name = s.CharField(allow_null=True, help_text="Null for who does not manage the cohort, and without `admin`.")
    email = s.CharField(allow_null=True, help_text="As `name`.")
    joined_at = s.DateTimeField()
    left_at = s.DateTimeField(allow_null=True)


class NewInvitation(s.Serializer):
    email = s.CharField(max_length=254, required=False, allow_blank=True)
    note = s.CharField(max_length=200, required=False, allow_blank=True)


class NewInvitations(s.Serializer):
    cohort = s.IntegerField(min_value=1, max_value=BIG)
    people = s.ListField(child=NewInvitation(), min_length=1, max_length=MOST_INVITED)


class BatchProblem(s.Serializer):
    code = s.CharField()
    detail = s.CharField()


class InvitationResult(s.Serializer):
    index = s.IntegerField()
    status = s.IntegerField()
    id = s.IntegerField(required=False)
    link = s.CharField(required=False, allow_null=True, help_text="Sent once: null in a repeated reply.")
    problem = BatchProblem(required=False)


class InvitationResults(s.Serializer):
    results = InvitationResult(many=True)
