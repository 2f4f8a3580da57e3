"""How every error looks (RFC 9457)."""

from rest_framework import serializers as s

KIND = "application/problem+json"


class ProblemEntry(s.Serializer):
    pointer = s.CharField(allow_blank=True, help_text="Which member of the body, by RFC 6901; empty: the whole.")
    code = s.CharField()
    detail = s.CharField()


class ProblemSerializer(s.Serializer):
    type = s.CharField()
    title = s.CharField()
    status = s.IntegerField()
    detail = s.CharField(allow_blank=True)
    code = s.CharField(help_text="The kind of problem; `type` is where it is described.")
    instance = s.CharField(help_text="Of this request, as in X-Request-Id and the site's log.")
    parameter = s.CharField(required=False, help_text="Which parameter of the address is wrong.")
    needs = s.CharField(required=False, help_text="The scope that the token lacks.")
    errors = ProblemEntry(many=True, required=False, help_text="What is wrong with each member of the body.")
