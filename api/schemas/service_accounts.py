"""Service accounts and their tokens, as they are sent and taken."""

from rest_framework import serializers as s

from people.services.service_accounts import SCOPES
from people.services.tokens import MAX_DAYS, MAX_RATE

MOST_BENCHMARKS = 100


class ServiceAccountLine(s.Serializer):
    id = s.IntegerField()
    name = s.CharField()
    created_at = s.DateTimeField()


class NewServiceAccount(s.Serializer):
    name = s.CharField(max_length=120)


class ServiceTokenLine(s.Serializer):
    id = s.IntegerField()
    name = s.CharField()
    prefix = s.CharField(help_text="The first letters of the token.")
    scopes = s.ListField(child=s.CharField())
    benchmarks = s.ListField(child=s.IntegerField(), help_text="Empty: all that the account may see.")
    created_at = s.DateTimeField()
    last_used_at = s.DateTimeField(allow_null=True)
    expires_at = s.DateTimeField()
    rate = s.IntegerField(allow_null=True, help_text="Requests a minute; null: as the site.")


class NewServiceToken(s.Serializer):
    name = s.CharField(max_length=80)
    days = s.IntegerField(min_value=1, max_value=MAX_DAYS, required=False, help_text="90 without it.")
    scopes = s.ListField(child=s.ChoiceField([str(scope) for scope in SCOPES]), required=False, max_length=len(SCOPES),
                         help_text="read without it.")  # fmt: skip
    benchmarks = s.ListField(child=s.IntegerField(min_value=1, max_value=2**53), required=False,
                             max_length=MOST_BENCHMARKS, help_text="Numbers; all without it.")  # fmt: skip
    rate = s.IntegerField(min_value=1, max_value=MAX_RATE, required=False,
                          help_text="Requests a minute; as the site without it.")  # fmt: skip


class ServiceTokenDone(ServiceTokenLine):
    token = s.CharField(allow_null=True, help_text="Sent once: null in a repeated reply.")
